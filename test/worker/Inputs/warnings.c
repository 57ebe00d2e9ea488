// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The compiler parses the assembly only in the backend.

#ifndef COUNT
#define COUNT 1
#endif
#define TEXT(x) #x
#define NUMBER(x) TEXT(x)

void warn(void);
void warn(void) {
  __asm__(".rept " NUMBER(COUNT) "\n.warning \"seen by the worker\"\n.endr");
}
