//===- Scheduler.cpp - Which job runs where, and when ---------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Link/Scheduler.h"
#include "Bitcode/IndexShard.h"
#include "Report/Report.h"
#include "LLVM/Cache.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include <unistd.h>

using namespace llvm;
using namespace dtlto;
using namespace std::chrono_literals;

// How many calls of submit() may be asked for ahead of their answers.
static constexpr size_t MaxOffered = 16;
// How long close() may take.
static constexpr std::chrono::seconds MaxClose = 10s;
// How long to leave a plugin in peace that said BUSY but has no jobs.
static constexpr std::chrono::seconds BusyRetry = 1s;
// Shorter than it takes to reach a farm, at worst.
static constexpr double ShortLinkSeconds = 1;

/// A part of the machine's memory that a linker may well take, in bytes.
static uint64_t defaultMemory() {
  long Pages = ::sysconf(_SC_PHYS_PAGES), Size = ::sysconf(_SC_PAGESIZE);
  if (Pages <= 0 || Size <= 0)
    return uint64_t(1) << 30;
  return std::max<uint64_t>(uint64_t(256) << 20,
                            uint64_t(Pages) * uint64_t(Size) / 4);
}

Scheduler::Scheduler(const Link &L, std::vector<Task> Tasks)
    : L(L),
      Slim(L.opts().Slim ? std::make_unique<SlimImports>(Tasks) : nullptr),
      Builder(L, L.TheLinker.Plugin->needs, slimForPlugin()), Cfi(L.Index),
      MaxPrepared(MinPreparedLimit),
      MaxBytes(L.opts().Memory ? *L.opts().Memory : defaultMemory()) {
  for (Task &T : Tasks) {
    auto J = std::make_unique<Job>(std::move(T));
    J->Out = L.AddStream;
    Jobs.push_back(std::move(J));
  }
  order();
  if (!L.opts().SaveJobs.empty())
    Saver = std::make_unique<JobSaver>(L, L.opts().SaveJobs, Slim.get());
  bool Wanted = L.opts().Progress == ProgressKind::Always ||
                (L.opts().Progress == ProgressKind::Auto && L.msg().columns());
  if (Wanted)
    Shown = std::make_unique<Progress>(
        L.opts().StatusFormat, Jobs.size(), SecondsInAll,
        Progress::Screen{[&L](StringRef Line) { L.msg().progress(Line); },
                         [&L] { return L.msg().columns(); }, Clock::now});
}

Scheduler::~Scheduler() = default;

/// Estimates all jobs and puts them in order.
void Scheduler::order() {
  std::string Note;
  Costs = CostHistory::load(costHistoryPath(L.opts()), &Note);
  if (!Note.empty())
    L.msg().debug(Note);
  for (auto &J : Jobs) {
    J->CostKey = costKey(Builder.names(), J->T.name(),
                         Builder.triple(J->T).str(), L.Conf);
    J->Seconds =
        Costs->estimate(J->CostKey, J->T.Module.getBuffer().size()).Seconds;
    SecondsInAll += J->Seconds;
  }
  SecondsLeft = SecondsInAll;
  // One thread in this process takes modules in LLVM's order, as in-process
  // ThinLTO does, since then warnings, and which file is written last, have an
  // order that can be relied on.
  KeepOrder =
      L.Parallelism == 1 && !Jobs.empty() && Builder.staysHere(Jobs[0]->T);
  // LLVM has its own order, too: the largest bitcode first.
  if (L.opts().Order == OrderKind::Link)
    llvm::stable_sort(Jobs, [](const auto &A, const auto &B) {
      return A->T.Number < B->T.Number;
    });
  else if (!KeepOrder)
    llvm::stable_sort(Jobs, [](const auto &A, const auto &B) {
      return A->Seconds > B->Seconds;
    });
  // The index of a job stands for its rank from here on.
  for (size_t I = 0; I != Jobs.size(); ++I)
    Jobs[I]->Index = I;
  if (wantsRecord()) {
    Record.start(L.Started, L.SetUp);
    for (const auto &J : Jobs)
      Record.addJob(J->T.name(), J->T.Number, J->Seconds,
                    J->T.Module.getBuffer().size());
  }
  EndWaiting = Jobs.size();
}

Error Scheduler::run() {
  LastSign = Clock::now();
  while (NumEnded != Jobs.size()) {
    if (!Aborting) {
      prepareMore();
      offerMore();
    }
    runLocallyMore();
    if (Aborting && NumPreparing == 0 && NumLocalRunning == 0 &&
        llvm::none_of(Jobs,
                      [](const auto &J) { return J->At == Stage::Delivering; }))
      break;
    for (Event &E : Events->popAll(
             Shown ? std::min(nextDeadline(), Shown->due()) : nextDeadline()))
      handle(E);
    checkThreads();
    checkDeadlines();
    if (Shown)
      Shown->showDue();
  }
  closeSession();
  // What a plugin does wrong after its last job still counts.
  for (Event &E : Events->popAll(Clock::now()))
    if (E.Kind == Event::Violation || E.Kind == Event::GaveUp)
      handle(E);
  Helpers.reset();
  LocalPool.reset();
  finishRecord();
  if (Shown)
    Shown->clear();
  if (std::string Note = Costs->save(); !Note.empty())
    L.msg().debug(Note);
  summarize();
  return std::move(Err);
}

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

void Scheduler::prepareMore() {
  // Without a plugin, jobs are prepared as the local threads take them.
  while (NextWaiting != EndWaiting &&
         NumPreparing + Ready.size() + NumOffered + LocalQueue.size() <
             MaxPrepared)
    startPreparing(job(NextWaiting++), /*ForHere=*/false);
}

void Scheduler::startPreparing(Job &J, bool ForHere) {
  J.At = Stage::Preparing;
  J.ForHere = ForHere;
  ++NumPreparing;
  NumPreparingHere += ForHere;
  ++NumOnThreads;
  newId(J);
  bool ForPlugin = !PluginGone && !ForHere;
  bool NeedsThread = Saver || L.EmitIndexFiles || hasCache(L.Cache) ||
                     (ForPlugin && !Builder.isTrivial());
  if (!NeedsThread)
    return prepare(J, ForPlugin);
  if (!Helpers)
    Helpers = std::make_unique<DefaultThreadPool>(
        hardware_concurrency(std::min(L.Parallelism, 4u)));
  Helpers->async([this, &J, ForPlugin] { prepare(J, ForPlugin); });
}

/// What localCache() in LLVM's Caching.cpp calls the file of the object. Only
/// CodeView tells of it: other objects shall not depend on where the cache is.
std::string Scheduler::objectName(const Task &T, StringRef Key) const {
  Triple TheTriple = Builder.triple(T);
  if (!TheTriple.isOSWindows() && !TheTriple.isOSBinFormatCOFF())
    return {};
  SmallString<128> Name(cacheFolder(L.Cache, L.opts().CacheFolder));
  sys::path::append(Name, "llvmcache-" + Key);
  return Name.str().str();
}

/// Any thread; touches nothing of the job that others change meanwhile.
void Scheduler::prepare(Job &J, bool ForPlugin) {
  Event E{Event::Prepared};
  E.Job = J.First.Id;
  Clock::time_point Begin = Clock::now();
  auto Push = [&] {
    E.Ended = Clock::now();
    E.Seconds = std::chrono::duration<double>(E.Ended - Begin).count();
    Events->push(std::move(E));
  };
  auto Broken = [&](Error Why) {
    E.Kind = Event::Broken;
    E.Message = toString(std::move(Why));
    Push();
  };

  Task &T = J.T;
  // As in-process: a module without a hash can't be cached.
  std::string Key;
  if (hasCache(L.Cache) && L.Index.modulePaths().count(T.name()) &&
      !all_of(L.Index.getModuleHash(T.name()),
              [](uint32_t V) { return V == 0; })) {
    Key = cacheKey(L.Conf, L.Index, T.name(), *T.ImportList, *T.ExportList,
                   *T.ResolvedODR, *T.DefinedGlobals, Cfi);
    T.ObjectName = objectName(T, Key);
  }
  if (Saver)
    if (Error Why = Saver->save(T))
      return Broken(createStringError(inconvertibleErrorCode(),
                                      "dtlto: " + toString(std::move(Why))));

  if (L.EmitIndexFiles)
    if (Error Why = emitIndexFiles(L.Index, L.Defined, T.name(), *T.ImportList,
                                   L.EmitImportsFiles))
      return Broken(std::move(Why));

  if (!Key.empty()) {
    Expected<AddStreamFn> Out = L.Cache(T.Number, Key, T.name());
    if (!Out)
      return Broken(Out.takeError());
    if (!*Out) {
      E.Kind = Event::CacheHit;
      Push();
      return;
    }
    E.Out = std::move(*Out);
  }

  if (ForPlugin) {
    Expected<std::unique_ptr<BuiltJob>> Built =
        Builder.build(T, J.First.Id, cost(J));
    if (Built)
      E.Built = std::move(*Built);
    else
      E.Message = toString(Built.takeError());
  }
  Push();
}

/// What a job takes on its way, in bytes: its shard, and its inputs once more,
/// since a plugin may have a copy.
static uint64_t memoryFor(const BuiltJob &Built) {
  uint64_t Bytes = Built.Shard.size();
  for (const dtlto_input &Input : Built.Inputs)
    Bytes += Input.bytes.size;
  return Bytes;
}

void Scheduler::offerMore() {
  if (PluginGone || Ready.empty())
    return;
  if (!TheSession) {
    TheSession = std::make_unique<Session>(L, Events, Jobs.size());
    TheSession->open();
    LastSign = Clock::now();
  }
  if (!PluginOpen)
    return;
  bool Insist = PluginBusy && NumAccepted == 0 && NumOffered == 0 &&
                Clock::now() - LastOffer >= BusyRetry;
  // A job that comes back as BUSY must not be overtaken by the next.
  size_t MaxOffers = KeepOrder ? 1 : MaxOffered;
  while (!Ready.empty() && NumOffered < MaxOffers && (!PluginBusy || Insist)) {
    Job &J = job(*Ready.begin());
    uint64_t Bytes = memoryFor(*J.Built);
    if (BytesOut + Bytes > MaxBytes && NumAccepted + NumOffered != 0)
      return;
    Ready.erase(Ready.begin());
    J.Bytes = Bytes;
    BytesOut += Bytes;
    J.At = Stage::Offered;
    ++J.Attempts;
    ++NumOffered;
    LastOffer = J.First.Accepted = Clock::now();
    if (J.Built->Job.parts & DTLTO_PART_CONFIG)
      J.Side = sideFiles(L.Conf, J.T.Number);
    Record.offered(J.Index, J.First.Id, *J.Built, /*IsTwin=*/false);
    TheSession->submit(std::move(J.Built), J.T, Insist);
    Insist = false;
  }
}

void Scheduler::runLocallyMore() {
  if (Aborting)
    return;
  unsigned Limit =
      L.opts().LocalJobs ? std::max(1u, *L.opts().LocalJobs) : L.Parallelism;
  while (!LocalQueue.empty() && NumLocalRunning < Limit) {
    Job &J = job(LocalQueue.front());
    LocalQueue.pop_front();
    startLocal(J);
  }
  shareMore();
  doubleStragglers();
}

/// Compiles \p J on a local thread, which may have begun already. \p AsTwin:
/// the plugin goes on with it.
void Scheduler::startLocal(Job &J, bool AsTwin) {
  if (!AsTwin) {
    freeBytes(J);
    J.At = Stage::LocalRunning;
  }
  notLeft(J);
  if (J.RunsHere)
    return;
  J.RunsHere = true;
  ++NumLocalRunning;
  ++NumOnThreads;
  if (!AsTwin && J.ToVerify.bytes().empty()) {
    J.Worker = ThisMachine;
    showStart(J, J.Worker);
  }
  if (!LocalPool)
    LocalPool = std::make_unique<DefaultThreadPool>(hardware_concurrency(
        std::max(L.Parallelism, L.opts().LocalJobs.value_or(1))));
  LocalPool->async([this, &J, Id = J.First.Id] {
    Clock::time_point Begin = Clock::now();
    CodegenResult Code = runLocalCodegen(L, J.T);
    Event E{Event::LocalDone};
    E.Job = Id;
    E.Status = Code.Failed ? DTLTO_ERROR_COMPILER : DTLTO_OK;
    E.Message = std::move(Code.Errors);
    E.NoObject = !Code.Produced;
    E.Object = Buffer::own(std::move(Code.Object));
    E.Ended = Clock::now();
    E.Seconds = std::chrono::duration<double>(E.Ended - Begin).count();
    Events->push(std::move(E));
  });
}

/// Leaves the object in \p Object, and the rest of what the worker made in \p
/// J.
Error Scheduler::unpack(Job &J, Buffer &Object) {
  Expected<JobOutputs> Outputs = unpackOutputs(Object.bytes(), J.Side);
  if (!Outputs)
    return Outputs.takeError();
  J.Packed = std::move(Object);
  J.Outputs = *Outputs;
  SmallVector<char, 0> Copy(Outputs->Object.begin(), Outputs->Object.end());
  Object = Buffer::own(std::move(Copy));
  return Error::success();
}

/// Gives an object that has been checked to LLVM.
void Scheduler::deliver(Job &J, Buffer Object, bool MayBeEmpty) {
  J.At = Stage::Delivering;
  Record.delivering(J.Index, Object.bytes().size());
  if (MayBeEmpty && Object.bytes().empty())
    return endJob(J);
  auto Write = [&J](StringRef Bytes) -> std::string {
    if (Error E = writeSideFiles(J.Outputs, J.Side))
      return toString(std::move(E));
    Expected<std::unique_ptr<CachedFileStream>> Stream =
        J.Out(J.T.Number, J.T.name());
    if (!Stream)
      return toString(Stream.takeError());
    *(*Stream)->OS << Bytes;
    // A cache stores the object and adds it to the link here, or where the
    // stream ends.
    if (Error E = commitStream(**Stream))
      return toString(std::move(E));
    return {};
  };
  // Into memory is a copy; all else is files.
  if (!hasCache(L.Cache) && J.Packed.bytes().empty()) {
    std::string Why = Write(Object.bytes());
    Object.reset();
    if (!Why.empty())
      addError(Why);
    return endJob(J);
  }
  if (!Helpers)
    Helpers = std::make_unique<DefaultThreadPool>(
        hardware_concurrency(std::min(L.Parallelism, 4u)));
  auto Shared = std::make_shared<Buffer>(std::move(Object));
  ++NumOnThreads;
  Helpers->async([this, Shared, Write, Id = J.First.Id] {
    Event E{Event::Delivered};
    E.Job = Id;
    E.Message = Write(Shared->bytes());
    Shared->reset();
    Events->push(std::move(E));
  });
}

void Scheduler::endJob(Job &J) {
  J.At = Stage::Ended;
  J.Built.reset();
  J.Out = nullptr;
  J.Outputs = {};
  J.Packed.reset();
  freeBytes(J);
  notLeft(J);
  ++NumEnded;
  Record.ended(J.Index);
  showEnd(J);
}

/// A number that stands for \p J in events.
uint64_t Scheduler::takeId(const Job &J) {
  JobOfId[++LastId] = J.Index;
  return LastId;
}

/// Begins an attempt; what is heard of those before is nobody's.
void Scheduler::newId(Job &J) {
  J.First = {};
  J.First.Id = takeId(J);
}

//===----------------------------------------------------------------------===//
// The end
//===----------------------------------------------------------------------===//

void Scheduler::closeSession() {
  if (!TheSession)
    return;
  for (auto &J : Jobs) {
    if (J->At == Stage::Offered || J->At == Stage::Accepted)
      TheSession->forget(J->First.Id);
    if (J->Twin.Id)
      TheSession->forget(J->Twin.Id);
  }
  if (!TheSession->close(std::min<std::chrono::seconds>(MaxClose, timeout())))
    L.msg().warning("plugin '" + pluginName() +
                    "': close() has not returned; leaving it behind");
  TheSession.reset();
}

/// Every stage has an end. A job that a thread of ours should bring to its end,
/// while no thread has anything to do, would be waited for for ever.
void Scheduler::checkThreads() {
  if (NumOnThreads != 0)
    return;
  for (auto &J : Jobs) {
    const char *Name = J->At == Stage::Preparing      ? "prepared"
                       : J->At == Stage::LocalRunning ? "compiled here"
                       : J->At == Stage::Delivering   ? "delivered"
                                                      : nullptr;
    if (!Name)
      continue;
    fail("internal error: module '" + J->T.name() + "' should be " + Name +
         ", but no thread works on it");
    Aborting = true;
    endJob(*J);
  }
  if (Aborting)
    NumPreparing = NumPreparingHere = NumLocalRunning = 0;
}

void Scheduler::finishRecord() {
  if (!Record.isOn())
    return;
  // The link had to wait for them, although nobody needs them any more.
  for (Event &E : Events->popAll(Clock::now()))
    if (E.Kind == Event::LocalDone)
      if (auto It = JobOfId.find(E.Job); It != JobOfId.end())
        Record.ranHere(It->second, E.Ended, E.Seconds, E.Status == DTLTO_OK,
                       E.Message, /*IsVerify=*/false);
  Record.finish(bool(Err));
  if (const std::string &Path = L.opts().Report; !Path.empty()) {
    const dtlto_plugin &Plugin = *L.TheLinker.Plugin;
    ReportFacts Facts{L.opts().OutputFile, Plugin.name,
                      Plugin.version ? Plugin.version : "", L.Parallelism};
    if (Error E = writeReport(Path, Record, Facts))
      L.msg().warning(toString(std::move(E)));
  }
  if (L.Conf.TimeTraceEnabled)
    L.TheLinker.Timelines.push_back(std::move(Record));
}

void Scheduler::showStart(Job &J, StringRef Worker) {
  if (Shown)
    Shown->started(J.T.name(), Worker, !J.IsShown);
  J.IsShown = true;
}

void Scheduler::showEnd(const Job &J) {
  if (Shown)
    Shown->finished(J.T.name(), J.Worker, J.Seconds, J.IsShown);
}

void Scheduler::summarize() {
  if (Saver && Saver->numLeftOut())
    L.msg().note(Twine(Saver->numLeftOut()) + " of " + Twine(Jobs.size()) +
                 " jobs were not saved, since another machine can't be told: " +
                 Saver->reason());
  if (NumKept)
    L.msg().note("plugin '" + pluginName() + "': " + Twine(NumKept) + " of " +
                 Twine(Jobs.size()) +
                 " modules were compiled here, since another machine can't be "
                 "told: " +
                 join(KeptReasons, ", "));
  if (NumRetried)
    L.msg().note("plugin '" + pluginName() + "': " + Twine(NumRetried) +
                 " of " + Twine(Jobs.size()) +
                 " jobs failed and were done when given to it again; the last "
                 "one was " +
                 LastRetry);
  if (NumUntold)
    L.msg().warning("plugin '" + pluginName() + "': and " + Twine(NumUntold) +
                    " more modules failed likewise; --verbose shows all");
  if (NumFallback)
    L.msg().warning("plugin '" + pluginName() + "': " + Twine(NumFallback) +
                    " of " + Twine(Jobs.size()) +
                    " modules were compiled here instead");
  L.msg().debug(
      Twine(Jobs.size()) + " jobs, " +
      formatv("{0:f3}",
              std::chrono::duration<double>(Clock::now() - L.Started).count())
          .str() +
      " s from first start to last object");
  if (Slim)
    for (const std::string &Line : Slim->describe())
      L.msg().debug(Line);
  // A link that is over at once may end before any farm has answered.
  if (NumHere && NumHere == Jobs.size())
    L.msg().emit(secondsSince(L.Started) < ShortLinkSeconds
                     ? MessageLevel::Debug
                     : MessageLevel::Warning,
                 "plugin '" + pluginName() + "': it took none of the " +
                     Twine(Jobs.size()) +
                     " jobs; all were compiled here; --thinlto-dist-status "
                     "shows the farm");
  else if (NumHere)
    L.msg().debug("plugin '" + pluginName() + "': " + Twine(NumHere) + " of " +
                  Twine(Jobs.size()) +
                  " modules were compiled here beside its own");
  if (NumTwice)
    L.msg().debug("plugin '" + pluginName() + "': " + Twine(NumTwice) +
                  " slow jobs were started a second time, which was faster " +
                  Twine(NumTwiceWon) + " times");
  if (Match.size())
    L.msg().debug(Match.text());
  if (NumVerified)
    L.msg().debug("plugin '" + pluginName() + "': " + Twine(NumVerified) +
                  " of " + Twine(Jobs.size()) + " objects verified");
}
