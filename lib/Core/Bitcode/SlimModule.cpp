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
/// form is known; notes its \p Blocks. Returns what the bodies that are kept
/// refer to.
static Expected<SlimUses> look(StringRef Bytes, SlimSelection &Selection,
                               std::optional<SlimMetadata> &Metadata,
                               std::vector<BlockPlace> &Blocks) {
  BitstreamCursor In(Bytes);
  if (Error E = enterModule(In, [&](unsigned) { return In.SkipBlock(); }))
    return std::move(E);
  std::optional<BitstreamBlockInfo> BlockInfo;
  std::vector<uint64_t> Bodies; // where they are
  SlimTypes Types;
  std::optional<BitstreamCursor> MetadataBlock;
  auto OnRecord = [&](unsigned Code, ArrayRef<uint64_t> Record) {
    return Selection.addRecord(Code, Record);
  };
  auto OnBlock = [&](unsigned ID) -> Error {
    if (!isKnownBlock(ID))
      return failure("a block of an unknown kind, " + Twine(ID));
    Blocks.push_back({ID, In.GetCurrentBitNo(), Selection.records().size()});
    switch (ID) {
    case bitc::BLOCKINFO_BLOCK_ID:
      return readBlockInfo(In, BlockInfo);
    case bitc::FUNCTION_BLOCK_ID:
      Bodies.push_back(In.GetCurrentBitNo());
      return Selection.addBody(In);
    case bitc::METADATA_BLOCK_ID: {
      if (MetadataBlock)
        return failure("an old form of bitcode");
      MetadataBlock = In;
      Expected<std::optional<SlimMetadata>> Read = SlimMetadata::read(In);
      if (!Read)
        return Read.takeError();
      Metadata = std::move(*Read);
      return Error::success();
    }
    case bitc::TYPE_BLOCK_ID_NEW:
      return Types.read(In);
    case bitc::CONSTANTS_BLOCK_ID:
      return Selection.addConstants(In);
    case bitc::PARAMATTR_BLOCK_ID:
      return Selection.addAttributes(In);
    }
    return In.SkipBlock();
  };
  if (Error E = readBlock(In, OnRecord, OnBlock))
    return std::move(E);
  if (Error E = Selection.resolve())
    return std::move(E);
  SlimUses Uses(Selection.numValues());
  for (size_t N = 0; N != Bodies.size(); ++N) {
    if (!Selection.keepsBody(N))
      continue;
    if (Error E = In.JumpToBit(Bodies[N]))
      return std::move(E);
    if (Error E = Uses.addBody(In, Selection.type(N), Types))
      return std::move(E);
  }
  if (Metadata) {
    Metadata->addTo(Uses);
  } else if (MetadataBlock) {
    Uses.AllKinds = true;
    if (Error E = Uses.addMetadata(*MetadataBlock))
      return std::move(E);
  }
  return Uses;
}

Expected<SlimBitcode> dtlto::slimModule(const BitcodeModule &Module,
                                        const GUIDSet &Imported) {
  SlimSelection Selection(Module.getStrtab(), Imported);
  std::optional<SlimMetadata> Metadata;
  std::vector<BlockPlace> Blocks;
  Expected<SlimUses> Uses =
      look(Module.getBuffer(), Selection, Metadata, Blocks);
  if (!Uses)
    return Uses.takeError();
  Selection.drop(std::move(*Uses));
  if (Metadata) {
    Metadata->dropAttachments([&](uint64_t ValueID, uint64_t Kind) {
      return Selection.keepsAttachment(ValueID, Kind);
    });
    if (readsMetadataOnDemand())
      Metadata->dropUnread(Selection.metadata(), Selection.knowsMetadata());
  }
  SlimBitcode Slim;
  Slim.MayHaveAssembly = Selection.hasAssembly();
  SmallVector<char, 0> &Out = Slim.Bytes;
  Out.reserve(Module.getBuffer().size() / 2);
  {
    // The writer may hold bytes back until its end.
    SlimWriter Writer(Module, Selection, Blocks,
                      Metadata ? &*Metadata : nullptr, Out);
    if (Error E = Writer.run())
      return std::move(E);
  }
  return Slim;
}
