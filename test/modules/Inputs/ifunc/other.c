// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

static int one(int x) { return x + 1; }
static int (*resolve(void))(int) { return one; }
static int chosen(int x) __attribute__((ifunc("resolve")));

int twice(int x) { return x * 2; }
int use(int x) { return chosen(x); }
