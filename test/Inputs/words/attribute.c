// A warning whose location clang takes from the bitcode file.
extern void doubtful(void) __attribute__((warning("size is odd")));
int start(int x) {
  if (x > 2)
    doubtful();
  return x;
}
