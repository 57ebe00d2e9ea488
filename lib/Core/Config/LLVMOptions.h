//===- LLVMOptions.h - LLVM's own command line options ----------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The options that reach LLVM through `-mllvm` are of four kinds:
//
//   - code generation flags, registered by LLD (llvm/CodeGen/CommandFlags.h)
//     but not by clang. LLD reads them into lto::Config, so CompilerArgs.cpp
//     sees their effect there;
//   - options of which it is known that they only change the object: flags,
//     numbers and choices, but for those whose names tell of printing and the
//     like; and text, of the options in a list. A worker takes no others, so
//     that nobody can make it load a library, or read or write a file;
//   - the two by which code generation uses what it learnt before
//     (LLVM/CodegenData.h). Callers see to them;
//   - all others. With them, a job is compiled locally.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_CONFIG_LLVMOPTIONS_H
#define DTLTO_CONFIG_LLVMOPTIONS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace dtlto {

/// Returns the words of \p Options, which may be those of LLVM's, that LLVM has
/// taken: others were the value of another option of the linker's.
std::vector<std::string> optionsThatAreSet(llvm::ArrayRef<std::string> Options);

/// Returns the words of \p Options that a compiler must be given. Fails with
/// one line that names the option where an option can't be given to a compiler,
/// or where LLVM has taken an option more or less often than \p Options has it.
llvm::Expected<std::vector<std::string>>
llvmOptionsForCompiler(llvm::ArrayRef<std::string> Options);

/// For words from elsewhere: fails with one line unless
/// llvmOptionsForCompiler() may have returned \p Words, on another machine with
/// the options that LLVM has here. Looks not at what they are set to.
llvm::Error checkOptionsOfCompiler(llvm::ArrayRef<std::string> Words);

/// \p Words, those of llvmOptionsForCompiler(), without the options that only
/// code generation reads.
std::vector<std::string>
withoutCodegenOptions(llvm::ArrayRef<std::string> Words);

} // namespace dtlto

#endif // DTLTO_CONFIG_LLVMOPTIONS_H
