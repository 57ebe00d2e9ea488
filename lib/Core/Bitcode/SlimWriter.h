//===- SlimWriter.h - Writes the sent parts of a module ---------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_BITCODE_SLIMWRITER_H
#define DTLTO_BITCODE_SLIMWRITER_H

#include "Bitcode/RecordPacker.h"
#include "Bitcode/SlimMetadata.h"
#include "Bitcode/SlimSelection.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitstream/BitstreamReader.h"
#include "llvm/Bitstream/BitstreamWriter.h"
#include <optional>
#include <string>
#include <vector>

namespace dtlto {

/// The position of a block in the module block.
struct BlockPosition {
  unsigned ID;
  uint64_t Bit;      // after its ENTER_SUBBLOCK's ID
  size_t NumRecords; // records of the module block before it
};

/// Copies a module's bitstream without the parts that an importer doesn't need.
class SlimWriter {
public:
  /// Writes to \p Out, which must be empty. \p Blocks are all blocks of the
  /// module block, in order. If \p Metadata is null, the metadata block is
  /// copied unchanged. All arguments must outlive the writer.
  SlimWriter(const llvm::BitcodeModule &Module, const SlimSelection &Selection,
             llvm::ArrayRef<BlockPosition> Blocks, const SlimMetadata *Metadata,
             llvm::SmallVectorImpl<char> &Out)
      : Bytes(Module.getBuffer()), Strtab(Module.getStrtab()),
        Selection(Selection), Blocks(Blocks), Metadata(Metadata), Writer(Out) {}

  /// Call it once. Fails like slimModule(); \p Out is incomplete then.
  llvm::Error run();

private:
  llvm::Error writeModule(llvm::BitstreamCursor &In);
  llvm::Error writeBlock(llvm::BitstreamCursor &In, unsigned ID);
  llvm::Error changeRecords();
  llvm::Error writeRecord(unsigned Code, llvm::ArrayRef<uint64_t> Record);
  llvm::Expected<bool> change(unsigned Code,
                              llvm::SmallVectorImpl<uint64_t> &Record);
  llvm::Error writeBlockInfo(llvm::BitstreamCursor &In);
  llvm::Error writeAttributes(llvm::BitstreamCursor &In, unsigned ID);
  llvm::Error writeKinds(llvm::BitstreamCursor &In);
  llvm::Error writeMetadata(llvm::BitstreamCursor &In);
  void writeConstants();
  llvm::Error writeSummary(llvm::BitstreamCursor &In);
  llvm::Error writeBody(llvm::BitstreamCursor &In);
  llvm::Error writeFunctionTable();
  void writeStrtab();
  llvm::Error moveName(llvm::SmallVectorImpl<uint64_t> &Record, size_t At);
  uint64_t word() const { return Writer.GetCurrentBitNo() / 32; }

  llvm::StringRef Bytes, Strtab;
  const SlimSelection &Selection;
  llvm::ArrayRef<BlockPosition> Blocks;
  const SlimMetadata *Metadata;
  llvm::BitstreamWriter Writer;
  std::optional<llvm::BitstreamBlockInfo> BlockInfo;
  // The changed records of the module block, and whether each is kept.
  RecordList Records;
  std::vector<bool> IsKept;
  RecordPacker Packer; // of Records
  unsigned VSTOffsetAbbrev = 0;
  size_t NumFunctions = 0, NumComdats = 0, NumBodies = 0;
  uint64_t VSTOffsetBit = 0; // where the offset will be written
  std::vector<std::pair<uint64_t, uint64_t>> FunctionTable; // number, word
  bool HasSummary = false, HasTable = false;
  std::string NewStrtab;
  llvm::StringMap<uint64_t> NewNames; // their offsets in it
};

} // namespace dtlto

#endif // DTLTO_BITCODE_SLIMWRITER_H
