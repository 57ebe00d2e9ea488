#include <stddef.h>
#include <stdio.h>

unsigned sum(const unsigned *Numbers, size_t Count);

int main(void) {
  unsigned Numbers[] = {1, 2, 3};
  printf("%u\n", sum(Numbers, 3));
  return 0;
}
