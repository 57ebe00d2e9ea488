//===- SlimMetadata.cpp - Metadata without strings nobody reads -----------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bitcode/SlimMetadata.h"
#include "Bitcode/BitstreamCopy.h"
#include "Bitcode/RecordPacker.h"
#include "llvm/ADT/STLExtras.h"
#include <optional>

using namespace llvm;
using namespace dtlto;

/// Rewrites the blob of a METADATA_STRINGS record: \p Count lengths, and from
/// \p Offset on the characters.
static Error emptyStrings(StringRef Blob, uint64_t Count, uint64_t &Offset,
                          const StringSet<> &Keep, SmallVectorImpl<char> &Out) {
  if (Offset > Blob.size())
    return malformedBitcode();
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
        return malformedBitcode();
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

namespace {

struct MetadataRecord {
  unsigned Code;
  SmallVector<uint64_t, 8> Ops;
};

/// A block of metadata as LLVM's writer makes it: strings, the index's place,
/// what has a number, the index, and what is read at once.
struct MetadataBlock {
  SmallVector<uint64_t, 2> Strings; // their number, and where characters begin
  StringRef StringsBlob;
  std::vector<MetadataRecord> Nodes, Rest;
};

} // namespace

/// Reads the block that \p In stands before. Returns nothing if it has another
/// form.
static Expected<std::optional<MetadataBlock>> readMetadata(BitstreamCursor In) {
  if (Error E = In.EnterSubBlock(bitc::METADATA_BLOCK_ID))
    return std::move(E);
  MetadataBlock Block;
  enum { Begin, Strings, Nodes, Rest } State = Begin;
  SmallVector<uint64_t, 64> Ops;
  while (true) {
    Expected<BitstreamEntry> Entry = In.advance();
    if (!Entry)
      return Entry.takeError();
    if (Entry->Kind == BitstreamEntry::EndBlock)
      break;
    if (Entry->Kind != BitstreamEntry::Record)
      return malformedBitcode();
    Ops.clear();
    StringRef Blob;
    Expected<unsigned> Code = In.readRecord(Entry->ID, Ops, &Blob);
    if (!Code)
      return Code.takeError();
    if (Blob.data() && *Code != bitc::METADATA_STRINGS)
      return malformedBitcode();
    switch (*Code) {
    case bitc::METADATA_STRINGS:
      if (State != Begin || Ops.size() != 2 || !Blob.data())
        return std::nullopt;
      State = Strings;
      Block.Strings.assign(Ops.begin(), Ops.end());
      Block.StringsBlob = Blob;
      break;
    case bitc::METADATA_INDEX_OFFSET:
      if (State != Strings)
        return std::nullopt;
      State = Nodes;
      break;
    case bitc::METADATA_INDEX:
      // One place for each.
      if (State != Nodes || Ops.size() != Block.Nodes.size())
        return std::nullopt;
      State = Rest;
      break;
    default:
      if (State != Nodes && State != Rest)
        return std::nullopt;
      (State == Nodes ? Block.Nodes : Block.Rest)
          .push_back({*Code, SmallVector<uint64_t, 8>(ArrayRef(Ops))});
      break;
    }
  }
  if (State != Rest)
    return std::nullopt;
  return Block;
}

static unsigned emitAbbrev(BitstreamWriter &W, unsigned Code,
                           std::initializer_list<BitCodeAbbrevOp> Ops) {
  auto Abbrev = std::make_shared<BitCodeAbbrev>();
  Abbrev->Add(BitCodeAbbrevOp(Code));
  for (const BitCodeAbbrevOp &Op : Ops)
    Abbrev->Add(Op);
  return W.EmitAbbrev(std::move(Abbrev));
}

static void writeMetadata(BitstreamWriter &W, const MetadataBlock &Block) {
  using Op = BitCodeAbbrevOp;
  W.EnterSubblock(bitc::METADATA_BLOCK_ID, 4);
  // Readers jump to any node, so all abbreviations come first.
  unsigned StringsAbbrev =
      emitAbbrev(W, bitc::METADATA_STRINGS,
                 {Op(Op::VBR, 6), Op(Op::VBR, 6), Op(Op::Blob)});
  unsigned OffsetAbbrev = emitAbbrev(W, bitc::METADATA_INDEX_OFFSET,
                                     {Op(Op::Fixed, 32), Op(Op::Fixed, 32)});
  unsigned IndexAbbrev =
      emitAbbrev(W, bitc::METADATA_INDEX, {Op(Op::Array), Op(Op::VBR, 7)});
  // They read attachments without having read abbreviations.
  auto IsPlain = [](const MetadataRecord &R) {
    return R.Code == bitc::METADATA_GLOBAL_DECL_ATTACHMENT;
  };
  RecordPacker Packer;
  for (const MetadataRecord &R : Block.Nodes)
    Packer.count(R.Code, R.Ops);
  for (const MetadataRecord &R : Block.Rest)
    if (!IsPlain(R))
      Packer.count(R.Code, R.Ops);
  Packer.define(W, /*Max=*/9);

  SmallVector<uint64_t, 3> Strings = {bitc::METADATA_STRINGS};
  Strings.append(Block.Strings);
  W.EmitRecordWithBlob(StringsAbbrev, Strings, Block.StringsBlob);
  W.EmitRecord(bitc::METADATA_INDEX_OFFSET, ArrayRef<uint64_t>({0, 0}),
               OffsetAbbrev);
  // Places count from here, each from the one before.
  const uint64_t Start = W.GetCurrentBitNo();
  uint64_t Last = Start;
  std::vector<uint64_t> Index;
  for (const MetadataRecord &R : Block.Nodes) {
    Index.push_back(W.GetCurrentBitNo() - Last);
    Last = W.GetCurrentBitNo();
    Packer.emit(W, R.Code, R.Ops);
  }
  W.BackpatchWord64(Start - 64, W.GetCurrentBitNo() - Start);
  W.EmitRecord(bitc::METADATA_INDEX, Index, IndexAbbrev);
  for (const MetadataRecord &R : Block.Rest)
    if (IsPlain(R))
      W.EmitRecord(R.Code, R.Ops);
    else
      Packer.emit(W, R.Code, R.Ops);
  W.ExitBlock();
}

Expected<bool>
dtlto::copyMetadata(BitstreamCursor &In, StringRef Bytes, BitstreamWriter &W,
                    const StringSet<> *Keep,
                    function_ref<bool(uint64_t, uint64_t)> KeepsAttachment) {
  Expected<std::optional<MetadataBlock>> Read = readMetadata(In);
  if (!Read)
    return Read.takeError();
  // Without an index, readers read it all, and would see what became empty.
  if (!*Read) {
    if (Error E = copyBlock(In, Bytes, W, bitc::METADATA_BLOCK_ID))
      return std::move(E);
    return false;
  }
  MetadataBlock &Block = **Read;
  SmallVector<char, 0> Blob;
  if (Keep) {
    if (Error E = emptyStrings(Block.StringsBlob, Block.Strings[0],
                               Block.Strings[1], *Keep, Blob))
      return std::move(E);
    Block.StringsBlob = StringRef(Blob.data(), Blob.size());
  }
  erase_if(Block.Rest, [&](MetadataRecord &R) {
    // [value, n x [kind, node]]
    if (R.Code != bitc::METADATA_GLOBAL_DECL_ATTACHMENT ||
        R.Ops.size() % 2 == 0)
      return false;
    size_t End = 1;
    for (size_t I = 1; I != R.Ops.size(); I += 2)
      if (KeepsAttachment(R.Ops[0], R.Ops[I])) {
        R.Ops[End++] = R.Ops[I];
        R.Ops[End++] = R.Ops[I + 1];
      }
    R.Ops.truncate(End);
    return End == 1;
  });
  writeMetadata(W, Block);
  if (Error E = In.SkipBlock())
    return std::move(E);
  return true;
}
