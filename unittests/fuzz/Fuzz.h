//===- Fuzz.h - What a fuzz target has --------------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each target is linked twice: with libFuzzer, which looks for inputs
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

/// Runs the code under test. Must not crash, whatever the input; what else must
/// hold is for the target to check.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size);

/// Changes an input where any change of a byte would lead nowhere; a target
/// need not have it. Returns the new size.
extern "C" __attribute__((weak)) size_t LLVMFuzzerCustomMutator(uint8_t *Data,
                                                                size_t Size,
                                                                size_t MaxSize,
                                                                unsigned Seed);

/// libFuzzer's own changes, for a target's mutator to mix with its own. Null in
/// a plain test, which makes such changes itself.
extern "C" __attribute__((weak)) size_t
LLVMFuzzerMutate(uint8_t *Data, size_t Size, size_t MaxSize);

namespace dtlto::test {

/// Inputs to begin with, made in memory.
std::vector<std::string> fuzzSeeds();

/// An input as a list of choices, for targets whose code takes no bytes. At its
/// end, all that is left to choose is the first.
class Choices {
public:
  Choices(const uint8_t *Data, size_t Size) : Next(Data), End(Data + Size) {}

  bool empty() const { return Next == End; }
  uint8_t take() { return empty() ? 0 : *Next++; }
  /// One of \p N, from 0.
  unsigned below(unsigned N) { return take() % N; }
  /// The next bytes, at most \p Size.
  std::string bytes(size_t Size) {
    const uint8_t *Begin = Next;
    Next += std::min(Size, size_t(End - Next));
    return {Begin, Next};
  }
  /// A text of at most \p Max bytes.
  std::string text(unsigned Max) { return bytes(below(Max + 1)); }

private:
  const uint8_t *Next, *End;
};

inline void check(bool Holds) {
  if (!Holds)
    abort();
}

/// Whether \p Text is fit for one line of a terminal, and says something.
inline bool isLine(std::string_view Text) {
  return !Text.empty() && std::all_of(Text.begin(), Text.end(), [](char C) {
    return uint8_t(C) >= 0x20 && C != 0x7f;
  });
}

} // namespace dtlto::test

#endif // DTLTO_UNITTESTS_FUZZ_FUZZ_H
