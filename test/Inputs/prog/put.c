#include "prog.h"

static volatile char out;

__attribute__((noinline)) void put(const char *text) {
  while (*text)
    out = *text++;
}
