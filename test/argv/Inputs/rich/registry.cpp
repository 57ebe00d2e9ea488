// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "rich.h"

thread_local int calls;

namespace {
struct Register {
  int number;
  int value;
  Register *next;
  static Register *&first() {
    static struct List {
      Register *first = nullptr;
      List() { ++calls; }
    } list;
    return list.first;
  }
  Register(int number, int value)
      : number(number), value(value), next(first()) {
    first() = this;
  }
};
Register one(1, primes[3]), two(2, primes[5]);
__attribute__((section("own_section"), used)) int inOwnSection = 7;
} // namespace

int registered(int number) {
  ++calls;
  for (const Register *r = Register::first(); r; r = r->next)
    if (r->number == number)
      return r->value + inOwnSection;
  return -1;
}
