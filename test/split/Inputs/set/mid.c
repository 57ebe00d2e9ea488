// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#define APART __attribute__((noinline))

volatile int s;

static APART int h(int x) { return s = x * s; }
APART int work1(int x) { return h(x + s) + h(s) * 3 + h(7); }
APART int work2(int x) { return h(x - s) - h(s) * 5 + work1(x); }
APART int work3(int x) { return h(x ^ s) + work2(x) + work1(s); }
int work(int x) { return work3(x) + work2(x) + h(s); }

__attribute__((section("myset"), used)) static int second = 2, third = 3;
