//===- Backend.cpp - The ThinLTO backend that uses a plugin ---------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LLVM calls start() once for each module, on one thread, then wait(). start()
// only notes the task: all of them are known within milliseconds, and then they
// can be put in order. wait() runs them.
//
//===----------------------------------------------------------------------===//

#include "Link/Backend.h"
#include "Bitcode/IndexShard.h"
#include "Link/LinkRun.h"
#include "Support/Failure.h"
#include "LLVM/ThinBackend.h"

using namespace llvm;
using namespace dtlto;

namespace {

class PluginThinBackend : public ThinBackendBase {
public:
  PluginThinBackend(
      Linker &TheLinker, const lto::Config &Conf,
      ModuleSummaryIndex &CombinedIndex,
      const DenseMap<StringRef, GVSummaryMapTy> &ModuleToDefinedGVSummaries,
      ThreadPoolStrategy Parallelism, AddStreamFn AddStream, FileCache Cache,
      LibFuncs Unavailable, lto::IndexWriteCallback OnWrite,
      bool ShouldEmitIndexFiles, bool ShouldEmitImportsFiles,
      std::chrono::steady_clock::time_point SetUp)
      : ThinBackendBase(Conf, CombinedIndex, ModuleToDefinedGVSummaries,
                        std::move(OnWrite), ShouldEmitImportsFiles,
                        Parallelism),
        L(TheLinker, Conf, CombinedIndex, ModuleToDefinedGVSummaries,
          std::move(AddStream), std::move(Cache)) {
    L.EmitIndexFiles = ShouldEmitIndexFiles;
    L.EmitImportsFiles = ShouldEmitImportsFiles;
    L.Parallelism = Parallelism.compute_thread_count();
    L.SetUp = SetUp;
    L.Unavailable = Unavailable;
    settleDSOLocal(CombinedIndex);
  }

  Error start(
      unsigned Task, BitcodeModule BM,
      const FunctionImporter::ImportMapTy &ImportList,
      const FunctionImporter::ExportSetTy &ExportList,
      const std::map<GlobalValue::GUID, GlobalValue::LinkageTypes> &ResolvedODR,
      MapVector<StringRef, BitcodeModule> &ModuleMap) override {
    if (Tasks.empty())
      L.Started = std::chrono::steady_clock::now();
    Tasks.push_back(
        {Task, BM, &ImportList, &ExportList, &ResolvedODR,
         &ModuleToDefinedGVSummaries.find(BM.getModuleIdentifier())->second,
         &ModuleMap});
    if (OnWrite)
      OnWrite(BM.getModuleIdentifier().str());
    return Error::success();
  }

  Error wait() override { return LinkRun(L, std::move(Tasks)).run(); }

private:
  Link L;
  std::vector<Task> Tasks;
};

/// Fails where the first module would begin.
class FailingThinBackend : public ThinBackendBase {
public:
  FailingThinBackend(
      const lto::Config &Conf, ModuleSummaryIndex &CombinedIndex,
      const DenseMap<StringRef, GVSummaryMapTy> &ModuleToDefinedGVSummaries,
      std::string Why)
      : ThinBackendBase(Conf, CombinedIndex, ModuleToDefinedGVSummaries,
                        /*OnWrite=*/nullptr, /*ShouldEmitImportsFiles=*/false,
                        hardware_concurrency(1)),
        Why(std::move(Why)) {}

  Error start(unsigned, BitcodeModule, const FunctionImporter::ImportMapTy &,
              const FunctionImporter::ExportSetTy &,
              const std::map<GlobalValue::GUID, GlobalValue::LinkageTypes> &,
              MapVector<StringRef, BitcodeModule> &) override {
    return failure(Why);
  }

  Error wait() override { return Error::success(); }

private:
  std::string Why;
};

} // namespace

lto::ThinBackend dtlto::createFailingThinBackend(StringRef Why) {
  BackendFunction Make =
      [Why = Why.str()](
          const lto::Config &Conf, ModuleSummaryIndex &CombinedIndex,
          const DenseMap<StringRef, GVSummaryMapTy> &ModuleToDefinedGVSummaries,
          AddStreamFn, FileCache,
          LibFuncs) -> std::unique_ptr<lto::ThinBackendProc> {
    return std::make_unique<FailingThinBackend>(
        Conf, CombinedIndex, ModuleToDefinedGVSummaries, Why);
  };
  return makeThinBackend(std::move(Make), hardware_concurrency(1));
}

lto::ThinBackend dtlto::createPluginThinBackend(Linker &TheLinker,
                                                ThreadPoolStrategy Parallelism,
                                                lto::IndexWriteCallback OnWrite,
                                                bool ShouldEmitIndexFiles,
                                                bool ShouldEmitImportsFiles) {
  BackendFunction Make =
      [=, &TheLinker, SetUp = std::chrono::steady_clock::now()](
          const lto::Config &Conf, ModuleSummaryIndex &CombinedIndex,
          const DenseMap<StringRef, GVSummaryMapTy> &ModuleToDefinedGVSummaries,
          AddStreamFn AddStream, FileCache Cache,
          LibFuncs Unavailable) -> std::unique_ptr<lto::ThinBackendProc> {
    return std::make_unique<PluginThinBackend>(
        TheLinker, Conf, CombinedIndex, ModuleToDefinedGVSummaries, Parallelism,
        AddStream, Cache, Unavailable, OnWrite, ShouldEmitIndexFiles,
        ShouldEmitImportsFiles, SetUp);
  };
  return makeThinBackend(std::move(Make), Parallelism);
}
