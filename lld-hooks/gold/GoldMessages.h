//===- GoldMessages.h - Messages through a linker's plugin API --*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_LLD_HOOKS_GOLD_GOLDMESSAGES_H
#define DTLTO_LLD_HOOKS_GOLD_GOLDMESSAGES_H

#include "Report/PlainMessages.h"
#include "gold/PluginInterface.h"

namespace dtlto {

/// Errors and a compiler's diagnostics go through the linker, as LLVMgold's do,
/// so that it fails or counts them. It has no level for our other messages,
/// which go to standard error. Thread-safe.
class GoldMessages : public PlainMessages {
public:
  GoldMessages(StatusLine &Errors, llvm::StringRef Program, bool IsVerbose,
               bool IsDumb, gold::MessageFunction Print)
      : PlainMessages(Errors, Program, "dtlto: ", IsVerbose, IsDumb),
        Errors(Errors), Print(Print) {}

  void emit(MessageLevel Level, const llvm::Twine &Text) override;

private:
  StatusLine &Errors;
  const gold::MessageFunction Print;
  std::mutex Mutex; // linkers don't expect calls from several threads
};

} // namespace dtlto

#endif // DTLTO_LLD_HOOKS_GOLD_GOLDMESSAGES_H
