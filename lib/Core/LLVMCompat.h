//===- LLVMCompat.h - All that differs between LLVM versions ----*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The only place of the project that asks for LLVM's version.
//
//                          LLVM 19
//   lto::ThinBackend       a std::function
//   lto::ThinBackendProc   defined in LTO.cpp, not in a header: declared below
//   computeLTOCacheKey     fills a SmallString<40>; std::set parameters
//   FileCache              a std::function
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_CORE_LLVMCOMPAT_H
#define DTLTO_CORE_LLVMCOMPAT_H

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/IR/ModuleSummaryIndex.h"
#include "llvm/LTO/LTO.h"
#include "llvm/Support/Error.h"
#include "llvm/Transforms/IPO/FunctionImport.h"
#include <map>
#include <set>
#include <string>

#if LLVM_VERSION_MAJOR != 19
#error "dtlto knows LLVM 19 only"
#endif

namespace llvm::lto {

/// The interface that LTO::runThinLTO drives: start() once for each module,
/// then wait(). LLVM 19 keeps it in LTO.cpp; the order of members and of
/// virtual functions here is the one there, since objects of classes derived
/// from this one are used through LLVM's declaration.
class ThinBackendProc {
protected:
  const Config &Conf;
  ModuleSummaryIndex &CombinedIndex;
  const DenseMap<StringRef, GVSummaryMapTy> &ModuleToDefinedGVSummaries;
  IndexWriteCallback OnWrite;
  bool ShouldEmitImportsFiles;

public:
  ThinBackendProc(
      const Config &Conf, ModuleSummaryIndex &CombinedIndex,
      const DenseMap<StringRef, GVSummaryMapTy> &ModuleToDefinedGVSummaries,
      IndexWriteCallback OnWrite, bool ShouldEmitImportsFiles)
      : Conf(Conf), CombinedIndex(CombinedIndex),
        ModuleToDefinedGVSummaries(ModuleToDefinedGVSummaries),
        OnWrite(std::move(OnWrite)),
        ShouldEmitImportsFiles(ShouldEmitImportsFiles) {}

  virtual ~ThinBackendProc() = default;
  virtual Error start(
      unsigned Task, BitcodeModule BM,
      const FunctionImporter::ImportMapTy &ImportList,
      const FunctionImporter::ExportSetTy &ExportList,
      const std::map<GlobalValue::GUID, GlobalValue::LinkageTypes> &ResolvedODR,
      MapVector<StringRef, BitcodeModule> &ModuleMap) = 0;
  virtual Error wait() = 0;
  virtual unsigned getThreadCount() = 0;
};

} // namespace llvm::lto

namespace dtlto {

using ResolvedODRMap =
    std::map<llvm::GlobalValue::GUID, llvm::GlobalValue::LinkageTypes>;
using ModuleMapTy = llvm::MapVector<llvm::StringRef, llvm::BitcodeModule>;
using DefinedSummaries = llvm::DenseMap<llvm::StringRef, llvm::GVSummaryMapTy>;
using ModuleSummaries = std::map<std::string, llvm::GVSummaryMapTy>;

/// The GUIDs of the functions that take part in control flow integrity, as the
/// cache key wants them.
struct CfiFunctions {
  std::set<llvm::GlobalValue::GUID> Defs;
  std::set<llvm::GlobalValue::GUID> Decls;

  explicit CfiFunctions(const llvm::ModuleSummaryIndex &Index) {
    using llvm::GlobalValue;
    for (const auto &Name : Index.cfiFunctionDefs())
      Defs.insert(
          GlobalValue::getGUID(GlobalValue::dropLLVMManglingEscape(Name)));
    for (const auto &Name : Index.cfiFunctionDecls())
      Decls.insert(
          GlobalValue::getGUID(GlobalValue::dropLLVMManglingEscape(Name)));
  }
};

/// The key under which in-process ThinLTO caches this module's object.
inline std::string
cacheKey(const llvm::lto::Config &Conf, const llvm::ModuleSummaryIndex &Index,
         llvm::StringRef ModuleID,
         const llvm::FunctionImporter::ImportMapTy &ImportList,
         const llvm::FunctionImporter::ExportSetTy &ExportList,
         const ResolvedODRMap &ResolvedODR,
         const llvm::GVSummaryMapTy &DefinedGlobals, const CfiFunctions &Cfi) {
  llvm::SmallString<40> Key;
  llvm::computeLTOCacheKey(Key, Conf, Index, ModuleID, ImportList, ExportList,
                           ResolvedODR, DefinedGlobals, Cfi.Defs, Cfi.Decls);
  return Key.str().str();
}

} // namespace dtlto

#endif // DTLTO_CORE_LLVMCOMPAT_H
