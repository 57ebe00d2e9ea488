//===- SlimModule.cpp - A module with only what jobs import ---------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SlimModule.h"
#include "BitstreamCopy.h"
#include "BitstreamRepack.h"
#include "LLVMCompat.h"
#include "SlimMetadata.h"
#include "SlimParts.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Bitcode/LLVMBitCodes.h"
#include <vector>

using namespace llvm;
using namespace dtlto;

static Error cannot(const Twine &Why) {
  return createStringError(inconvertibleErrorCode(), Why);
}

static constexpr StringLiteral Malformed = "malformed bitcode";
static Error malformed() { return cannot(Malformed); }

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

/// Reads the module block of \p Bytes for \p Parts.
static Error look(StringRef Bytes, SlimParts &Parts) {
  BitstreamCursor In(Bytes);
  if (Error E =
          enterModule(In, Malformed, [&](unsigned) { return In.SkipBlock(); }))
    return E;
  BitstreamBlockInfo BlockInfo;
  In.setBlockInfo(&BlockInfo);
  SmallVector<uint64_t, 64> Record;
  while (true) {
    Expected<BitstreamEntry> Entry = In.advance();
    if (!Entry)
      return Entry.takeError();
    switch (Entry->Kind) {
    case BitstreamEntry::Error:
      return malformed();
    case BitstreamEntry::EndBlock:
      return Parts.resolve();
    case BitstreamEntry::SubBlock:
      if (!isKnownBlock(Entry->ID))
        return cannot("a block of an unknown kind, " + Twine(Entry->ID));
      if (Entry->ID == bitc::BLOCKINFO_BLOCK_ID) {
        Expected<std::optional<BitstreamBlockInfo>> Info =
            In.ReadBlockInfoBlock();
        if (!Info)
          return Info.takeError();
        if (!*Info)
          return malformed();
        BlockInfo = std::move(**Info);
        break;
      }
      if (Entry->ID == bitc::FUNCTION_BLOCK_ID) {
        if (Error E = Parts.addBody(In))
          return E;
        break;
      }
      if (Entry->ID == bitc::CONSTANTS_BLOCK_ID)
        if (Error E = Parts.addConstants(In))
          return E;
      if (Error E = In.SkipBlock())
        return E;
      break;
    case BitstreamEntry::Record: {
      Record.clear();
      Expected<unsigned> Code = In.readRecord(Entry->ID, Record);
      if (!Code)
        return Code.takeError();
      if (Error E = Parts.addRecord(*Code, Record))
        return E;
      break;
    }
    }
  }
}

namespace {

/// Copies a module's bitstream and leaves out what isn't needed on the way.
class SlimWriter {
public:
  /// \p Strings: all metadata strings to keep; null: keep them as they are.
  SlimWriter(const BitcodeModule &Module, const SlimParts &Parts,
             const StringSet<> *Strings, SmallVectorImpl<char> &Out)
      : Bytes(Module.getBuffer()), Strtab(Module.getStrtab()), Parts(Parts),
        Strings(Strings), W(Out) {}

  Error run();

private:
  Error writeModule(BitstreamCursor &In);
  Error writeBlock(BitstreamCursor &In, unsigned ID);
  Error writeRecord(BitstreamCursor &In, unsigned AbbrevID);
  Error writeSummary(BitstreamCursor &In);
  Error writeBody(BitstreamCursor &In);
  Error writeFunctionTable();
  void writeStrtab();
  Error moveName(SmallVectorImpl<uint64_t> &Record, size_t At);
  uint64_t word() const { return W.GetCurrentBitNo() / 32; }

  StringRef Bytes, Strtab;
  const SlimParts &Parts;
  const StringSet<> *Strings;
  BitstreamWriter W;
  unsigned NumAbbrevs = 0;
  size_t NumFunctions = 0, NumComdats = 0, NumBodies = 0;
  uint64_t VSTOffsetBit = 0; // where it is to be written
  std::vector<std::pair<uint64_t, uint64_t>> FunctionTable; // number, word
  bool HasSummary = false, HasTable = false;
  std::string NewStrtab;
  StringMap<uint64_t> NewNames; // and where they are in it
};

Error SlimWriter::run() {
  for (unsigned char C : StringRef("BC\xC0\xDE"))
    W.Emit(C, 8);
  BitstreamCursor In(Bytes);
  if (Error E = enterModule(In, Malformed, [&](unsigned ID) {
        return copyBlock(In, Bytes, W, ID);
      }))
    return E;
  if (Error E = writeModule(In))
    return E;
  if (!HasSummary)
    return cannot("it has no summary");
  if (!HasTable)
    return cannot("an old form of bitcode");
  writeStrtab();
  return Error::success();
}

Error SlimWriter::writeModule(BitstreamCursor &In) {
  W.EnterSubblock(bitc::MODULE_BLOCK_ID, In.getAbbrevIDWidth());
  // Also after errors: a writer wants its blocks closed.
  auto Exit = onScopeExit([&] { W.ExitBlock(); });
  while (true) {
    Expected<BitstreamEntry> Entry =
        In.advance(BitstreamCursor::AF_DontAutoprocessAbbrevs);
    if (!Entry)
      return Entry.takeError();
    switch (Entry->Kind) {
    case BitstreamEntry::Error:
      return malformed();
    case BitstreamEntry::EndBlock:
      return Error::success();
    case BitstreamEntry::SubBlock:
      if (Error E = writeBlock(In, Entry->ID))
        return E;
      break;
    case BitstreamEntry::Record:
      if (Error E = Entry->ID == bitc::DEFINE_ABBREV
                        ? copyAbbrev(In, W, NumAbbrevs++)
                        : writeRecord(In, Entry->ID))
        return E;
      break;
    }
  }
}

Error SlimWriter::writeBlock(BitstreamCursor &In, unsigned ID) {
  switch (ID) {
  case bitc::FUNCTION_BLOCK_ID:
    return writeBody(In);
  case bitc::GLOBALVAL_SUMMARY_BLOCK_ID:
    return writeSummary(In);
  case bitc::METADATA_BLOCK_ID:
    if (Strings)
      return copyMetadata(In, Bytes, W, *Strings);
    break;
  case bitc::VALUE_SYMTAB_BLOCK_ID:
    if (Error E = In.SkipBlock())
      return E;
    return writeFunctionTable();
  case bitc::TYPE_BLOCK_ID_NEW:
  case bitc::PARAMATTR_GROUP_BLOCK_ID:
  case bitc::METADATA_KIND_BLOCK_ID:
    return repackBlock(In, W, ID);
  }
  return copyBlock(In, Bytes, W, ID);
}

/// Moves the name that Record[At] and Record[At + 1] tell, if there is one, to
/// the new string table.
Error SlimWriter::moveName(SmallVectorImpl<uint64_t> &Record, size_t At) {
  if (Record.size() <= At + 1)
    return Error::success();
  uint64_t Offset = Record[At], Size = Record[At + 1];
  if (Offset > Strtab.size() || Size > Strtab.size() - Offset)
    return malformed();
  auto [It, New] =
      NewNames.try_emplace(Strtab.substr(Offset, Size), NewStrtab.size());
  if (New)
    NewStrtab += It->first();
  Record[At] = Size ? It->second : 0;
  return Error::success();
}

/// Whether records with the abbreviation \p ID end in one word of 32 bits.
static bool endsInWord(BitstreamCursor &In, unsigned ID) {
  if (ID < bitc::FIRST_APPLICATION_ABBREV)
    return false;
  Expected<const BitCodeAbbrev *> Abbrev = In.getAbbrev(ID);
  if (!Abbrev) {
    consumeError(Abbrev.takeError());
    return false;
  }
  if ((*Abbrev)->getNumOperandInfos() != 2)
    return false;
  const BitCodeAbbrevOp &Op = (*Abbrev)->getOperandInfo(1);
  return Op.isEncoding() && Op.getEncoding() == BitCodeAbbrevOp::Fixed &&
         Op.getEncodingData() == 32;
}

Error SlimWriter::writeRecord(BitstreamCursor &In, unsigned AbbrevID) {
  SmallVector<uint64_t, 64> Record;
  Expected<unsigned> Code = In.readRecord(AbbrevID, Record);
  if (!Code)
    return Code.takeError();
  unsigned Abbrev = AbbrevID == bitc::UNABBREV_RECORD ? 0 : AbbrevID;
  // Where records have names: at 0, and of a partition.
  static constexpr size_t None = SIZE_MAX - 1;
  size_t Partition = None;
  switch (*Code) {
  default:
    W.EmitRecord(*Code, Record, Abbrev);
    return Error::success();
  case bitc::MODULE_CODE_HASH:
    return Error::success();
  case bitc::MODULE_CODE_VSTOFFSET:
    if (!endsInWord(In, AbbrevID) || VSTOffsetBit)
      return cannot("a function table of an unknown form");
    W.EmitRecord(*Code, ArrayRef<uint64_t>({0}), Abbrev);
    VSTOffsetBit = W.GetCurrentBitNo() - 32;
    return Error::success();
  case bitc::MODULE_CODE_COMDAT:
    if (!Parts.keepsComdat(NumComdats++) && Record.size() > 1)
      Record[1] = 0;
    break;
  case bitc::MODULE_CODE_GLOBALVAR:
    Partition = 16;
    break;
  case bitc::MODULE_CODE_FUNCTION:
    if (NumFunctions == Parts.numFunctions())
      return malformed();
    if (!Parts.keepsFunction(NumFunctions++)) {
      // Of the type, external, and without a name.
      W.EmitRecord(*Code, ArrayRef<uint64_t>({0, 0, Record[2], 0,
                                              /*isproto=*/1, 0, 0, 0, 0, 0}));
      return Error::success();
    }
    Partition = 19;
    break;
  case bitc::MODULE_CODE_ALIAS:
    Partition = 11;
    break;
  }
  if (Error E = moveName(Record, 0))
    return E;
  if (Error E = moveName(Record, Partition))
    return E;
  W.EmitRecord(*Code, Record, Abbrev);
  return Error::success();
}

/// Writes what tells a module of ThinLTO, and how it was compiled.
Error SlimWriter::writeSummary(BitstreamCursor &In) {
  HasSummary = true;
  if (Error E = In.EnterSubBlock(bitc::GLOBALVAL_SUMMARY_BLOCK_ID))
    return E;
  W.EnterSubblock(bitc::GLOBALVAL_SUMMARY_BLOCK_ID, 3);
  auto Exit = onScopeExit([&] { W.ExitBlock(); });
  SmallVector<uint64_t, 64> Record;
  while (true) {
    Expected<BitstreamEntry> Entry = In.advanceSkippingSubblocks();
    if (!Entry)
      return Entry.takeError();
    if (Entry->Kind == BitstreamEntry::EndBlock)
      return Error::success();
    if (Entry->Kind != BitstreamEntry::Record)
      return malformed();
    Record.clear();
    Expected<unsigned> Code = In.readRecord(Entry->ID, Record);
    if (!Code)
      return Code.takeError();
    if (*Code == bitc::FS_VERSION || *Code == bitc::FS_FLAGS)
      W.EmitRecord(*Code, Record);
  }
}

Error SlimWriter::writeBody(BitstreamCursor &In) {
  if (W.GetCurrentBitNo() % 32)
    return cannot("a function that isn't at a word");
  if (NumBodies == Parts.numBodies())
    return malformed();
  const size_t Number = NumBodies++;
  if (Parts.keepsOwner(Number))
    FunctionTable.emplace_back(Parts.valueID(Number), word());
  if (Parts.keepsBody(Number))
    return copyBlock(In, Bytes, W, bitc::FUNCTION_BLOCK_ID);
  if (Error E = In.SkipBlock())
    return E;
  if (!Parts.keepsOwner(Number))
    return Error::success();
  W.EnterSubblock(bitc::FUNCTION_BLOCK_ID, 4);
  W.EmitRecord(bitc::FUNC_CODE_DECLAREBLOCKS, ArrayRef<unsigned>({1}));
  W.EmitRecord(bitc::FUNC_CODE_INST_UNREACHABLE, ArrayRef<unsigned>());
  W.ExitBlock();
  return Error::success();
}

/// Writes where each body is, in words from the one before the first block.
Error SlimWriter::writeFunctionTable() {
  if (W.GetCurrentBitNo() % 32 || !VSTOffsetBit || HasTable)
    return cannot("a function table of an unknown form");
  HasTable = true;
  W.BackpatchWord(VSTOffsetBit, word());
  W.EnterSubblock(bitc::VALUE_SYMTAB_BLOCK_ID, 4);
  // Without abbreviations, whose numbers follow the module's own BLOCKINFO.
  for (const auto &[ValueID, Word] : FunctionTable)
    W.EmitRecord(bitc::VST_CODE_FNENTRY, ArrayRef<uint64_t>({ValueID, Word}));
  W.ExitBlock();
  return Error::success();
}

void SlimWriter::writeStrtab() {
  W.EnterSubblock(bitc::STRTAB_BLOCK_ID, 3);
  auto Abbrev = std::make_shared<BitCodeAbbrev>();
  Abbrev->Add(BitCodeAbbrevOp(bitc::STRTAB_BLOB));
  Abbrev->Add(BitCodeAbbrevOp(BitCodeAbbrevOp::Blob));
  unsigned BlobAbbrev = W.EmitAbbrev(std::move(Abbrev));
  W.EmitRecordWithBlob(BlobAbbrev, ArrayRef<unsigned>({bitc::STRTAB_BLOB}),
                       NewStrtab);
  W.ExitBlock();
}

} // namespace

static Expected<SmallVector<char, 0>> write(const BitcodeModule &Module,
                                            const SlimParts &Parts,
                                            const StringSet<> *Strings) {
  SmallVector<char, 0> Out;
  Out.reserve(Module.getBuffer().size() / 2);
  // The writer flushes when it is destroyed.
  if (Error E = SlimWriter(Module, Parts, Strings, Out).run())
    return std::move(E);
  return Out;
}

Expected<SmallVector<char, 0>> dtlto::slimModule(const BitcodeModule &Module,
                                                 const GUIDSet &Imported) {
  SlimParts Parts(Module.getStrtab(), Imported);
  if (Error E = look(Module.getBuffer(), Parts))
    return std::move(E);
  Expected<SmallVector<char, 0>> Out = write(Module, Parts, nullptr);
  if (!Out)
    return Out;
  Expected<SlimUses> Uses =
      findUses(StringRef(Out->data(), Out->size()), Parts.bodies());
  if (!Uses)
    return Uses.takeError();
  Parts.drop(*Uses);
  return write(Module, Parts, Uses->Strings ? &*Uses->Strings : nullptr);
}
