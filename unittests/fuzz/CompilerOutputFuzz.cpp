//===- CompilerOutputFuzz.cpp - Compiler messages of any bytes ------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Input: the messages of a compiler, as reported by a farm. No line is lost,
// except clang's summaries, and each message begins with the module's name.
//
//===----------------------------------------------------------------------===//

#include "Fuzz.h"
#include "Run/CompilerOutput.h"
#include "Support/Text.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace dtlto;
using namespace dtlto::test;

std::vector<std::string> dtlto::test::fuzzSeeds() {
  return {"warning: <unknown>:0:0: stack frame size (136) exceeds limit (16) "
          "in function 'f' [-Wframe-larger-than]\n"
          "<inline asm>:1:2: warning: mind the gap\n"
          "\t.warning \"mind the gap\"\n        ^\n2 warnings generated.\n",
          "remark: <unknown>:0:0: loop not vectorized\nnote: why\n",
          "clang: warning: argument unused\nwarning: a.o <inline asm>:1:2: "
          "no\n\n\n1 warning generated.\n",
          "<inline asm>:1:2: error: no\n<inline asm>:1:2: note: here\n\n x",
          "'x' is not a recognized processor\na.c:1:2: warning: no\n"};
}

/// Reads any text to its end, and loses no error.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  std::string Said =
      sanitizedLines({reinterpret_cast<const char *>(Data), Size});
  for (const CompilerOutput &Words :
       {readClangOutput(Said, "a.o"), readClangOutput(Said, ""),
        readWorkerOutput(Said)})
    for (const CompilerMessage &M : Words.Messages) {
      check(M.Level >= MessageLevel::Diagnostic);
      check(!StringRef(M.Text).trim().empty());
    }
  StringRef Text = Said;
  if (Text.starts_with("error: ")) {
    check(!readClangOutput(Said, "a.o").Errors.empty());
    check(!readWorkerOutput(Said).Errors.empty());
  }
  return 0;
}
