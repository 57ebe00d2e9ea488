// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A program without a C library, for every target that LLD links.

extern volatile int source, sink;

int fold(const int *list, int n);
int scramble(int x);
int choose(int x);
long long wide(long long a, int b);
extern const int table[8];
