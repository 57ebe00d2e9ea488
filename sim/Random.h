//===- Random.h - Reproducible random numbers -------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The same random numbers on every machine and with every compiler: integers,
// and doubles from exact arithmetic.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_SIM_RANDOM_H
#define DTLTO_SIM_RANDOM_H

#include <cstdint>
#include <initializer_list>

namespace dtlto::sim {

/// One step of SplitMix64: turns similar seeds into unrelated numbers.
inline uint64_t mix(uint64_t X) {
  X += 0x9e3779b97f4a7c15;
  X = (X ^ (X >> 30)) * 0xbf58476d1ce4e5b9;
  X = (X ^ (X >> 27)) * 0x94d049bb133111eb;
  return X ^ (X >> 31);
}

/// A stream of random numbers. Each purpose has its own, so that leaving one
/// out doesn't change the others.
class Random {
public:
  explicit Random(std::initializer_list<uint64_t> Seeds) {
    for (uint64_t S : Seeds)
      State = mix(State ^ S);
  }

  uint64_t next() { return mix(State++); }
  /// From \p Low to \p High, both inclusive.
  uint64_t in(uint64_t Low, uint64_t High) {
    return Low + next() % (High - Low + 1);
  }
  /// From 0 to less than 1.
  double unit() {
    return static_cast<double>(next() >> 11) / 9007199254740992.;
  }
  double between(double Low, double High) {
    return Low + unit() * (High - Low);
  }
  bool chance(double P) { return unit() < P; }
  template <typename T> T pick(std::initializer_list<T> All) {
    return All.begin()[next() % All.size()];
  }

private:
  uint64_t State = 0;
};

} // namespace dtlto::sim

#endif // DTLTO_SIM_RANDOM_H
