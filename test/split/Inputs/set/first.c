// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A set of variables that begins in the first file and ends in the last one.
__attribute__((section("myset"), used)) int first[1] = {1};
extern int last[], work(int);
volatile int sum;

void _start(void) {
  for (int *p = first; p < last; ++p)
    sum = work(*p);
}
