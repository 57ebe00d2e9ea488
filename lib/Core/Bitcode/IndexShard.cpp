//===- IndexShard.cpp - The summary index of one backend compile ----------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bitcode/IndexShard.h"
#include "Bitcode/BitstreamCopy.h"
#include "Support/Failure.h"
#include "Support/Text.h"
#include "LLVM/Index.h"
#include "LLVM/ThinBackend.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/Bitcode/LLVMBitCodes.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace dtlto;

namespace {

Error malformed(const Twine &What) {
  return failure("malformed index shard: " + What);
}

/// Copies a bitstream and rewrites one kind of block on the way.
class ShardRenamer {
public:
  using NameFn = function_ref<std::optional<std::string>(StringRef)>;

  ShardRenamer(StringRef Shard, ShardBytes &Out, NameFn NewName)
      : In(Shard), Shard(Shard), W(Out), NewName(NewName) {}

  Error run();

private:
  Error copyModuleBlock();
  Error rewriteModuleStrtab();
  Error copyBlock(unsigned ID) {
    if (Error E = dtlto::copyBlock(In, Shard, W, ID))
      return malformed(toString(std::move(E)));
    return Error::success();
  }

  BitstreamCursor In;
  StringRef Shard;
  BitstreamWriter W;
  NameFn NewName;
  bool HasModules = false; // a table of modules: a combined index
};

Error ShardRenamer::run() {
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
      return malformed("no block where one should begin");
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
  // The last block: without it, the file has been cut.
  if (!HasStrtab)
    return malformed("no string table");
  return Error::success();
}

Error ShardRenamer::copyModuleBlock() {
  if (Error E = In.EnterSubBlock(bitc::MODULE_BLOCK_ID))
    return E;
  W.EnterSubblock(bitc::MODULE_BLOCK_ID, In.getAbbrevIDWidth());
  auto OnRecord = [&](unsigned Code, ArrayRef<uint64_t> Record) -> Error {
    W.EmitRecord(Code, Record);
    return Error::success();
  };
  if (Error E = readBlock(In, OnRecord, [&](unsigned ID) {
        return ID == bitc::MODULE_STRTAB_BLOCK_ID ? rewriteModuleStrtab()
                                                  : copyBlock(ID);
      }))
    return E;
  W.ExitBlock();
  return Error::success();
}

Error ShardRenamer::rewriteModuleStrtab() {
  HasModules = true;
  if (Error E = In.EnterSubBlock(bitc::MODULE_STRTAB_BLOCK_ID))
    return E;
  W.EnterSubblock(bitc::MODULE_STRTAB_BLOCK_ID, 3);

  auto Abbrev = std::make_shared<BitCodeAbbrev>();
  Abbrev->Add(BitCodeAbbrevOp(bitc::MST_CODE_ENTRY));
  Abbrev->Add(BitCodeAbbrevOp(BitCodeAbbrevOp::VBR, 8));
  Abbrev->Add(BitCodeAbbrevOp(BitCodeAbbrevOp::Array));
  Abbrev->Add(BitCodeAbbrevOp(BitCodeAbbrevOp::Fixed, 8));
  unsigned EntryAbbrev = W.EmitAbbrev(std::move(Abbrev));

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
      return failure("module '" + printable(Old) +
                     "' has no name that travels");
    Record.truncate(1);
    for (unsigned char C : *New)
      Record.push_back(C);
    W.EmitRecord(Code, Record, EntryAbbrev);
    return Error::success();
  };
  if (Error E = readBlock(In, OnRecord))
    return E;
  W.ExitBlock();
  return Error::success();
}

} // namespace

namespace {

/// Stand-ins for summaries that a backend compile looks up, but that a shard
/// hasn't got.
///
/// In-process, a reference to a symbol of another module is direct if the index
/// knows that the symbol is defined in this link (dso_local), whether it is
/// imported or not. A shard of LLVM's has summaries of imported symbols only,
/// so that such references go through the GOT, or stay dllimport: other code.
/// So the shard gets a summary for each of them that says nothing but
/// dso_local. It is filed under the module that is compiled, since one of
/// another module would be imported; there, a symbol that isn't defined is only
/// declared, and for declarations LLVM looks at no more than this flag.
class DSOLocalStandIns {
public:
  DSOLocalStandIns(const ModuleSummaryIndex &Index, StringRef ModulePath,
                   GVSummaryMapTy &Summaries, const ModuleSummaries &Shard)
      : Propagated(Index.withDSOLocalPropagation()), ModulePath(ModulePath),
        Summaries(Summaries) {
    for (const auto &[Path, OfModule] : Shard)
      for (const auto &[GUID, Summary] : OfModule)
        Known.insert(GUID);
  }

  void addReferencesOf(const GlobalValueSummary &Summary) {
    if (const auto *Alias = dyn_cast<AliasSummary>(&Summary)) {
      if (!Alias->hasAliasee())
        return;
      add(Alias->getAliaseeVI());
      return addReferencesOf(Alias->getAliasee());
    }
    for (const ValueInfo &VI : Summary.refs())
      add(VI);
    if (const auto *Function = dyn_cast<FunctionSummary>(&Summary))
      for (const FunctionSummary::EdgeTy &Edge : Function->calls())
        add(Edge.first);
  }

private:
  void add(const ValueInfo &VI) {
    // Most are named often.
    if (!VI || !Known.insert(VI.getGUID()).second ||
        VI.getSummaryList().empty() || !VI.isDSOLocal(Propagated))
      return;
    std::unique_ptr<GlobalValueSummary> StandIn =
        makeStandIn(*VI.getSummaryList().front());
    StandIn->setModulePath(ModulePath);
    Summaries[VI.getGUID()] = StandIn.get();
    Owned.push_back(std::move(StandIn));
  }

  /// LLVM casts summaries of functions without asking: the kind must be right.
  static std::unique_ptr<GlobalValueSummary>
  makeStandIn(const GlobalValueSummary &Of) {
    const auto *Alias = dyn_cast<AliasSummary>(&Of);
    bool IsVariable = Alias ? Alias->hasAliasee() &&
                                  isa<GlobalVarSummary>(Alias->getAliasee())
                            : isa<GlobalVarSummary>(Of);
    if (!IsVariable) {
      std::unique_ptr<FunctionSummary> Result = makeEmptyFunctionSummary();
      Result->setDSOLocal(true);
      return Result;
    }
    GlobalVarSummary::GVarFlags VarFlags(
        /*ReadOnly=*/false, /*WriteOnly=*/false, /*Constant=*/false,
        GlobalObject::VCallVisibilityPublic);
    return std::make_unique<GlobalVarSummary>(lookedUpFlags(), VarFlags,
                                              References());
  }

  bool Propagated;
  StringRef ModulePath;
  GVSummaryMapTy &Summaries;
  DenseSet<GlobalValue::GUID> Known; // in the shard, or looked at
  std::vector<std::unique_ptr<GlobalValueSummary>> Owned;
};

} // namespace

ShardBytes dtlto::writeShard(const ModuleSummaryIndex &Index,
                             const DefinedSummaries &Defined,
                             StringRef ModulePath,
                             const FunctionImporter::ImportMapTy &ImportList) {
  ModuleSummaries Summaries;
  GVSummaryPtrSet Declarations;
  gatherImportedSummariesForModule(ModulePath, Defined, ImportList, Summaries,
                                   Declarations);

  // A module without summaries is treated as such: it must stay without.
  GVSummaryMapTy &Own = Summaries[ModulePath.str()];
  std::optional<DSOLocalStandIns> StandIns;
  if (!Own.empty()) {
    std::vector<const GlobalValueSummary *> Compiled;
    for (const auto &[Path, OfModule] : Summaries)
      for (const auto &[GUID, Summary] : OfModule)
        Compiled.push_back(Summary);
    StandIns.emplace(Index, ModulePath, Own, Summaries);
    for (const GlobalValueSummary *Summary : Compiled)
      StandIns->addReferencesOf(*Summary);
  }

  ShardBytes Bytes;
  raw_svector_ostream OS(Bytes);
  writeIndexToFile(Index, OS, &Summaries, &Declarations);
  return Bytes;
}

void dtlto::settleDSOLocal(ModuleSummaryIndex &Index) {
  if (Index.withDSOLocalPropagation())
    return;
  for (auto &[GUID, Info] : Index)
    if (summariesOf(Info).size() > 1)
      for (const auto &Summary : summariesOf(Info))
        Summary->setDSOLocal(false);
}

Expected<ShardBytes> dtlto::renameShardModules(StringRef Shard,
                                               ShardRenamer::NameFn NewName) {
  ShardBytes Out;
  Out.reserve(Shard.size() + 1024);
  // The writer flushes when it is destroyed.
  if (Error E = ShardRenamer(Shard, Out, NewName).run())
    return std::move(E);
  return Out;
}

Error dtlto::emitIndexFiles(const ModuleSummaryIndex &Index,
                            const DefinedSummaries &Defined,
                            StringRef ModulePath,
                            const FunctionImporter::ImportMapTy &ImportList,
                            bool ImportsFile) {
  ModuleSummaries Summaries;
  GVSummaryPtrSet Declarations;
  gatherImportedSummariesForModule(ModulePath, Defined, ImportList, Summaries,
                                   Declarations);
  std::error_code EC;
  raw_fd_ostream OS((ModulePath + ".thinlto.bc").str(), EC,
                    sys::fs::OpenFlags::OF_None);
  if (EC)
    return errorCodeToError(EC);
  writeIndexToFile(Index, OS, &Summaries, &Declarations);
  if (ImportsFile)
    return writeImportsFile(ModulePath, (ModulePath + ".imports").str(),
                            Summaries);
  return Error::success();
}
