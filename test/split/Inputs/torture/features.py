# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The features of scripts/torture's random programs.

A feature is a template that uses properties of symbols which parts of a module have to
preserve. Its first line has the language (c, c++ or ll), a name and tags: "asm" means
assembly, or calls that CFI does not know; "exe" excludes shared libraries. Lines of ----
separate pieces, which go to different modules. A word after a backquote is replaced, see
properties.Names: `x is a name in the whole program, `s_x a name in one module, which
other modules may have as well. Each feature defines CHECK `check(void), which prints its
results, and may define int `call(int), which later features call.
"""

FEATURES = r"""
c statics
static int `s_state = `num;
static volatile int `s_seen;
`attr static int `s_step(int x) { `noise `s_state += x; return `s_state; }
`attr static int `s_twice(int x) { `noise return `s_step(x) + `s_step(x + 1); }
`attr `vis int `call(int x) {
  static int `s_calls = 3;
  `noise
  `s_seen = x;
  return (`s_twice(x) & 1023) * ++`s_calls + `s_seen;
}
CHECK `check(void) { `noise SHOW(`call(`num)); SHOW(`s_state); SHOW(`any); }
====
c tables
`attr static int `s_one(int x) { `noise return x + 1; }
`attr static int `s_two(int x) { `noise return x * 3; }
static int (*const `s_table[])(int) = {`s_one, `s_two, `s_one};
static int (*`s_changing[])(int) = {`s_two, `s_one};
static const char *const `s_words[] = {"one `num", "two", "a longer text"};
struct `s_node { const struct `s_node *next; int value; };
static const struct `s_node `s_b;
static const struct `s_node `s_a = {&`s_b, 1};
static const struct `s_node `s_b = {&`s_a, `num};
`attr `vis int `call(int x) { `noise return `s_table[x & 1](x) + `s_changing[x & 1](2); }
CHECK `check(void) {
  for (int i = 0; i < 3; ++i) { SHOW(`s_table[i](`num)); SHOW(`s_words[i][0]); }
  const struct `s_node *n = &`s_a;
  for (int i = 0; i < 5; ++i) { n = n->next; SHOW(n->value); }
  SHOW(n == &`s_b); SHOW(`s_table[0] == `s_table[2]); SHOW(`any);
}
====
c gotos
`attr static int `s_run(const unsigned char *p) {
  static const void *const labels[] = {&&add, &&twice, &&end};
  static const int offsets[] = {&&add - &&add, &&twice - &&add, &&end - &&add};
  int x = `num;
  goto *labels[*p++];
add: x += 5; `noise goto *(&&add + offsets[*p++]);
twice: x *= 2; goto *labels[*p++];
end: return x;
}
`attr int `call(int x) {
  const unsigned char code[] = {x & 1, 1, 0, 0, 2, 2};
  return `s_run(code);
}
`attr static int `s_more(int x) { `noise return `call(x) + `s_run((const unsigned char *)"\0\1\2"); }
CHECK `check(void) { `noise SHOW(`call(0)); SHOW(`s_more(1)); }
====
c identity
int `call(int);
int `far(int);
extern int `v;
void *`address(int), *`where(void);
static int `s_own(int x) { return x; }
`attr static void *`s_get(int x) { `noise return x ? (void *)`s_own : (void *)`call; }
CHECK `check(void) {
  `noise
  SHOW(`address(0) == (void *)`call); SHOW(`address(1) == (void *)`far);
  SHOW(`where() == (void *)&`v); SHOW(`s_get(1) == (void *)`s_own);
  SHOW(`s_get(0) == `address(0));
}
----
`vis int `v = 3;
`attr `vis int `call(int x) { `noise return x + `v; }
`attr `vis int `far(int x) { `noise return x - `v; }
`attr void *`address(int x) { `noise return x ? (void *)`far : (void *)`call; }
`attr void *`where(void) { `noise return &`v; }
====
c weak
__attribute__((weak)) int `f(int x) { `noise return x + 1; }
__attribute__((weak)) int `v = 1;
`attr int `g(int x) { `noise return `f(x) + `v; }
int `h(int);
CHECK `check(void) { SHOW(`g(1)); SHOW(`h(1)); SHOW(`f(0)); SHOW(`v); }
----
`weak int `f(int x) { `noise return x + 2; }
`weak int `v = 2;
`attr int `h(int x) { `noise return `f(x) * `v; }
`attr int `call(int x) { `noise return `h(x) + `f(3); }
====
c weak-undefined
extern int `nothing(int) __attribute__((weak));
extern int `novar __attribute__((weak));
extern int `there(int) __attribute__((weak));
`attr static int `s_f(int x) { `noise return `nothing ? `nothing(x) : 7; }
CHECK `check(void) {
  `noise SHOW(`s_f(1)); SHOW(&`novar == 0); SHOW(`there ? `there(1) : 8);
}
----
`attr int `there(int x) { `noise return x + 2; }
====
c alias asm
`attr static int `s_target(int x) { `noise return x + `num; }
`vis int `a(int) __attribute__((alias("`s_target")));
static int `s_a(int) __attribute__((alias("`s_target")));
int `w(int) __attribute__((weak, alias("`s_target")));
static int `s_v = 4;
extern `vis int `va __attribute__((alias("`s_v")));
extern int `wv __attribute__((weak, alias("`s_v")));
`attr int `call(int x) { `noise return `a(x) + `s_a(x); }
int `other(int);
CHECK `check(void) {
  `noise
  SHOW(`a(1)); SHOW(`s_a(2)); SHOW(`w(3)); `va = 8; SHOW(`s_v); `s_v = 9; SHOW(`wv);
  SHOW(`other(1)); SHOW(`va); SHOW((void *)`a == (void *)`s_target);
}
----
int `a(int), `w(int);
extern int `va;
`attr int `other(int x) { `noise `va += 3; return `a(x) + `w(x); }
====
c ifunc asm
`attr static int `s_one(int x) { `noise return x + 1; }
`attr static int `s_two(int x) { `noise return x + 2; }
__attribute__((no_stack_protector, no_instrument_function, used)) static void *`s_resolve(void) { return (void *)`s_one; }
__attribute__((no_stack_protector, no_instrument_function, used)) static void *`s_resolve2(void) { return (void *)`s_two; }
`vis int `f(int) __attribute__((ifunc("`s_resolve")));
static int `own(int) __attribute__((ifunc("`s_resolve2")));
`attr int `call(int x) { `noise return `f(x) + `own(x); }
int `other(int);
CHECK `check(void) { SHOW(`call(1)); SHOW(`other(2)); int (*volatile p)(int) = `f; SHOW(p(1)); p = `own; SHOW(p(1)); }
----
int `f(int);
`attr int `other(int x) { `noise return `f(x) + 1; }
====
c set
static `maybe_const int `s_a __attribute__((section("`set"), used)) = `num;
`maybe_const int `e1 __attribute__((section("`set"), `used)) = `num;
`attr static int `s_f(int x) { `noise return x + `s_a; }
static `maybe_const int `s_b __attribute__((section("`set"), `used)) = 77;
static `maybe_const int `s_c[3] __attribute__((section("`set"), used)) = {1, 2, `num};
extern const int __start_`set[] WEAK, __stop_`set[] WEAK;
CHECK `check(void) {
  SHOW(`s_f(1));
  for (const int *p = __start_`set; p < __stop_`set; ++p) SHOW(*p);
  SHOW(&`s_b > &`s_a); SHOW(`s_c[1]); SHOW(`e1);
}
----
`attr int `call(int x) { `noise return x + 3; }
static `maybe_const int `s_d __attribute__((section("`set"), used)) = `num;
`attr int `g(int x) { `noise return x + `s_d; }
static `maybe_const int `s_e[2] __attribute__((section("`set"), used)) = {8, 9};
====
c pointer-set
`attr static int `s_one(int x) { `noise return x + 1; }
`attr static int `s_two(int x) { `noise return x + 2; }
__attribute__((section("`set"), used)) static int (*`s_p)(int) = `s_one;
__attribute__((section("`set"), used)) static int (*`s_q)(int) = `s_two;
extern int (*__start_`set[])(int) __attribute__((weak)), (*__stop_`set[])(int) __attribute__((weak));
CHECK `check(void) { for (int (**p)(int) = __start_`set; p != __stop_`set; ++p) SHOW((*p)(`num)); }
----
`attr static int `s_three(int x) { `noise return x + 3; }
`attr int `call(int x) { `noise return `s_three(x); }
__attribute__((section("`set"), used)) static int (*`s_r)(int) = `s_three;
====
c section-functions asm
__attribute__((section("`code"), noinline)) static int `s_one(int x) { `noise return x + 1; }
__attribute__((section("`code"), noinline)) `vis int `two(int x) { `noise return x + `s_one(x); }
`attr int `between(int x) { `noise return x + 9; }
__attribute__((section("`code"), noinline, `used)) static int `s_three(int x) { `noise return x + 3; }
__attribute__((section(".text.`other"), noinline)) int `call(int x) { `noise return x + 3; }
extern char __start_`code[] WEAK, __stop_`code[] WEAK;
CHECK `check(void) {
  SHOW(`two(2)); SHOW(`between(1)); SHOW(`s_three(2));
  SHOW((char *)`s_one >= __start_`code && (char *)`s_three < __stop_`code);
  SHOW((char *)`s_one < (char *)`two); SHOW((char *)`two < (char *)`s_three);
}
====
c pragma-section
#pragma clang section bss="`bss" data="`data" rodata="`ro" text=".text.`part"
static int `s_zero, `s_zero2[3];
static int `s_x = 3, `s_y = `num;
const int `z = 4, `z2 = 5;
`attr static int `s_f(int x) { `noise `s_zero2[1] += x; return x + `s_x++ + `s_zero++ + `z; }
`attr int `call(int x) { `noise return `s_f(x) + `s_y++; }
#pragma clang section bss="" data="" rodata="" text=""
`attr static int `s_g(int x) { `noise return `s_f(x) + `s_zero2[1]; }
CHECK `check(void) {
  SHOW(`call(1)); SHOW(`s_g(2)); SHOW((char *)&`s_y > (char *)&`s_x);
  SHOW((char *)&`s_zero2 > (char *)&`s_zero); SHOW((char *)&`z2 > (char *)&`z);
}
====
c tls
static __thread int `s_t = `num;
static __thread char `s_buffer[40];
extern __thread int `t2;
`vis __thread int `t3 `tls = 6;
int `get(int);
`attr static int `s_f(int x) { `noise `s_buffer[x] = 3; return `s_t += x; }
CHECK `check(void) { SHOW(`s_f(2)); SHOW(`get(1)); SHOW(`t2); SHOW(`t3); SHOW(`s_buffer[2]); }
----
extern __thread int `t3;
`vis __thread int `t2 `tls = 5;
static __thread int `s_u;
`attr int `get(int x) { `noise `s_u += x; return ++`t2 + `t3++ + `s_u; }
`attr int `call(int x) { `noise return `get(x); }
====
c constructors
static int `s_order;
`attr static void `s_say(int x) { `noise SHOW(x * 100 + `s_order++); }
__attribute__((constructor)) static void `s_c1(void) { `s_say(1); }
__attribute__((constructor(`priority))) static void `s_c2(void) { `s_say(2); }
`attr static int `s_f(int x) { `noise return x + `s_order; }
__attribute__((constructor(`priority))) void `c3(void) { `s_say(3); }
__attribute__((destructor)) static void `s_d1(void) { `s_say(4); }
__attribute__((destructor(`priority))) static void `s_d2(void) { `s_say(5); }
CHECK `check(void) { SHOW(`s_f(1)); }
----
static int `s_log = 7;
__attribute__((constructor(`priority))) static void `s_c(void) { `noise SHOW(`s_log++); }
__attribute__((constructor)) static void `s_d(void) { SHOW(`s_log++); }
__attribute__((destructor)) static void `s_e(void) { SHOW(`s_log++); }
`attr int `call(int x) { `noise return x + `s_log; }
====
c init-array
`attr static void `s_one(void) { `noise SHOW(1); }
`attr static void `s_two(void) { `noise SHOW(2); }
`attr static void `s_three(void) { `noise SHOW(3); }
__attribute__((section(".init_array"), used)) static void (*`s_p)(void) = `s_one;
__attribute__((section(".init_array.00`prio3"), used)) static void (*`s_q)(void) = `s_two;
__attribute__((section(".fini_array"), used)) static void (*`s_r)(void) = `s_three;
CHECK `check(void) { SHOW(`s_q == `s_two); }
----
`attr static void `s_one(void) { `noise SHOW(11); }
__attribute__((section(".init_array"), used)) static void (*`s_p)(void) = `s_one;
__attribute__((constructor)) static void `s_c(void) { SHOW(12); }
`attr int `call(int x) { `noise return x - 1; }
====
c common
__attribute__((common)) int `c;
__attribute__((common, aligned(64))) int `large[`num + 1];
static int `s_zero[20];
int `touch(int);
`attr static int `s_f(int x) { `noise return ++`c + `large[0] + `s_zero[3]++; }
CHECK `check(void) { SHOW(`touch(2)); SHOW(`s_f(1)); SHOW(`c); SHOW(`large[0]); SHOW(((long)`large & 63) == 0); }
----
__attribute__((common)) int `c;
__attribute__((common)) int `large[`num + 1];
`attr int `touch(int x) { `noise `large[0] = x; return `c += x; }
====
c asm-names asm
__attribute__((used)) static int `s_v = `num;
__attribute__((used, noinline)) static int `s_fn(int x) { `noise return x * 2 + `s_v; }
`attr static int `s_get(void) { int r; `noise __asm__ volatile("movl `s_v(%%rip), %0" : "=r"(r)); return r; }
`attr static int `s_run(int x) {
  int (*p)(int);
  `noise
  __asm__("leaq `s_fn(%%rip), %0" : "=r"(p));
  return p(x);
}
`attr int `call(int x) { `noise return `s_run(x) + `s_get(); }
CHECK `check(void) { SHOW(`s_get()); SHOW(`s_run(3)); `s_v += 4; SHOW(`call(1)); }
====
c module-asm asm
__attribute__((used, noinline)) static int `s_helper(int x) { `noise return x + `num; }
__asm__(".text\n.type `asmf,@function\n`globl\n`asmf: movl $41, %edi\n jmp `s_helper\n.size `asmf,.-`asmf\n");
extern int `asmf(void) __attribute__((visibility("hidden")));
`attr static int `s_use(int x) { `noise return `asmf() + x; }
`attr int `call(int x) { `noise return `asmf() + `s_helper(x); }
CHECK `check(void) { SHOW(`s_use(1)); SHOW(`call(2)); }
====
c asm-directives asm
__asm__(".lcomm `l1, 8\n.local `l2\n.comm `l2, 4, 4\n.set `l3, `l4 + 4\n.data\n`l4: .long 1, 2\n.previous\n");
extern int `l1[2] HIDDEN, `l2 HIDDEN, `l3 HIDDEN, `l4[2] HIDDEN;
`attr static int `s_f(int x) { `noise return (`l1[1] += x) + `l3; }
`attr static int `s_g(int x) { `noise return (`l2 += x) + `l4[0]; }
`attr int `call(int x) { `noise `l1[0] = x; return `s_g(`s_f(x)) + `l1[0]; }
CHECK `check(void) { SHOW(`call(1)); SHOW(`s_f(2)); SHOW(`l2); SHOW(`l3); }
====
c asm-macros asm
__asm__(".macro `mac name, value\n .data\n\\name\\()_`k: .long \\value\n .previous\n.endm\n`mac first, 1\n`mac second, `num\n");
__asm__(".irp n, 1, 2\n .data\nirp\\n\\()_`k: .long 10 + \\n\n .previous\n.endr\n");
extern int first_`k HIDDEN, second_`k HIDDEN, irp1_`k HIDDEN, irp2_`k HIDDEN;
`attr static int `s_f(int x) { `noise return first_`k += x; }
`attr static int `s_g(int x) { `noise return irp1_`k += x + second_`k; }
`attr int `call(int x) { `noise return `s_f(x) + `s_g(x) + irp2_`k; }
CHECK `check(void) { SHOW(`call(1)); SHOW(irp1_`k); SHOW(irp2_`k); SHOW(first_`k); }
====
c asm-sections asm
`attr __attribute__((used)) static int `s_one(int x) { `noise return x + 1; }
__asm__(".pushsection `set, \"aw\"\n.quad `s_one\n.popsection\n");
__attribute__((noinline)) int `f(int x) {
  `noise
  __asm__ volatile(".pushsection `set, \"aw\"\n.quad 0\n.globl `label\n`label: .quad 5\n.popsection\n");
  return x;
}
extern long `label HIDDEN, __start_`set[] WEAK, __stop_`set[] WEAK;
CHECK `check(void) { if (__start_`set) SHOW(((int (*)(int))__start_`set[0])(2)); SHOW(`f(2)); }
====
c asm-aliases asm
`attr __attribute__((used)) static int `s_real(int x) { `noise return x + `num; }
__asm__(".globl `set\n.set `set, `s_real\n.weakref `ref, `target\n");
extern int `set(int), `target(int);
`attr __attribute__((used)) static void *`s_get(void) {
  void *p; `noise __asm__("leaq `ref(%%rip), %0" : "=r"(p)); return p;
}
CHECK `check(void) { SHOW(`set(1)); SHOW(`target(2)); SHOW(`s_get() == (void *)`target); }
----
`attr HIDDEN int `target(int x) { `noise return x + 9; }
`attr int `call(int x) { `noise return x + 2; }
====
c asm-goto asm
`attr static int `s_f(int x) {
  `noise
  __asm__ goto("testl %0, %0\n jz %l1" : : "r"(x) : "cc" : zero);
  return 1;
zero:
  return 2;
}
__attribute__((naked, used)) static int `s_naked(int x) { __asm__("leal `num(%rdi), %eax\n ret"); }
__attribute__((used, noinline)) static int `s_last(int x) { `noise return x + 4; }
__attribute__((naked)) int `call(int x) { __asm__("addl $1, %edi\n jmp `s_last"); }
CHECK `check(void) { SHOW(`s_f(0)); SHOW(`s_f(1)); SHOW(`s_naked(3)); SHOW(`call(5)); }
====
c asm-operands asm
`attr static int `s_a(int x) { `noise return x + 1; }
static int `s_v = `num;
`attr int `call(int x) {
  void *p;
  `noise
  __asm__("leaq %c1(%%rip), %0" : "=r"(p) : "i"(&`s_v));
  return *(int *)p + `s_a(x);
}
`attr static void *`s_address(void) { void *p; __asm__("leaq %c1(%%rip), %0" : "=r"(p) : "i"(`s_a)); return p; }
CHECK `check(void) { `s_v += 2; SHOW(`call(1)); SHOW(`s_address() == (void *)`s_a); }
====
c weakref
static int `s_wr(int) __attribute__((weakref("`target")));
static int `s_no(int) __attribute__((weakref("`none")));
`attr static int `s_f(int x) { `noise return `s_wr ? `s_wr(x) : 5; }
CHECK `check(void) { SHOW(`s_f(1)); SHOW(`s_no ? `s_no(1) : 6); }
----
`attr `vis int `target(int x) { `noise return x + 9; }
`attr int `call(int x) { `noise return `target(x); }
====
c gnu-inline
static const int `s_three = 3;
static int `s_calls;
extern inline __attribute__((gnu_inline)) int `gi(int x) { return x + `s_three; }
inline int `c99(int x) { return x * 3; }
`attr static int `s_f(int x) { `noise ++`s_calls; return `gi(x) + `c99(x); }
CHECK `check(void) { SHOW(`s_f(1)); SHOW(`gi(2)); SHOW(`s_calls); }
----
`attr int `gi(int x) { `noise return x + 3; }
inline int `c99(int x) { return x * 3; }
extern inline int `c99(int x);
`attr int `call(int x) { `noise return `gi(x) + `c99(x); }
====
c inlines
static inline __attribute__((always_inline)) int `s_a(int x) { static int `s_n; return x + ++`s_n; }
static inline int `s_b(int x) { static int `s_n = 5; return `s_a(x) + ++`s_n; }
`attr static int `s_c(int x) { `noise return `s_b(x) + `s_a(x); }
`attr int `call(int x) { `noise return `s_c(x) + `s_b(x + 1) + `s_a(1); }
CHECK `check(void) { SHOW(`call(1)); SHOW(`s_a(1)); SHOW(`s_b(2)); SHOW(`any); }
====
c jumps
#include <setjmp.h>
static jmp_buf `s_env;
`attr static void `s_leave(int x) { `noise longjmp(`s_env, x); }
`attr static int `s_f(int x) {
  volatile int n = 0;
  int r = setjmp(`s_env);
  `noise
  if (++n < 3) `s_leave(r + x);
  return n * 100 + r;
}
`attr int `call(int x) { `noise return `s_f(x + 1); }
CHECK `check(void) { SHOW(`call(1)); }
====
c variadic
#include <stdarg.h>
`attr static int `s_sum(int n, ...) {
  va_list ap;
  int s = 0;
  `noise
  va_start(ap, n);
  while (n--) s += va_arg(ap, int);
  va_end(ap);
  return s;
}
struct `s_big { int a[9]; };
`attr static struct `s_big `s_make(struct `s_big b, int i) { `noise b.a[i] = 7; return b; }
static const struct `s_big `s_start = {{1, 2, 3, 4, 5, `num}};
`attr int `call(int x) {
  `noise
  struct `s_big b = `s_make(`s_start, x & 7);
  return `s_sum(3, b.a[0], b.a[5], b.a[x & 7]);
}
CHECK `check(void) { SHOW(`call(1)); SHOW(`s_sum(2, 3, 4)); }
====
c switches
`attr static const char *`s_name(int x) {
  `noise
  switch (x) {
  case 0: return "zero"; case 1: return "one"; case 2: return "two `num";
  case 3: return "three"; case 4: return "four"; case 5: return "five";
  }
  return "many";
}
`attr static int `s_do(int x) {
  switch (x) {
  case 0: `noise return `any; case 1: `noise return 2; case 2: `noise return 17;
  case 3: `noise return `any; case 4: `noise return 9; case 5: `noise return x * 3;
  }
  return 0;
}
`attr int `call(int x) { `noise return `s_do(x % 7 < 0 ? 0 : x % 7) + `s_name(x & 3)[1]; }
CHECK `check(void) { for (int i = 0; i < 7; ++i) { SHOW(`s_name(i)[0]); SHOW(`call(i)); } }
====
c numbers
typedef float `s_four __attribute__((vector_size(16)));
static const double `s_weights[4] = {1.5, 2.25, `num, -4};
static `s_four `s_acc = {1, 2, 3, 4};
static _Atomic int `s_atomic;
`attr static double `s_poly(double x) { `noise return ((x * 1.25 + 3.5) * x - 0.125) * `s_weights[(int)x & 3]; }
`attr static `s_four `s_add(`s_four a) { `noise `s_acc += a * (`s_four){0.5f, 1.5f, 2.5f, 3.5f}; return `s_acc; }
`attr static __int128 `s_wide(__int128 a) { `noise return a * a / (a - 1); }
`attr int `call(int x) { `noise ++`s_atomic; return (int)`s_poly(x & 15) + (int)`s_add(`s_acc)[1] % 1000 + `s_atomic; }
CHECK `check(void) { SHOW(`call(1)); SHOW(`call(2)); SHOW(`s_wide(1000000007)); SHOW(`s_poly(2.5) * 1000); }
====
c names
static int `s_v __asm__("odd.`s_v$x") = `num;
`attr static int `s_f(int x) __asm__("odd.`s_f.llvm.123");
`attr static int `s_f(int x) { `noise return x + `s_v; }
int `g(int x) __asm__("`g.with.dots");
`attr int `g(int x) { `noise return `s_f(x) * 2; }
static const char *`s_p = __func__ == 0 ? "" : "a";
`attr int `call(int x) { `noise return `g(x) + `s_f(1) + __func__[0]; }
CHECK `check(void) { SHOW(`call(1)); SHOW(`s_v); SHOW(`s_p[0]); }
====
c cleanup
static int `s_left;
`attr static void `s_leave(int *p) { `noise `s_left = `s_left * 3 + *p; }
__attribute__((cold)) static int `s_cold(int x) { `noise return x + `s_left; }
__attribute__((hot, flatten)) static int `s_hot(int x) { `noise return `s_cold(x) + 1; }
__attribute__((const)) `attr static int `s_pure(int x) { return x * 5; }
`attr int `call(int x) {
  __attribute__((cleanup(`s_leave))) int a = x;
  `noise
  { __attribute__((cleanup(`s_leave))) int b = 4; if (x > 100) return `s_hot(b); }
  return `s_pure(x) + `s_cold(a);
}
CHECK `check(void) { SHOW(`call(1)); SHOW(`call(200)); SHOW(`s_left); SHOW(`any); }
====
c used
__attribute__((used)) static int `s_a = 3;
__attribute__((retain, used)) static int `s_b(int x) { `noise return x + `s_a; }
__attribute__((used)) int `c = 4;
__attribute__((used, cold)) `vis int `d(int x) { `noise return `s_b(x) + `c; }
__attribute__((used)) static const int `s_e[] = {1, 2, `num};
`attr static int `s_f(int x) { `noise return `s_e[x & 1] + `s_b(x); }
`attr int `call(int x) { `noise return `d(x) + `s_f(x); }
CHECK `check(void) { SHOW(`call(1)); ++`s_a; SHOW(`s_f(2)); }
====
c memory
#include <string.h>
#include <stdlib.h>
struct `s_rec { char name[12]; int values[6]; double d; };
static const struct `s_rec `s_default = {"name `num", {1, 2, 3, 4, 5, 6}, 2.5};
static struct `s_rec `s_now;
`attr static int `s_compare(const void *a, const void *b) { `noise return *(const int *)b - *(const int *)a; }
`attr static void `s_reset(void) { `noise `s_now = `s_default; }
`attr int `call(int x) {
  `noise
  `s_reset();
  qsort(`s_now.values, 6, sizeof(int), `s_compare);
  return `s_now.values[x & 3] + memcmp(`s_now.name, `s_default.name, 12) + (int)strlen(`s_now.name);
}
CHECK `check(void) { SHOW(`call(1)); SHOW(`s_now.d * 2); }
====
c copies
const int `shared_constant = `num;
`vis const char `text[] = "text `num";
const int `array[] = {1, 2, 3, `num};
static const int `s_mine[40] = {4, 5, 6};
`attr static int `s_f(int x) { return `shared_constant + `array[x & 3] + `s_mine[x & 7]; }
`attr static int `s_g(int x) { return `s_f(x) + `text[x & 3]; }
`attr int `call(int x) { `noise return `s_f(x) + `s_g(x + 1); }
int `other(int);
CHECK `check(void) { `noise SHOW(`call(1)); SHOW(`other(2)); SHOW(`s_mine == 0); }
----
extern const int `shared_constant, `array[];
extern const char `text[];
static const int *const `s_p = &`array[2];
`attr int `other(int x) { `noise return `shared_constant + `s_p[-(x & 1)] + `text[0]; }
====
c++ virtuals
namespace { struct `s_Base { virtual int f(int x) { `noise return x + 1; } virtual ~`s_Base() {} int n = 3; };
struct `s_One : `s_Base { int f(int x) override { `noise return x * 2 + n; } };
struct `s_Two final : `s_One { int f(int x) override { return x + n + `num; } }; }
struct `Ext { virtual int g(int); virtual ~`Ext(); int m = 2; };
struct `Ext2 : `Ext { int g(int x) override { `noise return x + 20; } };
`Ext *`make(int);
`attr static int `s_run(`s_Base *b) { `noise return b->f(3); }
extern "C" `attr int `call(int x) { `s_One a; `s_Two b; `s_Base c; `noise return `s_run(&a) + `s_run(&b) + `s_run(&c) + x; }
extern "C" CHECK `check(void) {
  SHOW(`call(1)); `Ext *e = `make(0), *f = `make(1); SHOW(e->g(1)); SHOW(f->g(1));
  SHOW(dynamic_cast<`Ext2 *>(e) != 0); SHOW(dynamic_cast<`Ext2 *>(f) != 0); delete e; delete f;
}
----
struct `Ext { virtual int g(int); virtual ~`Ext(); int m = 2; };
struct `Ext2 : `Ext { int g(int x) override { `noise return x + 20; } };
`attr int `Ext::g(int x) { `noise return x + m; }
`Ext::~`Ext() { SHOW(m); }
`attr `Ext *`make(int n) { `noise return n ? new `Ext2 : new `Ext; }
====
c++ templates
template <class T> struct `Box { static int count; int add(T x) { `noise return count += (int)x; } virtual int v() { return 1; } };
template <class T> int `Box<T>::count = 5;
inline int `ivar = 3;
inline int `next() { static int n = 10; `noise return ++n; }
template <int N> int `power(int x) { `noise return x * `power<N - 1>(x); }
template <> inline int `power<0>(int) { return 1; }
int `other(int);
extern "C" `attr int `call(int x) { `Box<int> b; `noise return b.add(x & 7) + `next(); }
extern "C" CHECK `check(void) { `Box<int> b; `Box<char> c; SHOW(b.add(3)); SHOW(c.add(4)); SHOW(`other(1)); SHOW(++`ivar); SHOW(`next()); SHOW(`power<3>(2)); SHOW(b.v()); }
----
template <class T> struct `Box { static int count; int add(T x) { `noise return count += (int)x; } virtual int v() { return 1; } };
template <class T> int `Box<T>::count = 5;
inline int `ivar = 3;
inline int `next() { static int n = 10; `noise return ++n; }
template <int N> int `power(int x) { `noise return x * `power<N - 1>(x); }
template <> inline int `power<0>(int) { return 1; }
template struct `Box<long>;
`attr int `other(int x) { `Box<int> b; `Box<long> l; `noise return b.add(x) + `next() + ++`ivar + `power<4>(2) + l.add(2) + b.v(); }
====
c++ exceptions
namespace { struct `s_Local { int v; }; struct `s_Guard { int *p; ~`s_Guard() { `noise *p += 3; } }; }
struct `Error { virtual ~`Error() {} int code = 3; };
void `raise(int);
`attr static int `s_risky(int x) { `noise if (x > 2) throw `s_Local{x}; if (x > 1) `raise(x); return x; }
extern "C" `attr int `call(int x) {
  int seen = 0;
  try { `s_Guard g{&seen}; `noise seen += `s_risky(x & 3); }
  catch (`s_Local &l) { seen += l.v * 10; }
  catch (`Error &e) { seen += e.code * 100; }
  catch (...) { seen += 1000; }
  return seen;
}
`attr static int `s_through(int x) noexcept(false) { int n = 0; { `s_Guard g{&n}; try { `raise(x); } catch (int i) { n = i; } } return n; }
extern "C" CHECK `check(void) { for (int i = 0; i < 4; ++i) SHOW(`call(i)); SHOW(`s_through(7)); }
----
struct `Error { virtual ~`Error() {} int code = 3; };
namespace { struct `s_More : `Error { `s_More() { code = `num; } }; }
`attr void `raise(int x) { `noise if (x == 2) throw `s_More(); throw x; }
====
c++ initializers
extern "C" int `call(int);
static int `s_state = `call(3);
static int `s_second = `s_state + `call(4);
namespace { struct `s_Say { int n; `s_Say(int n) : n(n) { `noise SHOW(n); } ~`s_Say() { SHOW(-n); } }; }
static `s_Say `s_a(1);
`s_Say `b __attribute__((init_priority(`priority)))(2);
struct `Ext { int n; `Ext(int n) : n(n) { SHOW(n); } ~`Ext() { SHOW(n); } };
inline `Ext *`inl() { static `Ext s(3); return &s; }
template <class T> struct `T { static int v; };
template <class T> int `T<T>::v = `call(sizeof(T));
namespace { `s_Say `s_c(4); }
extern "C" CHECK `check(void) { SHOW(`s_state); SHOW(`s_second); SHOW(`inl()->n); SHOW(`T<int>::v); SHOW(`s_c.n); }
----
static int `s_n = 4;
namespace { struct `s_Say { int n; `s_Say(int n) : n(n) { `noise SHOW(n); } ~`s_Say() { SHOW(-n); } }; }
static `s_Say `s_a(11);
static `s_Say `s_b __attribute__((init_priority(`priority)))(12);
extern "C" `attr int `call(int x) { `noise return x + `s_n++; }
====
c++ threads
namespace { struct `s_Say { int n; `s_Say(int n) : n(n) { `noise SHOW(n); } ~`s_Say() {} }; }
static thread_local `s_Say `s_a(1);
extern thread_local int `t;
inline thread_local int `i = 5;
thread_local int `u = `t + 1;
extern "C" CHECK `check(void) { SHOW(`s_a.n); SHOW(++`t); SHOW(++`i); SHOW(`u); }
----
extern "C" `attr int `call(int x) { `noise return x + 2; }
thread_local int `t = `call(4);
inline thread_local int `i = 5;
`attr int `get(void) { `noise return `i + `t; }
====
c++ inheritance
struct `A { virtual int a() { `noise return 1; } virtual `A *self() { return this; } virtual ~`A() {} int x = 1; };
struct `B { virtual int b() { `noise return 2; } virtual `B *me() { return this; } virtual ~`B() {} int y = 2; };
struct `C : virtual `A, virtual `B { int a() override { return x + 10; } int b() override { `noise return y + `num; } `C *self() override { return this; } `C *me() override { return this; } };
`B *`cross(`A *);
`attr static int `s_f(`A *a, `B *b) { `noise return a->a() * 100 + b->b(); }
extern "C" CHECK `check(void) { `C c; SHOW(`s_f(&c, &c)); `A *a = &c; SHOW(a->self()->a()); `B *b = &c; SHOW(b->me()->b()); SHOW(`cross(a)->b()); SHOW((int)(typeid(*a) == typeid(`C))); }
----
struct `A { virtual int a() { `noise return 1; } virtual `A *self() { return this; } virtual ~`A() {} int x = 1; };
struct `B { virtual int b() { `noise return 2; } virtual `B *me() { return this; } virtual ~`B() {} int y = 2; };
`attr `B *`cross(`A *a) { `noise return dynamic_cast<`B *>(a); }
extern "C" `attr int `call(int x) { `A a; `noise return x + a.a(); }
====
c++ lambdas
static auto `s_add = [](int x) { `noise return x + `num; };
static int (*`s_p)(int) = `s_add;
template <class F> `attr static int `s_apply(F f, int x) { `noise return f(x) + f(x + 1); }
namespace { struct `s_M { int v; int get(int x) const { `noise return v + x; } virtual int virt(int x) { return v - x; } virtual ~`s_M() {} }; }
extern "C" `attr int `call(int x) { int k = 2; `noise return `s_apply([&](int y) { return y * k++; }, x) + `s_p(x); }
extern "C" CHECK `check(void) {
  SHOW(`call(1)); SHOW(`s_apply(`s_p, 2)); `s_M m{}; m.v = 5;
  int (`s_M::*p)(int) const = &`s_M::get; int (`s_M::*q)(int) = &`s_M::virt;
  SHOW((m.*p)(1)); SHOW((m.*q)(1));
}
====
ll linkage
@`v = `llvis global i32 3
@`wk = weak global i32 4
@`odr = linkonce_odr `addr constant [2 x i32] [i32 5, i32 6]
@`once = linkonce global i32 7
@`s_priv = private `addr global i32 8
@`s_const = internal `addr constant [3 x i16] [i16 1, i16 2, i16 3]
@`init = externally_initialized global i32 9
@`none = extern_weak global i32
define internal i32 @`s_f(i32 %x) `fnattr {
`noise
  %a = load i32, ptr @`v
  %b = load i32, ptr @`wk
  %c = load i32, ptr getelementptr inbounds ([2 x i32], ptr @`odr, i64 0, i64 1)
  %d = load i32, ptr @`once
  %e = load i32, ptr @`s_priv
  store i32 %x, ptr @`s_priv
  %f = load i16, ptr getelementptr inbounds ([3 x i16], ptr @`s_const, i64 0, i64 2)
  %g = zext i16 %f to i32
  %h = load i32, ptr @`init
  %i = icmp eq ptr @`none, null
  %j = zext i1 %i to i32
  %r1 = add i32 %a, %b
  %r2 = add i32 %r1, %c
  %r3 = add i32 %r2, %d
  %r4 = mul i32 %r3, %e
  %r5 = add i32 %r4, %g
  %r6 = add i32 %r5, %h
  %r7 = add i32 %r6, %j
  ret i32 %r7
}
define linkonce i32 @`g(i32 %x) `fnattr {
`noise
  %y = call i32 @`s_f(i32 %x)
  %z = call i32 @`any(i32 1)
  %r = add i32 %y, %z
  ret i32 %r
}
define i32 @`call(i32 %x) `fnattr {
`noise
  %y = call i32 @`g(i32 %x)
  ret i32 %y
}
define void @`check() {
  %a = call i32 @`call(i32 `num)
  call void @show(i32 %a)
  %b = call i32 @`s_f(i32 2)
  call void @show(i32 %b)
  ret void
}
====
ll comdats
$`group = comdat any
$`nodup = comdat nodeduplicate
@`group = linkonce_odr global ptr @`s_member, comdat
@`nodup = global i32 3, comdat
@`s_data = private global i32 4, comdat($`group)
@`s_more = internal global [2 x i32] [i32 5, i32 6], comdat($`nodup)
define internal i32 @`s_member(i32 %x) `fnattr comdat($`group) {
`noise
  %a = load i32, ptr @`s_data
  %b = add i32 %a, %x
  store i32 %b, ptr @`s_data
  ret i32 %b
}
define i32 @`call(i32 %x) `fnattr comdat($`nodup) {
`noise
  %a = load i32, ptr getelementptr inbounds ([2 x i32], ptr @`s_more, i64 0, i64 1)
  %p = load ptr, ptr @`group
  %b = call i32 %p(i32 %a)
  %c = load i32, ptr @`nodup
  %r = add i32 %b, %c
  ret i32 %r
}
define void @`check() {
  %a = call i32 @`call(i32 `num)
  call void @show(i32 %a)
  %p = load ptr, ptr @`group
  %b = call i32 %p(i32 2)
  call void @show(i32 %b)
  ret void
}
====
ll function-data asm
@`s_word = private unnamed_addr constant i32 77
define internal i32 @`s_target(i32 %x) `fnattr {
`noise
  %r = add i32 %x, `num
  ret i32 %r
}
define internal i32 @`s_f(i32 %x) noinline prefix i64 sub (i64 ptrtoint (ptr @`s_target to i64), i64 ptrtoint (ptr @`s_f to i64)) {
`noise
  %r = mul i32 %x, 3
  ret i32 %r
}
define i32 @`call(i32 %x) noinline prefix <{ i32, i32 }> <{ i32 5, i32 `num }> prologue i8 -112 {
`noise
  %r = call i32 @`s_f(i32 %x)
  ret i32 %r
}
define void @`check() {
  %p = getelementptr i64, ptr @`s_f, i64 -1
  %o = load i64, ptr %p
  %f = getelementptr i8, ptr @`s_f, i64 %o
  %a = call i32 %f(i32 4)
  call void @show(i32 %a)
  %q = getelementptr i32, ptr @`call, i64 -1
  %n = load i32, ptr %q
  call void @show(i32 %n)
  %b = call i32 @`call(i32 3)
  call void @show(i32 %b)
  ret void
}
====
ll aliases asm
@`s_base = internal global [4 x i32] [i32 1, i32 2, i32 3, i32 `num], align 16
@`middle = `llvis alias i32, getelementptr inbounds ([4 x i32], ptr @`s_base, i64 0, i64 1)
@`s_last = internal alias i32, getelementptr inbounds ([4 x i32], ptr @`s_base, i64 0, i64 3)
@`again = weak alias i32, getelementptr inbounds ([4 x i32], ptr @`s_base, i64 0, i64 1)
@`fa = alias i32 (i32), ptr @`s_f
@`s_fb = private alias i32 (i32), ptr @`s_f
@`s_table = internal constant [2 x ptr] [ptr @`fa, ptr @`s_fb]
define internal i32 @`s_f(i32 %x) `fnattr {
`noise
  %a = load i32, ptr @`middle
  %b = load i32, ptr @`s_last
  %c = add i32 %a, %x
  store i32 %c, ptr @`again
  %r = add i32 %b, %c
  ret i32 %r
}
define i32 @`call(i32 %x) `fnattr {
`noise
  %r = call i32 @`s_fb(i32 %x)
  ret i32 %r
}
define void @`check() {
  %p = load ptr, ptr getelementptr inbounds ([2 x ptr], ptr @`s_table, i64 0, i64 1)
  %a = call i32 %p(i32 1)
  call void @show(i32 %a)
  %b = call i32 @`call(i32 2)
  call void @show(i32 %b)
  %v = load i32, ptr @`again
  call void @show(i32 %v)
  ret void
}
====
ll relative
@`s_rel = private unnamed_addr constant [3 x i32] [
  i32 trunc (i64 sub (i64 ptrtoint (ptr @`s_one to i64), i64 ptrtoint (ptr @`s_rel to i64)) to i32),
  i32 trunc (i64 sub (i64 ptrtoint (ptr dso_local_equivalent @`two to i64), i64 ptrtoint (ptr @`s_rel to i64)) to i32),
  i32 trunc (i64 sub (i64 ptrtoint (ptr @`s_text to i64), i64 ptrtoint (ptr @`s_rel to i64)) to i32)], align 4
@`s_text = private unnamed_addr constant [5 x i8] c"text\00"
define internal i32 @`s_one(i32 %x) `fnattr {
`noise
  %r = add i32 %x, 1
  ret i32 %r
}
define hidden i32 @`two(i32 %x) `fnattr {
`noise
  %r = add i32 %x, 2
  ret i32 %r
}
declare ptr @llvm.load.relative.i64(ptr, i64)
define i32 @`call(i32 %x) `fnattr {
`noise
  %a = and i32 %x, 1
  %b = zext i32 %a to i64
  %c = mul i64 %b, 4
  %f = call ptr @llvm.load.relative.i64(ptr @`s_rel, i64 %c)
  %r = call i32 %f(i32 %x)
  ret i32 %r
}
define void @`check() {
  %a = call i32 @`call(i32 4)
  call void @show(i32 %a)
  %b = call i32 @`call(i32 5)
  call void @show(i32 %b)
  %t = call ptr @llvm.load.relative.i64(ptr @`s_rel, i64 8)
  %c = load i8, ptr %t
  %d = zext i8 %c to i32
  call void @show(i32 %d)
  ret void
}
====
ll associated
@`owner = `llvis global i32 5
@`s_one = internal global i32 6, section "`assoc", !associated !`md_1
@`s_two = internal global i32 7, section "`assoc", !associated !`md_2
@`s_tls = internal thread_local(`lltls) global i32 8
@llvm.compiler.used = appending global [4 x ptr] [ptr @`s_one, ptr @`s_two, ptr @`owner, ptr @`s_f], section "llvm.metadata"
@__start_`assoc = external hidden global i32
declare ptr @llvm.threadlocal.address.p0(ptr)
define internal i32 @`s_f(i32 %x) `fnattr {
`noise
  %a = load i32, ptr @`owner
  %p = call ptr @llvm.threadlocal.address.p0(ptr @`s_tls)
  %b = load i32, ptr %p
  store i32 %a, ptr %p
  %r = add i32 %a, %b
  ret i32 %r
}
define i32 @`call(i32 %x) `fnattr {
`noise
  %a = call i32 @`s_f(i32 %x)
  ret i32 %a
}
define void @`check() {
  %a = call i32 @`call(i32 1)
  call void @show(i32 %a)
  %b = load i32, ptr @__start_`assoc
  call void @show(i32 %b)
  %c = call i32 @`s_f(i32 2)
  call void @show(i32 %c)
  ret void
}
!`md_1 = !{ptr @`owner}
!`md_2 = !{ptr @`s_f}
====
ll metadata
@`s_table = internal constant [2 x ptr] [ptr @`s_one, ptr @`s_two]
@`s_rare = internal global i32 3, !exclude !`md_none
define internal i32 @`s_one(i32 %x) `fnattr !section_prefix !`md_prefix {
`noise
  %r = add i32 %x, 1
  ret i32 %r
}
define internal i32 @`s_two(i32 %x) `fnattr !prof !`md_prof {
`noise
  %r = add i32 %x, 2
  ret i32 %r
}
define available_externally i32 @`there(i32 %x) {
  %r = add i32 %x, 9
  ret i32 %r
}
define i32 @`call(i32 %x) `fnattr {
`noise
  %a = and i32 %x, 1
  %b = zext i32 %a to i64
  %p = getelementptr [2 x ptr], ptr @`s_table, i64 0, i64 %b
  %f = load ptr, ptr %p
  %c = call i32 %f(i32 %x), !callees !`md_callees
  %d = call i32 @`there(i32 %x)
  %r = add i32 %c, %d
  ret i32 %r
}
define void @`check() {
  %a = call i32 @`call(i32 4)
  call void @show(i32 %a)
  %b = call i32 @`call(i32 5)
  call void @show(i32 %b)
  ret void
}
!`md_prefix = !{!"section_prefix", !"`prefix"}
!`md_prof = !{!"function_entry_count", i64 `num}
!`md_callees = !{ptr @`s_one, ptr @`s_two}
!`md_none = !{}
----
define i32 @`there(i32 %x) {
  %r = add i32 %x, 9
  ret i32 %r
}
====
ll labels
@`s_labels = internal constant [2 x ptr] [ptr blockaddress(@`s_jump, %one), ptr blockaddress(@`s_jump, %two)]
@`s_inside = private unnamed_addr constant ptr blockaddress(@`call, %there)
define internal i32 @`s_jump(i32 %x) {
  %a = and i32 %x, 1
  %b = zext i32 %a to i64
  %p = getelementptr [2 x ptr], ptr @`s_labels, i64 0, i64 %b
  %l = load ptr, ptr %p
  indirectbr ptr %l, [label %one, label %two]
one:
`noise
  ret i32 `num
two:
  ret i32 2
}
define i32 @`call(i32 %x) noinline {
  %y = call i32 @`s_jump(i32 %x)
  %l = load ptr, ptr @`s_inside
  indirectbr ptr %l, [label %there, label %never]
there:
`noise
  ret i32 %y
never:
  ret i32 0
}
define i32 @`other(i32 %x) `fnattr {
`noise
  %a = call i32 @`s_jump(i32 %x)
  %b = call i32 @`call(i32 %x)
  %r = add i32 %a, %b
  ret i32 %r
}
define void @`check() {
  %a = call i32 @`other(i32 0)
  call void @show(i32 %a)
  %b = call i32 @`other(i32 1)
  call void @show(i32 %b)
  ret void
}
====
ll ifuncs asm
@`f = `llvis ifunc i32 (i32), ptr @`s_resolve
@`own = internal ifunc i32 (i32), ptr @`s_resolve
define internal i32 @`s_one(i32 %x) `fnattr {
`noise
  %r = add i32 %x, `num
  ret i32 %r
}
define internal ptr @`s_resolve() {
  ret ptr @`s_one
}
define i32 @`call(i32 %x) `fnattr {
`noise
  %a = call i32 @`f(i32 %x)
  %b = call i32 @`own(i32 %a)
  ret i32 %b
}
define void @`check() {
  %a = call i32 @`call(i32 0)
  call void @show(i32 %a)
  %p = alloca ptr
  store volatile ptr @`own, ptr %p
  %q = load volatile ptr, ptr %p
  %b = call i32 %q(i32 3)
  call void @show(i32 %b)
  ret void
}
====
ll unnamed
@`first = global i32 `num
define internal i32 @`own(i32 %x) unnamed_addr `fnattr {
`noise
  %r = add i32 %x, 5
  ret i32 %r
}
define internal i32 @`s_h(i32 %x) unnamed_addr `fnattr {
`noise
  %r = add i32 %x, 5
  ret i32 %r
}
define i32 @`call(i32 %x) local_unnamed_addr `fnattr {
`noise
  %a = call i32 @`own(i32 %x)
  %b = call i32 @`s_h(i32 %a)
  %c = load i32, ptr @`first
  %r = add i32 %b, %c
  ret i32 %r
}
define preserve_mostcc i32 @`most(i32 %x) `fnattr {
`noise
  %r = musttail call preserve_mostcc i32 @`s_tail(i32 %x)
  ret i32 %r
}
define internal preserve_mostcc i32 @`s_tail(i32 %x) `fnattr {
`noise
  %r = add i32 %x, 6
  ret i32 %r
}
define internal fastcc i32 @`s_fast(i32 %x, i32 %y, ptr byval([4 x i32]) %p) `fnattr {
`noise
  %a = load i32, ptr %p
  %b = mul i32 %x, %y
  %r = add i32 %a, %b
  ret i32 %r
}
define void @`check() {
  %s = alloca [4 x i32]
  store [4 x i32] [i32 4, i32 5, i32 6, i32 7], ptr %s
  %a = call i32 @`call(i32 0)
  call void @show(i32 %a)
  %b = call preserve_mostcc i32 @`most(i32 2)
  call void @show(i32 %b)
  %c = call fastcc i32 @`s_fast(i32 3, i32 4, ptr byval([4 x i32]) %s)
  call void @show(i32 %c)
  ret void
}
"""
