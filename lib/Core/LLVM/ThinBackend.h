//===- ThinBackend.h - The backends of ThinLTO ------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_LLVM_THINBACKEND_H
#define DTLTO_LLVM_THINBACKEND_H

#include "LLVM/Version.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/ModuleSummaryIndex.h"
#include "llvm/IR/OptBisect.h"
#include "llvm/LTO/LTO.h"
#include "llvm/LTO/LTOBackend.h"
#include "llvm/Support/Caching.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/TimeProfiler.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/IPO/FunctionImport.h"
#include <atomic>
#include <map>
#include <string>

namespace dtlto {

using ResolvedODRMap =
    std::map<llvm::GlobalValue::GUID, llvm::GlobalValue::LinkageTypes>;
using ModuleMapTy = llvm::MapVector<llvm::StringRef, llvm::BitcodeModule>;
using DefinedSummaries = llvm::DenseMap<llvm::StringRef, llvm::GVSummaryMapTy>;
/// Library functions to which code generation must not add calls: the link has
/// them only as bitcode in archive members that weren't extracted in time. The
/// names are LLVM's and live as long as the link. Empty before LLVM 23.
using LibFuncs = llvm::ArrayRef<llvm::StringRef>;

} // namespace dtlto

#if LLVM_VERSION_MAJOR < 20
namespace llvm::lto {

/// The interface that LTO::runThinLTO uses: start() once for each module, then
/// wait(). LLVM 19 declares it in LTO.cpp and calls our derived classes through
/// that declaration, so keep the order of members and virtual functions.
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
#endif

namespace dtlto {

#if LLVM_VERSION_MAJOR < 20
/// The base class of our backends.
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
#else
using ThinBackendBase = llvm::lto::ThinBackendProc;
#endif

/// Makes the backend of a link.
using BackendFunction =
    std::function<std::unique_ptr<llvm::lto::ThinBackendProc>(
        const llvm::lto::Config &, llvm::ModuleSummaryIndex &,
        const DefinedSummaries &, llvm::AddStreamFn, llvm::FileCache,
        LibFuncs)>;

inline llvm::lto::ThinBackend
makeThinBackend(BackendFunction Make, llvm::ThreadPoolStrategy Parallelism) {
  auto Call = [Make = std::move(Make)](const llvm::lto::Config &Conf,
                                       llvm::ModuleSummaryIndex &Index,
                                       const DefinedSummaries &Defined,
                                       llvm::AddStreamFn AddStream,
                                       llvm::FileCache Cache
#if LLVM_VERSION_MAJOR >= 23
                                       ,
                                       LibFuncs Names
#endif
              ) {
#if LLVM_VERSION_MAJOR < 23
    LibFuncs Names;
#endif
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

/// Which halves of a backend run. By default, both optimization and code
/// generation do.
struct BackendStages {
  /// Receives the optimized module as bitcode. Ignored before LLVM 22.
  llvm::AddStreamFn SaveIR = nullptr;
  /// The module is already optimized.
  bool OnlyCodegen = false;
};

inline llvm::Error runThinBackend(
    const llvm::lto::Config &Conf, unsigned Task, llvm::AddStreamFn AddStream,
    llvm::Module &M, const llvm::ModuleSummaryIndex &Index,
    const llvm::FunctionImporter::ImportMapTy &ImportList,
    const llvm::GVSummaryMapTy &DefinedGlobals, ModuleMapTy *ModuleMap,
    LibFuncs Unavailable, const BackendStages &Stages = {}) {
  (void)Unavailable;
  (void)Stages;
  return llvm::lto::thinBackend(Conf, Task, std::move(AddStream), M, Index,
                                ImportList, DefinedGlobals, ModuleMap
#if LLVM_VERSION_MAJOR >= 20
                                ,
                                Conf.CodeGenOnly || Stages.OnlyCodegen
#endif
#if LLVM_VERSION_MAJOR >= 23
                                ,
                                Unavailable
#endif
#if LLVM_VERSION_MAJOR >= 22
                                ,
                                Stages.SaveIR
#endif
  );
}

/// Returns the flags of \p M that affect the target machine. LLVM creates the
/// target machine (createTargetMachine() in LTOBackend.cpp) before it imports
/// functions, which may change the flags.
inline std::string targetMachineFlags(const llvm::Module &M) {
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  for (const char *Name : {"PIC Level", "PIE Level", "Code Model",
                           "Large Data Threshold", "target-abi"}) {
    OS << Name << ' ';
    if (llvm::Metadata *Flag = M.getModuleFlag(Name))
      Flag->print(OS);
    OS << '\n';
  }
  return OS.str();
}

/// Returns the optimized module \p M as bitcode from which LLVM generates the
/// same code. Empty if that is uncertain, since LLVM doesn't guarantee it for
/// another process. \p Before is targetMachineFlags() of the module as read.
inline llvm::SmallVector<char, 0> saveOptimized(const llvm::Module &M,
                                                llvm::StringRef Before) {
  llvm::SmallVector<char, 0> Bytes;
  if (targetMachineFlags(M) != Before)
    return Bytes;
  llvm::raw_svector_ostream OS(Bytes);
  llvm::WriteBitcodeToFile(M, OS, /*ShouldPreserveUseListOrder=*/true);
  return Bytes;
}

/// Skips all optional passes of a context once \c Stop is true.
class StopGate : public llvm::OptPassGate {
public:
  explicit StopGate(const std::atomic<bool> &Stop) : Stop(Stop) {}

  bool isEnabled() const final { return true; }
#if LLVM_VERSION_MAJOR >= 21
  bool shouldRunPass(llvm::StringRef, llvm::StringRef) const final {
#else
  bool shouldRunPass(llvm::StringRef, llvm::StringRef) final {
#endif
    return !Stop;
  }

private:
  const std::atomic<bool> &Stop;
};

/// Adds the time trace entry that in-process ThinLTO writes for one module's
/// backend.
struct BackendSpan {
#if LLVM_VERSION_MAJOR >= 22
  explicit BackendSpan(llvm::StringRef Module)
      : Scope("Run ThinLTO backend thread (in-process)", Module) {}
  llvm::TimeTraceScope Scope;
#else
  explicit BackendSpan(llvm::StringRef) {}
#endif
};

} // namespace dtlto

#endif // DTLTO_LLVM_THINBACKEND_H
