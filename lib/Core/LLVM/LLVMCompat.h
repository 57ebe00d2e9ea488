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
//                      19          20          21          22    23
//   ThinBackend          a function  a struct    =           =     + names (1)
//   ThinBackendProc      in LTO.cpp  in LTO.h    + setup()   =     =
//   thinBackend()                    + a flag(2) =           =     + names (1)
//   computeLTOCacheKey   2 sets,     2 DenseSets =           =     =
//     and its key        SmallString std::string =           =     =
//   FileCache            a function  a struct    =           =     =
//   CachedFileStream     destructor  =           commit()    =     =
//   ImportMapTy          a map       a list      =           =     =
//   EmitImportsFiles     error_code  Error       =           =     =
//   lists in summaries   std::vector SmallVector =           =     =
//   SummaryList          a field     =           =           read  =
//   GVFlags              7 of them   =           =           =     8 of them
//   getGUID()            by name     =           renamed     =     stored (3)
//   CFI's functions      names       =           by GUID     =     renamed
//   triples              texts       =           Triple      =     =
//   a module's assembly  a text      =           =           =     pieces
//   LLD distributes by   .           .           a backend   =     a class (4)
//
// (1) BitcodeLibFuncs. (2) CodeGenOnly. (3) Also in bitcode, as GUIDLIST.
// (4) lto::DTLTO, with --thinlto-distributor in each of them.
//
// cmake/DtltoLLVM.cmake has the list of versions that builds may use.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_LLVM_LLVMCOMPAT_H
#define DTLTO_LLVM_LLVMCOMPAT_H

#include "llvm/ADT/ScopeExit.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/LLVMBitCodes.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/ModuleSummaryIndex.h"
#include "llvm/LTO/LTO.h"
#include "llvm/LTO/LTOBackend.h"
#include "llvm/Support/Caching.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Error.h"
#include "llvm/Transforms/IPO/FunctionImport.h"
#if LLVM_VERSION_MAJOR >= 23
#include "llvm/Transforms/Utils/AssignGUID.h"
#endif
#include <map>
#include <set>
#include <string>

#if LLVM_VERSION_MAJOR < 19 || LLVM_VERSION_MAJOR > 23
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
#if LLVM_VERSION_MAJOR >= 23
#define DTLTO_SINCE_23(...) __VA_ARGS__
#define DTLTO_BEFORE_23(...)
#else
#define DTLTO_SINCE_23(...)
#define DTLTO_BEFORE_23(...) __VA_ARGS__
#endif

namespace dtlto {

using ResolvedODRMap =
    std::map<llvm::GlobalValue::GUID, llvm::GlobalValue::LinkageTypes>;
using ModuleMapTy = llvm::MapVector<llvm::StringRef, llvm::BitcodeModule>;
using DefinedSummaries = llvm::DenseMap<llvm::StringRef, llvm::GVSummaryMapTy>;
/// Library functions that code generation must not call by itself: they are in
/// the link as bitcode of archives that nothing asked for in time. The names
/// are LLVM's and live as long as the link; none before LLVM 23.
using LibFuncs = llvm::ArrayRef<llvm::StringRef>;

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

inline llvm::Error
runThinBackend(const llvm::lto::Config &Conf, unsigned Task,
               llvm::AddStreamFn AddStream, llvm::Module &M,
               const llvm::ModuleSummaryIndex &Index,
               const llvm::FunctionImporter::ImportMapTy &ImportList,
               const llvm::GVSummaryMapTy &DefinedGlobals,
               ModuleMapTy *ModuleMap, LibFuncs) {
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
using ThinBackendBase = llvm::lto::ThinBackendProc;

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

inline llvm::Error
runThinBackend(const llvm::lto::Config &Conf, unsigned Task,
               llvm::AddStreamFn AddStream, llvm::Module &M,
               const llvm::ModuleSummaryIndex &Index,
               const llvm::FunctionImporter::ImportMapTy &ImportList,
               const llvm::GVSummaryMapTy &DefinedGlobals,
               ModuleMapTy *ModuleMap, LibFuncs Unavailable) {
  (void)Unavailable;
  return llvm::lto::thinBackend(Conf, Task, std::move(AddStream), M, Index,
                                ImportList, DefinedGlobals, ModuleMap,
                                Conf.CodeGenOnly DTLTO_SINCE_23(, Unavailable));
}

inline llvm::Error writeImportsFile(llvm::StringRef ModulePath,
                                    llvm::StringRef Output,
                                    const ModuleSummaries &Summaries) {
  return llvm::EmitImportsFiles(ModulePath, Output, Summaries);
}

} // namespace dtlto

#endif

namespace dtlto {

/// Makes the backend of a link.
using BackendFunction =
    std::function<std::unique_ptr<llvm::lto::ThinBackendProc>(
        const llvm::lto::Config &, llvm::ModuleSummaryIndex &,
        const DefinedSummaries &, llvm::AddStreamFn, llvm::FileCache,
        LibFuncs)>;

inline llvm::lto::ThinBackend
makeThinBackend(BackendFunction Make, llvm::ThreadPoolStrategy Parallelism) {
  auto Call = [Make = std::move(Make)](
                  const llvm::lto::Config &Conf,
                  llvm::ModuleSummaryIndex &Index,
                  const DefinedSummaries &Defined, llvm::AddStreamFn AddStream,
                  llvm::FileCache Cache DTLTO_SINCE_23(, LibFuncs Names)) {
    DTLTO_BEFORE_23(LibFuncs Names;)
    return Make(Conf, Index, Defined, std::move(AddStream), std::move(Cache),
                Names);
  };
#if LLVM_VERSION_MAJOR >= 20
  return {std::move(Call), Parallelism};
#else
  (void)Parallelism;
  return Call;
#endif
}

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

/// Whether LLVM compiles each module twice, the second time with what it learnt
/// the first time. It does so by itself, whichever backend it is given.
inline bool compilesTwice() {
  llvm::cl::Option *Option = findOption("codegen-data-thinlto-two-rounds");
  return Option && static_cast<llvm::cl::opt<bool> *>(Option)->getValue();
}

/// What LLVM calls the function or variable with this identifier.
inline llvm::GlobalValue::GUID guidOf(llvm::StringRef Identifier) {
#if LLVM_VERSION_MAJOR >= 21
  return llvm::GlobalValue::getGUIDAssumingExternalLinkage(Identifier);
#else
  return llvm::GlobalValue::getGUID(Identifier);
#endif
}

inline llvm::GlobalValue::GUID guidOf(const llvm::GlobalValue &Value) {
#if LLVM_VERSION_MAJOR >= 23
  return Value.getGUIDOrFallback();
#else
  return Value.getGUID();
#endif
}

/// Whether this is the code of a record that has a GUID for each value of a
/// module: 64 bits in two halves, the upper one first; 0: none of its own.
inline bool isGUIDList(unsigned Code) {
#if LLVM_VERSION_MAJOR >= 23
  return Code == llvm::bitc::MODULE_CODE_GUIDLIST;
#else
  (void)Code;
  return false;
#endif
}

/// What clang does to a module before its summary is made.
inline void assignGUIDs(llvm::Module &M) {
  (void)M;
  DTLTO_SINCE_23(llvm::AssignGUIDPass::runOnModule(M);)
}

/// The assembly of a whole module.
inline std::string moduleAsm(const llvm::Module &M) {
#if LLVM_VERSION_MAJOR >= 23
  std::string Text;
  for (const auto &Fragment : M.getModuleInlineAsm())
    Text += Fragment.Asm;
  return Text;
#else
  return M.getModuleInlineAsm();
#endif
}

/// A triple as targets and modules take it.
inline auto asTarget(const llvm::Triple &T) {
#if LLVM_VERSION_MAJOR >= 21
  return T;
#else
  return T.str();
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
      /*CanAutoHide=*/false,
      llvm::GlobalValueSummary::Definition DTLTO_SINCE_23(
          , /*NoRenameOnPromotion=*/false));
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
  const llvm::MCTargetOptions &M = O.MCOptions;
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
  const llvm::PipelineTuningOptions &PTO = Conf.PTO, Default;
  if (PTO.LoopFusion != Default.LoopFusion ||
      PTO.DevirtualizeSpeculatively != Default.DevirtualizeSpeculatively)
    return "tuning of the optimization pipeline";
  if (O.EmitCallGraphSection)
    return "-mllvm -call-graph-section";
  if (O.VecLib != llvm::VectorLibrary::NoLibrary)
    return "-mllvm -vector-library";
  if (M.EmitSFrameUnwind)
    return "-mllvm -gsframe";
#endif
#if LLVM_VERSION_MAJOR >= 23
  if (!Conf.LoadedPassPlugins.empty() || !Conf.PassPluginFilenames.empty())
    return "--load-pass-plugin";
  if (!O.StackUsageFile.empty())
    return "stack usage files";
  if (M.RelocSectionSym != llvm::RelocSectionSymType::All)
    return "-mllvm -reloc-section-sym";
  if (M.LargeEHEncoding)
    return "-mllvm -large-eh-encoding";
#else
  if (!Conf.PassPlugins.empty())
    return "--load-pass-plugin";
  if (!O.StackUsageOutput.empty())
    return "stack usage files";
  if (O.NoInfsFPMath)
    return "-mllvm -enable-no-infs-fp-math";
  if (O.NoNaNsFPMath)
    return "-mllvm -enable-no-nans-fp-math";
  if (O.NoSignedZerosFPMath)
    return "-mllvm -enable-no-signed-zeros-fp-math";
#endif
#if LLVM_VERSION_MAJOR < 22
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
  // W is no-warn.
  DTLTO_SINCE_23(if (Name == "reloc-section-sym" ||
                     Name == "large-eh-encoding" || Name == "W") return true;)
  return false;
}

/// The folder of \p Cache. \p OnCommandLine is where the command line says that
/// it is, for versions whose cache doesn't tell.
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

/// What must be called once after the last byte, before the stream ends.
inline llvm::Error commitStream(llvm::CachedFileStream &Stream) {
#if LLVM_VERSION_MAJOR >= 21
  return Stream.commit();
#else
  (void)Stream;
  return llvm::Error::success();
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

/// The GUIDs of the functions that take part in control flow integrity, as the
/// cache key wants them.
struct CfiFunctions {
  CfiGUIDs Defs;
  CfiGUIDs Decls;

  explicit CfiFunctions(const llvm::ModuleSummaryIndex &Index) {
#if LLVM_VERSION_MAJOR >= 21
    auto Guids = [](const auto &Functions) {
      return Functions DTLTO_BEFORE_23(.guids())
          DTLTO_SINCE_23(.getExportedThinLTOGUIDs());
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

#endif // DTLTO_LLVM_LLVMCOMPAT_H
