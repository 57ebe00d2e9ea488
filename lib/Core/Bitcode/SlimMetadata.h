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

/// A module's metadata block in the form of LLVM's writer: strings, the index's
/// offset, numbered nodes, the index, and the records that are read at once.
class SlimMetadata {
public:
  /// Reads the block at \p In and steps over it. The result borrows the bytes
  /// of \p In. Returns nullopt if the block has no index; readers need it to
  /// skip unused metadata.
  static llvm::Expected<std::optional<SlimMetadata>>
  read(llvm::BitstreamCursor &In);

  /// Adds the kinds of the values' attachments and the values that metadata
  /// refers to.
  void addTo(SlimUses &Uses) const;

  using AttachmentFilter =
      llvm::function_ref<bool(uint64_t ValueID, uint64_t Kind)>;

  /// Removes the attachments of values for which \p Keeps returns false.
  void dropAttachments(AttachmentFilter Keeps);
  /// Empties the strings and, with \p DropNodes, the nodes that can't be
  /// reached from attachments, named metadata or the numbers \p FromBodies. The
  /// remaining numbers don't change.
  void dropUnused(const llvm::DenseSet<uint64_t> &FromBodies, bool DropNodes);

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
  /// \c Strings has the lengths of \c NumStrings strings and, from
  /// \c CharsOffset on, their characters.
  uint64_t NumStrings = 0, CharsOffset = 0;
  llvm::StringRef Strings;
  std::optional<llvm::BitVector> UsedStrings; // none: all
  std::vector<Record> Nodes, Rest;

  bool leadsToDebugInfo(const Record &Tuple) const;
};

} // namespace dtlto

#endif // DTLTO_BITCODE_SLIMMETADATA_H
