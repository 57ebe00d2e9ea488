//===- CompilerWords.h - What compilers elsewhere say -----------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// clang's standard error, or that of dtlto-codegen, as LLD would say it. The
// text has been cleaned.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_RUN_COMPILERWORDS_H
#define DTLTO_RUN_COMPILERWORDS_H

#include "Support/Messages.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace dtlto {

/// \p Said, where what clang says of inline assembly names \p Module, as in
/// LLD.
std::string inLLDsWords(llvm::StringRef Said, llvm::StringRef Module);

/// Shows what was \p Said beside an object of \p Module, or of its part
/// \p Title: each warning as one of the program's, and all else, such as
/// remarks, as notes, since to LLD they are no warnings.
void showWords(Messages &Msg, llvm::StringRef Said, llvm::StringRef Module,
               llvm::StringRef Title);

} // namespace dtlto

#endif // DTLTO_RUN_COMPILERWORDS_H
