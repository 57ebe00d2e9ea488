//===- Fuzz.h - The functions of a fuzz target ------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each target is linked twice: with libFuzzer, which searches for inputs
// (DTLTO_BUILD_FUZZERS), and with Regression.cpp, a plain test with the same
// inputs in every run.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_UNITTESTS_FUZZ_FUZZ_H
#define DTLTO_UNITTESTS_FUZZ_FUZZ_H

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

/// Runs the code under test, which must not crash. The target checks all other
/// properties.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size);

/// Changes an input, for targets that refuse nearly all inputs with changed
/// bytes. Optional. Returns the new size.
extern "C" __attribute__((weak)) size_t LLVMFuzzerCustomMutator(uint8_t *Data,
                                                                size_t Size,
                                                                size_t MaxSize,
                                                                unsigned Seed);

/// libFuzzer's default mutator, which a target's mutator may call as well. Null
/// in a plain test, which makes such changes itself.
extern "C" __attribute__((weak)) size_t
LLVMFuzzerMutate(uint8_t *Data, size_t Size, size_t MaxSize);

namespace dtlto::test {

/// Returns the initial inputs, which are made in memory.
std::vector<std::string> fuzzSeeds();

/// Reads an input as a list of choices, for targets whose code doesn't take
/// bytes. At the end of the input, all choices are 0.
class Choices {
public:
  Choices(const uint8_t *Data, size_t Size) : Next(Data), End(Data + Size) {}

  bool empty() const { return Next == End; }
  uint8_t take() { return empty() ? 0 : *Next++; }
  /// Returns a choice from 0 to \p N - 1.
  unsigned below(unsigned N) { return take() % N; }
  /// Returns the next bytes, at most \p Size.
  std::string bytes(size_t Size) {
    const uint8_t *Begin = Next;
    Next += std::min(Size, size_t(End - Next));
    return {Begin, Next};
  }
  /// Returns a text of at most \p Max bytes.
  std::string text(unsigned Max) { return bytes(below(Max + 1)); }

private:
  const uint8_t *Next, *End;
};

inline void check(bool Holds) {
  if (!Holds)
    abort();
}

/// Returns whether \p Text is a line for a terminal, and not empty.
inline bool isLine(std::string_view Text) {
  return !Text.empty() && std::all_of(Text.begin(), Text.end(), [](char C) {
    return uint8_t(C) >= 0x20 && C != 0x7f;
  });
}

} // namespace dtlto::test

#endif // DTLTO_UNITTESTS_FUZZ_FUZZ_H
