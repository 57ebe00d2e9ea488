// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A hosted C++ program whose modules use features that code generation treats
// specially: exceptions, templates, virtual calls, thread-local variables,
// initialisers, inline assembly, aliases, weak symbols, sections, switches,
// floating point. Each test compiles it, so only one module includes a large
// header of the standard library.

#ifndef RICH_H
#define RICH_H

#include <exception>

struct Shape {
  virtual ~Shape();
  virtual double area() const = 0;
};

Shape *makeShape(int kind, double size);

struct NoSuchShape : std::exception {
  const char *what() const noexcept override;
};

template <typename T> struct Array {
  T *items;
  int size;
  Array(int size, T value) : items(new T[size]), size(size) {
    for (int i = 0; i < size; ++i)
      items[i] = value;
  }
  Array(const Array &) = delete;
  ~Array() { delete[] items; }
};
extern template struct Array<float>;

int evaluate(const char *expression);
int registered(int number);
extern thread_local int calls;

extern "C" {
int plainC(int x);
int weakC(int x);
int aliasC(int x);
float dot(const float *a, const float *b, int n);
void scale(double *out, const double *in, double by, int n);
extern const int primes[16];
}

#endif
