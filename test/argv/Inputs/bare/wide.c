// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "bare.h"

// With -DFLOAT if the machine has floating point.
#ifdef FLOAT
static float average(float a, float b) { return (a + b) / 2; }
#else
static int average(int a, int b) { return (a + b) / 2; }
#endif

long long wide(long long a, int b) {
  long long product = a * (b | 1ll << 40);
  sink = (int)average(b, 3);
  return product + choose(b - 1);
}
