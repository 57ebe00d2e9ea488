//===- BundleFuzz.cpp - Bundles of any bytes ------------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Input: a byte that says how to read the rest.
//
//   0   a bundle, as it is
//   1   a bundle in which the checksums of headers and manifest are corrected
//   2   a manifest without its digest, for the inputs of the seed
//
//===----------------------------------------------------------------------===//

#include "Bundle/BundleManifest.h"
#include "BundleJob.h"
#include "Fuzz.h"
#include "Modules.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/MathExtras.h"
#include <cstdio>

using namespace llvm;
using namespace dtlto;
using namespace dtlto::test;

namespace {

std::string seed(bool LongName) {
  std::string Import = LongName ? "m." + std::string(120, 'x') : "m.b-o";
  SmallVector<char, 0> Bytes = must(
      writeBundle(BundleJob({{"m.a-o", DTLTO_ROLE_PRIMARY, "BC"},
                             {Import, DTLTO_ROLE_IMPORT, ""},
                             {"index.thinlto.bc", DTLTO_ROLE_INDEX, "index"}},
                            "x86_64-pc-linux-gnu", "a.o",
                            LongName ? std::vector<std::string>{"clang", "-c"}
                                     : std::vector<std::string>(),
                            "out.o", "{\"CPU\":\"\",\"Level\":2}")
                      .get()));
  return {Bytes.begin(), Bytes.end()};
}

uint64_t sizeIn(StringRef Header) {
  uint64_t Size = 0;
  if (Header.substr(124, 11).getAsInteger(8, Size))
    return 0;
  return Size;
}

void fixHeader(std::string &Tar, size_t At) {
  Tar.replace(At + 148, 8, 8, ' ');
  unsigned Sum = 0;
  for (size_t I = 0; I != 512; ++I)
    Sum += static_cast<unsigned char>(Tar[At + I]);
  char Text[8];
  std::snprintf(Text, sizeof(Text), "%06o", Sum);
  Tar.replace(At + 148, 8, StringRef(Text, 8).str()); // digits, NUL...
  Tar[At + 155] = ' ';
}

std::string endOf(StringRef Body) {
  return ",\"blake3\":\"" + bundleDigest(Body) + "\"}\n";
}

std::string fixed(StringRef Bytes) {
  std::string Tar = Bytes.str();
  for (size_t At = 0; At + 512 <= Tar.size();) {
    if (Tar[At] == 0)
      break;
    fixHeader(Tar, At);
    uint64_t Size = sizeIn(StringRef(Tar).substr(At, 512));
    if (Size > Tar.size() - At - 512)
      break;
    if (At == 0 && Size >= 78) {
      size_t End = 512 + Size - 78;
      Tar.replace(End, 78, endOf(StringRef(Tar).slice(512, End)));
    }
    At += 512 + alignTo(Size, 512);
  }
  return Tar;
}

/// Returns a bundle with another manifest and the inputs of a seed.
std::string wrapped(StringRef Body) {
  static const std::string Seed = seed(false);
  std::string Tar = Seed.substr(0, 512);
  std::string Text = Body.str() + endOf(Body);
  char Digits[12];
  std::snprintf(Digits, sizeof(Digits), "%011o", unsigned(Text.size()));
  Tar.replace(124, 11, Digits);
  fixHeader(Tar, 0);
  Tar += Text;
  Tar.resize(alignTo(Tar.size(), 512));
  return Tar + Seed.substr(512 + alignTo(sizeIn(Seed), 512));
}

void read(StringRef Bytes) {
  Expected<Bundle> B = readBundle(Bytes, LLVM_VERSION_STRING);
  if (!B) {
    std::string Why = toString(B.takeError());
    if (Why.empty() || StringRef(Why).contains('\n'))
      abort();
    return;
  }
  // An accepted bundle is complete, and can be written again.
  uint64_t Total = 0;
  for (const Bundle::Input &In : B->Inputs)
    Total += In.Bytes.size();
  if (Total > Bytes.size() || B->primary().Role != DTLTO_ROLE_PRIMARY ||
      B->index().Role != DTLTO_ROLE_INDEX)
    abort();
  BundleJob Job(*B);
  SmallVector<char, 0> Again = must(writeBundle(Job.get()));
  check(same(must(readBundle(ref(Again), LLVM_VERSION_STRING)), *B));
}

} // namespace

std::vector<std::string> dtlto::test::fuzzSeeds() {
  std::vector<std::string> Seeds;
  for (bool LongName : {false, true}) {
    std::string Tar = seed(LongName);
    Seeds.push_back('\0' + Tar);
    Seeds.push_back('\1' + Tar);
    Seeds.push_back('\2' + Tar.substr(512, sizeIn(Tar) - 78));
  }
  return Seeds;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  if (Size == 0)
    return 0;
  StringRef Rest(reinterpret_cast<const char *>(Data) + 1, Size - 1);
  switch (Data[0] % 3) {
  case 0:
    read(Rest);
    break;
  case 1:
    read(fixed(Rest));
    break;
  case 2:
    read(wrapped(Rest));
    break;
  }
  return 0;
}
