// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "bare.h"

static int steps;

int fold(const int *list, int n) {
  int result = 0;
  for (int i = 0; i < n; ++i)
    result = scramble(result ^ list[i]);
  steps += n;
  return result + steps;
}
