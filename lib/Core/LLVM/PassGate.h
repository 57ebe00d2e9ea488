//===- PassGate.h - Whether passes run --------------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_LLVM_PASSGATE_H
#define DTLTO_LLVM_PASSGATE_H

#include "LLVM/Version.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/IR/OptBisect.h"

namespace dtlto {

/// Is asked before each pass of a context that a module can do without.
class PassGate : public llvm::OptPassGate {
public:
  bool isEnabled() const final { return true; }
#if LLVM_VERSION_MAJOR >= 21
  bool shouldRunPass(llvm::StringRef, llvm::StringRef) const final {
#else
  bool shouldRunPass(llvm::StringRef, llvm::StringRef) final {
#endif
    return mayRun();
  }

private:
  /// Must be quick.
  virtual bool mayRun() const = 0;
};

} // namespace dtlto

#endif // DTLTO_LLVM_PASSGATE_H
