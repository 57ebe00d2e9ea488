//===- Fuzz.h - What a fuzz target has ---------------------------*- C++
//-*-===//
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

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

/// Runs the code under test. Must not crash, whatever the input; what else must
/// hold is for the target to check.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size);

/// Changes an input where any change of a byte would lead nowhere; a target need
/// not have it. Returns the new size.
extern "C" __attribute__((weak)) size_t
LLVMFuzzerCustomMutator(uint8_t *Data, size_t Size, size_t MaxSize,
                        unsigned Seed);

namespace dtlto::test {

/// Inputs to begin with, made in memory.
std::vector<std::string> fuzzSeeds();

} // namespace dtlto::test

#endif // DTLTO_UNITTESTS_FUZZ_FUZZ_H
