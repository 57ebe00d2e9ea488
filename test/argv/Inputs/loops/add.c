// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#define N 512

void add(double (*to)[N], double (*from)[N]) {
  for (int i = 0; i != N; ++i)
    for (int j = 0; j != N; ++j)
      to[j][i] += from[j][i];
}
