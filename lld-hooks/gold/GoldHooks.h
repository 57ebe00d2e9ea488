//===- GoldHooks.h - Taking over LLVMgold's calls of LLVM -------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LLVMgold.so leaves the functions of libLLVM that it calls undefined. This
// library defines those that LTOHooks.cpp wraps, and is loaded first and for
// all libraries of the process, so the loader binds LLVMgold's calls to them.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_LLD_HOOKS_GOLD_GOLDHOOKS_H
#define DTLTO_LLD_HOOKS_GOLD_GOLDHOOKS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace dtlto {

/// Loads LLVMgold's library \p Path, and returns its onload(). Fails unless it
/// uses the same libLLVM as this library.
llvm::Expected<void *> loadLLVMgold(const std::string &Path);

/// Saves how the process handles its signals. LTO changes that.
class SavedSignals {
public:
  SavedSignals();
  ~SavedSignals();
  SavedSignals(const SavedSignals &) = delete;

  /// Handles signals as when this was created. Returns how they were handled
  /// until now.
  std::unique_ptr<SavedSignals> exchange() const;

private:
  struct Impl;
  const std::unique_ptr<Impl> Saved;
};

/// Sets how LTO handles signals, until it ends.
void setSignalsOfLTO(std::unique_ptr<SavedSignals> Signals);

} // namespace dtlto

#endif // DTLTO_LLD_HOOKS_GOLD_GOLDHOOKS_H
