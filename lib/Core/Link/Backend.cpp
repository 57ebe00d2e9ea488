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
#include "Bundle/CodegenDataFile.h"
#include "Host/FarmStore.h"
#include "Link/LTOJobs.h"
#include "Report/Report.h"
#include "Run/LinkRun.h"
#include "Run/LogObserver.h"
#include "Split/ModulePart.h"
#include "Support/Failure.h"
#include "Support/System.h"
#include "LLVM/Cache.h"
#include "LLVM/CodegenData.h"
#include "LLVM/ThinBackend.h"
#include "llvm/ADT/StringMap.h"
#include <set>

using namespace llvm;
using namespace dtlto;

namespace {

/// Nobody wants the files beside objects that nobody wants: LLVM would write
/// them twice.
class SideFilesOff {
public:
  explicit SideFilesOff(lto::Config &Conf)
      : Conf(Conf), DwoDir(std::exchange(Conf.DwoDir, "")),
        Remarks(std::exchange(Conf.RemarksFilename, "")) {}
  ~SideFilesOff() {
    Conf.DwoDir = std::move(DwoDir);
    Conf.RemarksFilename = std::move(Remarks);
  }

private:
  lto::Config &Conf;
  std::string DwoDir, Remarks;
};

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
    if (L.opts().Split != 0 && whyWhole().empty())
      installPartHooks();
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
    if (Error E = settle())
      return E;
    // The thin link has read all inputs, and jobs read a few at a time.
    L.TheLinker.Inputs.drop();
    // Nobody reads modules any more, and the final link takes memory.
    auto Drop = onScopeExit([&] {
      L.TheLinker.Inputs.drop();
      returnFreeMemory();
    });
    if (L.opts().Split != 0) {
      if (std::string Why = whyWhole(); Why.empty())
        split();
      else
        L.msg().debug("all modules are compiled whole, because of " + Why);
    }
    L.Config = configurePlugin(L, Tasks.size());
    std::unique_ptr<KeptModules> Kept;
    if (!L.opts().KeepIR.empty()) {
      const bool InFarm = L.opts().keepsInFarm();
      if (InFarm)
        L.Store = std::make_shared<FarmStore>();
      Kept = std::make_unique<KeptModules>(
          L,
          InFarm ? makeFarmStore(L) : makeFolderStore(L.Msg, L.opts().KeepIR),
          L.opts().VerifyPercent != 0);
      if (!Kept->reason().empty())
        L.Store.reset(); // nobody needs to know whether there is one
    }
    L.Kept = Kept.get();
    if (L.TwoRounds)
      return runTwice();
    return LinkRun(L, std::make_shared<LTOJobs>(L, std::move(Tasks),
                                                std::move(Kept)))
        .run();
  }

  /// Before wait().
  void generateTwice() {
    Both = std::make_shared<Rounds>();
    L.TwoRounds = Both.get();
    const bool IsForCache =
        hasCache(L.Cache) && L.opts().Cache != CacheKind::Shared;
    Both->setUp(L.opts().Memory, L.opts().VerifyPercent == 0 && !IsForCache);
  }

private:
  /// Index files have the flags as LLVM has set them.
  Error settle() {
    if (L.EmitIndexFiles && !CombinedIndex.withDSOLocalPropagation()) {
      L.EmitIndexFiles = false;
      Error All = Error::success();
      for (const Task &T : Tasks)
        All = joinErrors(std::move(All),
                         emitIndexFiles(CombinedIndex,
                                        ModuleToDefinedGVSummaries, T.name(),
                                        *T.ImportList, L.EmitImportsFiles));
      if (All)
        return All;
    }
    settleDSOLocal(CombinedIndex);
    return Error::success();
  }

  /// Nothing of the first round runs here any more when the second begins:
  /// LLVM's code generation learns for all threads at once.
  Error runTwice() {
    {
      SideFilesOff Off(const_cast<lto::Config &>(Conf));
      L.RunOfTwo = 1;
      L.BothStarted = L.Started;
      L.FirstRecord = &FirstRecord;
      L.FirstStays = &FirstStays;
      if (Error E = LinkRun(L, std::make_shared<LTOJobs>(L, Tasks, Both)).run())
        return E;
    }
    auto Begin = std::chrono::steady_clock::now();
    if (Error E = Both->merge())
      return E;
    L.RunOfTwo = 2;
    L.Started = std::chrono::steady_clock::now();
    L.msg().debug(
        "the first round of code generation has ended; all modules have told " +
        Twine(Both->data().size()) + " bytes, merged in " +
        Twine(std::chrono::duration_cast<std::chrono::milliseconds>(L.Started -
                                                                    Begin)
                  .count()) +
        " ms");
    return LinkRun(L, std::make_shared<LTOJobs>(L, std::move(Tasks), Both))
        .run();
  }

  /// The option with which parts would make another program, or nothing.
  std::string whyWhole() const {
    // The first program's profile knows functions by other names.
    if (Conf.RunCSIRInstr || !Conf.CSIRProfile.empty())
      return "--lto-cs-profile-file";
    return L.opts().KeepsWhole;
  }

  /// Makes tasks of parts. LLVM starts modules in an order that depends on the
  /// number of threads; parts are numbered in the order of the link.
  void split() {
    std::map<unsigned, unsigned> Counts, SecondParts; // by the module's task
    std::map<unsigned, const Task *> InOrder;
    for (const Task &T : Tasks)
      InOrder[T.Number] = &T;
    const FunctionSizes Sizes = functionSizes();
    uint64_t OfLink = 0;
    for (const auto &[Module, OfModule] : Sizes)
      for (unsigned Size : OfModule)
        OfLink += Size;
    const unsigned OfPart =
        L.opts().SplitIsAuto ? autoPart(OfLink) : L.opts().Split;
    L.msg().debug("long modules are compiled in parts of " + Twine(OfPart) +
                  " instructions");
    unsigned Next = L.TheLinker.NumTasks;
    for (auto [Number, T] : InOrder) {
      SecondParts[Number] = Next;
      Counts[Number] =
          numParts(*T, Sizes.find(T->name())->second, OfPart, Next);
      Next += Counts[Number] - 1;
    }
    std::vector<Task> All;
    for (const Task &T : Tasks)
      for (unsigned I = 0, N = Counts[T.Number]; I != N; ++I) {
        All.push_back(T);
        All.back().Part = {I, N};
        if (I != 0)
          All.back().Number = SecondParts[T.Number] + I - 1;
        Parts[All.back().Number] = All.back().Part;
      }
    Tasks = std::move(All);
  }

  /// By module, how many instructions each live function has.
  using FunctionSizes = StringMap<std::vector<unsigned>>;

  /// Of all modules, also with --thinlto-single-module. Summaries are looked at
  /// once: in a large program they are nowhere near each other in memory.
  /// Those that are compiled whole are empty.
  FunctionSizes functionSizes() const {
    FunctionSizes Sizes;
    for (const auto &[Module, Summaries] : ModuleToDefinedGVSummaries) {
      std::vector<unsigned> &OfModule = Sizes[Module];
      bool IsWhole = false;
      for (const auto &[GUID, Summary] : Summaries)
        if (auto *F = dyn_cast<FunctionSummary>(Summary)) {
          IsWhole |= isChangedByName(*F);
          if (CombinedIndex.isGlobalValueLive(F))
            OfModule.push_back(F->instCount());
        }
      if (IsWhole) {
        OfModule.clear();
        L.msg().debug("module '" + Module +
                      "' is compiled whole: code generation finds functions "
                      "of it by their names in the index");
      }
    }
    return Sizes;
  }

  /// Whether passes of the backend make \p F call what the thin link has named:
  /// the implementation of a virtual function, or a clone for cold memory.
  /// Parts give functions other names.
  bool isChangedByName(const FunctionSummary &F) const {
    const bool Devirtualized =
        !CombinedIndex.typeIdCompatibleVtableMap().empty() &&
        (!F.type_tests().empty() || !F.type_test_assume_vcalls().empty() ||
         !F.type_checked_load_vcalls().empty() ||
         !F.type_test_assume_const_vcalls().empty() ||
         !F.type_checked_load_const_vcalls().empty());
    return Devirtualized || !F.callsites().empty() || !F.allocs().empty();
  }

  /// Depends on the inputs and options of the link alone. A function is in one
  /// part, however large; \p Sizes are those of the module. \p Next is the
  /// number that a task would have now.
  unsigned numParts(const Task &T, ArrayRef<unsigned> Sizes, unsigned OfPart,
                    unsigned Next) {
    uint64_t Size = 0;
    for (unsigned OfFunction : Sizes)
      Size += std::min(OfFunction, OfPart);
    uint64_t Count = std::min<uint64_t>(
        {(Size + OfPart / 2) / OfPart, MaxParts,
         L.TheLinker.NumTasks + L.TheLinker.NumTasksOfParts - Next + 1});
    if (Count < 2)
      return 1;
    // Names that parts share have it in them. No other module may have it.
    const ModuleHash &Hash = CombinedIndex.getModuleHash(T.name());
    if (Hash != ModuleHash() && Hashes.insert(Hash).second)
      return static_cast<unsigned>(Count);
    L.msg().debug(
        "module '" + T.name() + "' is compiled whole: it has " +
        (Hash == ModuleHash() ? "no hash" : "the same hash as another one"));
    return 1;
  }

  /// LLVM calls hooks on all threads. A part is made once its module has
  /// imported; what --save-temps writes has the name of the part.
  void installPartHooks() {
    L.HasPartHook = !Conf.PostImportModuleHook;
    auto &Config = const_cast<lto::Config &>(Conf); // LLVM's, and not constant
    for (auto Hook :
         {&lto::Config::PreOptModuleHook, &lto::Config::PostPromoteModuleHook,
          &lto::Config::PostInternalizeModuleHook,
          &lto::Config::PostImportModuleHook, &lto::Config::PostOptModuleHook,
          &lto::Config::PreCodeGenModuleHook})
      if (Config.*Hook)
        Config.*Hook = [this, Write = std::move(Config.*Hook)](
                           unsigned Number, const Module &M) {
          auto &Named = const_cast<Module &>(M);
          std::string Name = M.getModuleIdentifier();
          Named.setModuleIdentifier(partFile(Name, Parts.lookup(Number)));
          bool GoesOn = Write(Number, M);
          Named.setModuleIdentifier(Name);
          return GoesOn;
        };
    Config.PostImportModuleHook =
        [this, Write = std::move(Config.PostImportModuleHook)](
            unsigned Number, const Module &M) {
          if (PartNumber Part = Parts.lookup(Number); !Part.isWhole())
            keepPart(const_cast<Module &>(M), Part, Conf, CombinedIndex,
                     M.getModuleIdentifier());
          return !Write || Write(Number, M);
        };
  }

  Link L;
  std::shared_ptr<Rounds> Both; // null: one round
  Timeline FirstRecord;
  std::string FirstStays;
  std::vector<Task> Tasks;
  DenseMap<unsigned, PartNumber> Parts; // by the number of the task; if split
  std::set<ModuleHash> Hashes;          // of those that are split
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
      Backend->generateTwice();
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
