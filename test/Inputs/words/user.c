// Imports from imported.c, which has another triple.
int imported(int x);
int start(int x) { return imported(x); }
__attribute__((noinline)) int more(int x) { return x * x + imported(x); }
__attribute__((noinline)) int less(int x) { return x / imported(x); }
