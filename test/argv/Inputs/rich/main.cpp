// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "rich.h"
#include <cstdio>
#include <memory>

int main(int argc, char **) {
  double sum = 0;
  for (int kind = 0; kind < 4; ++kind)
    try {
      std::unique_ptr<Shape> shape(makeShape(kind, kind + argc));
      sum += shape->area();
    } catch (const std::invalid_argument &e) {
      std::printf("%s\n", e.what());
    }
  std::printf("%.3f\n", sum);
  std::printf("%d\n", evaluate("1 2 + 3 *"));
  try {
    evaluate("+");
  } catch (const std::out_of_range &e) {
    std::printf("%s\n", e.what());
  }
  std::printf("%d %d %d\n", plainC(argc), weakC(argc), aliasC(argc));
  std::printf("%d %d %d\n", registered(1), calls, primes[argc & 15]);
  std::vector<float> v(100, argc);
  std::vector<double> w(100, argc);
  scale(w.data(), w.data(), 3, 100);
  std::printf("%.1f %.1f\n", dot(v.data(), v.data(), 100), w[7]);
  return 0;
}
