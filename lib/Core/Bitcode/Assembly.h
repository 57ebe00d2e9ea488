//===- Assembly.h - Assembly that reads files -------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The assembler's .incbin and .include read files by name when the job is
// compiled. On another machine, such a file is missing or different.
//
// These functions only look at the text. They assume that any macro may produce
// such a directive; without macros, the directive itself is in the text.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_BITCODE_ASSEMBLY_H
#define DTLTO_BITCODE_ASSEMBLY_H

#include "llvm/ADT/StringRef.h"

namespace dtlto {

/// Whether the assembler may read a file for \p Text. May be true for texts
/// that read no file.
bool mayReadFiles(llvm::StringRef Text);

/// Whether records of \p Code in a block of constants hold assembly.
bool isInlineAssembly(unsigned Code);

/// Whether mayReadFiles() holds for any assembly in the first module of
/// \p Bytes, as LLVM's writer produces it. True if \p Bytes are malformed.
/// Includes assembly at file scope: importers of a module parse it for .symver
/// directives. Any thread.
bool assemblyMayReadFiles(llvm::StringRef Bytes);

} // namespace dtlto

#endif // DTLTO_BITCODE_ASSEMBLY_H
