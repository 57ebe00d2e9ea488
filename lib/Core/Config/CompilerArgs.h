//===- CompilerArgs.h - A configuration as clang options --------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `clang -x ir -fthinlto-index=` ends in the same function as in-process
// ThinLTO, lto::thinBackend, but fills in the lto::Config from its own options
// (clang's BackendUtil.cpp: runThinLTOBackend, initTargetOptions). This finds
// the options that make clang fill in the linker's configuration.
//
// The fidelity rule: each field of the configuration either has an option in
// ConfigFields.h, or must have the one value that clang gives it. Anything else
// is a reason for compiling in the linker; no field is dropped silently.
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

/// Returns the options, without input and output files, that make a stock clang
/// of this LLVM version compile modules for \p TheTriple as \p Conf says.
///
/// \p LLVMOptions are the words of the user's options for LLVM itself
/// (`-mllvm`,
/// `-plugin-opt=-...`). \p HasPartHook is as in ConfigExtras. Fails with one
/// line that names the option or field that clang's command line can't express.
llvm::Expected<std::vector<std::string>>
compilerArgs(const llvm::lto::Config &Conf, const llvm::Triple &TheTriple,
             llvm::ArrayRef<std::string> LLVMOptions, bool HasPartHook = false);

} // namespace dtlto

#endif // DTLTO_CONFIG_COMPILERARGS_H
