//===- Modules.h - Modules from the text of their IR ------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_UNITTESTS_TESTSUPPORT_MODULES_H
#define DTLTO_UNITTESTS_TESTSUPPORT_MODULES_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace llvm {
class TargetOptions;
}

namespace dtlto::test {

using Bytes = llvm::SmallVector<char, 0>;

inline llvm::StringRef ref(const Bytes &B) { return {B.data(), B.size()}; }

/// Returns the value of \p E. An error ends the process, with or without
/// assertions, because the test can't go on.
template <typename T> T must(llvm::Expected<T> E) {
  if (!E)
    llvm::report_fatal_error(E.takeError());
  return std::move(*E);
}

/// Initializes all targets with assembly parsers and printers, once.
void initializeTargets();

/// Returns bitcode with a summary and a hash, as written by `clang -flto=thin
/// -c`. Invalid IR ends the process: the test is wrong.
Bytes thinBitcode(llvm::StringRef IR, bool HasHash = true);

/// Returns bitcode without a summary.
Bytes plainBitcode(llvm::StringRef IR);

/// Returns an object file. \p Triple replaces the target triple of \p IR.
Bytes compileObject(llvm::StringRef IR, llvm::StringRef Triple);
Bytes compileObject(llvm::StringRef IR, llvm::StringRef Triple,
                    const llvm::TargetOptions &Options,
                    llvm::StringRef CPU = "");

} // namespace dtlto::test

#endif // DTLTO_UNITTESTS_TESTSUPPORT_MODULES_H
