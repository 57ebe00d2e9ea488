//===- Compiler.h - The compiler of jobs that are files ---------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_FILES_COMPILER_H
#define DTLTO_FILES_COMPILER_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace dtlto {

/// What a compiler is.
struct Compiler {
  std::string Program; // a name that is looked for in the PATH, or absolute
  std::string Version; // LLVM's, "22.1.8"
  std::string Linker;  // its LLD's version line (dtlto_session_params::linker)
  std::string Triple;  // that it compiles for, with the arguments of all jobs
  std::string Config;  // a file of options that it reads; empty: none
};

/// Runs `\p Args --version`: the compiler and arguments of all jobs. Fails with
/// one line that names the compiler, if it can't be run or is no clang.
llvm::Expected<Compiler> askCompiler(llvm::ArrayRef<std::string> Args);

/// What \p Answer, all that a clang says when asked for its version, tells.
/// Fails with a reason.
llvm::Expected<Compiler> readVersion(llvm::StringRef Answer);

/// What a command came to.
struct CommandResult {
  bool Ran = false;  // to its end, and what it came to is its own verdict
  bool Good = false; // exit code 0
  std::string Words; // all that it wrote; or, if it didn't run, why
};

/// Runs \p Program with \p Args, of which the first is its name, where we are,
/// until it ends or \p Stop says so. Any thread.
CommandResult runCommand(const std::string &Program,
                         llvm::ArrayRef<std::string> Args,
                         int (*Stop)(void *Context), void *Context);

} // namespace dtlto

#endif // DTLTO_FILES_COMPILER_H
