//===- COFFCheck.h - What a linker follows in a COFF object -----*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_OBJECT_COFFCHECK_H
#define DTLTO_OBJECT_COFFCHECK_H

#include "llvm/Object/COFF.h"

namespace dtlto {

/// Checks all that LLD follows in an object without looking: sections,
/// relocations, symbols with their auxiliary records, comdats, tables of symbol
/// indexes, and CodeView. Fails with what is wrong where. Any thread; never
/// crashes.
llvm::Error checkCOFF(const llvm::object::COFFObjectFile &Object);

} // namespace dtlto

#endif // DTLTO_OBJECT_COFFCHECK_H
