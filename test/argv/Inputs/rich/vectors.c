// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Loops that are vectorized, and floating point that must stay exact.

float dot(const float *a, const float *b, int n);
void scale(double *out, const double *in, double by, int n);

float dot(const float *a, const float *b, int n) {
  float sum = 0;
  for (int i = 0; i < n; ++i)
    sum += a[i] * b[i];
  return sum;
}

void scale(double *restrict out, const double *restrict in, double by, int n) {
  for (int i = 0; i < n; ++i)
    out[i] = in[i] * by + 1;
}
