//===- Scheduler.cpp - Which job runs where, and when ---------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Scheduler.h"
#include "IndexShard.h"
#include "ObjectCheck.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Process.h"

using namespace llvm;
using namespace dtlto;
using namespace std::chrono_literals;

// How many jobs may be prepared ahead of the plugin: enough to keep it busy,
// and a limit to the memory of the linker. In between, it follows the plugin's
// slots.
static constexpr size_t MinPreparedLimit = 32;
static constexpr size_t MaxPreparedLimit = 512;
// How many calls of submit() may be asked for ahead of their answers.
static constexpr size_t MaxOffered = 16;
// The plugin's load is asked for at most so often.
static constexpr std::chrono::milliseconds LoadInterval = 250ms;
// How long close() may take.
static constexpr std::chrono::seconds MaxClose = 10s;
// How long to leave a plugin in peace that said BUSY but has no jobs.
static constexpr std::chrono::seconds BusyRetry = 1s;

Scheduler::Scheduler(const Link &L, std::vector<Task> Tasks)
    : L(L),
      Slim(L.opts().Slim ? std::make_unique<SlimImports>(Tasks) : nullptr),
      Builder(L, L.TheLinker.Plugin->needs, Slim.get()), Cfi(L.Index),
      MaxPrepared(MinPreparedLimit) {
  for (Task &T : Tasks) {
    auto J = std::make_unique<Job>(std::move(T));
    J->Cost = J->T.Module.getBuffer().size();
    J->Out = L.AddStream;
    Jobs.push_back(std::move(J));
  }
  // The index of a job stands for its rank from here on. One thread in this
  // process takes modules in LLVM's order, as in-process ThinLTO does, since
  // then warnings, and which file is written last, have an order that can be
  // relied on.
  KeepOrder =
      L.Parallelism == 1 && !Jobs.empty() && Builder.staysHere(Jobs[0]->T);
  if (!KeepOrder)
    llvm::stable_sort(
        Jobs, [](const auto &A, const auto &B) { return A->Cost > B->Cost; });
  if (!L.opts().SaveJobs.empty())
    Saver = std::make_unique<JobSaver>(L, L.opts().SaveJobs, Slim.get());
  switch (L.opts().Progress) {
  case ProgressKind::Always:
    ProgressOn = true;
    break;
  case ProgressKind::Never:
    break;
  case ProgressKind::Auto:
    ProgressOn = sys::Process::StandardErrIsDisplayed();
    break;
  }
}

Scheduler::~Scheduler() = default;

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
    for (Event &E : Events->popAll(nextDeadline()))
      handle(E);
    checkDeadlines();
  }
  closeSession();
  // What a plugin does wrong after its last job still counts.
  for (Event &E : Events->popAll(Clock::now()))
    if (E.Kind == Event::Violation || E.Kind == Event::GaveUp)
      handle(E);
  Helpers.reset();
  LocalPool.reset();
  if (ProgressShown)
    L.msg().progress("");
  summarize();
  return std::move(Err);
}

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

void Scheduler::prepareMore() {
  // Without a plugin, jobs are prepared as the local threads take them.
  while (NextWaiting != Jobs.size() &&
         NumPreparing + Ready.size() + NumOffered + LocalQueue.size() <
             MaxPrepared) {
    size_t Index = NextWaiting++;
    Job &J = job(Index);
    J.At = Stage::Preparing;
    ++NumPreparing;
    bool NeedsThread = Saver || L.EmitIndexFiles || L.Cache ||
                       !(PluginGone || Builder.isTrivial());
    newId(J, Index);
    if (!NeedsThread) {
      prepare(J, !PluginGone);
      continue;
    }
    if (!Helpers)
      Helpers = std::make_unique<DefaultThreadPool>(
          hardware_concurrency(std::min(L.Parallelism, 4u)));
    Helpers->async(
        [this, &J, ForPlugin = !PluginGone] { prepare(J, ForPlugin); });
  }
}

/// Any thread; touches nothing of the job that others change meanwhile.
void Scheduler::prepare(Job &J, bool ForPlugin) {
  Event E{Event::Prepared};
  E.Job = J.Id;
  auto Broken = [&](Error Why) {
    E.Kind = Event::Broken;
    E.Message = toString(std::move(Why));
    Events->push(std::move(E));
  };

  const Task &T = J.T;
  if (Saver)
    if (Error Why = Saver->save(T))
      return Broken(std::move(Why));

  if (L.EmitIndexFiles)
    if (Error Why = emitIndexFiles(L.Index, L.Defined, T.name(), *T.ImportList,
                                   L.EmitImportsFiles))
      return Broken(std::move(Why));

  // As in-process: a module without a hash can't be cached.
  if (L.Cache && L.Index.modulePaths().count(T.name()) &&
      !all_of(L.Index.getModuleHash(T.name()),
              [](uint32_t V) { return V == 0; })) {
    std::string Key =
        cacheKey(L.Conf, L.Index, T.name(), *T.ImportList, *T.ExportList,
                 *T.ResolvedODR, *T.DefinedGlobals, Cfi);
    Expected<AddStreamFn> Out = L.Cache(T.Number, Key, T.name());
    if (!Out)
      return Broken(Out.takeError());
    if (!*Out) {
      E.Kind = Event::CacheHit;
      Events->push(std::move(E));
      return;
    }
    E.Out = std::move(*Out);
  }

  if (ForPlugin) {
    Expected<std::unique_ptr<BuiltJob>> Built = Builder.build(T, J.Id, J.Cost);
    if (Built)
      E.Built = std::move(*Built);
    else
      E.Message = toString(Built.takeError());
  }
  Events->push(std::move(E));
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
    size_t Index = *Ready.begin();
    Ready.erase(Ready.begin());
    Job &J = job(Index);
    J.At = Stage::Offered;
    J.State = DTLTO_STATE_QUEUED;
    ++J.Attempts;
    ++NumOffered;
    LastOffer = Clock::now();
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
    size_t Index = LocalQueue.front();
    LocalQueue.pop_front();
    startLocal(job(Index));
  }
  // Beside the plugin's jobs: while it has no room, from the small end.
  while (PluginBusy && L.opts().LocalJobs &&
         NumLocalRunning < *L.opts().LocalJobs && !Ready.empty()) {
    size_t Index = *Ready.rbegin();
    Ready.erase(Index);
    job(Index).Built.reset();
    startLocal(job(Index));
  }
}

void Scheduler::startLocal(Job &J) {
  J.At = Stage::LocalRunning;
  ++NumLocalRunning;
  if (!LocalPool)
    LocalPool = std::make_unique<DefaultThreadPool>(hardware_concurrency(
        std::max(L.Parallelism, L.opts().LocalJobs.value_or(1))));
  LocalPool->async([this, &J, Id = J.Id] {
    CodegenResult Code = runLocalCodegen(L, J.T);
    Event E{Event::LocalDone};
    E.Job = Id;
    E.Status = Code.Failed ? DTLTO_ERROR_COMPILER : DTLTO_OK;
    E.Message = std::move(Code.Errors);
    E.NoObject = !Code.Produced;
    E.Object = Buffer::own(std::move(Code.Object));
    Events->push(std::move(E));
  });
}

/// Gives an object that has been checked to LLVM.
void Scheduler::deliver(Job &J, Buffer Object, bool MayBeEmpty) {
  J.At = Stage::Delivering;
  if (MayBeEmpty && Object.bytes().empty())
    return endJob(J);
  auto Write = [&J](StringRef Bytes) -> std::string {
    Expected<std::unique_ptr<CachedFileStream>> Stream =
        J.Out(J.T.Number, J.T.name());
    if (!Stream)
      return toString(Stream.takeError());
    *(*Stream)->OS << Bytes;
    // The stream ends here: a cache stores the object and adds it to the link.
    return {};
  };
  // Into memory is a copy; into a cache is files.
  if (!L.Cache) {
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
  Helpers->async([this, Shared, Write, Id = J.Id] {
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
  ++NumEnded;
  showProgress(J);
}

size_t Scheduler::newId(Job &J, size_t Index) {
  J.Id = ++LastId;
  JobOfId[J.Id] = Index;
  return J.Id;
}

//===----------------------------------------------------------------------===//
// Events
//===----------------------------------------------------------------------===//

void Scheduler::handle(Event &E) {
  if (E.Kind == Event::Opened)
    return onOpened(E);
  if (E.Kind == Event::LoadChanged) {
    LastSign = Clock::now();
    PluginBusy = false;
    if (TheSession && LastSign - LastLoadQuery >= LoadInterval) {
      LastLoadQuery = LastSign;
      TheSession->queryLoad();
    }
    return;
  }
  if (E.Kind == Event::Loaded)
    return onLoad(E.Load);
  if (E.Kind == Event::Violation || E.Kind == Event::GaveUp)
    return giveUpPlugin(E.Message);
  if (E.Kind == Event::FallbackForbidden) {
    WhyNoFallback = E.Message.empty() ? "the plugin forbids it" : E.Message;
    return;
  }

  auto It = JobOfId.find(E.Job);
  if (It == JobOfId.end())
    return;
  Job &J = job(It->second);
  if (J.Id != E.Job)
    return; // of an earlier attempt
  switch (E.Kind) {
  case Event::Prepared:
    return onPrepared(J, E);
  case Event::CacheHit:
    --NumPreparing;
    return endJob(J);
  case Event::Submitted:
    return onSubmitted(J, E);
  case Event::State:
    J.State = static_cast<uint32_t>(E.Status);
    J.LastSign = LastSign = Clock::now();
    return;
  case Event::Done:
    LastSign = Clock::now();
    PluginBusy = false;
    return onDone(J, E);
  case Event::LocalDone:
    --NumLocalRunning;
    return onLocalDone(J, E);
  case Event::Delivered:
    if (!E.Message.empty())
      addError(E.Message);
    return endJob(J);
  case Event::Broken:
    --NumPreparing;
    addError(E.Message);
    return endJob(J);
  case Event::Opened:
  case Event::LoadChanged:
  case Event::Loaded:
  case Event::Violation:
  case Event::GaveUp:
  case Event::FallbackForbidden:
    break;
  }
}

void Scheduler::onPrepared(Job &J, Event &E) {
  --NumPreparing;
  size_t Index = JobOfId[J.Id];
  if (E.Out)
    J.Out = std::move(E.Out);
  if (PluginGone) {
    J.At = Stage::LocalQueue;
    LocalQueue.push_back(Index);
    ++NumFallback;
    return;
  }
  if (!E.Built)
    return keep(J, E.Message);
  J.Built = std::move(E.Built);
  J.At = Stage::Ready;
  Ready.insert(Index);
  if (PluginOpen)
    complete(J);
}

/// Sees to it that a job that is ready has all that the open session needs.
void Scheduler::complete(Job &J) {
  Error Why = Builder.complete(*J.Built, J.T);
  if (!Why)
    return;
  Ready.erase(JobOfId[J.Id]);
  J.Built.reset();
  keep(J, toString(std::move(Why)));
}

/// The fidelity rule. Not a fallback: it is the right place for this job.
void Scheduler::keep(Job &J, const std::string &Why) {
  ++NumKept;
  KeptReasons.insert(Why);
  J.At = Stage::LocalQueue;
  LocalQueue.push_back(JobOfId[J.Id]);
}

void Scheduler::onOpened(Event &E) {
  LastSign = LastLoadQuery = Clock::now();
  if (E.Status != DTLTO_OK) {
    std::string Why =
        E.Message.empty() ? "open() failed without a reason" : E.Message;
    // A wrong argument is the user's to mend, whatever else could be done.
    if (E.Status == DTLTO_ERROR_CALLER)
      Aborting = true;
    return giveUpPlugin(Why);
  }
  if (!E.Message.empty())
    L.msg().warning("plugin '" + pluginName() + "': " + E.Message);
  PluginOpen = true;
  // The first jobs were built for what the plugin needs without arguments.
  Builder.setParts(E.Needs);
  for (size_t Index : std::set<size_t>(Ready))
    complete(job(Index));
  TheSession->queryLoad();
}

static std::string known(uint32_t N) {
  return N == UINT32_MAX ? "?" : std::to_string(N);
}

void Scheduler::onLoad(const dtlto_load &Load) {
  if (Load.slots != UINT32_MAX)
    MaxPrepared = std::clamp<size_t>(2 * size_t(Load.slots), MinPreparedLimit,
                                     MaxPreparedLimit);
  if (Load.workers == LastLoad.workers && Load.slots == LastLoad.slots)
    return;
  LastLoad = Load;
  L.msg().debug("plugin '" + pluginName() + "': " + known(Load.workers) +
                " workers, " + known(Load.slots) + " slots, " +
                known(Load.free) + " free, " + known(Load.queued) +
                " jobs queued");
}

void Scheduler::onSubmitted(Job &J, Event &E) {
  if (J.At != Stage::Offered)
    return; // it has ended already
  if (E.Status == DTLTO_OK) {
    J.At = Stage::Accepted;
    --NumOffered;
    ++NumAccepted;
    J.LastSign = LastSign = Clock::now();
    return;
  }
  --NumOffered;
  if (E.Status == DTLTO_BUSY) {
    if (!E.RoomSince)
      PluginBusy = true;
    --J.Attempts;
    J.Built = std::move(E.Built);
    J.At = Stage::Ready;
    Ready.insert(JobOfId[J.Id]);
    return;
  }
  LastSign = Clock::now();
  fallBack(J, "submit() refused it with error " + Twine(E.Status));
}

void Scheduler::onDone(Job &J, Event &E) {
  // A result may overtake the answer of submit().
  if (J.At == Stage::Offered)
    --NumOffered;
  else if (J.At == Stage::Accepted)
    --NumAccepted;
  else
    return;
  StringRef At = E.Worker;
  std::string Where = At.empty() ? "" : (" on " + At).str();

  switch (E.Status) {
  case DTLTO_OK:
    break;
  case DTLTO_ERROR_COMPILER:
    if (E.RanHere) {
      // The same compiler would say the same again.
      fail("module '" + J.T.name() + "' failed to compile: " + E.Message);
      return endJob(J);
    }
    if (!mayFallBack()) {
      fail("plugin '" + pluginName() + "': module '" + J.T.name() +
           "' failed to compile" + Where + ": " + E.Message);
      return endJob(J);
    }
    // Only the compiler here can tell whether a plain link would fail too.
    J.RemoteErrors = "the compiler failed" + Where + ": " +
                     (E.Message.empty() ? "no message" : E.Message);
    return fallBack(J, J.RemoteErrors, /*Warn=*/false);
  case DTLTO_ERROR_CALLER:
    return fallBack(J, "it doesn't accept the job: " + E.Message);
  case DTLTO_CANCELLED:
    return retryOrFallBack(J, "cancelled without having been asked to");
  default:
    return retryOrFallBack(
        J, (E.Message.empty() ? "no reason given" : E.Message) + Where);
  }

  bool IsObject = L.Conf.CGFileType == CodeGenFileType::ObjectFile;
  if (!(E.RanHere && E.NoObject) && IsObject)
    if (Error Why = checkObject(E.Object.bytes(), Builder.triple(J.T)))
      return fallBack(J, "the object" + Where +
                             " is no good: " + toString(std::move(Why)));
  if (!E.Message.empty())
    L.msg().warning(J.T.name() + ": " + E.Message);

  // Which jobs are verified is a matter of their rank, so of the inputs alone.
  size_t Rank = JobOfId[J.Id];
  unsigned Percent = L.opts().VerifyPercent;
  if (Percent && (Rank + 1) * Percent / 100 != Rank * Percent / 100) {
    ++NumVerified;
    J.ToVerify = std::move(E.Object);
    return startLocal(J);
  }
  deliver(J, std::move(E.Object), E.RanHere && E.NoObject);
}

void Scheduler::onLocalDone(Job &J, Event &E) {
  if (E.Status != DTLTO_OK) {
    fail("module '" + J.T.name() + "' failed to compile: " + E.Message);
    return endJob(J);
  }
  if (!J.RemoteErrors.empty())
    warnLimited("plugin '" + pluginName() + "': module '" + J.T.name() +
                "': " + J.RemoteErrors + "; compiling it here worked");
  if (!J.ToVerify.bytes().empty()) {
    if (J.ToVerify.bytes() != E.Object.bytes()) {
      fail("plugin '" + pluginName() + "': the object of module '" +
           J.T.name() + "' differs from the one compiled here (" +
           Twine(J.ToVerify.bytes().size()) + " and " +
           Twine(E.Object.bytes().size()) + " bytes)");
      return endJob(J);
    }
    J.ToVerify.reset();
  }
  deliver(J, std::move(E.Object), E.NoObject);
}

//===----------------------------------------------------------------------===//
// The end
//===----------------------------------------------------------------------===//

void Scheduler::closeSession() {
  if (!TheSession)
    return;
  for (auto &J : Jobs)
    if (J->At == Stage::Offered || J->At == Stage::Accepted)
      TheSession->forget(J->Id);
  if (!TheSession->close(std::min<std::chrono::seconds>(MaxClose, timeout())))
    L.msg().warning("plugin '" + pluginName() +
                    "': close() has not returned; leaving it behind");
  TheSession.reset();
}

void Scheduler::showProgress(const Job &J) {
  if (!ProgressOn)
    return;
  ProgressShown = true;
  L.msg().progress(("[" + Twine(NumEnded) + "/" + Twine(Jobs.size()) +
                    "] codegen " + J.T.name())
                       .str());
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
  if (NumVerified)
    L.msg().debug("plugin '" + pluginName() + "': " + Twine(NumVerified) +
                  " of " + Twine(Jobs.size()) + " objects verified");
}
