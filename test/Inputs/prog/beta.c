#include "prog.h"

static const char *const words[] = {"beta is even", "beta is odd"};

static __attribute__((noinline)) int square(int x) { return x * x; }

int beta(int x) {
  put(words[x & 1]);
  return square(x) + delta(x);
}
