static volatile int sink;
__attribute__((noinline)) static int foo(int x) __asm__(".Lfoo");
static int foo(int x) {
  sink = x;
  sink = x + 1;
  sink = x * 3;
  sink = sink + x;
  return x + 1;
}
__attribute__((noinline)) int p3(int x) {
  sink = x;
  sink = x + 2;
  sink = sink + x;
  return foo(x) * 3;
}
__attribute__((noinline)) int p4(int x) {
  sink = x;
  sink = x + 2;
  sink = sink + x;
  return foo(x) * 4;
}
static volatile int other;
__attribute__((noinline)) int p5(int x) {
  other = x;
  other = x + 2;
  other = other + x;
  return x * 5;
}
int start(int x) { return p3(x) + p4(x) + p5(x); }
