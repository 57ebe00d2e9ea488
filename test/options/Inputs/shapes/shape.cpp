#include "shape.h"

int Shape::area(int) { return 0; }
int Shape::edge(int x) { return x + 1; }
