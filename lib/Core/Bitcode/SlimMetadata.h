//===- SlimMetadata.h - Metadata without strings nobody reads ---*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_BITCODE_SLIMMETADATA_H
#define DTLTO_BITCODE_SLIMMETADATA_H

#include "Bitcode/BitstreamCopy.h"
#include "llvm/ADT/StringSet.h"

namespace dtlto {

/// Copies the block of metadata that \p In, a reader of \p Bytes, stands
/// before, and steps over it. Strings that aren't in \p Keep, if it is given,
/// become empty; of what is attached to a value, \p KeepsAttachment says what
/// stays, by the value's number and the kind of metadata. Numbers stay as they
/// are. Copies it as it is, and returns false, if it has no index, which
/// readers need to skip what they don't ask for.
llvm::Expected<bool> copyMetadata(
    llvm::BitstreamCursor &In, llvm::StringRef Bytes, llvm::BitstreamWriter &W,
    const llvm::StringSet<> *Keep,
    llvm::function_ref<bool(uint64_t ValueID, uint64_t Kind)> KeepsAttachment);

} // namespace dtlto

#endif // DTLTO_BITCODE_SLIMMETADATA_H
