#include "prog.h"

// Not on Windows, where LLD treats this as a second definition.
#ifndef _WIN32
void put(const char *text) __attribute__((weak));
#endif

static int calls;

int alpha(int x) {
  if (&put)
    put("alpha was called");
  ++calls;
  return x + calls;
}
