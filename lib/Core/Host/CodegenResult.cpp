//===- CodegenResult.cpp - What a compile here came to --------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Host/CodegenResult.h"
#include "llvm/ADT/Twine.h"

using namespace llvm;
using namespace dtlto;

Error dtlto::compileError(StringRef Module, StringRef Title, StringRef Errors) {
  std::string Begin = ("\n" + Module + " <inline asm>:").str();
  std::string Text = ("module '" + Title + "' failed to compile").str();
  Error All = Error::success();
  auto Add = [&](const Twine &Words) {
    All = joinErrors(std::move(All),
                     createStringError(inconvertibleErrorCode(), Words));
  };
  for (size_t End; (End = Errors.find(Begin)) != StringRef::npos;
       Errors = Errors.drop_front(End + 1))
    Add(Errors.take_front(End));
  Add(Errors.rtrim() + "\n>>> dtlto: " + Text);
  return All;
}
