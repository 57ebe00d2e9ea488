//===- ObjectCheckFuzz.cpp - Bytes that came from a plugin ----------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Input: one byte that chooses the target, and what should be an object.
//
//===----------------------------------------------------------------------===//

#include "Fuzz.h"
#include "Modules.h"
#include "Object/ObjectCheck.h"
#include <cstdlib>
#include <iterator>

using namespace llvm;
using namespace dtlto;
using namespace dtlto::test;

static const char *const Triples[] = {
    "x86_64-pc-linux-gnu",       "i386-pc-linux-gnu",
    "aarch64-unknown-linux-gnu", "powerpc64-unknown-linux-gnu",
    "powerpc-unknown-linux-gnu", "riscv64-unknown-linux-gnu",
    "x86_64-pc-windows-msvc",    "i686-pc-windows-msvc",
    "arm64-apple-macosx12.0.0",  "i386-apple-macosx10.14.0",
    "wasm32-unknown-unknown"};

std::vector<std::string> dtlto::test::fuzzSeeds() {
  std::vector<std::string> Seeds;
  for (size_t I = 0; I != std::size(Triples); ++I) {
    Bytes Object = compileObject("@v = global i32 1\n"
                                 "@z = global [8 x i32] zeroinitializer\n"
                                 "declare i32 @g(ptr)\n"
                                 "define i32 @f() {\n"
                                 "  %r = call i32 @g(ptr @v)\n"
                                 "  ret i32 %r\n}\n",
                                 Triples[I]);
    Seeds.push_back(std::string(1, char(I)) + ref(Object).str());
  }
  return Seeds;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  if (Size == 0)
    return 0;
  Triple T(Triples[Data[0] % std::size(Triples)]);
  StringRef Object(reinterpret_cast<const char *>(Data) + 1, Size - 1);
  bool Accepted = !errorToBool(checkObject(Object, T));
  // A function of its arguments, and so careful about what it accepts: the same
  // bytes are no object of another format.
  if (Accepted &&
      (errorToBool(checkObject(Object, T)) ||
       !errorToBool(checkObject(Object, Triple(T.isOSBinFormatELF()
                                                   ? "wasm32-unknown-unknown"
                                                   : "x86_64-pc-linux-gnu")))))
    abort();
  return 0;
}
