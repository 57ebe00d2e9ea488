// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#define NOINLINE __attribute__((noinline))

int variable = 3;
NOINLINE int one(int x) { return x * 3 + variable; }
NOINLINE int two(int x) {
  variable += x;
  return one(x) + 1;
}
typedef int function(int);
NOINLINE function *choose(int x) { return x ? one : two; }
NOINLINE int loop(int x) {
  int sum = 0;
  for (int i = 0; i < x; ++i)
    sum += choose(i)(i) ^ variable;
  return sum;
}
