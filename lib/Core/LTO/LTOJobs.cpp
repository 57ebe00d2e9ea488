//===- LTOJobs.cpp - The jobs of an LTO in this process -------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LTO/LTOJobs.h"
#include "Bitcode/IndexShard.h"
#include "LTO/LocalCodegen.h"
#include "LTO/Verifier.h"
#include "Object/ObjectCheck.h"
#include "Run/CostHistory.h"
#include "Support/Failure.h"
#include "Support/System.h"
#include "Support/Text.h"
#include "LLVM/Cache.h"
#include "LLVM/Index.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace dtlto;

// Limits the calls: one system call for each input file, and malloc_trim()
// takes milliseconds.
static constexpr uint64_t BytesBetweenDrops = 16 << 20;

std::string dtlto::costKey(const ModuleNames &Names, StringRef Original,
                           StringRef Triple, const lto::Config &Conf) {
  return costKey(Names, Original, Triple,
                 utostr(Conf.OptLevel) + "," +
                     utostr(unsigned(Conf.CGOptLevel)) + "," +
                     utostr(Conf.RunCSIRInstr) + "," +
                     utostr(Conf.CodeGenOnly) + "," + Conf.OptPipeline);
}

LTOJobs::LTOJobs(const Link &TheLink, std::vector<Task> AllTasks,
                 std::shared_ptr<const void> JobMemory)
    : TheLink(TheLink), Tasks(std::move(AllTasks)),
      JobMemory(std::move(JobMemory)),
      Slim(TheLink.Process.Opts.SlimThreshold
               ? std::make_unique<SlimImports>(
                     Tasks, *TheLink.Process.Opts.SlimThreshold)
               : nullptr),
      Builder(TheLink.Jobs, TheLink.Host.Config.Needs, Slim.get(),
              TheLink.Jobs.Optimized),
      Cache(TheLink, Builder),
      Saver(TheLink.Process.Opts.SaveJobs.empty()
                ? nullptr
                : std::make_unique<JobSaver>(TheLink.Jobs,
                                             TheLink.Process.Opts.SaveJobs,
                                             Slim.get())) {}

JobFacts LTOJobs::facts(size_t J) const {
  const Task &T = Tasks[J];
  JobFacts F;
  F.Name = T.name().str();
  F.Title = printable(T.title());
  F.IsWholeModule = T.Spec.isWholeModule();
  F.CostKey = dtlto::costKey(Builder.names(), T.name(), Builder.triple(T),
                             TheLink.Jobs.Conf) +
              T.Spec.suffix();
  F.Number = T.Number;
  uint64_t Size = T.Module.getBuffer().size();
  F.Size = T.Spec.shareOf(Size);
  F.LoadedSize = Size - F.Size;
  F.ImportWork = importWork(*T.ImportList);
  return F;
}

/// Returns memory to the system after every BytesBetweenDrops bytes that jobs
/// have used. Job \p J was prepared or compiled locally: it read its module,
/// and allocated \p Bytes. The next jobs import from few modules; shards and
/// objects of finished jobs leave gaps on the heap.
void LTOJobs::dropPagesPeriodically(size_t J, size_t Bytes) {
  Bytes += Tasks[J].Module.getBuffer().size();
  uint64_t Before = NumBytes.fetch_add(Bytes);
  if (Before / BytesBetweenDrops == (Before + Bytes) / BytesBetweenDrops)
    return;
  TheLink.Jobs.Inputs.drop();
  returnFreeMemory();
}

Event LTOJobs::prepare(const plan::Action &A, size_t J, uint64_t Cost,
                       StringRef Avoid) {
  Event E{Event::Prepared};
  E.Job = A.Attempt;
  Clock::time_point Begin = Clock::now();
  if (!A.IsAgain)
    if (Error Why = prepareFirst(Tasks[J], A.IsSampled, E)) {
      E.Kind = Event::Broken;
      E.Message = toString(std::move(Why));
    }
  if (E.Kind == Event::Prepared && A.ForPlugin)
    E.setBuilt(Builder.build(Tasks[J], A.Attempt, Cost), Avoid);
  E.setEnded(Begin);
  dropPagesPeriodically(J, E.Built ? E.Built->shard().size() : 0);
  return E;
}

bool LTOJobs::needsThread(const plan::Action &A) const {
  return (A.ForPlugin && !Builder.isTrivial()) ||
         (!A.IsAgain && (Saver || TheLink.EmitIndexFiles || Cache.exists()));
}

/// Whether the object records its path. Only CodeView does; other objects stay
/// independent of the cache's place.
bool LTOJobs::namesObject(const Task &T) const {
  Triple Target(Builder.triple(T));
  return Target.isOSWindows() || Target.isOSBinFormatCOFF();
}

/// Does the work that each job needs once. With a cache, makes \p E a CacheHit
/// or sets where the object goes.
Error LTOJobs::prepareFirst(Task &T, bool IsSampled, Event &E) {
  std::string Key = Cache.exists() ? Cache.key(T) : "";
  if (!Key.empty() && !T.Spec.returnsCodegenData() && namesObject(T))
    T.ObjectName = Cache.entryPath(Key);
  if (Saver)
    if (Error Why = Saver->save(T))
      return createStringError(inconvertibleErrorCode(),
                               "dtlto: " + toString(std::move(Why)));
  if (TheLink.EmitIndexFiles && T.Spec.isFirst())
    if (Error Why =
            emitIndexFiles(TheLink.Jobs.Index, TheLink.Jobs.Defined, T.name(),
                           *T.ImportList, TheLink.EmitImportsFiles))
      return Why;
  return Key.empty() ? Error::success() : lookUpInCache(T, Key, IsSampled, E);
}

std::optional<ResultKey> LTOJobs::resultKey(size_t J) {
  const Task &T = Tasks[J];
  // Codegen data has no form for a server, and objects with the path of a cache
  // (prepareFirst()) belong to that cache.
  if (T.Spec.returnsCodegenData() || (Cache.exists() && namesObject(T)))
    return std::nullopt;
  // Needn't come from a server.
  if (Cache.has(T))
    return std::nullopt;
  Expected<ResultKey> Key = Builder.resultKey(T);
  if (Key)
    return *Key;
  TheLink.Host.Msg.debug(
      "module '" + T.title() +
      "' is not in the remote cache: " + toString(Key.takeError()));
  return std::nullopt;
}

CodegenResult LTOJobs::compileLocally(size_t J, const std::atomic<bool> *Stop) {
  CodegenResult R = runLocalCodegen(TheLink.Jobs, Tasks[J], Stop);
  dropPagesPeriodically(J, R.Object.size());
  return R;
}

SideFiles LTOJobs::sideFiles(size_t J) const {
  return dtlto::sideFiles(TheLink.Jobs.Conf, Tasks[J].Number);
}

Error LTOJobs::check(size_t J, StringRef Object, bool IsAsWritten) const {
  if (TheLink.Jobs.Conf.CGFileType != CodeGenFileType::ObjectFile)
    return Error::success();
  return checkObject(Object, Triple(Builder.triple(Tasks[J])),
                     IsAsWritten ? Origin::Compiler : Origin::Unknown);
}

Error LTOJobs::compare(size_t J, const RemoteResult &Remote,
                       StringRef LocalObject) {
  Error E = compareResults(TheLink, Builder.names(), Slim.get(), Tasks[J],
                           Remote, LocalObject);
  if (!E || !TheLink.Jobs.Optimized)
    return E;
  // From a store, the optimised module would cause this in each link.
  std::string Dropped = TheLink.Jobs.Optimized->dropForPlugin(Tasks[J]);
  if (Dropped.empty())
    return E;
  return failure(toString(std::move(E)) + "; " + Dropped);
}

Error LTOJobs::deliver(size_t J, const JobResult &R, const SideFiles &Side,
                       const AddStreamFn &Out) {
  const Task &T = Tasks[J];
  if (Error E = writeSideFiles(R.Outputs, Side))
    return E;
  if (TheLink.Jobs.Optimized && R.Outputs.Optimized)
    TheLink.Jobs.Optimized->keep(T, *R.Outputs.Optimized, /*IsLocal=*/false);
  return writeStream(Out ? Out : TheLink.AddStream, T.Number,
                     T.Spec.fileName(T.name().str()), R.Object.bytes());
}

std::vector<std::string> LTOJobs::notes() const {
  std::vector<std::string> Notes;
  if (!TheLink.Process.Opts.KeepIR.empty() && Builder.areCommands())
    Notes.push_back(
        "the workers are plain compilers, so their optimised modules "
        "are neither kept nor used (--thinlto-dist-keep-ir)");
  if (!Saver || Saver->numSkipped() == 0)
    return Notes;
  std::string Text = std::to_string(Saver->numSkipped()) + " of " +
                     std::to_string(Tasks.size()) +
                     " jobs were not saved, since " + Saver->reason() +
                     " cannot be expressed in a bundle";
  Notes.push_back(std::move(Text));
  return Notes;
}

std::vector<std::string> LTOJobs::debugNotes() const {
  std::vector<std::string> Notes;
  if (Slim)
    Notes = Slim->describe();
  if (TheLink.Jobs.Optimized)
    if (std::string Note = TheLink.Jobs.Optimized->finish(Tasks.size());
        !Note.empty())
      Notes.push_back(std::move(Note));
  return Notes;
}
