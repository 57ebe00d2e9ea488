// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "rich.h"
#include <cstdio>

namespace {
struct Owner {
  Shape *shape;
  ~Owner() { delete shape; }
};
} // namespace

int main(int argc, char **) {
  double sum = 0;
  for (int kind = 0; kind < 4; ++kind)
    try {
      Owner owner{makeShape(kind, kind + argc)};
      sum += owner.shape->area();
    } catch (const NoSuchShape &e) {
      std::printf("%s\n", e.what());
    }
  std::printf("%.3f\n", sum);
  std::printf("%d\n", evaluate("1 2 + 3 *"));
  try {
    evaluate("+");
  } catch (const std::exception &e) {
    std::printf("%s\n", e.what());
  }
  std::printf("%d %d %d\n", plainC(argc), weakC(argc), aliasC(argc));
  std::printf("%d %d %d\n", registered(1), calls, primes[argc & 15]);
  Array<float> v(100, argc);
  Array<double> w(100, argc);
  scale(w.items, w.items, 3, 100);
  std::printf("%.1f %.1f\n", dot(v.items, v.items, 100), w.items[7]);
  return 0;
}
