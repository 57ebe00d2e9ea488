// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

int (*functions(int which))(int);
int *variables(int which);
const char *const *tables(void);

__attribute__((weak)) int twice = 2;

int main(int argc, char **argv) {
  (void)argv;
  return functions(argc & 1)(argc) + *variables(argc) + tables()[argc & 1][0];
}
