// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "rich.h"

template struct Stack<int>;

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

int evaluate(const std::string &expression) {
  Stack<int> stack;
  ++calls;
  for (char c : expression) {
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
