//===- JobOutputsFuzz.cpp - Results of workers, of any bytes --------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Input: one byte, whose lowest bits choose the expected files, and the result.
//
//===----------------------------------------------------------------------===//

#include "Bundle/JobOutputs.h"
#include "Fuzz.h"
#include <cstdlib>

using namespace llvm;
using namespace dtlto;

std::vector<std::string> dtlto::test::fuzzSeeds() {
  auto Seed = [](char Which, const JobOutputs &Outputs) {
    SmallVector<char, 0> Bytes = packOutputs(Outputs);
    return Which + std::string(Bytes.data(), Bytes.size());
  };
  return {Seed(3, {"object", StringRef("dwo"), StringRef("remarks")}),
          Seed(1, {"object", StringRef("dwo"), std::nullopt}),
          Seed(2, {"", std::nullopt, StringRef("remarks")}),
          Seed(4, {"object", std::nullopt, std::nullopt, StringRef("module")}),
          Seed(7, {"object", StringRef("dwo"), StringRef(""), StringRef("")})};
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  if (Size == 0)
    return 0;
  SideFiles Files = {Data[0] & 1 ? "a.dwo" : "", Data[0] & 2 ? "a.yaml" : "",
                     (Data[0] & 4) != 0};
  StringRef Bytes(reinterpret_cast<const char *>(Data + 1), Size - 1);
  Expected<JobOutputs> Outputs = unpackOutputs(Bytes, Files);
  if (!Outputs) {
    if (toString(Outputs.takeError()).empty())
      abort();
    return 0;
  }
  // Outputs have only one encoding.
  SmallVector<char, 0> Again = packOutputs(*Outputs);
  if (StringRef(Again.data(), Again.size()) != Bytes)
    abort();
  return 0;
}
