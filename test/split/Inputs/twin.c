// A module without external definitions that could clash, so it can be linked
// twice.
#define FUNCTION(N)                                                            \
  static __attribute__((noinline)) void f##N(volatile int *To) {               \
    To[N] = N;                                                                 \
    To[N + 10] = N * N;                                                        \
    To[N + 20] = To[N] + To[N + 10];                                           \
  }
FUNCTION(1)
FUNCTION(2)
FUNCTION(3)
FUNCTION(4)

__attribute__((constructor)) static void begin(void) {
  volatile int Numbers[30];
  f1(Numbers);
  f2(Numbers);
  f3(Numbers);
  f4(Numbers);
}
