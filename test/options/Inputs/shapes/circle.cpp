#include "shape.h"

static Circle circle;

int Circle::area(int x) { return 3 * x * x; }

__attribute__((noinline)) Shape *make() { return &circle; }
