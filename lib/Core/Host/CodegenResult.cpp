//===- CodegenResult.cpp - The result of a local compile ------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Host/CodegenResult.h"
#include "llvm/ADT/Twine.h"

using namespace llvm;
using namespace dtlto;

Error dtlto::compileError(StringRef Title, ArrayRef<std::string> Errors,
                          StringRef Plugin, StringRef Where) {
  std::string Text =
      (Plugin + "module '" + Title + "' failed to compile" + Where).str();
  auto ErrorOf = [](const Twine &Message) {
    return createStringError(inconvertibleErrorCode(), Message);
  };
  if (Errors.empty())
    return ErrorOf("dtlto: " + Text);
  Error All = Error::success();
  for (const std::string &Message : Errors.drop_back())
    All = joinErrors(std::move(All), ErrorOf(Message));
  return joinErrors(std::move(All), ErrorOf(StringRef(Errors.back()).rtrim() +
                                            "\n>>> dtlto: " + Text));
}
