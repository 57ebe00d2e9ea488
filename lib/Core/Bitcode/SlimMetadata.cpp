//===- SlimMetadata.cpp - Metadata that an importer reads -----------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bitcode/SlimMetadata.h"
#include "Bitcode/BitstreamCopy.h"
#include "Bitcode/MetadataRefs.h"
#include "Bitcode/RecordPacker.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLExtras.h"
#include <optional>

using namespace llvm;
using namespace dtlto;

/// Rewrites the blob of a METADATA_STRINGS record: \p Count lengths, followed
/// at \p Offset by the characters. Strings not in \p Keep become empty.
static Error emptyStrings(StringRef Blob, uint64_t Count, uint64_t &Offset,
                          const BitVector &Keep, SmallVectorImpl<char> &Out) {
  if (Offset > Blob.size())
    return malformedBitcode();
  SimpleBitstreamCursor Lengths(Blob.take_front(Offset));
  StringRef Rest = Blob.drop_front(Offset);
  std::string Chars;
  {
    BitstreamWriter W(Out); // flushes in its destructor
    for (unsigned I = 0; I != Count; ++I) {
      Expected<uint32_t> Size = Lengths.ReadVBR(6);
      if (!Size)
        return Size.takeError();
      if (*Size > Rest.size())
        return malformedBitcode();
      StringRef String = Rest.take_front(*Size);
      Rest = Rest.drop_front(*Size);
      if (!Keep.test(I))
        String = "";
      W.EmitVBR(String.size(), 6);
      Chars += String;
    }
  }
  Offset = Out.size();
  Out.append(Chars.begin(), Chars.end());
  return Error::success();
}

Expected<std::optional<SlimMetadata>> SlimMetadata::read(BitstreamCursor &In) {
  BitstreamCursor Body = In;
  if (Error E = In.SkipBlock())
    return std::move(E);
  if (Error E = Body.EnterSubBlock(bitc::METADATA_BLOCK_ID))
    return std::move(E);
  SlimMetadata Block;
  enum { Begin, AfterStrings, InNodes, InRest } State = Begin;
  auto Take = [&](unsigned Code, ArrayRef<uint64_t> Ops,
                  StringRef Blob) -> Expected<bool> {
    if (Blob.data() && Code != bitc::METADATA_STRINGS)
      return malformedBitcode();
    switch (Code) {
    case bitc::METADATA_STRINGS:
      if (State != Begin || Ops.size() != 2 || !Blob.data())
        return false;
      if (Ops[0] > Blob.size() * 8 / 6) // each length has at least 6 bits
        return malformedBitcode();
      State = AfterStrings;
      Block.NumStrings = Ops[0];
      Block.CharsOffset = Ops[1];
      Block.Strings = Blob;
      return true;
    case bitc::METADATA_INDEX_OFFSET:
      return std::exchange(State, InNodes) == AfterStrings;
    case bitc::METADATA_INDEX:
      // One offset for each node.
      return std::exchange(State, InRest) == InNodes &&
             Ops.size() == Block.Nodes.size();
    default:
      if (State != InNodes && State != InRest)
        return false;
      (State == InNodes ? Block.Nodes : Block.Rest)
          .push_back({Code, SmallVector<uint64_t, 8>(Ops)});
      return true;
    }
  };
  Expected<bool> IsSupported = readRecords(Body, Take);
  if (!IsSupported)
    return IsSupported.takeError();
  if (!*IsSupported || State != InRest)
    return std::nullopt;
  return Block;
}

void SlimMetadata::addTo(SlimUses &Uses) const {
  for (const Record &R : Rest)
    for (size_t I = 1; R.isAttachment() && I != R.Ops.size(); I += 2)
      Uses.Kinds.insert(R.Ops[I]);
  for (const std::vector<Record> *Records : {&Nodes, &Rest})
    for (const Record &R : *Records)
      if (R.Code == bitc::METADATA_VALUE && R.Ops.size() > 1)
        Uses.addValue(R.Ops[1]); // [type, value]
}

void SlimMetadata::dropAttachments(AttachmentFilter Keeps) {
  llvm::erase_if(Rest, [&](Record &R) {
    if (!R.isAttachment())
      return false;
    SmallVector<uint64_t, 8> Ops = {R.Ops[0]};
    for (size_t I = 1; I != R.Ops.size(); I += 2)
      if (Keeps(R.Ops[0], R.Ops[I]))
        Ops.append({R.Ops[I], R.Ops[I + 1]});
    R.Ops = std::move(Ops);
    return R.Ops.size() == 1;
  });
}

/// Whether \p Tuple has debug info as an operand.
bool SlimMetadata::leadsToDebugInfo(const Record &Tuple) const {
  return llvm::any_of(Tuple.Ops, [&](uint64_t Op) {
    uint64_t N = Op - 1 - NumStrings; // numbers of strings wrap around
    return N < Nodes.size() && isDebugInfo(Nodes[N].Code);
  });
}

void SlimMetadata::dropUnused(const DenseSet<uint64_t> &FromBodies,
                              bool DropNodes) {
  BitVector IsRead(Nodes.size());
  UsedStrings.emplace(NumStrings);
  std::vector<size_t> Worklist;
  bool AddStrings = true;
  auto Add = [&](uint64_t ID) {
    uint64_t N = ID - NumStrings;
    if (ID < NumStrings && AddStrings)
      UsedStrings->set(ID);
    if (ID < NumStrings || N >= Nodes.size() || IsRead.test(N))
      return;
    IsRead.set(N);
    Worklist.push_back(N);
  };
  auto Follow = [&] {
    while (!Worklist.empty()) {
      const Record &R = Nodes[Worklist.back()];
      Worklist.pop_back();
      forEachReference(R.Code, R.Ops, Add);
    }
  };
  for (uint64_t ID : FromBodies)
    Add(ID);
  for (const Record &R : Rest)
    if (R.isAttachment())
      for (size_t I = 2; I < R.Ops.size(); I += 2)
        Add(R.Ops[I]);
    else if (R.Code != bitc::METADATA_NAME)
      for (uint64_t ID : R.Ops)
        Add(ID);
  Follow();

  // Keep nodes other than debug info, but without their strings.
  AddStrings = !DropNodes;
  for (size_t N = 0; N != Nodes.size(); ++N)
    if (!DropNodes ||
        (!isDebugInfo(Nodes[N].Code) && !leadsToDebugInfo(Nodes[N])))
      Add(NumStrings + N);
  Follow();
  if (!DropNodes)
    return;
  for (size_t N = 0; N != Nodes.size(); ++N)
    if (IsRead.test(N))
      dropUnreadReferences(Nodes[N].Code, Nodes[N].Ops);
    else
      Nodes[N] = {bitc::METADATA_NODE, {}};
}

Error SlimMetadata::write(BitstreamWriter &W) const {
  uint64_t Offset = CharsOffset;
  StringRef Blob = Strings;
  SmallVector<char, 0> NewBlob;
  if (UsedStrings) {
    if (Error E =
            emptyStrings(Strings, NumStrings, Offset, *UsedStrings, NewBlob))
      return E;
    Blob = StringRef(NewBlob.data(), NewBlob.size());
  }

  using Op = BitCodeAbbrevOp;
  W.EnterSubblock(bitc::METADATA_BLOCK_ID, 4);
  // Readers jump to any node, so define all abbreviations first.
  unsigned StringsAbbrev =
      emitAbbrev(W, bitc::METADATA_STRINGS,
                 {Op(Op::VBR, 6), Op(Op::VBR, 6), Op(Op::Blob)});
  unsigned OffsetAbbrev = emitAbbrev(W, bitc::METADATA_INDEX_OFFSET,
                                     {Op(Op::Fixed, 32), Op(Op::Fixed, 32)});
  unsigned IndexAbbrev =
      emitAbbrev(W, bitc::METADATA_INDEX, {Op(Op::Array), Op(Op::VBR, 7)});
  // Readers parse attachments before they have read the abbreviations.
  auto IsPlain = [](const Record &R) {
    return R.Code == bitc::METADATA_GLOBAL_DECL_ATTACHMENT;
  };
  RecordPacker Packer;
  for (const Record &R : Nodes)
    Packer.count(R.Code, R.Ops);
  for (const Record &R : Rest)
    if (!IsPlain(R))
      Packer.count(R.Code, R.Ops);
  Packer.define(W, /*Max=*/9);

  W.EmitRecordWithBlob(
      StringsAbbrev,
      ArrayRef<uint64_t>({bitc::METADATA_STRINGS, NumStrings, Offset}), Blob);
  W.EmitRecord(bitc::METADATA_INDEX_OFFSET, ArrayRef<uint64_t>({0, 0}),
               OffsetAbbrev);
  // Each offset counts from the previous node; the first from here.
  const uint64_t Start = W.GetCurrentBitNo();
  uint64_t Last = Start;
  std::vector<uint64_t> Index;
  for (const Record &R : Nodes) {
    Index.push_back(W.GetCurrentBitNo() - Last);
    Last = W.GetCurrentBitNo();
    Packer.emit(W, R.Code, R.Ops);
  }
  W.BackpatchWord64(Start - 64, W.GetCurrentBitNo() - Start);
  W.EmitRecord(bitc::METADATA_INDEX, Index, IndexAbbrev);
  for (const Record &R : Rest)
    if (IsPlain(R))
      W.EmitRecord(R.Code, R.Ops);
    else
      Packer.emit(W, R.Code, R.Ops);
  W.ExitBlock();
  return Error::success();
}
