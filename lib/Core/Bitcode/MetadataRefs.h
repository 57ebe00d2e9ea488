//===- MetadataRefs.h - Where reading a piece of metadata leads -*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A module's metadata is read on demand: LLVM's reader reads a node when
// something that it has read refers to it. Which operands of a record refer to
// others, and which are numbers, is known for each kind of record
// (MetadataLoader::parseOneMetadata()). What isn't known counts as a reference:
// to take a number for one keeps a node too many, which nobody sees.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_BITCODE_METADATAREFS_H
#define DTLTO_BITCODE_METADATAREFS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <cstdint>

namespace dtlto {

/// Whether a record of that \p Code is debug info: neither tuple nor value.
bool isDebugInfo(unsigned Code);

/// Calls \p Each with the numbers of the metadata that an importer reads
/// because of a record: some are numbers of nothing.
void forEachReference(unsigned Code, llvm::ArrayRef<uint64_t> Ops,
                      llvm::function_ref<void(uint64_t)> Each);

/// Makes null the references in \p Ops that an importer doesn't follow, for
/// readers that would.
void dropUnreadReferences(unsigned Code, llvm::MutableArrayRef<uint64_t> Ops);

} // namespace dtlto

#endif // DTLTO_BITCODE_METADATAREFS_H
