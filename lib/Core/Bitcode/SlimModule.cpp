//===- SlimModule.cpp - A module with only what jobs import ---------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bitcode/SlimModule.h"
#include "Bitcode/BitstreamCopy.h"
#include "Bitcode/SlimMetadata.h"
#include "Bitcode/SlimSelection.h"
#include "Bitcode/SlimWriter.h"
#include "Support/Failure.h"
#include "llvm/Bitcode/LLVMBitCodes.h"

using namespace llvm;
using namespace dtlto;

/// Blocks of a module that are written again, or may be copied as they are.
static bool isKnownBlock(unsigned ID) {
  switch (ID) {
  case bitc::BLOCKINFO_BLOCK_ID:
  case bitc::PARAMATTR_BLOCK_ID:
  case bitc::PARAMATTR_GROUP_BLOCK_ID:
  case bitc::CONSTANTS_BLOCK_ID:
  case bitc::FUNCTION_BLOCK_ID:
  case bitc::VALUE_SYMTAB_BLOCK_ID:
  case bitc::METADATA_BLOCK_ID:
  case bitc::METADATA_ATTACHMENT_ID:
  case bitc::TYPE_BLOCK_ID_NEW:
  case bitc::USELIST_BLOCK_ID:
  case bitc::GLOBALVAL_SUMMARY_BLOCK_ID:
  case bitc::OPERAND_BUNDLE_TAGS_BLOCK_ID:
  case bitc::METADATA_KIND_BLOCK_ID:
  case bitc::SYNC_SCOPE_NAMES_BLOCK_ID:
    return true;
  default:
    return false;
  }
}

/// Reads the module block of \p Bytes for \p Selection, and \p Metadata if its
/// form is known. Returns what the bodies that are kept refer to.
static Expected<BodyUses> look(StringRef Bytes, SlimSelection &Selection,
                               std::optional<SlimMetadata> &Metadata) {
  BitstreamCursor In(Bytes);
  if (Error E = enterModule(In, [&](unsigned) { return In.SkipBlock(); }))
    return std::move(E);
  std::optional<BitstreamBlockInfo> BlockInfo;
  std::vector<uint64_t> Bodies; // where they are
  BodyUses Uses;
  bool HasMetadata = false;
  auto OnRecord = [&](unsigned Code, ArrayRef<uint64_t> Record) {
    return Selection.addRecord(Code, Record);
  };
  auto OnBlock = [&](unsigned ID) -> Error {
    if (!isKnownBlock(ID))
      return failure("a block of an unknown kind, " + Twine(ID));
    switch (ID) {
    case bitc::BLOCKINFO_BLOCK_ID:
      return readBlockInfo(In, BlockInfo);
    case bitc::FUNCTION_BLOCK_ID:
      Bodies.push_back(In.GetCurrentBitNo());
      return Selection.addBody(In);
    case bitc::METADATA_BLOCK_ID: {
      Expected<std::optional<SlimMetadata>> Read = SlimMetadata::read(In);
      if (!Read)
        return Read.takeError();
      if (std::exchange(HasMetadata, true))
        return failure("an old form of bitcode");
      Uses.AllKinds |= !*Read;
      Metadata = std::move(*Read);
      return Error::success();
    }
    case bitc::CONSTANTS_BLOCK_ID:
      if (Error E = Selection.addConstants(In))
        return E;
      break;
    case bitc::PARAMATTR_BLOCK_ID:
      if (Error E = Selection.addAttributes(In))
        return E;
      break;
    }
    return In.SkipBlock();
  };
  if (Error E = readBlock(In, OnRecord, OnBlock))
    return std::move(E);
  if (Error E = Selection.resolve())
    return std::move(E);
  for (size_t N = 0; N != Bodies.size(); ++N) {
    if (!Selection.keepsBody(N))
      continue;
    BitstreamCursor Body = In;
    if (Error E = Body.JumpToBit(Bodies[N]))
      return std::move(E);
    if (Error E = Uses.add(std::move(Body)))
      return std::move(E);
  }
  if (Metadata)
    Metadata->addKinds(Uses.Kinds);
  return Uses;
}

Expected<SmallVector<char, 0>> dtlto::slimModule(const BitcodeModule &Module,
                                                 const GUIDSet &Imported) {
  SlimSelection Selection(Module.getStrtab(), Imported);
  std::optional<SlimMetadata> Metadata;
  Expected<BodyUses> Bodies = look(Module.getBuffer(), Selection, Metadata);
  if (!Bodies)
    return Bodies.takeError();
  Expected<SlimUses> Uses =
      findUses(Module, Selection.bodies(), Imported, Selection.constants());
  if (!Uses)
    return Uses.takeError();
  Selection.drop(std::move(*Uses), std::move(*Bodies));
  if (Metadata) {
    Metadata->dropAttachments([&](uint64_t ValueID, uint64_t Kind) {
      return Selection.keepsAttachment(ValueID, Kind);
    });
    if (const DenseSet<uint64_t> *Roots = Selection.metadata())
      Metadata->dropUnread(*Roots);
  }
  SmallVector<char, 0> Out;
  Out.reserve(Module.getBuffer().size() / 2);
  {
    // The writer may hold bytes back until its end.
    SlimWriter Writer(Module, Selection, Metadata ? &*Metadata : nullptr, Out);
    if (Error E = Writer.run())
      return std::move(E);
  }
  return Out;
}
