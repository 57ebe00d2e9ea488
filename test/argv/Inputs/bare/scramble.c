// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "bare.h"

static unsigned state = 1;
static __attribute__((noinline)) unsigned turn(unsigned x) {
  return state = (state << 5 | state >> 27) + x;
}

int scramble(int x) { return (int)(turn((unsigned)x) ^ turn(3)); }
