extern void impossible(void) __attribute__((error("size is wrong")));
int start(int x) {
  if (x > 2)
    impossible();
  return x;
}
