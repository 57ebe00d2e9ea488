/* Values for which the libraries of glibc and of wine differ. */
#include <stdio.h>

double decimal(double), tangent(double), hyperbolic(double);

int main(void) {
  printf("%a %a %a %a %a\n", decimal(0.83), tangent(0.61), hyperbolic(0.3),
         hyperbolic(0.55), hyperbolic(0.7));
  return 0;
}
