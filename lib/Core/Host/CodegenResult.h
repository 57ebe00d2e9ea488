//===- CodegenResult.h - What a compile here came to ------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_HOST_CODEGENRESULT_H
#define DTLTO_HOST_CODEGENRESULT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace dtlto {

struct CodegenResult {
  /// The object file. Empty if \c Produced is false.
  llvm::SmallVector<char, 0> Object;
  /// Whether code generation finished: LLVM makes no object when a hook
  /// stops it (--lto-emit-llvm).
  bool Produced = false;
  bool Failed = false;
  /// What the compiler said, errors only, each in the words of LLD.
  std::vector<std::string> Errors;
};

/// What a link fails with whose module, or part, with the name \p Title has no
/// object because of \p Errors, those of a CodegenResult: one error each, which
/// LLD then shows and counts as its own, and our words after the last.
llvm::Error compileError(llvm::StringRef Title,
                         llvm::ArrayRef<std::string> Errors);

} // namespace dtlto

#endif // DTLTO_HOST_CODEGENRESULT_H
