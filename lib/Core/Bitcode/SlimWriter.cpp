//===- SlimWriter.cpp - Writes the sent parts of a module -----------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bitcode/SlimWriter.h"
#include "Bitcode/BitstreamCopy.h"
#include "Support/Failure.h"
#include "LLVM/Version.h"
#include "llvm/Bitcode/LLVMBitCodes.h"

using namespace llvm;
using namespace dtlto;

Error SlimWriter::run() {
  assert(Writer.GetCurrentBitNo() == 0 && "run() is called once");
  for (unsigned char C : StringRef("BC\xC0\xDE"))
    Writer.Emit(C, 8);
  BitstreamCursor In(Bytes);
  if (Error E = enterModule(
          In, [&](unsigned ID) { return copyBlock(In, Bytes, Writer, ID); }))
    return E;
  if (Error E = writeModule(In))
    return E;
  if (!HasSummary)
    return failure("the module has no summary");
  if (!HasTable)
    return failure("an old form of bitcode");
  writeStrtab();
  return Error::success();
}

/// Changes the module's records to what writeRecord() will write.
Error SlimWriter::changeRecords() {
  SmallVector<uint64_t, 64> Record;
  for (size_t I = 0; I != Selection.records().size(); ++I) {
    auto [Code, Ops] = Selection.records()[I];
    Record.assign(Ops.begin(), Ops.end());
    Expected<bool> Keep = change(Code, Record);
    if (!Keep)
      return Keep.takeError();
    IsKept.push_back(*Keep);
    Records.add(Code, Record);
    if (*Keep && Code != bitc::MODULE_CODE_VSTOFFSET)
      Packer.count(Code, Record);
  }
  return Error::success();
}

Error SlimWriter::writeModule(BitstreamCursor &In) {
  if (Error E = changeRecords())
    return E;
  Writer.EnterSubblock(bitc::MODULE_BLOCK_ID, 4);
  // Exit on errors, too: a writer's blocks must be closed.
  auto Exit = onScopeExit([&] { Writer.ExitBlock(); });
  VSTOffsetAbbrev = emitAbbrev(Writer, bitc::MODULE_CODE_VSTOFFSET,
                               {BitCodeAbbrevOp(BitCodeAbbrevOp::Fixed, 32)});
  Packer.define(Writer, /*Max=*/11);
  size_t Next = 0;
  auto WriteRecords = [&](size_t End) -> Error {
    for (; Next != End; ++Next)
      if (IsKept[Next])
        if (Error E = writeRecord(Records[Next].Code, Records[Next].Ops))
          return E;
    return Error::success();
  };
  for (const BlockPosition &Block : Blocks) {
    if (Error E = WriteRecords(Block.NumRecords))
      return E;
    if (Error E = In.JumpToBit(Block.Bit))
      return E;
    if (Error E = writeBlock(In, Block.ID))
      return E;
  }
  return WriteRecords(Records.size());
}

Error SlimWriter::writeBlock(BitstreamCursor &In, unsigned ID) {
  switch (ID) {
  case bitc::BLOCKINFO_BLOCK_ID:
    return writeBlockInfo(In);
  case bitc::FUNCTION_BLOCK_ID:
    return writeBody(In);
  case bitc::GLOBALVAL_SUMMARY_BLOCK_ID:
    return writeSummary(In);
  case bitc::METADATA_BLOCK_ID:
    return writeMetadata(In);
  case bitc::VALUE_SYMTAB_BLOCK_ID:
    if (Error E = In.SkipBlock())
      return E;
    return writeFunctionTable();
  case bitc::TYPE_BLOCK_ID_NEW:
    return repackBlock(In, Writer, ID);
  case bitc::PARAMATTR_BLOCK_ID:
  case bitc::PARAMATTR_GROUP_BLOCK_ID:
    return writeAttributes(In, ID);
  case bitc::CONSTANTS_BLOCK_ID:
    writeConstants();
    return Error::success();
  case bitc::METADATA_KIND_BLOCK_ID:
    return writeKinds(In);
  case bitc::OPERAND_BUNDLE_TAGS_BLOCK_ID:
    if (!Selection.keepsBundles())
      return In.SkipBlock();
    return repackBlock(In, Writer, ID);
  }
  return copyBlock(In, Bytes, Writer, ID);
}

/// Copies the abbreviations, so that copied blocks can keep their numbers.
Error SlimWriter::writeBlockInfo(BitstreamCursor &In) {
  if (Error E = readBlockInfo(In, BlockInfo))
    return E;
  // Rewritten blocks have room for only a few abbreviations.
  auto Room = [](unsigned ID) -> size_t {
    switch (ID) {
    case bitc::FUNCTION_BLOCK_ID:
    case bitc::VALUE_SYMTAB_BLOCK_ID:
      return SIZE_MAX; // written without abbreviations
    case bitc::CONSTANTS_BLOCK_ID:
      return 5;
    default:
      return 0;
    }
  };
  static constexpr unsigned MaxID = 64; // greater than all of LLVM's
  for (unsigned ID = 0; ID != MaxID; ++ID)
    if (const auto *Block = BlockInfo->getBlockInfo(ID))
      if (Block->Abbrevs.size() > Room(ID))
        return failure("abbreviations of an unknown form");
  Writer.EnterBlockInfoBlock();
  for (unsigned ID = 0; ID != MaxID; ++ID)
    if (const auto *Block = BlockInfo->getBlockInfo(ID))
      for (const auto &Abbrev : Block->Abbrevs)
        Writer.EmitBlockInfoAbbrev(ID,
                                   std::make_shared<BitCodeAbbrev>(*Abbrev));
  Writer.ExitBlock();
  return Error::success();
}

/// Writes lists of attributes, or their groups. Unused lists become empty.
Error SlimWriter::writeAttributes(BitstreamCursor &In, unsigned ID) {
  size_t NumLists = 0;
  auto Change = [&](unsigned &, SmallVectorImpl<uint64_t> &Record) {
    if (ID == bitc::PARAMATTR_BLOCK_ID) {
      if (!Selection.keepsAttributes(++NumLists))
        Record.clear();
      return true;
    }
    // [group, parameter, ...]
    return Record.empty() || Selection.keepsAttributeGroup(Record[0]);
  };
  return repackBlock(In, Writer, ID, Change);
}

Error SlimWriter::writeMetadata(BitstreamCursor &In) {
  if (!Metadata)
    return copyBlock(In, Bytes, Writer, bitc::METADATA_BLOCK_ID);
  if (Error E = In.SkipBlock())
    return E;
  return Metadata->write(Writer);
}

/// Writes the kinds of metadata that are used, and those that some LLVM version
/// lacks: the first module that is read determines their numbers.
Error SlimWriter::writeKinds(BitstreamCursor &In) {
  auto Change = [&](unsigned &, SmallVectorImpl<uint64_t> &Record) {
    // [kind, its name]
    return Record.empty() || Selection.keepsKind(Record[0]);
  };
  return repackBlock(In, Writer, bitc::METADATA_KIND_BLOCK_ID, Change);
}

/// Writes constants, with null for those that an importer doesn't read.
void SlimWriter::writeConstants() {
  uint64_t ValueID = Selection.firstConstant();
  auto Change = [&](unsigned &Code, SmallVectorImpl<uint64_t> &Record) {
    if (Code != bitc::CST_CODE_SETTYPE && !Selection.keepsConstant(ValueID++)) {
      Code = bitc::CST_CODE_NULL;
      Record.clear();
    }
    return true;
  };
  repackBlock(Selection.constants(), Writer, bitc::CONSTANTS_BLOCK_ID, Change);
}

/// Moves the name at Record[At] (offset) and Record[At + 1] (size), if any, to
/// the new string table.
Error SlimWriter::moveName(SmallVectorImpl<uint64_t> &Record, size_t At) {
  if (Record.size() <= At + 1)
    return Error::success();
  uint64_t Offset = Record[At], Size = Record[At + 1];
  if (Offset > Strtab.size() || Size > Strtab.size() - Offset)
    return malformedBitcode();
  auto [It, New] =
      NewNames.try_emplace(Strtab.substr(Offset, Size), NewStrtab.size());
  if (New)
    NewStrtab += It->first();
  Record[At] = Size ? It->second : 0;
  return Error::success();
}

/// Reduces \p Record to what an importer needs. Returns false if nothing
/// remains.
Expected<bool> SlimWriter::change(unsigned Code,
                                  SmallVectorImpl<uint64_t> &Record) {
  // Records have a name at 0, and some also have a partition's name.
  static constexpr size_t None = SIZE_MAX - 1;
  size_t Partition = None;
  switch (Code) {
  default:
    return true;
  case bitc::MODULE_CODE_HASH:
    return false;
  case bitc::MODULE_CODE_COMDAT:
    if (!Selection.keepsComdat(NumComdats++) && Record.size() > 1)
      Record[1] = 0;
    break;
  case bitc::MODULE_CODE_GLOBALVAR:
    Partition = 16;
    break;
  case bitc::MODULE_CODE_FUNCTION:
    if (NumFunctions == Selection.numFunctions())
      return malformedBitcode();
    if (!Selection.keepsFunction(NumFunctions++)) {
      // The same type, external, without a name.
      Record.assign({0, 0, Record[2], 0, /*isproto=*/1, 0, 0, 0, 0, 0});
      return true;
    }
    Partition = 19;
    break;
  case bitc::MODULE_CODE_ALIAS:
    Partition = 11;
    break;
  }
  if (Error E = moveName(Record, 0))
    return std::move(E);
  if (Error E = moveName(Record, Partition))
    return std::move(E);
  return true;
}

Error SlimWriter::writeRecord(unsigned Code, ArrayRef<uint64_t> Record) {
  if (Code != bitc::MODULE_CODE_VSTOFFSET) {
    Packer.emit(Writer, Code, Record);
    return Error::success();
  }
  if (VSTOffsetBit)
    return malformedBitcode();
  Writer.EmitRecord(Code, ArrayRef<uint64_t>({0}), VSTOffsetAbbrev);
  VSTOffsetBit = Writer.GetCurrentBitNo() - 32;
  return Error::success();
}

/// Writes the version and the flags, which mark a ThinLTO module.
Error SlimWriter::writeSummary(BitstreamCursor &In) {
  HasSummary = true;
  if (Error E = In.EnterSubBlock(bitc::GLOBALVAL_SUMMARY_BLOCK_ID))
    return E;
  Writer.EnterSubblock(bitc::GLOBALVAL_SUMMARY_BLOCK_ID, 3);
  auto Exit = onScopeExit([&] { Writer.ExitBlock(); });
  auto OnRecord = [&](unsigned Code,
                      SmallVectorImpl<uint64_t> &Record) -> Error {
    if (Code == bitc::FS_VERSION || Code == bitc::FS_FLAGS)
      Writer.EmitRecord(Code, Record);
    return Error::success();
  };
  return readBlock(In, OnRecord, [&](unsigned) { return In.SkipBlock(); });
}

Error SlimWriter::writeBody(BitstreamCursor &In) {
  if (Writer.GetCurrentBitNo() % 32)
    return failure("a function that is not aligned to 32 bits");
  if (NumBodies == Selection.numBodies())
    return malformedBitcode();
  const size_t Number = NumBodies++;
  if (Selection.keepsOwner(Number))
    FunctionTable.emplace_back(Selection.valueID(Number), word());
  if (Selection.keepsBody(Number))
    return copyBlock(In, Bytes, Writer, bitc::FUNCTION_BLOCK_ID);
  if (Error E = In.SkipBlock())
    return E;
  if (!Selection.keepsOwner(Number))
    return Error::success();
  Writer.EnterSubblock(bitc::FUNCTION_BLOCK_ID, 4);
  Writer.EmitRecord(bitc::FUNC_CODE_DECLAREBLOCKS, ArrayRef<unsigned>({1}));
  Writer.EmitRecord(bitc::FUNC_CODE_INST_UNREACHABLE, ArrayRef<unsigned>());
  Writer.ExitBlock();
  return Error::success();
}

/// Writes the offset of each body, in words from the word before the first
/// block.
Error SlimWriter::writeFunctionTable() {
  if (Writer.GetCurrentBitNo() % 32 || !VSTOffsetBit || HasTable)
    return failure("a function table of an unknown form");
  HasTable = true;
  Writer.BackpatchWord(VSTOffsetBit, word());
  Writer.EnterSubblock(bitc::VALUE_SYMTAB_BLOCK_ID, 4);
  // Use no abbreviations: their numbers would depend on the module's BLOCKINFO.
  for (const auto &[ValueID, Word] : FunctionTable)
    Writer.EmitRecord(bitc::VST_CODE_FNENTRY,
                      ArrayRef<uint64_t>({ValueID, Word}));
  Writer.ExitBlock();
  return Error::success();
}

void SlimWriter::writeStrtab() {
  Writer.EnterSubblock(bitc::STRTAB_BLOCK_ID, 3);
  unsigned Blob = emitAbbrev(Writer, bitc::STRTAB_BLOB,
                             {BitCodeAbbrevOp(BitCodeAbbrevOp::Blob)});
  Writer.EmitRecordWithBlob(Blob, ArrayRef<unsigned>({bitc::STRTAB_BLOB}),
                            NewStrtab);
  Writer.ExitBlock();
}
