// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Code generation takes days, but little memory.

void endless(void);
void endless(void) { __asm__(".rept 1000000\n.rept 1000000000\n.endr\n.endr"); }
