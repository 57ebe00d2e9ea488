//===- LLVMOptions.h - LLVM's own command line options ----------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The options for LLVM itself (`-mllvm`) are of four kinds:
//
//   - code generation flags, which LLD registers (llvm/CodeGen/CommandFlags.h)
//     but clang doesn't. LLD reads them into lto::Config, where
//     CompilerArgs.cpp sees their effect;
//   - options that are known to change only the object: flags, numbers and
//     choices, except for names of printing and the like; and text options on a
//     list. A worker accepts no others, so that a job can't make it load a
//     library, or read or write a file;
//   - two options for code generation data (LLVM/CodegenData.h), which callers
//     handle;
//   - all others. They make a job compile locally.
//
// The same rule holds for passes in a text of a pipeline.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_CONFIG_LLVMOPTIONS_H
#define DTLTO_CONFIG_LLVMOPTIONS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace dtlto {

/// Returns the words of \p Options that LLVM has read as its own. The others
/// were the value of another option of the linker.
std::vector<std::string> optionsThatAreSet(llvm::ArrayRef<std::string> Options);

/// Returns the words of \p Options that a compiler must be given. Fails with
/// one line that names the option if a compiler may not be given it, or if LLVM
/// has read it more or less often than \p Options has it.
llvm::Expected<std::vector<std::string>>
llvmOptionsForCompiler(llvm::ArrayRef<std::string> Options);

/// Fails with one line unless llvmOptionsForCompiler() may have returned \p
/// Words on another machine with the same LLVM. Doesn't check the options'
/// values.
llvm::Error checkOptionsOfCompiler(llvm::ArrayRef<std::string> Words);

/// Returns \p Words, a result of llvmOptionsForCompiler(), without the options
/// that only code generation reads.
std::vector<std::string>
withoutCodegenOptions(llvm::ArrayRef<std::string> Words);

/// Whether \p Text, a pipeline of passes or of alias analyses, only has passes
/// that change the module and do nothing else: they print nothing, and read and
/// write no file. True for an empty text. Doesn't check that LLVM can parse it.
bool isPlainPipeline(llvm::StringRef Text);

} // namespace dtlto

#endif // DTLTO_CONFIG_LLVMOPTIONS_H
