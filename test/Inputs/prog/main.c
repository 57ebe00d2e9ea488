#include "prog.h"

volatile int input = 3;

// The entry point; nobody calls it. Not called main, which some targets add
// things to.
int start(void) { return alpha(input) + beta(input) + gamma(input); }
