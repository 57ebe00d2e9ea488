//===- StatusCommand.h - --thinlto-dist-status ------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_LLD_HOOKS_STATUSCOMMAND_H
#define DTLTO_LLD_HOOKS_STATUSCOMMAND_H

#include "LTO/Linker.h"

namespace dtlto {

/// Prints the state of the farm of \p TheLinker's plugin on standard output,
/// and problems on standard error, prefixed with \p Program. Returns the exit
/// code: 0 if a worker takes jobs, otherwise 1. End the process without
/// destructors after this: a plugin may have been abandoned.
int showStatus(const Linker &TheLinker, llvm::StringRef Program, bool Verbose);

} // namespace dtlto

#endif // DTLTO_LLD_HOOKS_STATUSCOMMAND_H
