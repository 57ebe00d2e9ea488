//===- Hooks.h - The functions of LLVM that we stand in for -----*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_LLD_HOOKS_HOOKS_H
#define DTLTO_LLD_HOOKS_HOOKS_H

#include "LTO/Linker.h"

namespace dtlto {

/// From here on, ThinLTO backends that LLD creates use \p TheLinker's plugin.
/// Call before LLD runs; \p TheLinker lives until the process ends. Never
/// called: LLD does what it does without us.
void installHooks(Linker &TheLinker);

/// From here on, LLD's help has our options, too, as a user of COFF's driver or
/// of another spells them. Call before LLD runs.
void setHelp(bool IsCOFF);

} // namespace dtlto

#endif // DTLTO_LLD_HOOKS_HOOKS_H
