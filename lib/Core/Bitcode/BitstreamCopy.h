//===- BitstreamCopy.h - Copies parts of a bitstream ------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_BITCODE_BITSTREAMCOPY_H
#define DTLTO_BITCODE_BITSTREAMCOPY_H

#include "Support/Failure.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Bitcode/LLVMBitCodes.h"
#include "llvm/Bitstream/BitstreamReader.h"
#include "llvm/Bitstream/BitstreamWriter.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/Error.h"
#include <optional>

namespace dtlto {

inline llvm::Error malformedBitcode() { return failure("malformed bitcode"); }

/// A block whose rest needn't be read. Entered in place, since a copy of a
/// cursor is one of all of its abbreviations.
class BlockToLeave {
public:
  /// Enters the block \p ID that \p In stands before.
  llvm::Error enter(llvm::BitstreamCursor &In, unsigned ID) {
    if (llvm::Error E = In.EnterSubBlock(ID, &NumWords))
      return E;
    Begin = In.GetCurrentBitNo();
    return llvm::Error::success();
  }
  /// Steps over the rest of it. \p In may be anywhere in it, but in no block of
  /// its own.
  llvm::Error leave(llvm::BitstreamCursor &In) const {
    const uint64_t End = Begin + uint64_t(NumWords) * 32;
    if (!In.canSkipToPos(End / 8))
      return malformedBitcode();
    if (llvm::Error E = In.JumpToBit(End))
      return E;
    return In.ReadBlockEnd() ? malformedBitcode() : llvm::Error::success();
  }
  /// Where its body is, in bytes, and how many words that has.
  uint64_t beginByte() const { return Begin / 8; }
  unsigned numWords() const { return NumWords; }

private:
  unsigned NumWords = 0;
  uint64_t Begin = 0;
};

/// Copies the block \p ID that \p In, a reader of \p Bytes, stands before (its
/// ENTER_SUBBLOCK has been read), and steps over it. A block's body refers to
/// nothing outside of it by position, begins at a word, and ends with its own
/// END_BLOCK, so that words can be copied without looking at them. Fails if
/// the block is longer than the bytes.
inline llvm::Error copyBlock(llvm::BitstreamCursor &In, llvm::StringRef Bytes,
                             llvm::BitstreamWriter &W, unsigned ID) {
  using namespace llvm;
  BlockToLeave Block;
  if (Error E = Block.enter(In, ID))
    return E;
  const unsigned NumWords = Block.numWords();
  if (Block.beginByte() + uint64_t(NumWords) * 4 > Bytes.size())
    return failure("block longer than the file");
  const unsigned Width = In.getAbbrevIDWidth();
  if (Error E = Block.leave(In))
    return E;

  W.EmitCode(bitc::ENTER_SUBBLOCK);
  W.EmitVBR(ID, bitc::BlockIDWidth);
  W.EmitVBR(Width, bitc::CodeLenWidth);
  W.FlushToWord();
  W.Emit(NumWords, bitc::BlockSizeWidth);
  const char *P = Bytes.data() + Block.beginByte();
  for (unsigned I = 0; I != NumWords; ++I)
    W.Emit(support::endian::read32le(P + size_t(I) * 4), 32);
  return Error::success();
}

/// Reads up to the first module block of a file, and enters it. \p Other is
/// called where \p In stands before another block, and has to step over that.
/// Fails if something else comes first.
inline llvm::Error
enterModule(llvm::BitstreamCursor &In,
            llvm::function_ref<llvm::Error(unsigned ID)> Other) {
  using namespace llvm;
  while (true) {
    Expected<BitstreamEntry> Entry = In.advance();
    if (!Entry)
      return Entry.takeError();
    if (Entry->Kind != BitstreamEntry::SubBlock)
      return malformedBitcode();
    if (Entry->ID == bitc::MODULE_BLOCK_ID)
      return In.EnterSubBlock(bitc::MODULE_BLOCK_ID);
    if (Error E = Other(Entry->ID))
      return E;
  }
}

/// Reads what is left of the block that \p In is in. \p OnRecord gets the code
/// and the operands of each record; \p OnBlock is called where \p In stands
/// before a block, and has to step over that. Without it, a block is an error,
/// as a blob always is; and errors of both end the reading.
inline llvm::Error readBlock(
    llvm::BitstreamCursor &In,
    llvm::function_ref<llvm::Error(unsigned, llvm::SmallVectorImpl<uint64_t> &)>
        OnRecord,
    llvm::function_ref<llvm::Error(unsigned ID)> OnBlock = nullptr) {
  using namespace llvm;
  SmallVector<uint64_t, 64> Record;
  while (true) {
    Expected<BitstreamEntry> Entry = In.advance();
    if (!Entry)
      return Entry.takeError();
    switch (Entry->Kind) {
    case BitstreamEntry::EndBlock:
      return Error::success();
    case BitstreamEntry::SubBlock:
      if (OnBlock) {
        if (Error E = OnBlock(Entry->ID))
          return E;
        break;
      }
      [[fallthrough]];
    case BitstreamEntry::Error:
      return malformedBitcode();
    case BitstreamEntry::Record: {
      Record.clear();
      StringRef Blob;
      Expected<unsigned> Code = In.readRecord(Entry->ID, Record, &Blob);
      if (!Code)
        return Code.takeError();
      if (Blob.data())
        return malformedBitcode();
      if (Error E = OnRecord(*Code, Record))
        return E;
      break;
    }
    }
  }
}

/// Reads a block of BLOCKINFO into \p Info, which doesn't have one yet.
inline llvm::Error
readBlockInfo(llvm::BitstreamCursor &In,
              std::optional<llvm::BitstreamBlockInfo> &Info) {
  using namespace llvm;
  if (Info)
    return malformedBitcode();
  Expected<std::optional<BitstreamBlockInfo>> Read = In.ReadBlockInfoBlock();
  if (!Read)
    return Read.takeError();
  if (!*Read)
    return malformedBitcode();
  Info = std::move(**Read);
  In.setBlockInfo(&*Info);
  return Error::success();
}

/// Copies the abbreviation that \p In stands before, the \p Number-th of its
/// block. It keeps its number, and records with it their size.
inline llvm::Error copyAbbrev(llvm::BitstreamCursor &In,
                              llvm::BitstreamWriter &W, unsigned Number) {
  using namespace llvm;
  if (Error E = In.ReadAbbrevRecord())
    return E;
  Expected<const BitCodeAbbrev *> Abbrev =
      In.getAbbrev(bitc::FIRST_APPLICATION_ABBREV + Number);
  if (!Abbrev)
    return Abbrev.takeError();
  W.EmitAbbrev(std::make_shared<BitCodeAbbrev>(**Abbrev));
  return Error::success();
}

} // namespace dtlto

#endif // DTLTO_BITCODE_BITSTREAMCOPY_H
