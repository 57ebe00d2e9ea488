//===- MachOCheck.h - What a linker follows in Mach-O -----------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_OBJECT_MACHOCHECK_H
#define DTLTO_OBJECT_MACHOCHECK_H

#include "llvm/Object/MachO.h"

namespace dtlto {

/// Checks all that LLD follows in a relocatable object without looking, beyond
/// the load commands, which LLVM has checked: sections, symbols, relocations,
/// and tables of unwind information. Fails with what is wrong where. Any
/// thread; never crashes.
llvm::Error checkMachO(const llvm::object::MachOObjectFile &Object);

} // namespace dtlto

#endif // DTLTO_OBJECT_MACHOCHECK_H
