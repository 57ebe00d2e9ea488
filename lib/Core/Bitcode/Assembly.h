//===- Assembly.h - Assembly that reads files -------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The assembler's .incbin and .include read files by name, when the job is
// compiled. On another machine that file is missing or is another one.
//
// Only text is looked at, so macros are all taken for ones that write such a
// directive: it may be put together of their arguments. Without a macro, the
// directive stands in the text.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_BITCODE_ASSEMBLY_H
#define DTLTO_BITCODE_ASSEMBLY_H

#include "llvm/ADT/StringRef.h"

namespace dtlto {

/// Whether the assembler may read a file for \p Text. True also for some text
/// for which it reads none.
bool mayReadFiles(llvm::StringRef Text);

/// Whether records of \p Code, of a block of constants, have assembly.
bool isInlineAssembly(unsigned Code);

/// Whether that holds for any assembly of the first module in \p Bytes, which
/// LLVM's writer made; true where they are malformed. Importers of a module
/// also parse its assembly at file scope, for .symver directives. Any thread.
bool assemblyMayReadFiles(llvm::StringRef Bytes);

} // namespace dtlto

#endif // DTLTO_BITCODE_ASSEMBLY_H
