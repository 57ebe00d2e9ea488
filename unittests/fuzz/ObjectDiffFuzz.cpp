//===- ObjectDiffFuzz.cpp - The differences of any two files --------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Input: the size of the first file, in two bytes, and both files.
//
//===----------------------------------------------------------------------===//

#include "Fuzz.h"
#include "Object/ObjectDiff.h"
#include "ObjectFields.h"
#include "Objects.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>

using namespace llvm;
using namespace dtlto;
using namespace dtlto::test;

static std::string input(StringRef Remote, StringRef Local) {
  return (Twine(char(Remote.size())) + Twine(char(Remote.size() >> 8)) +
          Remote + Local)
      .str();
}

std::vector<std::string> dtlto::test::fuzzSeeds() {
  std::vector<std::string> Seeds = {input("ab", "abc"), input("", "x")};
  for (StringRef Triple : {"x86_64-pc-linux-gnu", "x86_64-pc-windows-msvc",
                           "arm64-apple-macosx", "wasm32-unknown-unknown"}) {
    Bytes Object = compileObject("define i32 @f() { ret i32 1 }\n", Triple);
    std::string Other = ref(Object).str();
    Other[Other.size() / 2] ^= 1;
    Seeds.push_back(input(ref(Object), Other));
    Other = ref(compileObject("@v = global i32 1\n", Triple)).str();
    Seeds.push_back(input(ref(Object), Other));

    std::vector<Bytes> Rich = richObjects(Triple);
    Seeds.push_back(input(ref(Rich[0]), ref(Rich[1])));
    Other = ref(Rich[0]).str();
    std::mt19937 Random(1);
    changeFields(Other, Random);
    Seeds.push_back(input(ref(Rich[0]), Other));
  }
  return Seeds;
}

/// Removes \p Word and a number from \p Text; returns the number.
static size_t number(StringRef &Text, StringRef Word) {
  size_t N = 0;
  check(Text.consume_front(Word) && !Text.consumeInteger(10, N));
  return N;
}

/// Returns the size of the first file. The input has at least two bytes.
static size_t remoteSize(const uint8_t *Data, size_t Size) {
  return std::min(size_t(Data[0] | Data[1] << 8), Size - 2);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  if (Size < 2)
    return 0;
  StringRef Both(reinterpret_cast<const char *>(Data) + 2, Size - 2);
  size_t RemoteSize = remoteSize(Data, Size);
  // Copies let sanitizers detect a read past the end.
  std::vector<char> Remote(Both.begin(), Both.begin() + RemoteSize);
  std::vector<char> Local(Both.begin() + RemoteSize, Both.end());
  StringRef T(Remote.data(), Remote.size()), H(Local.data(), Local.size());
  if (T == H)
    return 0;
  std::string Difference = describeDifference(T, H);
  check(isLine(Difference) && Difference.size() < 2000);

  // The text has the first byte that differs, and both sizes.
  size_t First = size_t(
      std::mismatch(T.begin(), T.end(), H.begin(), H.end()).first - T.begin());
  StringRef Text = Difference;
  check(number(Text, "first in byte ") == First);
  if (Text.consume_front(" (section ")) {
    // Names may contain anything. The last part has the sizes.
    StringRef Sections = Text.rsplit("; ").first;
    size_t At = Sections.find(", byte "), Offset = 0;
    check(At != StringRef::npos);
    StringRef Rest = Sections.substr(At + 7);
    if (!Rest.consumeInteger(10, Offset))
      check(Offset <= First);
  }
  Text = StringRef(Difference).rsplit("; ").second;
  check(number(Text, "") == T.size() && Text.consume_front(" bytes"));
  if (T.size() != H.size())
    check(number(Text, ", not ") == H.size());
  check(Text.empty());
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *Data, size_t Size,
                                          size_t MaxSize, unsigned Seed) {
  std::mt19937 Random(Seed);
  if (Size < 2 || (LLVMFuzzerMutate != nullptr && Random() % 2 == 0))
    return LLVMFuzzerMutate ? LLVMFuzzerMutate(Data, Size, MaxSize) : Size;
  // Change one of the files.
  uint8_t *Remote = Data + 2, *Local = Remote + remoteSize(Data, Size);
  bool IsRemote = Random() % 2 == 0;
  std::string Object(IsRemote ? Remote : Local, IsRemote ? Local : Data + Size);
  changeFields(Object, Random);
  std::copy(Object.begin(), Object.end(), IsRemote ? Remote : Local);
  return Size;
}
