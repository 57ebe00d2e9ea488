//===- SplitPlan.cpp - Which modules are compiled in parts ----------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LTO/SplitPlan.h"
#include "Compile/BackendCompile.h"
#include "LTO/Backend.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SaveAndRestore.h"
#include <deque>
#include <map>
#include <set>

using namespace llvm;
using namespace dtlto;

// LLD uses about 100 bytes for each.
static constexpr uint64_t MaxPartsOfLink = 1 << 17;

// Program modules have 10 to 20 bytes for each instruction.
static constexpr uint64_t MinInstructionBytes = 4;

namespace {

class SplitPlan {
public:
  /// \p TheLink and what it refers to outlive this object.
  explicit SplitPlan(Link &TheLink) : TheLink(TheLink) {}

  /// Replaces the tasks of long modules by tasks of parts, and makes LLVM
  /// reduce the modules to parts.
  std::vector<Task> apply(std::vector<Task> Tasks);

private:
  /// For each module, the number of instructions of each live function.
  using FunctionSizes = StringMap<std::vector<unsigned>>;

  std::string reasonForNoSplit() const;
  FunctionSizes functionSizes() const;
  bool callsByName(const FunctionSummary &F) const;
  unsigned partSize(const FunctionSizes &Sizes) const;
  unsigned numParts(const Task &T, ArrayRef<unsigned> Sizes, unsigned PartSize,
                    unsigned Next);
  void installHooks();

  Link &TheLink;
  DenseMap<unsigned, CompileSpec> Specs; // by task number
  std::set<ModuleHash> Hashes;           // of split modules
  // Of the configuration; both may have the same hook, so the order matters.
  using HookChange = SaveAndRestore<lto::Config::ModuleHookFn>;
  std::deque<HookChange> NamingHooks;
  std::optional<HookChange> SpecHook;
};

} // namespace

unsigned dtlto::maxPartTasks(const InputBuffers &Inputs, const Options &Opts) {
  const unsigned PartSize = Opts.Split.value_or(MinAutoPart);
  uint64_t NumParts = 0;
  for (uint64_t Size : Inputs.sizes())
    NumParts +=
        std::min<uint64_t>(MaxParts - 1, Size / MinInstructionBytes / PartSize);
  return static_cast<unsigned>(std::min(MaxPartsOfLink, NumParts));
}

/// Returns the option with which parts would change the program's meaning, or
/// "".
std::string SplitPlan::reasonForNoSplit() const {
  // The profile of the first program has the functions' original names.
  if (TheLink.Jobs.Conf.RunCSIRInstr || !TheLink.Jobs.Conf.CSIRProfile.empty())
    return "--lto-cs-profile-file";
  return TheLink.Process.Opts.NoSplitOption;
}

/// Numbers parts in the order of the link: LLVM starts modules in an order that
/// depends on the number of threads.
std::vector<Task> SplitPlan::apply(std::vector<Task> Tasks) {
  if (TheLink.Process.Opts.Split == 0)
    return Tasks;
  if (std::string Why = reasonForNoSplit(); !Why.empty()) {
    TheLink.Host.Msg.debug("all modules are compiled whole, because of " + Why);
    return Tasks;
  }
  installHooks();
  std::map<unsigned, const Task *> TasksByNumber;
  for (const Task &T : Tasks)
    TasksByNumber[T.Number] = &T;
  const FunctionSizes Sizes = functionSizes();
  const unsigned PartSize = partSize(Sizes);
  TheLink.Host.Msg.debug("long modules are compiled in parts of " +
                         Twine(PartSize) + " instructions");
  std::map<unsigned, unsigned> Counts, SecondParts; // by the module's task
  unsigned Next = TheLink.Process.NumTasks;
  for (auto [Number, T] : TasksByNumber) {
    SecondParts[Number] = Next;
    Counts[Number] =
        numParts(*T, Sizes.find(T->name())->second, PartSize, Next);
    Next += Counts[Number] - 1;
  }
  std::vector<Task> All;
  for (const Task &T : Tasks)
    for (unsigned I = 0, N = Counts[T.Number]; I != N; ++I) {
      Task &Part = All.emplace_back(T);
      Part.Spec.Part = {I, N};
      if (I != 0)
        Part.Number = SecondParts[T.Number] + I - 1;
      Specs[Part.Number] = Part.Spec;
    }
  if (All.size() != Tasks.size())
    TheLink.Run.Units = "modules and parts of modules";
  return All;
}

unsigned SplitPlan::partSize(const FunctionSizes &Sizes) const {
  if (auto Chosen = TheLink.Process.Opts.Split)
    return *Chosen;
  uint64_t LinkSize = 0;
  for (const auto &[Module, ModuleSizes] : Sizes)
    for (unsigned Size : ModuleSizes)
      LinkSize += Size;
  return autoPartSize(LinkSize);
}

/// Covers all modules, also with --thinlto-single-module. Reads each summary
/// once, since the summaries of a large program are scattered in memory. The
/// list of a module that must be compiled whole is empty.
SplitPlan::FunctionSizes SplitPlan::functionSizes() const {
  FunctionSizes Sizes;
  for (const auto &[Module, Summaries] : TheLink.Jobs.Defined) {
    std::vector<unsigned> &ModuleSizes = Sizes[Module];
    bool IsWhole = false;
    for (const auto &[GUID, Summary] : Summaries)
      if (auto *F = dyn_cast<FunctionSummary>(Summary)) {
        IsWhole |= callsByName(*F);
        if (TheLink.Jobs.Index.isGlobalValueLive(F))
          ModuleSizes.push_back(F->instCount());
      }
    if (IsWhole) {
      ModuleSizes.clear();
      TheLink.Host.Msg.debug(
          "module '" + Module +
          "' is compiled whole: code generation looks up its "
          "functions by name in the index");
    }
  }
  return Sizes;
}

/// Whether passes of the backend make \p F call a function that the thin link
/// has named: the implementation of a virtual function, or a clone for cold
/// memory. Parts rename functions.
bool SplitPlan::callsByName(const FunctionSummary &F) const {
  const bool Devirtualized =
      !TheLink.Jobs.Index.typeIdCompatibleVtableMap().empty() &&
      (!F.type_tests().empty() || !F.type_test_assume_vcalls().empty() ||
       !F.type_checked_load_vcalls().empty() ||
       !F.type_test_assume_const_vcalls().empty() ||
       !F.type_checked_load_const_vcalls().empty());
  return Devirtualized || !F.callsites().empty() || !F.allocs().empty();
}

/// Returns the number of parts. A function is in one part, however large;
/// \p Sizes are those of the module's functions. \p Next is the next free task
/// number.
unsigned SplitPlan::numParts(const Task &T, ArrayRef<unsigned> Sizes,
                             unsigned PartSize, unsigned Next) {
  uint64_t Size = 0;
  for (unsigned FunctionSize : Sizes)
    Size += std::min(FunctionSize, PartSize);
  uint64_t Count = std::min<uint64_t>(
      {(Size + PartSize / 2) / PartSize, MaxParts,
       TheLink.Process.NumTasks + TheLink.Process.NumSpareTasks - Next + 1});
  if (Count < 2)
    return 1;
  // The hash is in the names that parts share, so no other module may have it.
  const ModuleHash &Hash = TheLink.Jobs.Index.getModuleHash(T.name());
  if (Hash != ModuleHash() && Hashes.insert(Hash).second)
    return static_cast<unsigned>(Count);
  TheLink.Host.Msg.debug(
      "module '" + T.name() + "' is compiled whole: it has " +
      (Hash == ModuleHash() ? "no hash" : "the same hash as another one"));
  return 1;
}

/// Hooks run on all threads. A part is made after its module has imported;
/// files of --save-temps have the part's name.
void SplitPlan::installHooks() {
  lto::Config &Conf = mutableConfig(TheLink.Jobs);
  TheLink.Jobs.HasSpecHook = !Conf.PostImportModuleHook;
  for (auto *Hook :
       {&Conf.PreOptModuleHook, &Conf.PostPromoteModuleHook,
        &Conf.PostInternalizeModuleHook, &Conf.PostImportModuleHook,
        &Conf.PostOptModuleHook, &Conf.PreCodeGenModuleHook})
    if (*Hook)
      NamingHooks.emplace_back(*Hook, [this, Write = *Hook](unsigned Number,
                                                            const Module &M) {
        auto &MutableModule = const_cast<Module &>(M);
        std::string Name = M.getModuleIdentifier();
        MutableModule.setModuleIdentifier(Specs.lookup(Number).fileName(Name));
        bool ShouldContinue = Write(Number, M);
        MutableModule.setModuleIdentifier(Name);
        return ShouldContinue;
      });
  SpecHook.emplace(Conf.PostImportModuleHook);
  followSpecs(Conf, TheLink.Jobs.Index,
              [this](unsigned Number) { return Specs.lookup(Number); });
}

Error dtlto::runInParts(Link &TheLink, std::vector<Task> Tasks) {
  SplitPlan Plan(TheLink);
  return runJobs(TheLink, Plan.apply(std::move(Tasks)));
}
