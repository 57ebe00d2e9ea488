// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "bare.h"

static int steps;

static __attribute__((noinline)) int step(int result, int x) {
  return scramble(result ^ x);
}

int fold(const int *list, int n) {
  int result = 0;
  for (int i = 0; i < n; ++i)
    result = step(result, list[i]);
  steps += n;
  return result + steps;
}
