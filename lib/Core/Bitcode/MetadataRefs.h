//===- MetadataRefs.h - References between metadata -------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LLVM reads a module's metadata on demand: a node is read when something
// already read refers to it. MetadataLoader::parseOneMetadata() defines which
// operands of a record are references and which are numbers. Unknown operands
// count as references; mistaking a number for one only keeps an extra node.
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

/// Calls \p Each with the number of each metadata that an importer reads
/// because of a record. May also pass other numbers.
void forEachReference(unsigned Code, llvm::ArrayRef<uint64_t> Ops,
                      llvm::function_ref<void(uint64_t)> Each);

/// Clears the references in \p Ops that importers ignore but other readers
/// would follow.
void dropUnreadReferences(unsigned Code, llvm::MutableArrayRef<uint64_t> Ops);

} // namespace dtlto

#endif // DTLTO_BITCODE_METADATAREFS_H
