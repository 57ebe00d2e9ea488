//===- CompilerArgs.h - A configuration as clang options --------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `clang -x ir -fthinlto-index=` ends in the same function as in-process
// ThinLTO, lto::thinBackend, but fills in lto::Config from its own options (see
// runThinLTOBackend and initTargetOptions in clang's BackendUtil.cpp).
// compilerArgs() finds the options that produce the linker's configuration.
//
// The fidelity rule: each field of the configuration either has an option in
// ConfigFields.h or must have the value that clang gives it. Otherwise, the job
// compiles in the linker; no field is dropped silently.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_CONFIG_COMPILERARGS_H
#define DTLTO_CONFIG_COMPILERARGS_H

#include "llvm/LTO/Config.h"
#include "llvm/Support/Error.h"
#include "llvm/TargetParser/Triple.h"
#include <string>
#include <vector>

namespace dtlto {

/// Returns the options, without input and output files, with which a stock
/// clang of this LLVM version compiles modules for \p TheTriple according to
/// \p Conf.
///
/// \p LLVMOptions are the user's options for LLVM itself (`-mllvm`,
/// `-plugin-opt=-...`). \p HasSpecHook is the same as in ConfigExtras. Fails
/// with a one-line reason that names the option or field that clang's command
/// line can't express.
llvm::Expected<std::vector<std::string>>
compilerArgs(const llvm::lto::Config &Conf, const llvm::Triple &TheTriple,
             llvm::ArrayRef<std::string> LLVMOptions, bool HasSpecHook = false);

} // namespace dtlto

#endif // DTLTO_CONFIG_COMPILERARGS_H
