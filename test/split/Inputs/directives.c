// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Symbols that assembly defines without labels, all local to the object, and
// functions that refer to them.

#define NOINLINE __attribute__((noinline))
#define WORK(N)                                                                \
  sink = x;                                                                    \
  sink = x + N;                                                                \
  sink = x * 3;                                                                \
  sink = sink + x

static volatile int sink;

#ifdef MACROS
__asm__(".irp end, a, b\n"
        "  .lcomm counter_\\end, 4\n"
        ".endr\n"
        ".macro define name\n"
        "  .lcomm \\name\\()_d, 4\n"
        ".endm\n"
        "define counter\n"
        ".altmacro\n"
        ".macro declare end\n"
        "  .lcomm counter_\\end, 4\n"
        ".endm\n"
        "declare %(1 + 1)\n"
        ".noaltmacro\n");
extern int counter_a, counter_b, counter_d, counter_e __asm__("counter_2");
#define counter_c sink
#define DEFINE ".irp name, own\n .lcomm \\name, 4\n .endr"
#else
static int target __attribute__((used)) = 4;
__asm__(".lcomm counter_a, 4\n"
        ".local counter_b\n"
        ".comm counter_b, 4, 4\n"
        ".set counter_c, target\n"
        ".weakref counter_d, target\n"
        "counter_e = target\n");
extern int counter_a, counter_b, counter_c, counter_d, counter_e;
#define DEFINE ".lcomm own, 4"
#endif

// Only assembly refers to this function.
NOINLINE int define(int x) {
  __asm__ volatile(DEFINE);
  return x;
}

NOINLINE int a(int x) { return counter_a += x; }
NOINLINE int between1(int x) {
  WORK(1);
  return x * 2;
}
NOINLINE int b(int x) { return (counter_b += x) * counter_a; }
NOINLINE int between2(int x) {
  WORK(2);
  return x * 3;
}
NOINLINE int c(int x) { return counter_c += x; }
NOINLINE int between3(int x) {
  WORK(3);
  return x * 4;
}
NOINLINE int d(int x) { return (counter_d += x) - counter_c + counter_e++; }
NOINLINE int use(int x) {
  __asm__ volatile("addl %0, own(%%rip)\n\tmovl own(%%rip), %0" : "+r"(x));
  return x;
}
NOINLINE int again(int x) { return counter_a - counter_b * counter_e; }

int printf(const char *, ...);
int main(int count, char **arguments) {
  int x = count + 2;
  int sum = a(x) + b(x) * between1(x) + c(x) * between2(x) + d(x) * between3(x);
  printf("%d %d %d\n", sum, again(x), define(x) + use(x) + use(x));
  return 0;
}
