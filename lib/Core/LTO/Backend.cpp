//===- Backend.cpp - The ThinLTO backend that uses a plugin ---------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LLVM calls start() once for each module, on one thread, then wait(). start()
// only records the task. LLVM passes all tasks within milliseconds, so wait()
// can order them before it runs them.
//
//===----------------------------------------------------------------------===//

#include "LTO/Backend.h"
#include "Bitcode/IndexShard.h"
#include "Host/PluginCheck.h"
#include "Host/PluginGuard.h"
#include "LTO/KeptModules.h"
#include "LTO/LTOJobs.h"
#include "Report/Report.h"
#include "Run/Configuration.h"
#include "Run/LinkRun.h"
#include "Run/LogObserver.h"
#include "Run/RemoteCache.h"
#include "Support/Failure.h"
#include "Support/System.h"
#include "Support/ThreadCheck.h"
#include "LLVM/Cache.h"
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
      std::chrono::steady_clock::time_point SetUp, JobRunner RunJobs)
      : ThinBackendBase(Conf, CombinedIndex, ModuleToDefinedGVSummaries,
                        std::move(OnWrite), ShouldEmitImportsFiles,
                        Parallelism),
        TheLink(TheLinker, Conf, CombinedIndex, ModuleToDefinedGVSummaries,
                std::move(AddStream), std::move(Cache)),
        RunJobs(std::move(RunJobs)) {
    TheLink.EmitIndexFiles = ShouldEmitIndexFiles;
    TheLink.EmitImportsFiles = ShouldEmitImportsFiles;
    TheLink.Host.Parallelism = Parallelism.compute_thread_count();
    TheLink.Run.SetUp = SetUp;
    TheLink.Jobs.Unavailable = Unavailable;
  }

  Error start(
      unsigned Task, BitcodeModule BM,
      const FunctionImporter::ImportMapTy &ImportList,
      const FunctionImporter::ExportSetTy &ExportList,
      const std::map<GlobalValue::GUID, GlobalValue::LinkageTypes> &ResolvedODR,
      MapVector<StringRef, BitcodeModule> &ModuleMap) override {
    Caller.check();
    assert(!HasWaited && "a task after wait()");
    if (Tasks.empty())
      TheLink.Run.StartTime = std::chrono::steady_clock::now();
    Tasks.push_back(
        {Task, BM, &ImportList, &ExportList, &ResolvedODR,
         &ModuleToDefinedGVSummaries.find(BM.getModuleIdentifier())->second,
         &ModuleMap, TheLink.Process.Inputs.triple(BM)});
    if (OnWrite)
      OnWrite(BM.getModuleIdentifier().str());
    return Error::success();
  }

  Error wait() override {
    Caller.check();
    assert(!HasWaited && "called once");
    HasWaited = true;
    if (Error E = writeIndexFiles())
      return E;
    clearPartialDSOLocal(CombinedIndex);
    // The thin link has read all inputs; jobs read a few at a time.
    TheLink.Process.Inputs.drop();
    // Modules are no longer read, and the final link needs memory.
    auto FreeMemory = onScopeExit([&] {
      TheLink.Process.Inputs.drop();
      returnFreeMemory();
    });
    return RunJobs(TheLink, std::move(Tasks));
  }

private:
  /// Writes the index files now if clearPartialDSOLocal() will change the flags
  /// that LLVM has set in them. Otherwise, each job writes its own.
  Error writeIndexFiles() {
    if (!TheLink.EmitIndexFiles || CombinedIndex.withDSOLocalPropagation())
      return Error::success();
    TheLink.EmitIndexFiles = false;
    Error Errors = Error::success();
    for (const Task &T : Tasks)
      Errors = joinErrors(
          std::move(Errors),
          emitIndexFiles(CombinedIndex, ModuleToDefinedGVSummaries, T.name(),
                         *T.ImportList, TheLink.EmitImportsFiles));
    return Errors;
  }

  Link TheLink;
  ThreadCheck Caller;
  bool HasWaited = false;
  const JobRunner RunJobs;
  std::vector<Task> Tasks;
};

/// Fails at the first module.
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

Error dtlto::runJobs(Link &TheLink, std::vector<Task> Tasks) {
  TheLink.Host.Config = configurePlugin(TheLink.Host, Tasks.size());
  std::shared_ptr<KeptModules> Modules = openKeptModules(TheLink);
  TheLink.Jobs.Optimized = Modules.get();
  return LinkRun(TheLink.Run,
                 std::make_shared<LTOJobs>(TheLink, std::move(Tasks), Modules))
      .run();
}

lto::ThinBackend dtlto::createPluginThinBackend(Linker &TheLinker,
                                                ThreadPoolStrategy Parallelism,
                                                lto::IndexWriteCallback OnWrite,
                                                bool ShouldEmitIndexFiles,
                                                bool ShouldEmitImportsFiles,
                                                JobRunner RunJobs) {
  BackendFunction Make =
      [=, &TheLinker, SetUp = std::chrono::steady_clock::now()](
          const lto::Config &Conf, ModuleSummaryIndex &CombinedIndex,
          const DefinedSummaries &ModuleToDefinedGVSummaries,
          AddStreamFn AddStream, FileCache Cache,
          LibFuncs Unavailable) -> std::unique_ptr<lto::ThinBackendProc> {
    TheLinker.HasBackend = true;
    guardAgainstExit();
    showNotes(TheLinker.Opts, *TheLinker.Msg);
    if (!TheLinker.Store)
      if (Error E = openRemoteStore(TheLinker.Opts, TheLinker.StorePlugin,
                                    *TheLinker.Msg)
                        .moveInto(TheLinker.Store))
        return std::make_unique<FailingThinBackend>(
            Conf, CombinedIndex, ModuleToDefinedGVSummaries,
            "dtlto: " + toString(std::move(E)));
    return std::make_unique<PluginThinBackend>(
        TheLinker, Conf, CombinedIndex, ModuleToDefinedGVSummaries, Parallelism,
        AddStream, Cache, Unavailable, OnWrite, ShouldEmitIndexFiles,
        ShouldEmitImportsFiles, SetUp, RunJobs);
  };
  return makeThinBackend(std::move(Make), Parallelism);
}

static void finishLinkWithoutModules(Linker &TheLinker) {
  const Options &Opts = TheLinker.Opts;
  const dtlto_plugin &Plugin = *TheLinker.Plugin;
  Messages &Msg = *TheLinker.Msg;
  std::string Text = "plugin '" + std::string(Plugin.name) +
                     "' had nothing to do: the link has no ThinLTO module "
                     "(compile with -flto=thin)";
  if (Opts.VerifyPercent != 0)
    Text += "; nothing was compared (--thinlto-dist-verify)";
  // A file or a variable names the plugin for all links.
  if (!Opts.FirstOption.empty() &&
      (Opts.VerifyPercent != 0 || Opts.Progress != ProgressKind::Never))
    Msg.warning(Text);
  if (!Opts.Report.empty()) {
    ReportFacts Facts{Opts.OutputFile, Plugin.name,
                      Plugin.version ? Plugin.version : "", /*Threads=*/1};
    if (Error E = writeReport(Opts.Report, Timeline(), Facts))
      Msg.warning(toString(std::move(E)));
  }
  if (!Opts.Log.empty())
    if (Error E = writeEmptyLog(Opts.Log))
      Msg.warning(toString(std::move(E)));
}

void dtlto::finishLink(Linker &TheLinker) {
  if (!TheLinker.HasBackend)
    finishLinkWithoutModules(TheLinker);
  countFindings();
  for (const auto &Store : {TheLinker.Store, TheLinker.FarmStore})
    if (Store)
      Store->finish();
}
