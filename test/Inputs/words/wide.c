// Compiled with -fshort-wchar. user.c, compiled without it, can't import from
// it.
int imported(int x) { return 5 * x; }
