// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A loop that can't be vectorized.
unsigned copy(volatile unsigned *from, unsigned n) {
  unsigned hash = 1;
  while (n--)
    hash = hash * (*from++ | 1) ^ hash >> 3;
  return hash;
}
