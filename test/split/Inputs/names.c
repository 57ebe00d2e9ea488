// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Functions that no other module needs, and one that only this file sees.
#define APART __attribute__((noinline))

volatile int sink;

static APART int shared(int x) { return sink = x * sink; }
APART int first(int x) { return shared(x + sink) + shared(sink); }
APART int second(int x) { return shared(x - sink) - shared(sink); }
APART int third(int x) { return first(x) + second(sink) + shared(x); }

void _start(void) { sink = first(sink) + second(sink) + third(sink); }
