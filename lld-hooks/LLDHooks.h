//===- LLDHooks.h - Wrappers for functions that only LLD calls --*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_LLD_HOOKS_LLDHOOKS_H
#define DTLTO_LLD_HOOKS_LLDHOOKS_H

namespace dtlto {

/// Adds our options to LLD's help, in the spelling of COFF's driver or of the
/// others. Call this before LLD runs.
void setHelp(bool IsCOFF);

} // namespace dtlto

#endif // DTLTO_LLD_HOOKS_LLDHOOKS_H
