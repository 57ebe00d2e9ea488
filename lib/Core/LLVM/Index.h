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
#include "llvm/IR/ModuleSummaryIndex.h"
#include "llvm/Support/Error.h"
#include "llvm/Transforms/IPO/FunctionImport.h"
#include <map>
#include <set>
#include <string>

namespace dtlto {

#if LLVM_VERSION_MAJOR >= 20
using ModuleSummaries = llvm::ModuleToSummariesForIndexTy;
using References = llvm::SmallVector<llvm::ValueInfo, 0>;
#else
using ModuleSummaries = std::map<std::string, llvm::GVSummaryMapTy>;
using References = std::vector<llvm::ValueInfo>;
#endif

/// An import list that is filled later.
struct OwnImportList {
#if LLVM_VERSION_MAJOR >= 20
  llvm::FunctionImporter::ImportIDTable IDs;
  llvm::FunctionImporter::ImportMapTy List{IDs};
#else
  llvm::FunctionImporter::ImportMapTy List;
#endif
};

/// Calls \p Each(Module, GUID, Kind) for each import, in no order.
template <class Fn>
void forEachImport(const llvm::FunctionImporter::ImportMapTy &List, Fn Each) {
#if LLVM_VERSION_MAJOR >= 20
  for (const auto &[Module, GUID, Kind] : List)
    Each(Module, GUID, Kind);
#else
  for (const auto &[Module, GUIDs] : List)
    for (const auto &[GUID, Kind] : GUIDs)
      Each(Module, GUID, Kind);
#endif
}

/// How much \p List has: modules, or since LLVM 20 what is imported of them.
inline size_t numImports(const llvm::FunctionImporter::ImportMapTy &List) {
#if LLVM_VERSION_MAJOR >= 20
  return static_cast<size_t>(std::distance(List.begin(), List.end()));
#else
  return List.size();
#endif
}

/// The names of the modules that \p List imports from, in no order.
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

/// A summary of a function that says nothing about it.
inline std::unique_ptr<llvm::FunctionSummary> makeEmptyFunctionSummary() {
#if LLVM_VERSION_MAJOR >= 20
  llvm::SmallVector<llvm::FunctionSummary::EdgeTy, 0> NoEdges;
#else
  std::vector<llvm::FunctionSummary::EdgeTy> NoEdges;
#endif
  return std::make_unique<llvm::FunctionSummary>(
      llvm::FunctionSummary::makeDummyFunctionSummary(std::move(NoEdges)));
}

/// The flags of a definition with a summary that is only looked up, never
/// imported, and local to the link.
inline llvm::GlobalValueSummary::GVFlags lookedUpFlags() {
  return llvm::GlobalValueSummary::GVFlags(
      llvm::GlobalValue::ExternalLinkage, llvm::GlobalValue::DefaultVisibility,
      /*NotEligibleToImport=*/true, /*Live=*/true, /*IsLocal=*/true,
      /*CanAutoHide=*/false, llvm::GlobalValueSummary::Definition
#if LLVM_VERSION_MAJOR >= 23
      ,
      /*NoRenameOnPromotion=*/false
#endif
  );
}

/// All that the index knows of one symbol. What summaries say may be changed.
inline llvm::ArrayRef<std::unique_ptr<llvm::GlobalValueSummary>>
summariesOf(const llvm::GlobalValueSummaryInfo &Info) {
#if LLVM_VERSION_MAJOR >= 22
  return Info.getSummaryList();
#else
  return Info.SummaryList;
#endif
}

/// Adds \p Name to an index's functions that take part in control flow
/// integrity.
template <class Functions>
void addCfiFunction(Functions &To, llvm::StringRef Name) {
#if LLVM_VERSION_MAJOR >= 23
  To.addSymbolWithThinLTOGUID(Name, guidOf(Name));
#elif LLVM_VERSION_MAJOR >= 21
  To.emplace(Name);
#else
  To.insert(Name.str());
#endif
}

/// Their names.
template <class Functions> std::set<std::string> cfiNames(const Functions &Of) {
  std::set<std::string> Names;
#if LLVM_VERSION_MAJOR >= 23
  for (const auto &[Name, GUID] : Of.getSortedSymbols())
    Names.insert(Name.str());
#elif LLVM_VERSION_MAJOR >= 21
  for (llvm::StringRef Name : Of.symbols())
    Names.insert(Name.str());
#else
  Names.insert(Of.begin(), Of.end());
#endif
  return Names;
}

} // namespace dtlto

#endif // DTLTO_LLVM_INDEX_H
