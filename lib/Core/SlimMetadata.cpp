//===- SlimMetadata.cpp - Metadata without strings nobody reads -----------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SlimMetadata.h"
#include "llvm/Bitcode/LLVMBitCodes.h"

using namespace llvm;
using namespace dtlto;

static Error malformed() {
  return createStringError(inconvertibleErrorCode(), "malformed bitcode");
}

/// Rewrites the blob of a METADATA_STRINGS record: \p Count lengths, and from
/// \p Offset on the characters.
static Error emptyStrings(StringRef Blob, uint64_t Count, uint64_t &Offset,
                          const StringSet<> &Keep, SmallVectorImpl<char> &Out) {
  if (Offset > Blob.size())
    return malformed();
  SimpleBitstreamCursor Lengths(Blob.take_front(Offset));
  StringRef Rest = Blob.drop_front(Offset);
  std::string Chars;
  {
    BitstreamWriter W(Out); // flushes when it is destroyed
    for (uint64_t I = 0; I != Count; ++I) {
      Expected<uint32_t> Size = Lengths.ReadVBR(6);
      if (!Size)
        return Size.takeError();
      if (*Size > Rest.size())
        return malformed();
      StringRef String = Rest.take_front(*Size);
      Rest = Rest.drop_front(*Size);
      if (!Keep.contains(String))
        String = "";
      W.EmitVBR(String.size(), 6);
      Chars += String;
    }
  }
  Offset = Out.size();
  Out.append(Chars.begin(), Chars.end());
  return Error::success();
}

/// Whether \p A is LLVM's for METADATA_STRINGS: [code, vbr6, vbr6, blob].
static bool isStringsAbbrev(const BitCodeAbbrev &A) {
  if (A.getNumOperandInfos() != 4)
    return false;
  auto IsVBR6 = [](const BitCodeAbbrevOp &Op) {
    return Op.isEncoding() && Op.getEncoding() == BitCodeAbbrevOp::VBR &&
           Op.getEncodingData() == 6;
  };
  const BitCodeAbbrevOp &Code = A.getOperandInfo(0);
  const BitCodeAbbrevOp &Blob = A.getOperandInfo(3);
  return Code.isLiteral() && Code.getLiteralValue() == bitc::METADATA_STRINGS &&
         IsVBR6(A.getOperandInfo(1)) && IsVBR6(A.getOperandInfo(2)) &&
         Blob.isEncoding() && Blob.getEncoding() == BitCodeAbbrevOp::Blob;
}

Error dtlto::copyMetadata(BitstreamCursor &In, StringRef Bytes,
                          BitstreamWriter &W, const StringSet<> &Keep) {
  BitstreamCursor Body = In;
  unsigned NumWords = 0;
  if (Error E = Body.EnterSubBlock(bitc::METADATA_BLOCK_ID, &NumWords))
    return E;
  const uint64_t Begin = Body.GetCurrentBitNo();
  const uint64_t End = Begin + uint64_t(NumWords) * 32;
  const unsigned Width = Body.getAbbrevIDWidth();
  if (End / 8 > Bytes.size())
    return malformed();

  // The strings are the first record, with an abbreviation of their own.
  uint64_t RecordBegin;
  unsigned AbbrevID;
  while (true) {
    RecordBegin = Body.GetCurrentBitNo();
    Expected<BitstreamEntry> Entry =
        Body.advance(BitstreamCursor::AF_DontAutoprocessAbbrevs);
    if (!Entry)
      return Entry.takeError();
    if (Entry->Kind != BitstreamEntry::Record ||
        Entry->ID == bitc::UNABBREV_RECORD)
      return copyBlock(In, Bytes, W, bitc::METADATA_BLOCK_ID);
    AbbrevID = Entry->ID;
    if (AbbrevID != bitc::DEFINE_ABBREV)
      break;
    if (Error E = Body.ReadAbbrevRecord())
      return E;
  }
  Expected<const BitCodeAbbrev *> Abbrev = Body.getAbbrev(AbbrevID);
  if (!Abbrev)
    return Abbrev.takeError();
  if (!isStringsAbbrev(**Abbrev))
    return copyBlock(In, Bytes, W, bitc::METADATA_BLOCK_ID);
  SmallVector<uint64_t, 2> Record;
  StringRef Blob;
  Expected<unsigned> Code = Body.readRecord(AbbrevID, Record, &Blob);
  if (!Code)
    return Code.takeError();
  const uint64_t RestBegin = Body.GetCurrentBitNo();
  if (Record.size() != 2 || RestBegin % 32 || RestBegin > End)
    return malformed();
  // Without an index, readers read it all, and would see what became empty.
  Expected<BitstreamEntry> Next = Body.advance();
  if (!Next)
    return Next.takeError();
  bool HasIndex = false;
  if (Next->Kind == BitstreamEntry::Record) {
    Expected<unsigned> NextCode = Body.skipRecord(Next->ID);
    if (!NextCode)
      return NextCode.takeError();
    HasIndex = *NextCode == bitc::METADATA_INDEX_OFFSET;
  }
  if (!HasIndex)
    return copyBlock(In, Bytes, W, bitc::METADATA_BLOCK_ID);
  SmallVector<char, 0> NewBlob;
  if (Error E = emptyStrings(Blob, Record[0], Record[1], Keep, NewBlob))
    return E;

  W.EmitCode(bitc::ENTER_SUBBLOCK);
  W.EmitVBR(bitc::METADATA_BLOCK_ID, bitc::BlockIDWidth);
  W.EmitVBR(Width, bitc::CodeLenWidth);
  W.FlushToWord();
  const uint64_t SizeBit = W.GetCurrentBitNo();
  W.Emit(0, bitc::BlockSizeWidth);
  // The abbreviations, bit by bit.
  SimpleBitstreamCursor Bits(Bytes);
  if (Error E = Bits.JumpToBit(Begin))
    return E;
  for (uint64_t At = Begin; At != RecordBegin;) {
    unsigned Count = std::min<uint64_t>(RecordBegin - At, 32);
    Expected<SimpleBitstreamCursor::word_t> Word = Bits.Read(Count);
    if (!Word)
      return Word.takeError();
    W.Emit(*Word, Count);
    At += Count;
  }
  W.Emit(AbbrevID, Width);
  W.EmitVBR64(Record[0], 6);
  W.EmitVBR64(Record[1], 6);
  W.emitBlob(StringRef(NewBlob.data(), NewBlob.size()));
  // The record ends at a word. What follows says where things are in relation
  // to itself, so it is right at any other word.
  for (uint64_t At = RestBegin; At != End; At += 32)
    W.Emit(support::endian::read32le(Bytes.data() + At / 8), 32);
  W.BackpatchWord(SizeBit, (W.GetCurrentBitNo() - SizeBit) / 32 - 1);
  return In.SkipBlock();
}
