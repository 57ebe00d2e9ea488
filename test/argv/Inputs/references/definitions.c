// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

int notInlined(int x);
int weak(int x);
int counter;
// Defined in main.c as well, and local to the program in both.
__attribute__((weak)) int twice = 1;
_Thread_local int perThread = 3;
const char *const names[] = {"one", "two"};

__attribute__((noinline)) int notInlined(int x) {
  counter += x;
  return x * perThread;
}
__attribute__((weak)) int weak(int x) { return x - 1; }
