/* A module that takes half a second; MODULE makes its names unique. */
#define NAME_(m, n) f_##m##_##n
#define NAME(m, n) NAME_(m, n)
#define F(n)                                                                   \
  int NAME(MODULE, n)(int *p, int x) {                                         \
    for (int i = 0; i < x; ++i)                                                \
      for (int k = 0; k < i; ++k)                                              \
        p[i] += p[k] * (x ^ n) + (p[i + k] >> (n % 7));                        \
    return x > n ? p[x] : p[n % 13] - x;                                       \
  }
#define TEN(n)                                                                 \
  F(n##0)                                                                      \
  F(n##1) F(n##2) F(n##3) F(n##4) F(n##5) F(n##6) F(n##7) F(n##8) F(n##9)
TEN(1) TEN(2) TEN(3) TEN(4) TEN(5) TEN(6) TEN(7) TEN(8) TEN(9)
