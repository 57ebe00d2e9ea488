//===- ObjectCheckFuzz.cpp - Objects of any bytes -------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Input: an object, and one byte that chooses the target. The byte is the last,
// so that objects are aligned as in a file.
//
// LLVM's objects are accepted, and truncated ones aren't.
//
//===----------------------------------------------------------------------===//

#include "Fuzz.h"
#include "Object/ObjectCheck.h"
#include "Object/WasmFile.h"
#include "ObjectFields.h"
#include "Objects.h"
#include <cstring>
#include <map>

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

/// Returns valid objects of a target.
static const std::vector<Bytes> &samples(const char *Target) {
  static std::map<const char *, std::vector<Bytes>> Samples;
  auto [It, IsNew] = Samples.try_emplace(Target);
  if (IsNew)
    It->second = richObjects(Target);
  return It->second;
}

/// Returns whether \p Object consists of the first sections of \p Sample. A
/// WebAssembly file has no table of its sections, so such an object is valid.
static bool endsAtSection(StringRef Object, StringRef Sample) {
  auto Sections = wasmSections(Sample);
  if (!Sections) {
    consumeError(Sections.takeError());
    return false;
  }
  return any_of(*Sections, [&](const WasmSection &S) {
    return S.Contents.end() == Sample.begin() + Object.size();
  });
}

/// Checks \p Object at an offset of \p Skip bytes in a heap block that ends
/// with it, so that the address sanitizer detects a read past the end.
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
  const char *Target = Targets[Data[Size - 1] % Targets.size()];
  Triple T(Target);
  StringRef Object(reinterpret_cast<const char *>(Data), Size - 1);
  bool Accepted = isAccepted(Object, T, 0);
  // The result must not depend on alignment, because objects from plugins have
  // none.
  check(isAccepted(Object, T, 1) == Accepted);
  for (const Bytes &Sample : samples(Target))
    if (ref(Sample).starts_with(Object) && !endsAtSection(Object, ref(Sample)))
      check(Accepted == (Object.size() == Sample.size()));
  // An accepted object isn't one of another format.
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
  // Also change the size and the target.
  if (Size < 2 || (LLVMFuzzerMutate != nullptr && Random() % 4 == 0))
    return LLVMFuzzerMutate ? LLVMFuzzerMutate(Data, Size, MaxSize) : Size;
  std::string Object(reinterpret_cast<char *>(Data), Size - 1);
  if (Random() % 4 == 0) {
    Object.resize(Random() % Object.size());
    Object += char(Data[Size - 1]);
    memcpy(Data, Object.data(), Object.size());
    return Object.size();
  }
  changeFields(Object, Random);
  memcpy(Data, Object.data(), Object.size());
  return Size;
}
