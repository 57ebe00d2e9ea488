// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

const int primes[16] = {2,  3,  5,  7,  11, 13, 17, 19,
                        23, 29, 31, 37, 41, 43, 47, 53};

static int state;
static int next(void) { return state = state * 5 + 1; }

int plainC(int x) {
  int result = x;
  __asm__("" : "+r"(result));
  for (int i = 0; i < 16; ++i)
    result += primes[i] * x;
  return result + next();
}

__attribute__((weak)) int weakC(int x) { return x + next(); }

int aliasC(int x) __attribute__((alias("plainC")));
