// A warning of the assembler in two functions.
__attribute__((noinline)) int other(int x) {
  __asm__ volatile(".warning \"look here\"" : "+r"(x));
  return x;
}
int start(int x) {
  __asm__ volatile(".warning \"look here\"" : "+r"(x));
  return other(x);
}
