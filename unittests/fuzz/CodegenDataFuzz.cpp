//===- CodegenDataFuzz.cpp - Results of the first round, of any bytes -----===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Input: the result of a job for the module a.o. LLVM reads accepted results
// without checks. Each result has only one encoding.
//
//===----------------------------------------------------------------------===//

#include "Bundle/CodegenData.h"
#include "CodegenSections.h"
#include "Fuzz.h"
#include "LLVM/CodegenData.h"
#include <cstdlib>

using namespace llvm;
using namespace dtlto;
using namespace dtlto::test;

static std::string packed(ArrayRef<CodegenSection> Sections) {
  SmallVector<char, 0> Bytes = packSections(Sections);
  return std::string(Bytes.data(), Bytes.size());
}

std::vector<std::string> dtlto::test::fuzzSeeds() {
  std::string Tree = someTree(), Map = someMap("a.o");
  return {packed({}), packed({{CodegenSection::HashTree, Tree}}),
          packed({{CodegenSection::FunctionMap, Map}}),
          packed({{CodegenSection::HashTree, Tree},
                  {CodegenSection::FunctionMap, Map}})};
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  StringRef Bytes(reinterpret_cast<const char *>(Data), Size);
  Expected<CodegenSections> Sections = unpackSections(Bytes, "a.o");
  if (!Sections) {
    if (toString(Sections.takeError()).empty())
      abort();
    return 0;
  }
  if (packed(*Sections) != Bytes)
    abort();
  if (!HasCodegenData)
    return 0;
  // Add the module twice, so that functions can be merged.
  MergedCodegenData All;
  for (int I = 0; I != 2; ++I)
    for (const CodegenSection &S : *Sections)
      All.add(S.Kind == CodegenSection::FunctionMap, S.Bytes);
  Expected<std::string> File = All.write();
  if (!File)
    abort();
  if (!File->empty())
    if (Error E = publishCodegenData(*File, /*Finalize=*/true))
      abort();
  return 0;
}
