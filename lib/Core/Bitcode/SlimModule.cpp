//===- SlimModule.cpp - A module with only what jobs import ---------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bitcode/SlimModule.h"
#include "Bitcode/BitstreamCopy.h"
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

/// Reads the module block of \p Bytes for \p Selection.
static Error look(StringRef Bytes, SlimSelection &Selection) {
  BitstreamCursor In(Bytes);
  if (Error E = enterModule(In, [&](unsigned) { return In.SkipBlock(); }))
    return E;
  std::optional<BitstreamBlockInfo> BlockInfo;
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
      return Selection.addBody(In);
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
    return E;
  return Selection.resolve();
}

static Expected<SmallVector<char, 0>> write(const BitcodeModule &Module,
                                            const SlimSelection &Selection,
                                            BodyUses *Bodies = nullptr) {
  SmallVector<char, 0> Out;
  Out.reserve(Module.getBuffer().size() / 2);
  {
    // The writer may hold bytes back until its end.
    SlimWriter Writer(Module, Selection, Out);
    if (Error E = Writer.run())
      return std::move(E);
    if (Bodies)
      *Bodies = Writer.takeUses();
  }
  return Out;
}

Expected<SmallVector<char, 0>> dtlto::slimModule(const BitcodeModule &Module,
                                                 const GUIDSet &Imported) {
  SlimSelection Selection(Module.getStrtab(), Imported);
  if (Error E = look(Module.getBuffer(), Selection))
    return std::move(E);
  BodyUses Bodies;
  Expected<SmallVector<char, 0>> Out = write(Module, Selection, &Bodies);
  if (!Out)
    return Out;
  Expected<SlimUses> Uses =
      findUses(StringRef(Out->data(), Out->size()), Selection.bodies(),
               Imported, Selection.constants());
  if (!Uses)
    return Uses.takeError();
  Selection.drop(std::move(*Uses), std::move(Bodies));
  return write(Module, Selection);
}
