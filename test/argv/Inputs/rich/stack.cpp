// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "rich.h"
#include <vector>

template struct Array<float>;

namespace {
struct Underflow : std::exception {
  const char *what() const noexcept override { return "nothing to pop"; }
};
struct DivisionByZero : std::exception {
  const char *what() const noexcept override { return "division by zero"; }
};
struct UnknownOperator : std::exception {
  char text[20] = "unknown operator  ";
  explicit UnknownOperator(char op) { text[17] = op; }
  const char *what() const noexcept override { return text; }
};
} // namespace

template <typename T> struct Stack {
  std::vector<T> items;
  void push(T item) { items.push_back(item); }
  T pop() {
    if (items.empty())
      throw Underflow();
    T item = items.back();
    items.pop_back();
    return item;
  }
};

static int apply(char op, int a, int b) {
  switch (op) {
  case '+':
    return a + b;
  case '-':
    return a - b;
  case '*':
    return a * b;
  case '/':
    if (!b)
      throw DivisionByZero();
    return a / b;
  }
  throw UnknownOperator(op);
}

int evaluate(const char *expression) {
  Stack<int> stack;
  ++calls;
  for (; char c = *expression; ++expression) {
    if (c == ' ')
      continue;
    if (c >= '0' && c <= '9') {
      stack.push(c - '0');
      continue;
    }
    int b = stack.pop();
    int a = stack.pop();
    stack.push(apply(c, a, b));
  }
  return stack.pop();
}
