//===- SlimMetadata.h - Metadata that an importer reads ---------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_BITCODE_SLIMMETADATA_H
#define DTLTO_BITCODE_SLIMMETADATA_H

#include "Bitcode/SlimUses.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Bitcode/LLVMBitCodes.h"
#include "llvm/Bitstream/BitstreamReader.h"
#include "llvm/Bitstream/BitstreamWriter.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <vector>

namespace dtlto {

/// A module's block of metadata as LLVM's writer makes it: strings, the index's
/// place, what has a number, the index, and what is read at once.
class SlimMetadata {
public:
  /// Reads the block that \p In stands before, and steps over it. \p In reads
  /// bytes that outlive the result. Returns nothing if it has no index, which
  /// readers need to skip what they don't ask for.
  static llvm::Expected<std::optional<SlimMetadata>>
  read(llvm::BitstreamCursor &In);

  /// Adds the kinds of what is attached to values, and the values that metadata
  /// refers to.
  void addTo(SlimUses &Uses) const;

  using AttachmentFilter =
      llvm::function_ref<bool(uint64_t ValueID, uint64_t Kind)>;

  /// Leaves of what is attached to values what \p Keeps says.
  void dropAttachments(AttachmentFilter Keeps);
  /// Empties the strings, and if \p DropNodes the nodes, that nobody comes to
  /// from what is left of attachments, from what has a name, and from the
  /// numbers \p FromBodies. Numbers stay as they are.
  void dropUnread(const llvm::DenseSet<uint64_t> &FromBodies, bool DropNodes);

  llvm::Error write(llvm::BitstreamWriter &W) const;

private:
  struct Record {
    unsigned Code;
    llvm::SmallVector<uint64_t, 8> Ops;

    /// [value, n x [kind, node]]
    bool isAttachment() const {
      return Code == llvm::bitc::METADATA_GLOBAL_DECL_ATTACHMENT &&
             Ops.size() % 2 == 1;
    }
  };
  /// Strings: how many, and where in their blob the lengths end and the
  /// characters begin.
  uint64_t NumStrings = 0, CharsOffset = 0;
  llvm::StringRef Strings;
  std::optional<llvm::BitVector> KeptStrings; // nothing: all
  std::vector<Record> Nodes, Rest;

  bool leadsToDebugInfo(const Record &Tuple) const;
};

} // namespace dtlto

#endif // DTLTO_BITCODE_SLIMMETADATA_H
