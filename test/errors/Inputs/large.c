// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An object of one MiB, which --gc-sections removes completely.

__attribute__((used)) static const char large[1 << 20] = {1};

int other(void) { return large[5]; }
