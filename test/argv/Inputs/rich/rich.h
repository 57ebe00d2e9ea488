// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A hosted C++ program whose modules use what code generation treats specially:
// exceptions, templates, virtual calls, thread-local variables, initialisers,
// inline assembly, aliases, weak symbols, sections, switches, floating point.

#ifndef RICH_H
#define RICH_H

#include <stdexcept>
#include <string>
#include <vector>

struct Shape {
  virtual ~Shape();
  virtual double area() const = 0;
};

Shape *makeShape(int kind, double size);

template <typename T> struct Stack {
  std::vector<T> items;
  void push(T item) { items.push_back(item); }
  T pop() {
    if (items.empty())
      throw std::out_of_range("nothing to pop");
    T item = items.back();
    items.pop_back();
    return item;
  }
};
extern template struct Stack<int>;

int evaluate(const std::string &expression);
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
