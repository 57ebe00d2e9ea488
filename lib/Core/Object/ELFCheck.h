//===- ELFCheck.h - What a linker follows in an ELF object ------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_OBJECT_ELFCHECK_H
#define DTLTO_OBJECT_ELFCHECK_H

#include "llvm/Object/ELFObjectFile.h"

namespace dtlto {

/// Checks all that LLD follows in a relocatable object without looking: the
/// section table, symbols, relocations, groups, unwind tables, notes, and
/// LLVM's own sections. Fails with what is wrong where. Any thread; never
/// crashes.
llvm::Error checkELF(const llvm::object::ELFObjectFileBase &Object);

} // namespace dtlto

#endif // DTLTO_OBJECT_ELFCHECK_H
