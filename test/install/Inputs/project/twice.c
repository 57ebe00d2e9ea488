// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
int twice(int n);

int twice(int n) { return 2 * n; }
