// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A loop nest whose order is bad for the cache.
#define N 512

void add(double (*to)[N], double (*from)[N]);

static double a[N][N], b[N][N];

int main(void) {
  for (int i = 0; i != N; ++i)
    for (int j = 0; j != N; ++j)
      b[j][i] += a[j][i] * 3;
  add(a, b);
  return a[3][5] != 0;
}
