// Compiled with -Wframe-larger-than=16.
int start(int x) {
  volatile int space[32];
  space[x] = x;
  return space[1];
}
