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
#include "LLVM/Version.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Bitcode/LLVMBitCodes.h"

using namespace llvm;
using namespace dtlto;

/// The blocks that are rewritten or may be copied unchanged.
static constexpr unsigned KnownBlocks[] = {
    bitc::BLOCKINFO_BLOCK_ID,         bitc::PARAMATTR_BLOCK_ID,
    bitc::PARAMATTR_GROUP_BLOCK_ID,   bitc::CONSTANTS_BLOCK_ID,
    bitc::FUNCTION_BLOCK_ID,          bitc::VALUE_SYMTAB_BLOCK_ID,
    bitc::METADATA_BLOCK_ID,          bitc::METADATA_ATTACHMENT_ID,
    bitc::TYPE_BLOCK_ID_NEW,          bitc::USELIST_BLOCK_ID,
    bitc::GLOBALVAL_SUMMARY_BLOCK_ID, bitc::OPERAND_BUNDLE_TAGS_BLOCK_ID,
    bitc::METADATA_KIND_BLOCK_ID,     bitc::SYNC_SCOPE_NAMES_BLOCK_ID};

namespace {

/// Reads a module block for a selection.
class ModuleReader {
public:
  ModuleReader(StringRef Bytes, SlimSelection &Selection)
      : Selection(Selection), In(Bytes) {}

  /// Reads the block. Call it once.
  Error read();
  /// Returns the uses of the kept bodies. Call it after read().
  Expected<SlimUses> uses();

  std::optional<SlimMetadata> Metadata; // none: unknown form
  std::vector<BlockPosition> Blocks;

private:
  Error readNested(unsigned ID);

  SlimSelection &Selection;
  BitstreamCursor In;
  std::optional<BitstreamBlockInfo> BlockInfo;
  std::vector<uint64_t> Bodies; // their offsets in bits
  SlimTypes Types;
  std::optional<BitstreamCursor> MetadataBlock;
};

} // namespace

Error ModuleReader::read() {
  if (Error E = enterModule(In, [&](unsigned) { return In.SkipBlock(); }))
    return E;
  auto OnRecord = [&](unsigned Code, ArrayRef<uint64_t> Record) {
    return Selection.addRecord(Code, Record);
  };
  if (Error E =
          readBlock(In, OnRecord, [&](unsigned ID) { return readNested(ID); }))
    return E;
  return Selection.resolve();
}

Error ModuleReader::readNested(unsigned ID) {
  if (!is_contained(KnownBlocks, ID))
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
}

Expected<SlimUses> ModuleReader::uses() {
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
    Uses.UsesAllKinds = true;
    if (Error E = Uses.addMetadata(*MetadataBlock))
      return std::move(E);
  }
  return Uses;
}

Expected<SlimBitcode> dtlto::slimModule(const BitcodeModule &Module,
                                        const GUIDSet &Imported) {
  // With these options, readers don't skip unused metadata, and importers don't
  // read types as declarations.
  for (StringRef Name :
       {"disable-ondemand-mds-loading", "import-full-type-definitions"})
    if (cl::Option *Option = findOption(Name);
        !Option || Option->getNumOccurrences() != 0)
      return failure("-mllvm -" + Name);
  SlimSelection Selection(Module.getStrtab(), Imported);
  ModuleReader Reader(Module.getBuffer(), Selection);
  if (Error E = Reader.read())
    return std::move(E);
  Expected<SlimUses> Uses = Reader.uses();
  if (!Uses)
    return Uses.takeError();
  Selection.drop(std::move(*Uses));
  std::optional<SlimMetadata> &Metadata = Reader.Metadata;
  if (Metadata) {
    Metadata->dropAttachments([&](uint64_t ValueID, uint64_t Kind) {
      return Selection.keepsAttachment(ValueID, Kind);
    });
    Metadata->dropUnused(Selection.metadata(), Selection.canDropDebugInfo());
  }
  SlimBitcode Slim;
  Slim.MayHaveAssembly = Selection.hasAssembly();
  SmallVector<char, 0> &Out = Slim.Bytes;
  Out.reserve(Module.getBuffer().size() / 2);
  {
    // The writer flushes in its destructor.
    SlimWriter Writer(Module, Selection, Reader.Blocks,
                      Metadata ? &*Metadata : nullptr, Out);
    if (Error E = Writer.run())
      return std::move(E);
  }
  return Slim;
}
