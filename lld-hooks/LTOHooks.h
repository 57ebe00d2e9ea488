//===- LTOHooks.h - Wrappers for LLVM's functions for LTO -------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_LLD_HOOKS_LTOHOOKS_H
#define DTLTO_LLD_HOOKS_LTOHOOKS_H

#include "LTO/Linker.h"

/// For the wrappers: with --defsym, GNU ld gives LLVM's name the same
/// visibility.
#define DTLTO_WRAPPER __attribute__((visibility("default")))

namespace dtlto {

/// Reports an error and ends the process.
using FatalFunction = void(const llvm::Twine &Text);

/// Makes the ThinLTO backends that the linker creates use \p TheLinker's
/// plugin. Call this before the linker runs; \p TheLinker must live until the
/// process ends. Without this call, the wrappers only call LLVM.
void installHooks(Linker &TheLinker, FatalFunction *Fatal);

/// Returns what installHooks() got; null if it wasn't called.
Linker *hookedLinker();

/// Whether the linker has asked for a backend since installHooks().
bool wasBackendRequested();

} // namespace dtlto

#endif // DTLTO_LLD_HOOKS_LTOHOOKS_H
