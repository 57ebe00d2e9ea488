//===- ObjectCheckFuzz.cpp - Bytes that came from a plugin ----------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Input: what should be an object, and one byte that chooses the target. It is
// the last, so that an object begins where it does in a file.
//
//===----------------------------------------------------------------------===//

#include "Fuzz.h"
#include "Object/ObjectCheck.h"
#include "ObjectFields.h"
#include "Objects.h"
#include <cstring>

using namespace llvm;
using namespace dtlto;
using namespace dtlto::test;

std::vector<std::string> dtlto::test::fuzzSeeds() {
  std::vector<std::string> Seeds;
  ArrayRef<const char *> Targets = linkedTargets();
  for (size_t I = 0; I != Targets.size(); ++I)
    for (const Bytes &Object : richObjects(Targets[I]))
      Seeds.push_back(ref(Object).str() + char(I));
  return Seeds;
}

/// Checks \p Object behind \p Skip bytes of a block of the heap that ends where
/// it ends: the address sanitizer sees a read past it.
static bool isAccepted(StringRef Object, const Triple &T, size_t Skip) {
  std::vector<char> Block(Skip + Object.size());
  if (!Object.empty())
    memcpy(Block.data() + Skip, Object.data(), Object.size());
  return !errorToBool(
      checkObject(StringRef(Block.data() + Skip, Object.size()), T));
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  if (Size == 0)
    return 0;
  ArrayRef<const char *> Targets = linkedTargets();
  Triple T(Targets[Data[Size - 1] % Targets.size()]);
  StringRef Object(reinterpret_cast<const char *>(Data), Size - 1);
  bool Accepted = isAccepted(Object, T, 0);
  // A function of the bytes, wherever they lie: plugins give objects that are
  // aligned to nothing.
  check(isAccepted(Object, T, 1) == Accepted);
  // What is accepted is no object of another format.
  if (Accepted)
    check(!isAccepted(Object,
                      Triple(T.isOSBinFormatELF() ? "wasm32-unknown-unknown"
                                                  : "x86_64-pc-linux-gnu"),
                      0));
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *Data, size_t Size,
                                          size_t MaxSize, unsigned Seed) {
  std::mt19937 Random(Seed);
  // Other sizes, too, and other targets.
  if (Size < 2 || (LLVMFuzzerMutate != nullptr && Random() % 4 == 0))
    return LLVMFuzzerMutate ? LLVMFuzzerMutate(Data, Size, MaxSize) : Size;
  std::string Object(reinterpret_cast<char *>(Data), Size - 1);
  changeFields(Object, Random);
  memcpy(Data, Object.data(), Object.size());
  return Size;
}
