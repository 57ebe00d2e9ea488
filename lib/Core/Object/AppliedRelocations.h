//===- AppliedRelocations.h - What LLD can apply in ELF ---------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_OBJECT_APPLIEDRELOCATIONS_H
#define DTLTO_OBJECT_APPLIEDRELOCATIONS_H

#include "llvm/Support/Error.h"
#include <cstdint>

namespace dtlto {

/// Whether LLD can apply a relocation of a table without addends. With -r it
/// does so for each of a section's symbol, and doesn't look.
bool isApplied(uint16_t Machine, uint32_t Type);

/// Fails if LLD's behavior would be undefined as it applies relocation \p Type
/// of ELF's machine \p Machine in a section that is loaded. Elsewhere, and with
/// types that aren't known, LLD reports errors itself.
llvm::Error checkApplied(uint16_t Machine, uint32_t Type, bool IsThreadLocal,
                         bool IsDefined);

} // namespace dtlto

#endif // DTLTO_OBJECT_APPLIEDRELOCATIONS_H
