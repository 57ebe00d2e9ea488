#include "prog.h"

static int table[64];

int gamma(int x) {
  put("gamma was called");
  return alpha(x) ^ delta(x + 1);
}

// Makes this the largest module, whose job is the first if sorted by size.
void gamma_fill(int seed) {
  for (int i = 0; i < 64; ++i)
    table[i] = seed = seed * 1103515245 + 12345;
}

int gamma_sum(void) {
  int sum = 0;
  gamma_fill(input);
  for (int i = 0; i < 64; ++i)
    sum += table[i] & 255;
  return sum + delta(sum);
}
