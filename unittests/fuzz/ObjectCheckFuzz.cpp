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
// Objects as LLVM makes them are accepted, and what was cut off of them is not.
//
//===----------------------------------------------------------------------===//

#include "Fuzz.h"
#include "Object/ObjectCheck.h"
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

/// All objects of a target that are whole.
static const std::vector<Bytes> &samples(const char *Target) {
  static std::map<const char *, std::vector<Bytes>> Samples;
  auto [It, IsNew] = Samples.try_emplace(Target);
  if (IsNew)
    It->second = richObjects(Target);
  return It->second;
}

/// Whether \p Object is the beginning of \p Sample, without half of anything: a
/// WebAssembly file has no list of its sections.
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
  const char *Target = Targets[Data[Size - 1] % Targets.size()];
  Triple T(Target);
  StringRef Object(reinterpret_cast<const char *>(Data), Size - 1);
  bool Accepted = isAccepted(Object, T, 0);
  // A function of the bytes, wherever they lie: plugins give objects that are
  // aligned to nothing.
  check(isAccepted(Object, T, 1) == Accepted);
  for (const Bytes &Sample : samples(Target))
    if (ref(Sample).starts_with(Object) && !endsAtSection(Object, ref(Sample)))
      check(Accepted == (Object.size() == Sample.size()));
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
