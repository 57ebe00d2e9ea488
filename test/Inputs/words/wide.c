// Compiled with -fshort-wchar: user.c, without, can't import from it.
int imported(int x) { return 5 * x; }
