//===- LLVMOptions.h - LLVM's own command line options ----------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Options for LLVM itself (`-mllvm`) are of four kinds:
//
//   - Code generation flags, which LLD registers (llvm/CodeGen/CommandFlags.h)
//     but clang doesn't. LLD reads them into lto::Config, and CompilerArgs.cpp
//     handles their effect there.
//   - Options that are known to change only the object: flags, numbers and
//     choices, except those with names like printing; and listed text options.
//     A worker accepts no other options, so a job can't make it load a library,
//     or read or write a file.
//   - Two options for code generation data (LLVM/CodegenData.h), which callers
//     handle.
//   - All others. They make a job compile locally.
//
// The same rule holds for the passes in a pipeline's text.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_CONFIG_LLVMOPTIONS_H
#define DTLTO_CONFIG_LLVMOPTIONS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace dtlto {

/// Returns the words of \p Options that LLVM has read as its own options. The
/// other words were values of other linker options.
std::vector<std::string>
filterParsedOptions(llvm::ArrayRef<std::string> Options);

/// Returns the words of \p Options that a compiler needs. Fails with a one-line
/// reason that names the option if a compiler must not get it, or if LLVM has
/// read the option more or less often than \p Options contains it.
llvm::Expected<std::vector<std::string>>
llvmOptionsForCompiler(llvm::ArrayRef<std::string> Options);

/// Fails with a one-line reason unless \p Words can be a result of
/// llvmOptionsForCompiler() on another machine with the same LLVM. Doesn't
/// check the options' values.
llvm::Error checkCompilerOptions(llvm::ArrayRef<std::string> Words);

/// Returns \p Words, a result of llvmOptionsForCompiler(), without the options
/// that only code generation reads.
std::vector<std::string>
withoutCodegenOptions(llvm::ArrayRef<std::string> Words);

/// Whether all passes in \p Text, a pipeline of passes or alias analyses, only
/// change the module: they print nothing, and read and write no file. True for
/// an empty text. Doesn't check whether LLVM can parse it.
bool isPlainPipeline(llvm::StringRef Text);

} // namespace dtlto

#endif // DTLTO_CONFIG_LLVMOPTIONS_H
