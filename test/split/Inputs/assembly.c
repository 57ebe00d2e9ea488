// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// References between parts of a module that the IR doesn't show.

__asm__(".text\n"
        "label:\n"
        "  ret\n"
        ".macro twice what\n"
        "  \\what\n"
        "  \\what\n"
        ".endm\n"
        ".globl entry\n"
        "entry:\n"
        "  pushq $handler\n"
        "  ret\n"
        ".type helper,@function\n"
        "helper:\n"
        "  ret\n");

#define NOINLINE __attribute__((noinline))

int next(int x);
int entry(void);
void helper(void);
struct Noted {
  int x __attribute__((annotate("a field")));
};

static __attribute__((used)) int handler(void) { return next(3) * next(4); }
NOINLINE int a(struct Noted *n) {
  return next(n->x) + next(n->x + 1) * next(7);
}
NOINLINE int callLabel(int x) {
  __asm__ volatile("call label" ::: "memory");
  return next(x) + next(x + 2);
}
NOINLINE int b(struct Noted *n) {
  return next(n->x) * next(n->x + 2) - next(8);
}
NOINLINE int useMacro(int x) {
  __asm__ volatile("twice nop" ::: "memory");
  return next(x) * next(x + 3);
}
NOINLINE int callHelper(int x) {
  helper();
  return x;
}
NOINLINE int c(struct Noted *n) { return next(n->x) - next(callHelper(n->x)); }
NOINLINE int d(struct Noted *n) { return next(callHelper(n->x)) ^ next(n->x); }
int start(int x) {
  struct Noted n = {x};
  int k __attribute__((annotate("a variable"))) = next(x);
  return a(&n) + b(&n) + c(&n) + d(&n) + callLabel(k) + useMacro(k) + entry();
}
