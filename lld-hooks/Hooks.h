//===- Hooks.h - Wrappers for functions of LLVM -----------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_LLD_HOOKS_HOOKS_H
#define DTLTO_LLD_HOOKS_HOOKS_H

#include "LTO/Linker.h"

namespace dtlto {

/// Makes the ThinLTO backends that LLD creates use \p TheLinker's plugin. Call
/// this before LLD runs; \p TheLinker must live until the process ends. Without
/// this call, LLD runs as it is.
void installHooks(Linker &TheLinker);

/// Adds our options to LLD's help, in the spelling of COFF's driver or of the
/// others. Call this before LLD runs.
void setHelp(bool IsCOFF);

} // namespace dtlto

#endif // DTLTO_LLD_HOOKS_HOOKS_H
