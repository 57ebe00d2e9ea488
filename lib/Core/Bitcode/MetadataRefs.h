//===- MetadataRefs.h - Where reading a piece of metadata leads -*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LLVM reads a module's metadata on demand: a node when something that it has
// read refers to it. MetadataLoader::parseOneMetadata() determines which
// operands of a record refer to others, and which are numbers. Unknown operands
// count as references: a number taken for one only keeps a node too many.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_BITCODE_METADATAREFS_H
#define DTLTO_BITCODE_METADATAREFS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <cstdint>

namespace dtlto {

/// Whether records of \p Code are debug info: neither tuples nor values.
bool isDebugInfo(unsigned Code);

/// Calls \p Each with the numbers of the metadata that an importer reads
/// because of a record, and possibly with other numbers.
void forEachReference(unsigned Code, llvm::ArrayRef<uint64_t> Ops,
                      llvm::function_ref<void(uint64_t)> Each);

/// Clears the references in \p Ops that an importer doesn't follow, since other
/// readers would.
void dropUnreadReferences(unsigned Code, llvm::MutableArrayRef<uint64_t> Ops);

} // namespace dtlto

#endif // DTLTO_BITCODE_METADATAREFS_H
