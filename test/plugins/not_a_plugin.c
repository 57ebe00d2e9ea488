// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A shared library that isn't a plugin.

int answer(void);
int answer(void) { return 42; }
