//===- IndexShard.cpp - The summary index of one backend compile ----------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bitcode/IndexShard.h"
#include "LLVM/Index.h"
#include "LLVM/ThinBackend.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace dtlto;

namespace {

/// Minimal summaries of symbols that a backend compile looks up but that a
/// shard lacks.
///
/// In-process, a reference to a symbol of another module is direct if the index
/// marks the symbol as dso_local, whether or not it is imported. LLVM's shards
/// only have summaries of imported symbols. Other references would go through
/// the GOT, or stay dllimport, and the code would differ. So the shard gets a
/// summary with only dso_local for each of these symbols. The summary belongs
/// to the compiled module, since LLVM would import symbols of other modules.
/// The compiled module only declares the symbol, and LLVM reads only this flag
/// for declarations.
class DSOLocalStandIns {
public:
  DSOLocalStandIns(const ModuleSummaryIndex &Index, StringRef ModulePath,
                   GVSummaryMapTy &Summaries, const ModuleSummaries &Shard)
      : Propagated(Index.withDSOLocalPropagation()), ModulePath(ModulePath),
        Summaries(Summaries) {
    for (const auto &[Path, OfModule] : Shard)
      for (const auto &[GUID, Summary] : OfModule)
        HandledGUIDs.insert(GUID);
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
    // Look up each symbol once; most have many references.
    if (!VI || !HandledGUIDs.insert(VI.getGUID()).second ||
        VI.getSummaryList().empty() || !VI.isDSOLocal(Propagated))
      return;
    std::unique_ptr<GlobalValueSummary> StandIn =
        makeStandIn(*VI.getSummaryList().front());
    StandIn->setModulePath(ModulePath);
    Summaries[VI.getGUID()] = StandIn.get();
    Owned.push_back(std::move(StandIn));
  }

  /// LLVM casts summaries unchecked, so the kind must be right.
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
    return std::make_unique<GlobalVarSummary>(lookupOnlyFlags(), VarFlags,
                                              References());
  }

  bool Propagated;
  StringRef ModulePath;
  GVSummaryMapTy &Summaries;
  DenseSet<GlobalValue::GUID>
      HandledGUIDs; // in the shard, or already looked up
  std::vector<std::unique_ptr<GlobalValueSummary>> Owned;
};

} // namespace

ShardBytes dtlto::writeShard(const ModuleSummaryIndex &Index,
                             const DefinedSummaries &Defined,
                             StringRef ModulePath,
                             const FunctionImporter::ImportMapTy &ImportList,
                             std::vector<ShardModule> *Modules) {
  ModuleSummaries Summaries;
  GVSummaryPtrSet Declarations;
  gatherImportedSummariesForModule(ModulePath, Defined, ImportList, Summaries,
                                   Declarations);

  // LLVM treats modules without summaries differently, so add none to them.
  GVSummaryMapTy &OwnSummaries = Summaries[ModulePath.str()];
  std::optional<DSOLocalStandIns> StandIns;
  if (!OwnSummaries.empty()) {
    std::vector<const GlobalValueSummary *> Compiled;
    for (const auto &[Path, OfModule] : Summaries)
      for (const auto &[GUID, Summary] : OfModule)
        Compiled.push_back(Summary);
    StandIns.emplace(Index, ModulePath, OwnSummaries, Summaries);
    for (const GlobalValueSummary *Summary : Compiled)
      StandIns->addReferencesOf(*Summary);
  }

  ShardBytes Bytes;
  raw_svector_ostream OS(Bytes);
  writeIndexToFile(Index, OS, &Summaries, &Declarations);
  // Number the modules as IndexBitcodeWriter::writeModStrings() does.
  if (Modules)
    for (const auto &[Path, OfModule] : Summaries)
      if (auto It = Index.modulePaths().find(Path);
          It != Index.modulePaths().end())
        Modules->push_back({Path, It->second});
  return Bytes;
}

void dtlto::clearPartialDSOLocal(ModuleSummaryIndex &Index) {
  if (Index.withDSOLocalPropagation())
    return;
  auto IsLocal = [](const auto &Summary) { return Summary->isDSOLocal(); };
  for (auto &[GUID, Info] : Index)
    if (!all_of(summariesOf(Info), IsLocal))
      for (const auto &Summary : summariesOf(Info))
        Summary->setDSOLocal(false);
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
  const std::string Path = (ModulePath + ".thinlto.bc").str();
  std::error_code EC;
  raw_fd_ostream OS(Path, EC, sys::fs::OpenFlags::OF_None);
  if (EC) // the text of LLVM 22; LLVM 19's doesn't name the file
    return createFileError("cannot open " + Path, EC);
  writeIndexToFile(Index, OS, &Summaries, &Declarations);
  if (ImportsFile)
    return writeImportsFile(ModulePath, (ModulePath + ".imports").str(),
                            Summaries);
  return Error::success();
}
