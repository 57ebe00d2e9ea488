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

/// A block that can be left before its end. The cursor itself enters the block,
/// because copying a cursor copies all of its abbreviations.
class SkippableBlock {
public:
  /// Enters the block \p ID at \p In.
  llvm::Error enter(llvm::BitstreamCursor &In, unsigned ID) {
    if (llvm::Error E = In.EnterSubBlock(ID, &NumWords))
      return E;
    Begin = In.GetCurrentBitNo();
    return llvm::Error::success();
  }
  /// Skips the rest of the block. \p In may be anywhere in the block, but not
  /// in a nested one.
  llvm::Error leave(llvm::BitstreamCursor &In) const {
    const uint64_t End = Begin + uint64_t(NumWords) * 32;
    if (!In.canSkipToPos(End / 8))
      return malformedBitcode();
    if (llvm::Error E = In.JumpToBit(End))
      return E;
    return In.ReadBlockEnd() ? malformedBitcode() : llvm::Error::success();
  }
  /// The offset of the block's body in bytes, and its size in words.
  uint64_t beginByte() const { return Begin / 8; }
  unsigned numWords() const { return NumWords; }

private:
  unsigned NumWords = 0;
  uint64_t Begin = 0;
};

/// Copies the block \p ID at \p In, a reader of \p Bytes, and steps over it.
/// The block's ENTER_SUBBLOCK must have been read. Copying words is enough: a
/// block's body begins at a word, refers to nothing outside by position, and
/// ends with its own END_BLOCK. Fails if the block is longer than \p Bytes.
inline llvm::Error copyBlock(llvm::BitstreamCursor &In, llvm::StringRef Bytes,
                             llvm::BitstreamWriter &W, unsigned ID) {
  using namespace llvm;
  SkippableBlock Block;
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

/// Called with the cursor at a block; must step over the block.
using OnBlockFn = llvm::function_ref<llvm::Error(unsigned ID)>;

/// Reads up to the first module block of a file and enters it. Calls \p
/// OnOtherBlock for each block before it. Fails if anything but a block
/// precedes it.
inline llvm::Error enterModule(llvm::BitstreamCursor &In,
                               OnBlockFn OnOtherBlock) {
  using namespace llvm;
  while (true) {
    Expected<BitstreamEntry> Entry = In.advance();
    if (!Entry)
      return Entry.takeError();
    if (Entry->Kind != BitstreamEntry::SubBlock)
      return malformedBitcode();
    if (Entry->ID == bitc::MODULE_BLOCK_ID)
      return In.EnterSubBlock(bitc::MODULE_BLOCK_ID);
    if (Error E = OnOtherBlock(Entry->ID))
      return E;
  }
}

/// Reads the rest of the block that \p In is in, until \p OnRecord returns
/// false. Returns whether it reached the block's end. Without \p OnBlock, a
/// nested block is an error. An error of either function stops the reading.
inline llvm::Expected<bool> readRecords(
    llvm::BitstreamCursor &In,
    llvm::function_ref<llvm::Expected<bool>(
        unsigned Code, llvm::SmallVectorImpl<uint64_t> &Ops, llvm::StringRef)>
        OnRecord,
    OnBlockFn OnBlock = nullptr) {
  using namespace llvm;
  SmallVector<uint64_t, 64> Ops;
  while (true) {
    Expected<BitstreamEntry> Entry = In.advance();
    if (!Entry)
      return Entry.takeError();
    if (Entry->Kind == BitstreamEntry::EndBlock)
      return true;
    if (Entry->Kind == BitstreamEntry::SubBlock && OnBlock) {
      if (Error E = OnBlock(Entry->ID))
        return std::move(E);
      continue;
    }
    if (Entry->Kind != BitstreamEntry::Record)
      return malformedBitcode();
    Ops.clear();
    StringRef Blob;
    Expected<unsigned> Code = In.readRecord(Entry->ID, Ops, &Blob);
    if (!Code)
      return Code.takeError();
    Expected<bool> ShouldContinue = OnRecord(*Code, Ops, Blob);
    if (!ShouldContinue || !*ShouldContinue)
      return ShouldContinue;
  }
}

/// Reads the rest of the block that \p In is in. \p OnRecord gets the code and
/// the operands of each record. A blob is an error, and so is a nested block
/// without \p OnBlock. An error of either function stops the reading.
inline llvm::Error readBlock(
    llvm::BitstreamCursor &In,
    llvm::function_ref<llvm::Error(unsigned, llvm::SmallVectorImpl<uint64_t> &)>
        OnRecord,
    OnBlockFn OnBlock = nullptr) {
  using namespace llvm;
  return readRecords(
             In,
             [&](unsigned Code, SmallVectorImpl<uint64_t> &Ops,
                 StringRef Blob) -> Expected<bool> {
               if (Blob.data())
                 return malformedBitcode();
               if (Error E = OnRecord(Code, Ops))
                 return std::move(E);
               return true;
             },
             OnBlock)
      .takeError();
}

/// Reads the function block at \p In up to its first instruction, then skips
/// the rest. Calls \p OnConstants at each block of constants.
inline llvm::Error
readConstantsOfBody(llvm::BitstreamCursor &In,
                    llvm::function_ref<llvm::Error()> OnConstants) {
  using namespace llvm;
  SkippableBlock Body;
  if (Error E = Body.enter(In, bitc::FUNCTION_BLOCK_ID))
    return E;
  Expected<bool> IsAtEnd = readRecords(
      In,
      [](unsigned Code, auto &, StringRef) {
        return Code == bitc::FUNC_CODE_DECLAREBLOCKS;
      },
      [&](unsigned ID) {
        return ID == bitc::CONSTANTS_BLOCK_ID ? OnConstants() : In.SkipBlock();
      });
  if (!IsAtEnd)
    return IsAtEnd.takeError();
  return *IsAtEnd ? Error::success() : Body.leave(In);
}

/// Reads a BLOCKINFO block into \p Info. Fails if \p Info is already set.
inline llvm::Error
readBlockInfo(llvm::BitstreamCursor &In,
              std::optional<llvm::BitstreamBlockInfo> &Info) {
  using namespace llvm;
  if (Info)
    return malformedBitcode();
  Expected<std::optional<BitstreamBlockInfo>> NewInfo = In.ReadBlockInfoBlock();
  if (!NewInfo)
    return NewInfo.takeError();
  if (!*NewInfo)
    return malformedBitcode();
  Info = std::move(**NewInfo);
  In.setBlockInfo(&*Info);
  return Error::success();
}

/// Defines an abbreviation for records of \p Code in the current block of \p W
/// and returns its number.
inline unsigned emitAbbrev(llvm::BitstreamWriter &W, unsigned Code,
                           llvm::ArrayRef<llvm::BitCodeAbbrevOp> Ops) {
  auto Abbrev = std::make_shared<llvm::BitCodeAbbrev>();
  Abbrev->Add(llvm::BitCodeAbbrevOp(Code));
  for (const llvm::BitCodeAbbrevOp &Op : Ops)
    Abbrev->Add(Op);
  return W.EmitAbbrev(std::move(Abbrev));
}

} // namespace dtlto

#endif // DTLTO_BITCODE_BITSTREAMCOPY_H
