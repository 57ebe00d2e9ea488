//===- GoldMessages.cpp - Messages through a linker's plugin API ----------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gold/GoldMessages.h"

using namespace llvm;
using namespace dtlto;

void GoldMessages::emit(MessageLevel Level, const Twine &Text) {
  auto ThroughLinker = [&](gold::Level To, const char *Prefix) {
    std::lock_guard<std::mutex> Lock(Mutex);
    Errors.show("");
    Print(To, "%s%s", Prefix, Text.str().c_str());
  };
  switch (Level) {
  case MessageLevel::Error:
    return ThroughLinker(gold::Error, "dtlto: ");
  // As in LLVMgold's diagnosticHandler().
  case MessageLevel::Diagnostic:
    return ThroughLinker(gold::Warning, "LLVM gold plugin: ");
  case MessageLevel::Remark:
    return ThroughLinker(gold::Info, "LLVM gold plugin: ");
  default:
    return PlainMessages::emit(Level, Text);
  }
}
