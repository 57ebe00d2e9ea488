//===- CodegenDataFileFuzz.cpp - Files of codegen data, of any bytes ------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Input: a file for -codegen-data-use-path. LLVM reads accepted files without
// checks, or refuses them.
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

std::vector<std::string> dtlto::test::fuzzSeeds() {
  return {codegenDataFile(someTree(), someMap("a.o")),
          codegenDataFile(someTree(), ""), codegenDataFile("", someMap("a.o")),
          someText()};
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  StringRef Bytes(reinterpret_cast<const char *>(Data), Size);
  if (Error E = checkCodegenDataFile(Bytes)) {
    if (toString(std::move(E)).empty())
      abort();
    return 0;
  }
  if (HasCodegenData)
    for (bool Finalize : {false, true})
      consumeError(publishCodegenData(Bytes, Finalize));
  return 0;
}
