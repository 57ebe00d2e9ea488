//===- Index.h - Summaries and import lists ---------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_LLVM_INDEX_H
#define DTLTO_LLVM_INDEX_H

#include "LLVM/Module.h"
#include "LLVM/Version.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/ModuleSummaryIndex.h"
#include "llvm/Support/Error.h"
#include "llvm/Transforms/IPO/FunctionImport.h"
#include <map>
#include <string>
#include <vector>

namespace dtlto {

#if LLVM_VERSION_MAJOR >= 20
using ModuleSummaries = llvm::ModuleToSummariesForIndexTy;
using References = llvm::SmallVector<llvm::ValueInfo, 0>;
#else
using ModuleSummaries = std::map<std::string, llvm::GVSummaryMapTy>;
using References = std::vector<llvm::ValueInfo>;
#endif

/// An import list with its own storage.
struct OwningImportList {
#if LLVM_VERSION_MAJOR >= 20
  llvm::FunctionImporter::ImportIDTable IDs;
  llvm::FunctionImporter::ImportMapTy List{IDs};
#else
  llvm::FunctionImporter::ImportMapTy List;
#endif
};

/// The imported definitions of several lists, by module.
class ImportsByModule {
public:
  using List = llvm::FunctionImporter::ImportMapTy;

  explicit ImportsByModule(llvm::ArrayRef<const List *> Lists) {
    for (const List *L : Lists)
#if LLVM_VERSION_MAJOR >= 20
      for (const auto &[Module, GUID, Kind] : *L)
        add(Module, GUID, Kind);
#else
      for (const auto &[Module, GUIDs] : *L)
        for (const auto &[GUID, Kind] : GUIDs)
          add(Module, GUID, Kind);
#endif
  }

  /// Returns the imported definitions of \p Module, once for each list that has
  /// them. Any thread.
  llvm::ArrayRef<llvm::GlobalValue::GUID> of(llvm::StringRef Module) const {
    auto It = Modules.find(Module);
    if (It == Modules.end())
      return {};
    return It->second;
  }

private:
  using GUIDs = std::vector<llvm::GlobalValue::GUID>;

  void add(llvm::StringRef Module, llvm::GlobalValue::GUID GUID,
           llvm::GlobalValueSummary::ImportKind Kind) {
    if (Kind != llvm::GlobalValueSummary::Definition)
      return;
    // The index owns the names, so equal names have equal addresses.
    if (!Last || LastName != Module.data()) {
      GUIDs *&Slot = ByAddress[Module.data()];
      if (!Slot)
        Slot = &Modules[Module];
      Last = Slot;
      LastName = Module.data();
    }
    Last->push_back(GUID);
  }

  llvm::StringMap<GUIDs> Modules;
  llvm::DenseMap<const char *, GUIDs *> ByAddress;
  const char *LastName = nullptr;
  GUIDs *Last = nullptr; // of LastName
};

/// Estimates the work of preparing a job with \p List, for comparisons only.
/// Slimming a module takes as long as about 200 imports in a shard. Since LLVM
/// 20, counting modules would be too slow, so only imports count.
inline size_t importWork(const llvm::FunctionImporter::ImportMapTy &List) {
#if LLVM_VERSION_MAJOR >= 20
  return static_cast<size_t>(std::distance(List.begin(), List.end()));
#else
  size_t Work = 0;
  for (const auto &[Module, GUIDs] : List)
    Work += 200 + GUIDs.size();
  return Work;
#endif
}

/// Returns the names of the modules from which \p List imports, in any order.
inline llvm::SmallVector<llvm::StringRef, 0>
importedModules(const llvm::FunctionImporter::ImportMapTy &List) {
#if LLVM_VERSION_MAJOR >= 20
  return List.getSourceModules();
#else
  llvm::SmallVector<llvm::StringRef, 0> Names;
  for (const auto &Entry : List)
    Names.push_back(Entry.first);
  return Names;
#endif
}

inline llvm::Error writeImportsFile(llvm::StringRef ModulePath,
                                    llvm::StringRef Output,
                                    const ModuleSummaries &Summaries) {
#if LLVM_VERSION_MAJOR >= 20
  return llvm::EmitImportsFiles(ModulePath, Output, Summaries);
#else
  return llvm::errorCodeToError(
      llvm::EmitImportsFiles(ModulePath, Output, Summaries));
#endif
}

inline std::unique_ptr<llvm::FunctionSummary> makeEmptyFunctionSummary() {
#if LLVM_VERSION_MAJOR >= 20
  llvm::SmallVector<llvm::FunctionSummary::EdgeTy, 0> NoEdges;
#else
  std::vector<llvm::FunctionSummary::EdgeTy> NoEdges;
#endif
  return std::make_unique<llvm::FunctionSummary>(
      llvm::FunctionSummary::makeDummyFunctionSummary(std::move(NoEdges)));
}

/// Returns the flags of a summary that is only looked up, never imported. The
/// definition is in another module and local to the link.
inline llvm::GlobalValueSummary::GVFlags lookupOnlyFlags() {
  return llvm::GlobalValueSummary::GVFlags(
      llvm::GlobalValue::AvailableExternallyLinkage,
      llvm::GlobalValue::DefaultVisibility, /*NotEligibleToImport=*/true,
      /*Live=*/true, /*IsLocal=*/true,
      /*CanAutoHide=*/false, llvm::GlobalValueSummary::Definition
#if LLVM_VERSION_MAJOR >= 23
      ,
      /*NoRenameOnPromotion=*/false
#endif
  );
}

/// Whether the contents of \p Module are part of LLVM's cache keys.
inline bool hasHash(const llvm::ModuleSummaryIndex &Index,
                    llvm::StringRef Module) {
  return Index.modulePaths().count(Module) &&
         Index.getModuleHash(Module) != llvm::ModuleHash();
}

/// Returns all summaries of a symbol; callers may change them.
inline llvm::ArrayRef<std::unique_ptr<llvm::GlobalValueSummary>>
summariesOf(const llvm::GlobalValueSummaryInfo &Info) {
#if LLVM_VERSION_MAJOR >= 22
  return Info.getSummaryList();
#else
  return Info.SummaryList;
#endif
}

} // namespace dtlto

#endif // DTLTO_LLVM_INDEX_H
