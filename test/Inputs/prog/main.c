#include "prog.h"

volatile int input = 3;

// The entry point, which is never called. Not named main, since some targets
// add code to main.
int start(void) { return alpha(input) + beta(input) + gamma(input); }
