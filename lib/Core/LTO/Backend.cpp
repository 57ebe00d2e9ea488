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

#include "LTO/Backend.h"
#include "Bitcode/IndexShard.h"
#include "Bundle/CodegenDataFile.h"
#include "Host/FarmStore.h"
#include "LTO/KeptModules.h"
#include "LTO/LTOJobs.h"
#include "LTO/SplitPlan.h"
#include "LTO/TwoRounds.h"
#include "Report/Report.h"
#include "Run/LinkRun.h"
#include "Run/LogObserver.h"
#include "Support/Failure.h"
#include "Support/System.h"
#include "LLVM/Cache.h"
#include "LLVM/CodegenData.h"
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
         &ModuleMap, L.TheLinker.Inputs.triple(BM)});
    if (OnWrite)
      OnWrite(BM.getModuleIdentifier().str());
    return Error::success();
  }

  Error wait() override {
    if (Error E = writeIndexFiles())
      return E;
    settleDSOLocal(CombinedIndex);
    // The thin link has read all inputs, and jobs read a few at a time.
    L.TheLinker.Inputs.drop();
    // Nobody reads modules any more, and the final link takes memory.
    auto Drop = onScopeExit([&] {
      L.TheLinker.Inputs.drop();
      returnFreeMemory();
    });
    Tasks = Parts.apply(std::move(Tasks));
    L.Config = configurePlugin(L, Tasks.size());
    return IsTwice ? runTwice() : runOnce();
  }

  /// Code is generated twice. Before wait().
  void setTwice() { IsTwice = true; }

private:
  /// If their flags are those that LLVM has set now.
  Error writeIndexFiles() {
    if (!L.EmitIndexFiles || CombinedIndex.withDSOLocalPropagation())
      return Error::success();
    L.EmitIndexFiles = false;
    Error All = Error::success();
    for (const Task &T : Tasks)
      All = joinErrors(std::move(All),
                       emitIndexFiles(CombinedIndex, ModuleToDefinedGVSummaries,
                                      T.name(), *T.ImportList,
                                      L.EmitImportsFiles));
    return All;
  }

  Error runOnce() {
    std::shared_ptr<KeptModules> Kept = openKeptModules();
    L.Optimized = Kept.get();
    return LinkRun(L, std::make_shared<LTOJobs>(L, std::move(Tasks), Kept))
        .run();
  }

  /// Null: none are to be kept.
  std::shared_ptr<KeptModules> openKeptModules() {
    if (L.opts().KeepIR.empty())
      return nullptr;
    const bool InFarm = L.opts().keepsInFarm();
    if (InFarm)
      L.Store = std::make_shared<FarmStore>();
    auto Kept = std::make_shared<KeptModules>(
        L, InFarm ? makeFarmStore(L) : makeFolderStore(L.Msg, L.opts().KeepIR),
        L.opts().VerifyPercent != 0);
    if (!Kept->reason().empty())
      L.Store.reset(); // it would not be used
    return Kept;
  }

  /// Nothing of the first round runs here any more when the second begins:
  /// LLVM's code generation learns for all threads at once.
  Error runTwice() {
    if (!L.opts().KeepIR.empty())
      L.msg().debug("no optimised module is kept or used: two rounds of code "
                    "generation");
    auto Both = std::make_shared<TwoRounds>(L);
    L.Optimized = Both.get();
    L.Learnt.emplace();
    if (Error E = runFirst(Both))
      return E;
    auto Begin = std::chrono::steady_clock::now();
    if (Error E = Both->merge().moveInto(*L.Learnt))
      return E;
    L.Round = 2;
    L.Started = std::chrono::steady_clock::now();
    L.msg().debug(
        "the first round of code generation has ended; all modules have told " +
        Twine(L.Learnt->File.size()) + " bytes, merged in " +
        Twine(std::chrono::duration_cast<std::chrono::milliseconds>(L.Started -
                                                                    Begin)
                  .count()) +
        " ms");
    return LinkRun(L, std::make_shared<LTOJobs>(L, tasksOf(2), Both)).run();
  }

  Error runFirst(const std::shared_ptr<TwoRounds> &Both) {
    // The objects of the first round are thrown away, and LLVM would write the
    // files beside them twice.
    ConfigChange SideFilesOff(Conf);
    SideFilesOff.set(&lto::Config::DwoDir, std::string());
    SideFilesOff.set(&lto::Config::RemarksFilename, std::string());
    L.Round = 1;
    L.BothStarted = L.Started;
    L.First = &FirstRound;
    return LinkRun(L, std::make_shared<FirstRoundJobs>(L, tasksOf(1), Both))
        .run();
  }

  std::vector<Task> tasksOf(unsigned Round) const {
    std::vector<Task> All = Tasks;
    for (Task &T : All)
      T.Spec.Round = Round;
    return All;
  }

  Link L;
  SplitPlan Parts{L};
  bool IsTwice = false;
  RunContext::RoundNotes FirstRound;
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

/// \p IsTwice: code is generated twice.
static lto::ThinBackend
createBackend(Linker &TheLinker, ThreadPoolStrategy Parallelism,
              lto::IndexWriteCallback OnWrite, bool ShouldEmitIndexFiles,
              bool ShouldEmitImportsFiles, bool IsTwice) {
  BackendFunction Make =
      [=, &TheLinker, SetUp = std::chrono::steady_clock::now()](
          const lto::Config &Conf, ModuleSummaryIndex &CombinedIndex,
          const DenseMap<StringRef, GVSummaryMapTy> &ModuleToDefinedGVSummaries,
          AddStreamFn AddStream, FileCache Cache,
          LibFuncs Unavailable) -> std::unique_ptr<lto::ThinBackendProc> {
    TheLinker.HasBackend = true;
    auto Backend = std::make_unique<PluginThinBackend>(
        TheLinker, Conf, CombinedIndex, ModuleToDefinedGVSummaries, Parallelism,
        AddStream, Cache, Unavailable, OnWrite, ShouldEmitIndexFiles,
        ShouldEmitImportsFiles, SetUp);
    if (IsTwice) {
      setCompilesTwice(true); // as the user said
      Backend->setTwice();
    }
    return Backend;
  };
  return makeThinBackend(std::move(Make), Parallelism);
}

lto::ThinBackend dtlto::createPluginThinBackend(Linker &TheLinker,
                                                ThreadPoolStrategy Parallelism,
                                                lto::IndexWriteCallback OnWrite,
                                                bool ShouldEmitIndexFiles,
                                                bool ShouldEmitImportsFiles) {
  return createBackend(TheLinker, Parallelism, std::move(OnWrite),
                       ShouldEmitIndexFiles, ShouldEmitImportsFiles,
                       /*IsTwice=*/false);
}

void dtlto::finishLinkWithoutModules(Linker &TheLinker) {
  if (TheLinker.HasBackend)
    return;
  const Options &Opts = TheLinker.Opts;
  const dtlto_plugin &Plugin = *TheLinker.Plugin;
  Messages &Msg = *TheLinker.Msg;
  std::string Text = "plugin '" + std::string(Plugin.name) +
                     "' had nothing to do: the link has no ThinLTO module "
                     "(compile with -flto=thin)";
  if (Opts.VerifyPercent != 0)
    Text += "; nothing was compared (--thinlto-dist-verify)";
  if (Opts.VerifyPercent != 0 || Opts.Progress != ProgressKind::Never)
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

Error dtlto::checkCodegenDataToUse() {
  std::string Path = codegenDataPath();
  if (Path.empty() || Path == "-") // LLVM's for standard input
    return Error::success();
  auto File = MemoryBuffer::getFile(Path, /*IsText=*/false,
                                    /*RequiresNullTerminator=*/false);
  // LLVM goes on without one that can't be opened.
  if (File)
    if (Error E = checkCodegenDataFile((*File)->getBuffer()))
      return failure("-mllvm -codegen-data-use-path=" + Path + ": " +
                     toString(std::move(E)));
  return Error::success();
}

bool dtlto::canDistributeTwoRounds(const Linker &TheLinker) {
  return HasCodegenData && TheLinker.Opts.Split == 0;
}

lto::ThinBackend dtlto::createTwoRoundsBackend(Linker &TheLinker,
                                               ThreadPoolStrategy Parallelism) {
  // Modules of regular LTO tell, too, and LLVM compiles them first.
  emitCodegenData();
  setCompilesTwice(false);
  return createBackend(TheLinker, Parallelism, /*OnWrite=*/nullptr,
                       /*ShouldEmitIndexFiles=*/false,
                       /*ShouldEmitImportsFiles=*/false, /*IsTwice=*/true);
}
