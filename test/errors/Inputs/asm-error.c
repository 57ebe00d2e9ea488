// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// With -DGOOD a module without an error.

void bad(void);
void bad(void) {
#ifndef GOOD
  __asm__("not an instruction");
#endif
}
