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
#include <array>
#include <csignal>

namespace dtlto {

/// Returns the file of the library that contains \p Address; empty if unknown.
std::string libraryOf(void *Address);

/// Loads LLVMgold's library \p Path, and returns its onload(). Fails unless it
/// uses the same libLLVM as this library.
llvm::Expected<void *> loadLLVMgold(const std::string &Path);

/// How a process handles each signal. LTO changes that.
using SignalActions = std::array<struct sigaction, NSIG>;

/// Returns how the process handles signals, and changes it to \p New unless
/// null.
SignalActions exchangeSignals(const SignalActions *New);

/// Sets how LTO handles signals, until it ends.
void setSignalsOfLTO(const SignalActions &Signals);

} // namespace dtlto

#endif // DTLTO_LLD_HOOKS_GOLD_GOLDHOOKS_H
