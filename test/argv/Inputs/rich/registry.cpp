// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "rich.h"
#include <vector>

thread_local int calls;

namespace {
struct Entry {
  int number;
  int value;
};
std::vector<Entry> &entries() {
  static std::vector<Entry> list;
  return list;
}
struct Register {
  Register(int number, int value) { entries().push_back({number, value}); }
};
Register one(1, primes[3]), two(2, primes[5]);
__attribute__((section("own_section"), used)) int inOwnSection = 7;
} // namespace

int registered(int number) {
  ++calls;
  for (const Entry &e : entries())
    if (e.number == number)
      return e.value + inOwnSection;
  return -1;
}
