//===- Cache.h - LLVM's cache of objects ------------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_LLVM_CACHE_H
#define DTLTO_LLVM_CACHE_H

#include "LLVM/ThinBackend.h"
#include <set>
#include <string>

namespace dtlto {

inline bool hasCache(const llvm::FileCache &Cache) {
#if LLVM_VERSION_MAJOR >= 20
  return Cache.isValid();
#else
  return bool(Cache);
#endif
}

/// Returns the folder of \p Cache. Before LLVM 20, FileCache lacks it; then
/// returns \p OnCommandLine.
inline std::string cacheFolder(const llvm::FileCache &Cache,
                               llvm::StringRef OnCommandLine) {
#if LLVM_VERSION_MAJOR >= 20
  (void)OnCommandLine;
  return Cache.getCacheDirectoryPath();
#else
  (void)Cache;
  return OnCommandLine.str();
#endif
}

/// Writes \p Bytes to a stream of \p To. A cache stores them and adds them to
/// the link in commit() or, before LLVM 21, in the stream's destructor.
inline llvm::Error writeStream(const llvm::AddStreamFn &To, unsigned Task,
                               const llvm::Twine &Name, llvm::StringRef Bytes) {
  auto Stream = To(Task, Name);
  if (!Stream)
    return Stream.takeError();
  *(*Stream)->OS << Bytes;
#if LLVM_VERSION_MAJOR >= 21
  return (*Stream)->commit();
#else
  return llvm::Error::success();
#endif
}

#if LLVM_VERSION_MAJOR >= 20
using CfiGUIDs = llvm::DenseSet<llvm::GlobalValue::GUID>;
#else
using CfiGUIDs = std::set<llvm::GlobalValue::GUID>;
#endif

/// The GUIDs of the functions with control flow integrity, for cache keys.
struct CfiFunctions {
  CfiGUIDs Defs;
  CfiGUIDs Decls;

  explicit CfiFunctions(const llvm::ModuleSummaryIndex &Index) {
#if LLVM_VERSION_MAJOR >= 21
    auto Guids = [](const auto &Functions) {
#if LLVM_VERSION_MAJOR >= 23
      return Functions.getExportedThinLTOGUIDs();
#else
      return Functions.guids();
#endif
    };
    for (llvm::GlobalValue::GUID GUID : Guids(Index.cfiFunctionDefs()))
      Defs.insert(GUID);
    for (llvm::GlobalValue::GUID GUID : Guids(Index.cfiFunctionDecls()))
      Decls.insert(GUID);
#else
    using llvm::GlobalValue;
    for (const auto &Name : Index.cfiFunctionDefs())
      Defs.insert(
          GlobalValue::getGUID(GlobalValue::dropLLVMManglingEscape(Name)));
    for (const auto &Name : Index.cfiFunctionDecls())
      Decls.insert(
          GlobalValue::getGUID(GlobalValue::dropLLVMManglingEscape(Name)));
#endif
  }
};

/// Returns the key under which in-process ThinLTO caches a module's object.
inline std::string
cacheKey(const llvm::lto::Config &Conf, const llvm::ModuleSummaryIndex &Index,
         llvm::StringRef ModuleID,
         const llvm::FunctionImporter::ImportMapTy &ImportList,
         const llvm::FunctionImporter::ExportSetTy &ExportList,
         const ResolvedODRMap &ResolvedODR,
         const llvm::GVSummaryMapTy &DefinedGlobals, const CfiFunctions &Cfi) {
#if LLVM_VERSION_MAJOR >= 20
  return llvm::computeLTOCacheKey(Conf, Index, ModuleID, ImportList, ExportList,
                                  ResolvedODR, DefinedGlobals, Cfi.Defs,
                                  Cfi.Decls);
#else
  llvm::SmallString<40> Key;
  llvm::computeLTOCacheKey(Key, Conf, Index, ModuleID, ImportList, ExportList,
                           ResolvedODR, DefinedGlobals, Cfi.Defs, Cfi.Decls);
  return Key.str().str();
#endif
}

/// Returns the key of a result that also depends on \p What.
inline std::string cacheKeyWith(const std::string &Key, llvm::StringRef What) {
#if LLVM_VERSION_MAJOR >= 22
  return llvm::recomputeLTOCacheKey(Key, What);
#else
  (void)What;
  return Key;
#endif
}

} // namespace dtlto

#endif // DTLTO_LLVM_CACHE_H
