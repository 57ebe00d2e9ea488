// A small freestanding program, for every target that LLD links.
//
// Each module imports functions from others, with their promoted statics and
// constants. The code also depends on the order in which a module imports:
// alpha.c declares put() as weak and tests it, and the other modules don't. In
// main's module, the first imported declaration decides whether the test stays,
// and modules are imported in the order of their names.

#ifndef PROG_H
#define PROG_H

// Keeps the compiler from folding everything away.
extern volatile int input;

// Writes a string somewhere. Never inlined, so that the strings stay.
void put(const char *text);

int alpha(int x);
int beta(int x);
int gamma(int x);
int delta(int x);

#endif
