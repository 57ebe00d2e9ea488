//===- CodegenResult.h - The result of a local compile ----------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_HOST_CODEGENRESULT_H
#define DTLTO_HOST_CODEGENRESULT_H

#include "Support/Messages.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace dtlto {

struct CodegenResult {
  /// The object file. Empty if \c HasObject is false.
  llvm::SmallVector<char, 0> Object;
  /// Whether code generation finished: LLVM makes no object when a hook
  /// stops it (--lto-emit-llvm).
  bool HasObject = false;
  bool Failed = false;
  /// The compiler's errors, each as LLD shows it, and its other messages.
  std::vector<std::string> Errors;
  std::vector<CompilerMessage> Messages;
};

/// Returns the error of a link whose job \p Title has no object
/// because of \p Errors, from a CodegenResult. LLD reports and counts each of
/// them as its own error; our explanation follows the last one. For a remote
/// compiler, that includes \p Plugin ("plugin 'x': ") and \p Where (" on
/// host").
llvm::Error compileError(llvm::StringRef Title,
                         llvm::ArrayRef<std::string> Errors,
                         llvm::StringRef Plugin = "",
                         llvm::StringRef Where = "");

} // namespace dtlto

#endif // DTLTO_HOST_CODEGENRESULT_H
