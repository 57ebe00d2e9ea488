//===- SlimModule.cpp - A module with only the bodies that travel ---------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SlimModule.h"
#include "BitstreamCopy.h"
#include "llvm/Bitcode/LLVMBitCodes.h"
#include <optional>
#include <string>
#include <vector>

using namespace llvm;
using namespace dtlto;

namespace {

Error cannot(const Twine &Why) {
  return createStringError(inconvertibleErrorCode(), Why);
}

/// What a module has of functions, variables and aliases, and which bodies an
/// importer reads.
class Bodies {
public:
  Bodies(StringRef Strtab, const GUIDSet &Imported)
      : Strtab(Strtab), Imported(Imported) {}

  /// Takes a record of the module block, in order.
  Error addRecord(unsigned Code, ArrayRef<uint64_t> Record);
  /// Takes a function block: \p In stands in front of it, and then behind it.
  Error addBody(BitstreamCursor &In);
  /// Takes a block of constants, likewise.
  Error addConstants(BitstreamCursor &In, std::optional<size_t> Function);
  /// After the last: decides.
  Error resolve();

  /// Whether the body that comes as the \p N-th has to travel.
  bool keeps(size_t N) const { return Functions[WithBody[N]].Keep; }
  uint64_t valueID(size_t N) const { return Functions[WithBody[N]].ValueID; }

private:
  struct Function {
    uint64_t ValueID;
    StringRef Name;
    bool Local, Keep;
  };
  struct Alias {
    uint64_t ValueID, Aliasee;
    StringRef Name;
    bool Local;
  };

  bool isImported(StringRef Name, bool Local) const;
  Error keepFunctionOf(uint64_t ValueID);

  StringRef Strtab;
  const GUIDSet &Imported;
  bool HasStrtab = false;
  std::string SourceFile;
  uint64_t NextValueID = 0;
  std::vector<Function> Functions;
  std::vector<size_t> WithBody; // of Functions, in the order of the bodies
  std::vector<Alias> Aliases;
  DenseMap<uint64_t, size_t> FunctionOf, AliasOf; // by value's number
  std::vector<uint64_t> BlockAddressesOf;         // values' numbers
  size_t NumSeen = 0;                             // bodies
};

// As in the reader's getDecodedLinkage().
bool isLocal(uint64_t Linkage) {
  switch (Linkage) {
  case 3:  // internal
  case 9:  // private
  case 13: // linker_private
  case 14: // linker_private_weak
    return true;
  default:
    return false;
  }
}

Error Bodies::addRecord(unsigned Code, ArrayRef<uint64_t> Record) {
  switch (Code) {
  case bitc::MODULE_CODE_VERSION:
    HasStrtab = !Record.empty() && Record[0] >= 2;
    return Error::success();
  case bitc::MODULE_CODE_SOURCE_FILENAME:
    SourceFile.assign(Record.begin(), Record.end());
    return Error::success();
  case bitc::MODULE_CODE_GLOBALVAR:
    ++NextValueID;
    return Error::success();
  case bitc::MODULE_CODE_IFUNC:
    // A local ifunc brings its resolver's body with it.
    return cannot("it has an ifunc");
  case bitc::MODULE_CODE_ALIAS_OLD:
    return cannot("an old form of bitcode");
  case bitc::MODULE_CODE_FUNCTION:
  case bitc::MODULE_CODE_ALIAS:
    break;
  default:
    return Error::success();
  }

  if (!HasStrtab)
    return cannot("an old form of bitcode");
  if (Record.size() < 6 || Record[0] > Strtab.size() ||
      Record[1] > Strtab.size() - Record[0])
    return cannot("malformed bitcode");
  StringRef Name = Strtab.substr(Record[0], Record[1]);
  bool Local = isLocal(Record[5]);
  if (Code == bitc::MODULE_CODE_FUNCTION) {
    // [strtab offset, strtab size, type, callingconv, isproto, linkage, ...]
    if (!Record[4])
      WithBody.push_back(Functions.size());
    FunctionOf[NextValueID] = Functions.size();
    Functions.push_back({NextValueID++, Name, Local, /*Keep=*/false});
  } else {
    // [strtab offset, strtab size, type, addrspace, aliasee, linkage, ...]
    AliasOf[NextValueID] = Aliases.size();
    Aliases.push_back({NextValueID++, Record[4], Name, Local});
  }
  return Error::success();
}

Error Bodies::addConstants(BitstreamCursor &In,
                           std::optional<size_t> Function) {
  if (Error E = In.EnterSubBlock(bitc::CONSTANTS_BLOCK_ID))
    return E;
  SmallVector<uint64_t, 64> Record;
  while (true) {
    Expected<BitstreamEntry> Entry = In.advance();
    if (!Entry)
      return Entry.takeError();
    if (Entry->Kind == BitstreamEntry::EndBlock)
      return Error::success();
    if (Entry->Kind != BitstreamEntry::Record)
      return cannot("malformed bitcode");
    Record.clear();
    Expected<unsigned> Code = In.readRecord(Entry->ID, Record);
    if (!Code)
      return Code.takeError();
    if (*Code != bitc::CST_CODE_BLOCKADDRESS)
      continue;
    // The reader makes such a function's body at once, and the bodies of the
    // functions that have the address.
    if (Record.size() < 3)
      return cannot("malformed bitcode");
    BlockAddressesOf.push_back(Record[1]);
    if (Function)
      Functions[*Function].Keep = true;
  }
}

Error Bodies::addBody(BitstreamCursor &In) {
  if (NumSeen == WithBody.size())
    return cannot("malformed bitcode");
  size_t Function = WithBody[NumSeen++];
  BitstreamCursor Body = In;
  if (Error E = In.SkipBlock())
    return E;
  // Constants come before the first instruction.
  if (Error E = Body.EnterSubBlock(bitc::FUNCTION_BLOCK_ID))
    return E;
  SmallVector<uint64_t, 64> Record;
  while (true) {
    Expected<BitstreamEntry> Entry = Body.advance();
    if (!Entry)
      return Entry.takeError();
    if (Entry->Kind == BitstreamEntry::EndBlock)
      return Error::success();
    if (Entry->Kind == BitstreamEntry::Error)
      return cannot("malformed bitcode");
    if (Entry->Kind == BitstreamEntry::SubBlock) {
      if (Entry->ID == bitc::CONSTANTS_BLOCK_ID) {
        if (Error E = addConstants(Body, Function))
          return E;
      } else if (Error E = Body.SkipBlock()) {
        return E;
      }
      continue;
    }
    Record.clear();
    Expected<unsigned> Code = Body.readRecord(Entry->ID, Record);
    if (!Code)
      return Code.takeError();
    if (*Code != bitc::FUNC_CODE_DECLAREBLOCKS)
      return Error::success();
  }
}

bool Bodies::isImported(StringRef Name, bool Local) const {
  if (Name.empty())
    return false; // the importer asks for names first
  return Imported.count(GlobalValue::getGUID(GlobalValue::getGlobalIdentifier(
      Name, Local ? GlobalValue::InternalLinkage : GlobalValue::ExternalLinkage,
      SourceFile)));
}

/// Keeps the body of a function, or of what an alias stands for.
Error Bodies::keepFunctionOf(uint64_t ValueID) {
  // More steps than there are aliases would be a circle.
  for (size_t Step = 0; Step <= Aliases.size(); ++Step) {
    if (auto It = FunctionOf.find(ValueID); It != FunctionOf.end()) {
      Functions[It->second].Keep = true;
      return Error::success();
    }
    auto It = AliasOf.find(ValueID);
    if (It == AliasOf.end())
      break;
    ValueID = Aliases[It->second].Aliasee;
  }
  return cannot("an alias that is more than a name");
}

Error Bodies::resolve() {
  if (NumSeen != WithBody.size())
    return cannot("malformed bitcode");
  for (Function &F : Functions)
    F.Keep |= isImported(F.Name, F.Local);
  for (uint64_t ValueID : BlockAddressesOf)
    if (Error E = keepFunctionOf(ValueID))
      return E;
  // An alias is imported as a copy of its function.
  for (const Alias &A : Aliases)
    if (isImported(A.Name, A.Local))
      if (Error E = keepFunctionOf(A.ValueID))
        return E;
  return Error::success();
}

/// Copies a module's bitstream and leaves out what isn't needed on the way.
class Slimmer {
public:
  Slimmer(const BitcodeModule &Module, const GUIDSet &Imported,
          SmallVectorImpl<char> &Out)
      : Bytes(Module.getBuffer()), Strtab(Module.getStrtab()),
        TheBodies(Module.getStrtab(), Imported), W(Out) {}

  Error run();

private:
  static constexpr unsigned AllEntries =
      BitstreamCursor::AF_DontAutoprocessAbbrevs;

  Error look(BitstreamCursor In);
  Error write(BitstreamCursor In);
  Error writeAbbrev(BitstreamCursor &In);
  bool isWord(BitstreamCursor &In, unsigned ID);
  Error writeSummary(BitstreamCursor &In);
  Error writeBody(BitstreamCursor &In);
  Error writeFunctionTable();
  void writeStrtab();
  uint64_t word() const { return W.GetCurrentBitNo() / 32; }

  StringRef Bytes, Strtab;
  Bodies TheBodies;
  BitstreamBlockInfo BlockInfo;
  BitstreamWriter W;
  uint64_t VSTOffsetBit = 0; // where it is to be written
  std::vector<uint64_t> BodyWords;
  unsigned NumAbbrevs = 0;
  bool HasSummary = false, HasTable = false;
};

Error Slimmer::run() {
  for (unsigned char C : StringRef("BC\xC0\xDE"))
    W.Emit(C, 8);
  BitstreamCursor In(Bytes);
  while (!In.AtEndOfStream()) {
    Expected<BitstreamEntry> Entry = In.advance();
    if (!Entry)
      return Entry.takeError();
    if (Entry->Kind != BitstreamEntry::SubBlock)
      return cannot("malformed bitcode");
    if (Entry->ID != bitc::MODULE_BLOCK_ID) {
      if (Error E = copyBlock(In, Bytes, W, Entry->ID))
        return E;
      continue;
    }
    if (Error E = look(In))
      return E;
    if (Error E = TheBodies.resolve())
      return E;
    if (Error E = write(In))
      return E;
    if (!HasSummary)
      return cannot("it has no summary");
    if (!HasTable)
      return cannot("an old form of bitcode");
    writeStrtab();
    return Error::success();
  }
  return cannot("malformed bitcode");
}

Error Slimmer::look(BitstreamCursor In) {
  if (Error E = In.EnterSubBlock(bitc::MODULE_BLOCK_ID))
    return E;
  In.setBlockInfo(&BlockInfo);
  SmallVector<uint64_t, 64> Record;
  while (true) {
    Expected<BitstreamEntry> Entry = In.advance();
    if (!Entry)
      return Entry.takeError();
    switch (Entry->Kind) {
    case BitstreamEntry::Error:
      return cannot("malformed bitcode");
    case BitstreamEntry::EndBlock:
      return Error::success();
    case BitstreamEntry::SubBlock:
      if (Entry->ID == bitc::BLOCKINFO_BLOCK_ID) {
        Expected<std::optional<BitstreamBlockInfo>> Info =
            In.ReadBlockInfoBlock();
        if (!Info)
          return Info.takeError();
        if (!*Info)
          return cannot("malformed bitcode");
        BlockInfo = std::move(**Info);
      } else if (Entry->ID == bitc::CONSTANTS_BLOCK_ID) {
        if (Error E = TheBodies.addConstants(In, std::nullopt))
          return E;
      } else if (Entry->ID == bitc::FUNCTION_BLOCK_ID) {
        if (Error E = TheBodies.addBody(In))
          return E;
      } else if (Error E = In.SkipBlock()) {
        return E;
      }
      break;
    case BitstreamEntry::Record: {
      Record.clear();
      Expected<unsigned> Code = In.readRecord(Entry->ID, Record);
      if (!Code)
        return Code.takeError();
      if (Error E = TheBodies.addRecord(*Code, Record))
        return E;
      break;
    }
    }
  }
}

Error Slimmer::write(BitstreamCursor In) {
  if (Error E = In.EnterSubBlock(bitc::MODULE_BLOCK_ID))
    return E;
  W.EnterSubblock(bitc::MODULE_BLOCK_ID, In.getAbbrevIDWidth());
  SmallVector<uint64_t, 64> Record;
  while (true) {
    Expected<BitstreamEntry> Entry = In.advance(AllEntries);
    if (!Entry)
      return Entry.takeError();
    switch (Entry->Kind) {
    case BitstreamEntry::Error:
      return cannot("malformed bitcode");
    case BitstreamEntry::EndBlock:
      W.ExitBlock();
      return Error::success();
    case BitstreamEntry::SubBlock:
      switch (Entry->ID) {
      case bitc::FUNCTION_BLOCK_ID:
        if (Error E = writeBody(In))
          return E;
        break;
      case bitc::GLOBALVAL_SUMMARY_BLOCK_ID:
        if (Error E = writeSummary(In))
          return E;
        break;
      case bitc::VALUE_SYMTAB_BLOCK_ID:
        if (Error E = In.SkipBlock())
          return E;
        if (Error E = writeFunctionTable())
          return E;
        break;
      default:
        if (Error E = copyBlock(In, Bytes, W, Entry->ID))
          return E;
      }
      break;
    case BitstreamEntry::Record: {
      if (Entry->ID == bitc::DEFINE_ABBREV) {
        if (Error E = writeAbbrev(In))
          return E;
        break;
      }
      Record.clear();
      Expected<unsigned> Code = In.readRecord(Entry->ID, Record);
      if (!Code)
        return Code.takeError();
      if (*Code == bitc::MODULE_CODE_HASH)
        break;
      if (*Code == bitc::MODULE_CODE_VSTOFFSET) {
        if (!isWord(In, Entry->ID) || VSTOffsetBit)
          return cannot("a function table of an unknown form");
        Record.assign({0});
      }
      W.EmitRecord(*Code, Record,
                   Entry->ID == bitc::UNABBREV_RECORD ? 0 : Entry->ID);
      if (*Code == bitc::MODULE_CODE_VSTOFFSET)
        VSTOffsetBit = W.GetCurrentBitNo() - 32;
      break;
    }
    }
  }
}

/// Abbreviations keep their numbers, and records with them their size.
Error Slimmer::writeAbbrev(BitstreamCursor &In) {
  if (Error E = In.ReadAbbrevRecord())
    return E;
  Expected<const BitCodeAbbrev *> Abbrev =
      In.getAbbrev(bitc::FIRST_APPLICATION_ABBREV + NumAbbrevs++);
  if (!Abbrev)
    return Abbrev.takeError();
  W.EmitAbbrev(std::make_shared<BitCodeAbbrev>(**Abbrev));
  return Error::success();
}

/// Whether records with the abbreviation \p ID end in one word of 32 bits.
bool Slimmer::isWord(BitstreamCursor &In, unsigned ID) {
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

/// Writes what tells a module of ThinLTO, and how it was compiled.
Error Slimmer::writeSummary(BitstreamCursor &In) {
  HasSummary = true;
  if (Error E = In.EnterSubBlock(bitc::GLOBALVAL_SUMMARY_BLOCK_ID))
    return E;
  W.EnterSubblock(bitc::GLOBALVAL_SUMMARY_BLOCK_ID, 3);
  SmallVector<uint64_t, 64> Record;
  while (true) {
    Expected<BitstreamEntry> Entry = In.advanceSkippingSubblocks();
    if (!Entry)
      return Entry.takeError();
    if (Entry->Kind == BitstreamEntry::EndBlock)
      break;
    if (Entry->Kind != BitstreamEntry::Record)
      return cannot("malformed bitcode");
    Record.clear();
    Expected<unsigned> Code = In.readRecord(Entry->ID, Record);
    if (!Code)
      return Code.takeError();
    if (*Code == bitc::FS_VERSION || *Code == bitc::FS_FLAGS)
      W.EmitRecord(*Code, Record);
  }
  W.ExitBlock();
  return Error::success();
}

Error Slimmer::writeBody(BitstreamCursor &In) {
  if (W.GetCurrentBitNo() % 32)
    return cannot("a function that isn't at a word");
  BodyWords.push_back(word());
  if (TheBodies.keeps(BodyWords.size() - 1))
    return copyBlock(In, Bytes, W, bitc::FUNCTION_BLOCK_ID);
  if (Error E = In.SkipBlock())
    return E;
  W.EnterSubblock(bitc::FUNCTION_BLOCK_ID, 4);
  W.EmitRecord(bitc::FUNC_CODE_DECLAREBLOCKS, ArrayRef<unsigned>({1}));
  W.EmitRecord(bitc::FUNC_CODE_INST_UNREACHABLE, ArrayRef<unsigned>());
  W.ExitBlock();
  return Error::success();
}

/// Writes where each body is, in words from the one before the first block.
Error Slimmer::writeFunctionTable() {
  if (W.GetCurrentBitNo() % 32 || !VSTOffsetBit || HasTable)
    return cannot("a function table of an unknown form");
  HasTable = true;
  W.BackpatchWord(VSTOffsetBit, word());
  W.EnterSubblock(bitc::VALUE_SYMTAB_BLOCK_ID, 4);
  // Without abbreviations, whose numbers follow the module's own BLOCKINFO.
  for (size_t I = 0; I != BodyWords.size(); ++I)
    W.EmitRecord(bitc::VST_CODE_FNENTRY,
                 ArrayRef<uint64_t>({TheBodies.valueID(I), BodyWords[I]}));
  W.ExitBlock();
  return Error::success();
}

void Slimmer::writeStrtab() {
  W.EnterSubblock(bitc::STRTAB_BLOCK_ID, 3);
  auto Abbrev = std::make_shared<BitCodeAbbrev>();
  Abbrev->Add(BitCodeAbbrevOp(bitc::STRTAB_BLOB));
  Abbrev->Add(BitCodeAbbrevOp(BitCodeAbbrevOp::Blob));
  unsigned BlobAbbrev = W.EmitAbbrev(std::move(Abbrev));
  W.EmitRecordWithBlob(BlobAbbrev, ArrayRef<unsigned>({bitc::STRTAB_BLOB}),
                       Strtab);
  W.ExitBlock();
}

} // namespace

Expected<SmallVector<char, 0>> dtlto::slimModule(const BitcodeModule &Module,
                                                 const GUIDSet &Imported) {
  SmallVector<char, 0> Out;
  Out.reserve(Module.getBuffer().size() / 4 + Module.getStrtab().size());
  Error E = Error::success();
  {
    // The writer flushes when it is destroyed.
    Slimmer S(Module, Imported, Out);
    E = S.run();
  }
  if (E)
    return std::move(E);
  return Out;
}
