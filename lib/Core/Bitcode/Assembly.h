//===- Assembly.h - Assembly that reads files -------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The assembler's .incbin and .include read files by name when the job is
// compiled. On another machine, the file is missing or is another one.
//
// These functions only look at the text. They assume that any macro may make
// such a directive from its arguments; without macros, it is in the text.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_BITCODE_ASSEMBLY_H
#define DTLTO_BITCODE_ASSEMBLY_H

#include "llvm/ADT/StringRef.h"

namespace dtlto {

/// Whether the assembler may read a file for \p Text. Also true for some texts
/// for which it doesn't.
bool mayReadFiles(llvm::StringRef Text);

/// Whether records of \p Code in a block of constants hold assembly.
bool isInlineAssembly(unsigned Code);

/// mayReadFiles() of any assembly in the first module of \p Bytes, which LLVM's
/// writer made; true if they are malformed. Importers of a module also parse
/// its assembly at file scope, for .symver directives. Any thread.
bool assemblyMayReadFiles(llvm::StringRef Bytes);

} // namespace dtlto

#endif // DTLTO_BITCODE_ASSEMBLY_H
