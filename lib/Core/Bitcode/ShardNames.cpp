//===- ShardNames.cpp - The modules that an index shard names -------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bitcode/ShardNames.h"
#include "Bitcode/BitstreamCopy.h"
#include "Support/Failure.h"
#include "Support/Text.h"
#include "LLVM/Version.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace dtlto;

namespace {

Error malformed(const Twine &What) {
  return failure("malformed index shard: " + What);
}

/// Copies a shard, except for its table of modules.
class ShardCopy {
public:
  /// Writes the table; called with the cursor at the old one, which it steps
  /// over.
  using WriteTableFn =
      function_ref<Error(BitstreamCursor &, BitstreamWriter &)>;

  ShardCopy(StringRef Shard, ShardBytes &Out, WriteTableFn WriteTable)
      : In(Shard), Shard(Shard), W(Out), WriteTable(WriteTable) {}

  Error run();

private:
  Error copyModuleBlock();
  Error copyBlock(unsigned ID) {
    if (Error E = dtlto::copyBlock(In, Shard, W, ID))
      return malformed(toString(std::move(E)));
    return Error::success();
  }

  BitstreamCursor In;
  StringRef Shard;
  BitstreamWriter W;
  WriteTableFn WriteTable;
  bool HasModules = false; // false: not a combined index
};

Error ShardCopy::run() {
  if (Shard.size() % 4 != 0 || !Shard.starts_with("BC\xC0\xDE"))
    return malformed("not a bitcode file");
  for (unsigned char C : Shard.take_front(4))
    W.Emit(C, 8);
  if (Error E = In.JumpToBit(32))
    return E;

  bool HasModule = false, HasStrtab = false;
  while (!In.AtEndOfStream()) {
    Expected<BitstreamEntry> Entry = In.advance();
    if (!Entry)
      return Entry.takeError();
    if (Entry->Kind != BitstreamEntry::SubBlock)
      return malformed("no block where one is expected");
    if (Entry->ID == bitc::MODULE_BLOCK_ID && !HasModule) {
      HasModule = true;
      if (Error E = copyModuleBlock())
        return E;
      continue;
    }
    HasStrtab |= Entry->ID == bitc::STRTAB_BLOCK_ID;
    if (Error E = copyBlock(Entry->ID))
      return E;
  }
  if (!HasModule || !HasModules)
    return malformed("no table of modules");
  // The string table is the last block. Without it, the file is truncated.
  if (!HasStrtab)
    return malformed("no string table");
  return Error::success();
}

Error ShardCopy::copyModuleBlock() {
  if (Error E = In.EnterSubBlock(bitc::MODULE_BLOCK_ID))
    return E;
  W.EnterSubblock(bitc::MODULE_BLOCK_ID, In.getAbbrevIDWidth());
  // Exit on errors, too: a writer's blocks must be closed.
  auto Exit = onScopeExit([&] { W.ExitBlock(); });
  auto OnRecord = [&](unsigned Code, ArrayRef<uint64_t> Record) -> Error {
    W.EmitRecord(Code, Record);
    return Error::success();
  };
  return readBlock(In, OnRecord, [&](unsigned ID) {
    if (ID != bitc::MODULE_STRTAB_BLOCK_ID)
      return copyBlock(ID);
    HasModules = true;
    return WriteTable(In, W);
  });
}

} // namespace

static Expected<ShardBytes> copyShard(StringRef Shard,
                                      ShardCopy::WriteTableFn WriteTable) {
  ShardBytes Out;
  Out.reserve(Shard.size() + 1024);
  // The writer flushes in its destructor.
  if (Error E = ShardCopy(Shard, Out, WriteTable).run())
    return std::move(E);
  return Out;
}

/// Begins the table of modules; returns the abbreviation of its entries.
static unsigned beginTable(BitstreamWriter &W) {
  W.EnterSubblock(bitc::MODULE_STRTAB_BLOCK_ID, 3);
  using Op = BitCodeAbbrevOp;
  return emitAbbrev(W, bitc::MST_CODE_ENTRY,
                    {Op(Op::VBR, 8), Op(Op::Array), Op(Op::Fixed, 8)});
}

Expected<ShardBytes> dtlto::replaceShardModules(StringRef Shard,
                                                ArrayRef<ShardModule> Modules) {
  auto WriteTable = [&](BitstreamCursor &In, BitstreamWriter &W) -> Error {
    SkippableBlock Old;
    if (Error E = Old.enter(In, bitc::MODULE_STRTAB_BLOCK_ID))
      return E;
    if (Error E = Old.leave(In))
      return E;
    unsigned EntryAbbrev = beginTable(W);
    for (size_t I = 0; I != Modules.size(); ++I) {
      SmallVector<uint64_t, 64> Record = {I};
      for (unsigned char C : Modules[I].Name)
        Record.push_back(C);
      W.EmitRecord(bitc::MST_CODE_ENTRY, Record, EntryAbbrev);
      if (any_of(Modules[I].Hash, [](uint32_t Word) { return Word != 0; }))
        W.EmitRecord(bitc::MST_CODE_HASH, Modules[I].Hash);
    }
    W.ExitBlock();
    return Error::success();
  };
  return copyShard(Shard, WriteTable);
}

Expected<ShardBytes> dtlto::renameShardModules(
    StringRef Shard,
    function_ref<std::optional<std::string>(StringRef)> NewName) {
  auto WriteTable = [&](BitstreamCursor &In, BitstreamWriter &W) -> Error {
    if (Error E = In.EnterSubBlock(bitc::MODULE_STRTAB_BLOCK_ID))
      return E;
    unsigned EntryAbbrev = beginTable(W);
    auto Exit = onScopeExit([&] { W.ExitBlock(); });
    auto OnRecord = [&](unsigned Code,
                        SmallVectorImpl<uint64_t> &Record) -> Error {
      if (Code != bitc::MST_CODE_ENTRY) {
        W.EmitRecord(Code, Record); // a module's hash
        return Error::success();
      }
      if (Record.empty())
        return malformed("module without a number");
      std::string Old(Record.begin() + 1, Record.end());
      std::optional<std::string> New = NewName(Old);
      if (!New)
        return failure("module '" + printable(Old) + "' has no encoded name");
      Record.truncate(1);
      for (unsigned char C : *New)
        Record.push_back(C);
      W.EmitRecord(Code, Record, EntryAbbrev);
      return Error::success();
    };
    return readBlock(In, OnRecord);
  };
  return copyShard(Shard, WriteTable);
}

Expected<std::vector<std::string>> dtlto::shardModules(StringRef Shard) {
  std::vector<std::string> Names;
  Expected<ShardBytes> Same = renameShardModules(Shard, [&](StringRef Name) {
    Names.push_back(Name.str());
    return Name.str();
  });
  if (!Same)
    return Same.takeError();
  return Names;
}
