// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "rich.h"
#include <stdexcept>
#include <string>
#include <vector>

template struct Array<float>;

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
      throw std::domain_error("division by zero");
    return a / b;
  }
  throw std::invalid_argument(std::string("unknown operator ") + op);
}

int evaluate(const char *expression) {
  Stack<int> stack;
  ++calls;
  for (char c : std::string(expression)) {
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
