//===- Compiler.h - The compiler of jobs that are files ---------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_FILES_COMPILER_H
#define DTLTO_FILES_COMPILER_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace dtlto {

/// A compiler's identity.
struct Compiler {
  std::string Program; // a name in the PATH, or absolute
  std::string Version; // LLVM's, "22.1.8"
  std::string Linker;  // its LLD's version line (dtlto_session_params::linker)
  std::string Triple;  // its target, with the common arguments
  std::string Config;  // the file of options that it reads; empty: none
};

/// Runs `\p Args --version`, where \p Args are the compiler and its common
/// arguments. Fails with a one-line reason that names the compiler if it can't
/// be run or isn't clang.
llvm::Expected<Compiler> queryCompiler(llvm::ArrayRef<std::string> Args);

/// Parses \p Answer, the output of `clang --version`. Fails with a reason.
llvm::Expected<Compiler> parseVersion(llvm::StringRef Answer);

/// The result of a command.
struct CommandResult {
  bool Succeeded = false; // exit code 0
  std::string Output;     // its output, or why it didn't run
};

/// Runs \p Program in the working directory until it ends or \p Stop returns
/// true. The first of \p Args is the program's name. Any thread.
CommandResult runCommand(const std::string &Program,
                         llvm::ArrayRef<std::string> Args,
                         llvm::function_ref<bool()> Stop);

} // namespace dtlto

#endif // DTLTO_FILES_COMPILER_H
