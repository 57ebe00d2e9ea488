// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "bare.h"

static int one(int x) { return x + sink; }
static int two(int x) { return x * 3; }
static int (*const ways[])(int) = {one, two, scramble};

int choose(int x) {
  switch (x) {
  case 0:
    return table[3];
  case 1:
    return fold(table, 3);
  case 2:
    return scramble(x);
  case 5:
    return table[5] - sink;
  default:
    return ways[(unsigned)x % 3](x);
  }
}
