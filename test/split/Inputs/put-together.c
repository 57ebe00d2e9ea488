// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Functions to which only assembly refers, and never by a complete name.

#define NOINLINE __attribute__((noinline))
#define WORK(N)                                                                \
  sink = x;                                                                    \
  sink = x + N;                                                                \
  sink = x * 3;                                                                \
  sink = sink + x

__asm__(".macro callWith n\n"
        "  call with_\\n\n"
        ".endm\n");

static volatile int sink;
__attribute__((used)) static NOINLINE int of_1(int x) {
  WORK(1);
  return x;
}
__attribute__((used)) static NOINLINE int with_2(int x) {
  WORK(2);
  return x;
}

NOINLINE int operand(int x) {
  WORK(3);
  __asm__ volatile("call of_%c0" ::"i"(1) : "memory");
  return x;
}
NOINLINE int argument(int x) {
  WORK(4);
  __asm__ volatile("callWith 2" ::: "memory");
  return x;
}
NOINLINE int a(int x) {
  WORK(5);
  return x * 2;
}
NOINLINE int b(int x) {
  WORK(6);
  return x * 5;
}
int start(int x) { return operand(x) + argument(x) + a(x) + b(x); }
