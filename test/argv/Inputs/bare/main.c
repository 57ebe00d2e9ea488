// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "bare.h"

volatile int source = 5, sink;

#ifdef __wasm__
__attribute__((export_name("entry")))
#endif
int entry(void);

// Two functions, which can be in two parts.
static __attribute__((noinline)) int folded(void) {
  return fold(table, 8) + scramble(source);
}

int entry(void) {
  sink = folded();
  return (int)wide(choose(source), source);
}
