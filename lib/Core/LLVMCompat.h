//===- LLVMCompat.h - All that differs between LLVM versions ----*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The only place of the project that asks for LLVM's version; ConfigFields.h
// says of each field which versions have it. "=" is what stands left of it.
//
//                      19              20                21        22
//   lto::ThinBackend     std::function   a struct          =         =
//   ThinBackendProc      in LTO.cpp      in LTO.h, with    + setup() =
//                                        a thread pool
//   computeLTOCacheKey   SmallString,    std::string,      =         =
//                        std::set        DenseSet
//   FileCache            std::function   a struct          =         =
//   CachedFileStream     ends with its   =                 commit()  =
//                        destructor
//   ImportMapTy          map of modules  list of triples,  =         =
//                                        over a table
//   lto::thinBackend                     + CodeGenOnly     =         =
//   EmitImportsFiles     std::error_code Error             =         =
//   cfiFunctionDefs()    set of names    =                 index by GUID  =
//   GlobalVarSummary     std::vector     SmallVector       =         =
//   --thinlto-                           none in LLD       ELF, COFF =
//     distributor
//
// cmake/DtltoLLVM.cmake has the list of versions that builds may use.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_CORE_LLVMCOMPAT_H
#define DTLTO_CORE_LLVMCOMPAT_H

#include "llvm/ADT/ScopeExit.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/IR/ModuleSummaryIndex.h"
#include "llvm/LTO/LTO.h"
#include "llvm/LTO/LTOBackend.h"
#include "llvm/Support/Caching.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Error.h"
#include "llvm/Transforms/IPO/FunctionImport.h"
#include <map>
#include <set>
#include <string>

#if LLVM_VERSION_MAJOR != 19 && LLVM_VERSION_MAJOR != 22
#error "dtlto doesn't know this LLVM"
#endif

// Their arguments stand where LLVM has this version or a later one, or an
// earlier one: for tables, some of whose lines only some versions have.
#if LLVM_VERSION_MAJOR >= 21
#define DTLTO_SINCE_21(...) __VA_ARGS__
#define DTLTO_BEFORE_21(...)
#else
#define DTLTO_SINCE_21(...)
#define DTLTO_BEFORE_21(...) __VA_ARGS__
#endif
#if LLVM_VERSION_MAJOR >= 22
#define DTLTO_SINCE_22(...) __VA_ARGS__
#define DTLTO_BEFORE_22(...)
#else
#define DTLTO_SINCE_22(...)
#define DTLTO_BEFORE_22(...) __VA_ARGS__
#endif

namespace dtlto {

using ResolvedODRMap =
    std::map<llvm::GlobalValue::GUID, llvm::GlobalValue::LinkageTypes>;
using ModuleMapTy = llvm::MapVector<llvm::StringRef, llvm::BitcodeModule>;
using DefinedSummaries = llvm::DenseMap<llvm::StringRef, llvm::GVSummaryMapTy>;

} // namespace dtlto

#if LLVM_VERSION_MAJOR < 20
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

using CfiGUIDs = std::set<llvm::GlobalValue::GUID>;
using ModuleSummaries = std::map<std::string, llvm::GVSummaryMapTy>;
using References = std::vector<llvm::ValueInfo>;
using BackendFunction = llvm::lto::ThinBackend;

/// What our backends derive from.
class ThinBackendBase : public llvm::lto::ThinBackendProc {
public:
  ThinBackendBase(const llvm::lto::Config &Conf,
                  llvm::ModuleSummaryIndex &Index,
                  const DefinedSummaries &Defined,
                  llvm::lto::IndexWriteCallback OnWrite,
                  bool ShouldEmitImportsFiles,
                  llvm::ThreadPoolStrategy Parallelism)
      : ThinBackendProc(Conf, Index, Defined, std::move(OnWrite),
                        ShouldEmitImportsFiles),
        Threads(Parallelism.compute_thread_count()) {}

  unsigned getThreadCount() override { return Threads; }

private:
  unsigned Threads;
};

inline llvm::lto::ThinBackend makeThinBackend(BackendFunction Make,
                                              llvm::ThreadPoolStrategy) {
  return Make;
}

using CacheFunction = llvm::FileCache;
inline llvm::FileCache makeCache(CacheFunction Ask) { return Ask; }
inline bool hasCache(const llvm::FileCache &Cache) { return bool(Cache); }

inline std::string
computeKey(const llvm::lto::Config &Conf, const llvm::ModuleSummaryIndex &Index,
           llvm::StringRef ModuleID,
           const llvm::FunctionImporter::ImportMapTy &ImportList,
           const llvm::FunctionImporter::ExportSetTy &ExportList,
           const ResolvedODRMap &ResolvedODR,
           const llvm::GVSummaryMapTy &DefinedGlobals, const CfiGUIDs &CfiDefs,
           const CfiGUIDs &CfiDecls) {
  llvm::SmallString<40> Key;
  llvm::computeLTOCacheKey(Key, Conf, Index, ModuleID, ImportList, ExportList,
                           ResolvedODR, DefinedGlobals, CfiDefs, CfiDecls);
  return Key.str().str();
}

/// An import list that is filled later.
struct OwnImportList {
  llvm::FunctionImporter::ImportMapTy List;
};

/// Calls \p Each(Module, GUID, Kind) for each import, in no order.
template <class Fn>
void forEachImport(const llvm::FunctionImporter::ImportMapTy &List, Fn Each) {
  for (const auto &[Module, GUIDs] : List)
    for (const auto &[GUID, Kind] : GUIDs)
      Each(Module, GUID, Kind);
}

/// The names of the modules that \p List imports from, in no order.
inline llvm::SmallVector<llvm::StringRef, 0>
importedModules(const llvm::FunctionImporter::ImportMapTy &List) {
  llvm::SmallVector<llvm::StringRef, 0> Names;
  for (const auto &Entry : List)
    Names.push_back(Entry.first);
  return Names;
}

inline llvm::Error runThinBackend(
    const llvm::lto::Config &Conf, unsigned Task, llvm::AddStreamFn AddStream,
    llvm::Module &M, const llvm::ModuleSummaryIndex &Index,
    const llvm::FunctionImporter::ImportMapTy &ImportList,
    const llvm::GVSummaryMapTy &DefinedGlobals, ModuleMapTy *ModuleMap) {
  return llvm::lto::thinBackend(Conf, Task, std::move(AddStream), M, Index,
                                ImportList, DefinedGlobals, ModuleMap);
}

inline llvm::Error writeImportsFile(llvm::StringRef ModulePath,
                                    llvm::StringRef Output,
                                    const ModuleSummaries &Summaries) {
  return llvm::errorCodeToError(
      llvm::EmitImportsFiles(ModulePath, Output, Summaries));
}

} // namespace dtlto

#else // LLVM_VERSION_MAJOR >= 20

namespace dtlto {

using CfiGUIDs = llvm::DenseSet<llvm::GlobalValue::GUID>;
using ModuleSummaries = llvm::ModuleToSummariesForIndexTy;
using References = llvm::SmallVector<llvm::ValueInfo, 0>;
using BackendFunction = llvm::lto::ThinBackendFunction;
using ThinBackendBase = llvm::lto::ThinBackendProc;

inline llvm::lto::ThinBackend
makeThinBackend(BackendFunction Make, llvm::ThreadPoolStrategy Parallelism) {
  return {std::move(Make), Parallelism};
}

using CacheFunction = llvm::FileCacheFunction;
inline llvm::FileCache makeCache(CacheFunction Ask) {
  return {std::move(Ask), ""};
}
inline bool hasCache(const llvm::FileCache &Cache) { return Cache.isValid(); }

inline std::string
computeKey(const llvm::lto::Config &Conf, const llvm::ModuleSummaryIndex &Index,
           llvm::StringRef ModuleID,
           const llvm::FunctionImporter::ImportMapTy &ImportList,
           const llvm::FunctionImporter::ExportSetTy &ExportList,
           const ResolvedODRMap &ResolvedODR,
           const llvm::GVSummaryMapTy &DefinedGlobals, const CfiGUIDs &CfiDefs,
           const CfiGUIDs &CfiDecls) {
  return llvm::computeLTOCacheKey(Conf, Index, ModuleID, ImportList, ExportList,
                                  ResolvedODR, DefinedGlobals, CfiDefs,
                                  CfiDecls);
}

/// An import list that is filled later.
struct OwnImportList {
  llvm::FunctionImporter::ImportIDTable IDs;
  llvm::FunctionImporter::ImportMapTy List{IDs};
};

/// Calls \p Each(Module, GUID, Kind) for each import, in no order.
template <class Fn>
void forEachImport(const llvm::FunctionImporter::ImportMapTy &List, Fn Each) {
  for (const auto &[Module, GUID, Kind] : List)
    Each(Module, GUID, Kind);
}

/// The names of the modules that \p List imports from, in no order.
inline llvm::SmallVector<llvm::StringRef, 0>
importedModules(const llvm::FunctionImporter::ImportMapTy &List) {
  return List.getSourceModules();
}

inline llvm::Error runThinBackend(
    const llvm::lto::Config &Conf, unsigned Task, llvm::AddStreamFn AddStream,
    llvm::Module &M, const llvm::ModuleSummaryIndex &Index,
    const llvm::FunctionImporter::ImportMapTy &ImportList,
    const llvm::GVSummaryMapTy &DefinedGlobals, ModuleMapTy *ModuleMap) {
  return llvm::lto::thinBackend(Conf, Task, std::move(AddStream), M, Index,
                                ImportList, DefinedGlobals, ModuleMap,
                                Conf.CodeGenOnly);
}

inline llvm::Error writeImportsFile(llvm::StringRef ModulePath,
                                    llvm::StringRef Output,
                                    const ModuleSummaries &Summaries) {
  return llvm::EmitImportsFiles(ModulePath, Output, Summaries);
}

} // namespace dtlto

#endif

namespace dtlto {

/// As LLVM's own of that name, which is about to go.
template <class Fn> auto onScopeExit(Fn &&Call) {
#if LLVM_VERSION_MAJOR >= 22
  return llvm::scope_exit(std::forward<Fn>(Call));
#else
  return llvm::make_scope_exit(std::forward<Fn>(Call));
#endif
}

/// The registered option of that name, or null.
inline llvm::cl::Option *findOption(llvm::StringRef Name) {
  auto &Options = llvm::cl::getRegisteredOptions();
  auto It = Options.find(Name);
  return It == Options.end() ? nullptr : It->second;
}

/// What LLVM calls the function or variable with this identifier.
inline llvm::GlobalValue::GUID guidOf(llvm::StringRef Identifier) {
#if LLVM_VERSION_MAJOR >= 21
  return llvm::GlobalValue::getGUIDAssumingExternalLinkage(Identifier);
#else
  return llvm::GlobalValue::getGUID(Identifier);
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

/// All that the index knows of one symbol. What summaries say may be changed.
inline llvm::ArrayRef<std::unique_ptr<llvm::GlobalValueSummary>>
summariesOf(const llvm::GlobalValueSummaryInfo &Info) {
#if LLVM_VERSION_MAJOR >= 22
  return Info.getSummaryList();
#else
  return Info.SummaryList;
#endif
}

/// Whether basic blocks get labels that --lto-basic-block-sections=labels asked
/// for. Later versions have an option of its own for that.
inline bool labelsBasicBlocks(const llvm::TargetOptions &Options) {
#if LLVM_VERSION_MAJOR >= 20
  (void)Options;
  return false;
#else
  return Options.BBSections == llvm::BasicBlockSection::Labels;
#endif
}

/// The name of one that was set of the code generation options that only some
/// versions of LLVM have, or null. No compiler's command line has them.
inline const char *optionOfThisVersion(const llvm::lto::Config &Conf) {
  const llvm::TargetOptions &O = Conf.Options;
#if LLVM_VERSION_MAJOR >= 21
  const llvm::PipelineTuningOptions &PTO = Conf.PTO, Default;
  const llvm::MCTargetOptions &M = O.MCOptions;
  if (PTO.LoopInterchange != Default.LoopInterchange)
    return "tuning of the optimization pipeline";
  if (O.EnableStaticDataPartitioning)
    return "-mllvm -partition-static-data-sections";
  if (!O.VerifyArgABICompliance)
    return "arguments that aren't checked against the ABI";
  if (M.ImplicitMapSyms)
    return "-mllvm -implicit-mapsyms";
  if (M.OutputAsmVariant || !M.InstPrinterOptions.empty())
    return "assembler options";
#endif
#if LLVM_VERSION_MAJOR >= 22
  if (PTO.LoopFusion != Default.LoopFusion ||
      PTO.DevirtualizeSpeculatively != Default.DevirtualizeSpeculatively)
    return "tuning of the optimization pipeline";
  if (O.EmitCallGraphSection)
    return "-mllvm -call-graph-section";
  if (O.VecLib != llvm::VectorLibrary::NoLibrary)
    return "-mllvm -vector-library";
  if (M.EmitSFrameUnwind)
    return "-mllvm -gsframe";
#else
  if (O.UnsafeFPMath)
    return "-mllvm -enable-unsafe-fp-math";
  if (O.ApproxFuncFPMath)
    return "-mllvm -enable-approx-func-fp-math";
  if (O.getRawFPDenormalMode() != llvm::DenormalMode::getIEEE())
    return "-mllvm -denormal-fp-math";
#endif
  return nullptr;
}

/// Whether -mllvm \p Name is a code generation flag, in versions of LLVM that
/// have it as one: optionOfThisVersion() tells of it.
inline bool isCodeGenFlagOfThisVersion(llvm::StringRef Name) {
  (void)Name;
  DTLTO_SINCE_21(if (Name == "partition-static-data-sections" ||
                     Name == "implicit-mapsyms") return true;)
  DTLTO_SINCE_22(if (Name == "vector-library" || Name == "call-graph-section" ||
                     Name == "gsframe") return true;)
  return false;
}

/// What must be called once after the last byte, before the stream ends.
inline llvm::Error commitStream(llvm::CachedFileStream &Stream) {
#if LLVM_VERSION_MAJOR >= 21
  return Stream.commit();
#else
  (void)Stream;
  return llvm::Error::success();
#endif
}

/// The GUIDs of the functions that take part in control flow integrity, as the
/// cache key wants them.
struct CfiFunctions {
  CfiGUIDs Defs;
  CfiGUIDs Decls;

  explicit CfiFunctions(const llvm::ModuleSummaryIndex &Index) {
#if LLVM_VERSION_MAJOR >= 21
    for (llvm::GlobalValue::GUID GUID : Index.cfiFunctionDefs().guids())
      Defs.insert(GUID);
    for (llvm::GlobalValue::GUID GUID : Index.cfiFunctionDecls().guids())
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

/// The key under which in-process ThinLTO caches this module's object.
inline std::string
cacheKey(const llvm::lto::Config &Conf, const llvm::ModuleSummaryIndex &Index,
         llvm::StringRef ModuleID,
         const llvm::FunctionImporter::ImportMapTy &ImportList,
         const llvm::FunctionImporter::ExportSetTy &ExportList,
         const ResolvedODRMap &ResolvedODR,
         const llvm::GVSummaryMapTy &DefinedGlobals, const CfiFunctions &Cfi) {
  return computeKey(Conf, Index, ModuleID, ImportList, ExportList, ResolvedODR,
                    DefinedGlobals, Cfi.Defs, Cfi.Decls);
}

} // namespace dtlto

#endif // DTLTO_CORE_LLVMCOMPAT_H
