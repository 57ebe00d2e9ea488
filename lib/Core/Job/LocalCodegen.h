//===- LocalCodegen.h - A backend compile in this process -------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_JOB_LOCALCODEGEN_H
#define DTLTO_JOB_LOCALCODEGEN_H

#include "Job/LinkContext.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include <atomic>
#include <string>

namespace dtlto {

struct CodegenResult {
  /// The object file. Empty if \c Produced is false.
  llvm::SmallVector<char, 0> Object;
  /// Whether code generation finished: LLVM makes no object when a hook
  /// stops it (--lto-emit-llvm).
  bool Produced = false;
  bool Failed = false;
  /// What the compiler said, errors only, each in the words of LLD.
  std::string Errors;
};

/// Does what in-process ThinLTO does for \p T, on the calling thread, with the
/// object into memory. Diagnostics go to the linker's handler, as ever.
///
/// Once \p Stop is true, nobody needs the object any more: what is left of the
/// optimisation is left out, nothing is generated, and the result has failed.
/// An end of code generation that has begun can only be waited for.
CodegenResult runLocalCodegen(const LinkContext &L, const Task &T,
                              const std::atomic<bool> *Stop = nullptr);

/// What a link fails with whose module \p Module, or part with the name
/// \p Title, has no object because of \p Errors, those of a CodegenResult: one
/// error each, which LLD then shows as it shows its own, and our words after
/// the last.
llvm::Error compileError(llvm::StringRef Module, llvm::StringRef Title,
                         llvm::StringRef Errors);

} // namespace dtlto

#endif // DTLTO_JOB_LOCALCODEGEN_H
