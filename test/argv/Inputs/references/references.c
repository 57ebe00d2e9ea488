// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Only references, so that nothing is imported from the other modules.

int notInlined(int x);
extern int counter;
extern int twice;
extern _Thread_local int perThread;
extern const char *const names[];
int weak(int x) __attribute__((weak));
int undefinedWeak(int x) __attribute__((weak));

int (*functions(int which))(int);
int (*functions(int which))(int) {
  switch (which) {
  case 0:
    return notInlined;
  case 1:
    return weak;
  default:
    return undefinedWeak;
  }
}

int *variables(int which);
int *variables(int which) {
  counter += twice;
  return which ? &counter : &perThread;
}

const char *const *tables(void);
const char *const *tables(void) { return names; }
