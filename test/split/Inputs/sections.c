// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Variables and functions on whose order in the output the program relies.

#define NOINLINE __attribute__((noinline, used))
#define WORK(N)                                                                \
  sink = x;                                                                    \
  sink = x + N;                                                                \
  sink = x * 3;                                                                \
  sink = sink + x

static volatile int sink;

#pragma clang section data = "settings" bss = "zeroes" text = "code"
__attribute__((used)) int s1 = 1, z1, s2 = 2, z2, s3 = 3, z3;
NOINLINE int p1(int x) {
  WORK(1);
  return s1 + z1;
}
NOINLINE int p2(int x) {
  WORK(2);
  return s2 + z2;
}
NOINLINE int p3(int x) {
  WORK(3);
  return s3 + z3;
}
#pragma clang section data = "" bss = "" text = ""

__attribute__((section("fast"))) NOINLINE int f1(int x) {
  WORK(1);
  return x;
}
NOINLINE int between(int x) {
  WORK(2);
  return x;
}
__attribute__((section("fast"))) NOINLINE int f2(int x) {
  WORK(3);
  return x;
}
__attribute__((section("fast"))) NOINLINE int f3(int x) {
  WORK(4);
  return x;
}
__attribute__((section("list"), used)) static int l1 = 1;
NOINLINE int user1(int x) {
  WORK(5);
  return l1;
}
__attribute__((section("list"), used)) static int l2 = 2;
extern int __start_list, __stop_list;
NOINLINE int start(int x) {
  return p3(x) + p2(x) + p1(x) + f3(x) + f2(x) + f1(x) + between(x) + user1(x) +
         (&__stop_list - &__start_list);
}
