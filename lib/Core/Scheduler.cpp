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
#include <unistd.h>

using namespace llvm;
using namespace dtlto;
using namespace std::chrono_literals;

// How many jobs may be prepared ahead of the plugin: enough to keep it busy,
// and a limit to the memory of the linker. In between, it follows the plugin's
// slots.
static constexpr size_t MinPreparedLimit = 32;
static constexpr size_t MaxPreparedLimit = 4096;
// How many calls of submit() may be asked for ahead of their answers.
static constexpr size_t MaxOffered = 16;
// The plugin's load is asked for at most so often.
static constexpr std::chrono::milliseconds LoadInterval = 250ms;
// How long close() may take.
static constexpr std::chrono::seconds MaxClose = 10s;
// How long to leave a plugin in peace that said BUSY but has no jobs.
static constexpr std::chrono::seconds BusyRetry = 1s;

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
      Builder(L, L.TheLinker.Plugin->needs, Slim.get()), Cfi(L.Index),
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
  newId(J);
  bool ForPlugin = !PluginGone && !ForHere;
  bool NeedsThread = Saver || L.EmitIndexFiles || L.Cache ||
                     (ForPlugin && !Builder.isTrivial());
  if (!NeedsThread)
    return prepare(J, ForPlugin);
  if (!Helpers)
    Helpers = std::make_unique<DefaultThreadPool>(
        hardware_concurrency(std::min(L.Parallelism, 4u)));
  Helpers->async([this, &J, ForPlugin] { prepare(J, ForPlugin); });
}

/// Any thread; touches nothing of the job that others change meanwhile.
void Scheduler::prepare(Job &J, bool ForPlugin) {
  Event E{Event::Prepared};
  E.Job = J.First.Id;
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
    Expected<std::unique_ptr<BuiltJob>> Built =
        Builder.build(T, J.First.Id, cost(J));
    if (Built)
      E.Built = std::move(*Built);
    else
      E.Message = toString(Built.takeError());
  }
  Events->push(std::move(E));
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
    LastOffer = Clock::now();
    if (J.Built->Job.parts & DTLTO_PART_CONFIG)
      J.Side = sideFiles(L.Conf, J.T.Number);
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
    E.Seconds = secondsSince(Begin);
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

/// Whether the files that were just made here are those of the worker.
Error Scheduler::compareSideFiles(const Job &J) {
  for (const auto &[Path, Bytes] :
       {std::pair(StringRef(J.Side.Dwo), J.Outputs.Dwo),
        std::pair(StringRef(J.Side.Remarks), J.Outputs.Remarks)}) {
    if (!Bytes)
      continue;
    auto File = MemoryBuffer::getFile(Path, /*IsText=*/false,
                                      /*RequiresNullTerminator=*/false);
    if (!File)
      return createFileError(Path, File.getError());
    if ((*File)->getBuffer() != *Bytes)
      return createStringError(inconvertibleErrorCode(),
                               "'" + Path +
                                   "' differs from the one compiled here (" +
                                   Twine(Bytes->size()) + " and " +
                                   Twine((*File)->getBufferSize()) + " bytes)");
  }
  return Error::success();
}

/// Gives an object that has been checked to LLVM.
void Scheduler::deliver(Job &J, Buffer Object, bool MayBeEmpty) {
  J.At = Stage::Delivering;
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
    // The stream ends here: a cache stores the object and adds it to the link.
    return {};
  };
  // Into memory is a copy; all else is files.
  if (!L.Cache && J.Packed.bytes().empty()) {
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
  showProgress(J);
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
  // However many attempts there were, one thread at most has it here.
  if (E.Kind == Event::LocalDone)
    return onLocalDone(J, E);
  bool OfTwin = J.Twin.Id == E.Job;
  if (J.First.Id != E.Job && !OfTwin)
    return; // of an earlier attempt
  switch (E.Kind) {
  case Event::Prepared:
    return onPrepared(J, E);
  case Event::CacheHit:
    --NumPreparing;
    NumPreparingHere -= J.ForHere;
    return endJob(J);
  case Event::Submitted:
    return OfTwin ? onTwinSubmitted(J, E) : onSubmitted(J, E);
  case Event::State:
    return onState(J, OfTwin ? J.Twin : J.First, E);
  case Event::Done:
    LastSign = Clock::now();
    PluginBusy = false;
    return onDone(J, E);
  case Event::Delivered:
    if (!E.Message.empty())
      addError(E.Message);
    return endJob(J);
  case Event::Broken:
    --NumPreparing;
    NumPreparingHere -= J.ForHere;
    addError(E.Message);
    return endJob(J);
  case Event::LocalDone:
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
  NumPreparingHere -= J.ForHere;
  if (E.Out)
    J.Out = std::move(E.Out);
  if (PluginGone || J.ForHere) {
    J.At = Stage::LocalQueue;
    LocalQueue.push_back(J.Index);
    if (!J.ForHere)
      ++NumFallback;
    return;
  }
  if (!E.Built)
    return keep(J, E.Message);
  J.Built = std::move(E.Built);
  J.At = Stage::Ready;
  Ready.insert(J.Index);
  if (PluginOpen)
    complete(J);
}

/// Sees to it that a job that is ready has all that the open session needs.
void Scheduler::complete(Job &J) {
  Error Why = Builder.complete(*J.Built, J.T);
  if (!Why)
    return;
  Ready.erase(J.Index);
  J.Built.reset();
  keep(J, toString(std::move(Why)));
}

/// The fidelity rule. Not a fallback: it is the right place for this job.
void Scheduler::keep(Job &J, const std::string &Why) {
  ++NumKept;
  KeptReasons.insert(Why);
  J.At = Stage::LocalQueue;
  LocalQueue.push_back(J.Index);
}

void Scheduler::onOpened(Event &E) {
  LastSign = LastLoadQuery = LastResult = Clock::now();
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
  bool IsNews = !LoadKnown || Load.workers != LastLoad.workers ||
                Load.slots != LastLoad.slots;
  LoadKnown = true;
  LastLoad = Load;
  if (!IsNews)
    return;
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
    J.First.Accepted = J.First.LastSign = LastSign = Clock::now();
    return;
  }
  --NumOffered;
  freeBytes(J);
  if (E.Status == DTLTO_BUSY) {
    if (!E.RoomSince)
      PluginBusy = true;
    --J.Attempts;
    J.Built = std::move(E.Built);
    J.At = Stage::Ready;
    Ready.insert(J.Index);
    return;
  }
  LastSign = Clock::now();
  fallBack(J, "submit() refused it with error " + Twine(E.Status));
}

void Scheduler::onDone(Job &J, Event &E) {
  bool OfTwin = J.Twin.Id == E.Job;
  Attempt A = OfTwin ? J.Twin : J.First;
  // A result may overtake the answer of submit().
  bool WasAccepted = OfTwin ? A.IsAccepted : J.At == Stage::Accepted;
  if (WasAccepted)
    --NumAccepted;
  else if (OfTwin || J.At == Stage::Offered)
    --NumOffered;
  else
    return;
  StringRef At = E.Worker;
  std::string Where = At.empty() ? "" : (" on " + At).str();
  if (OfTwin)
    J.Twin = {};

  // While another attempt runs, a failure is not the job's.
  auto Lost = [&](const Twine &Why) {
    if (!loseAttempt(J, OfTwin))
      return false;
    L.msg().debug("plugin '" + pluginName() + "': module '" + J.T.name() +
                  "': " + Why + "; it also runs elsewhere");
    return true;
  };

  switch (E.Status) {
  case DTLTO_OK:
    break;
  case DTLTO_ERROR_COMPILER:
    if (E.RanHere) {
      // The same compiler would say the same again.
      withdraw(J);
      fail("module '" + J.T.name() + "' failed to compile: " + E.Message);
      return endJob(J);
    }
    if (Lost("the compiler failed" + Where))
      return;
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
    if (Lost(E.Message))
      return;
    return fallBack(J, "it doesn't accept the job: " + E.Message);
  case DTLTO_CANCELLED:
    if (Lost("cancelled"))
      return;
    return retryOrFallBack(J, "cancelled without having been asked to");
  default:
    std::string Why =
        (E.Message.empty() ? "no reason given" : E.Message) + Where;
    if (Lost(Why))
      return;
    return retryOrFallBack(J, Why);
  }

  auto NoGood = [&](const Twine &What, Error Why) {
    std::string Text =
        (What + Where + " is no good: " + toString(std::move(Why))).str();
    if (!Lost(Text))
      fallBack(J, Text);
  };
  if (!E.RanHere && !J.Side.empty())
    if (Error Why = unpack(J, E.Object))
      return NoGood("the result", std::move(Why));
  bool IsObject = L.Conf.CGFileType == CodeGenFileType::ObjectFile;
  if (!(E.RanHere && E.NoObject) && IsObject)
    if (Error Why = checkObject(E.Object.bytes(), Builder.triple(J.T)))
      return NoGood("the object", std::move(Why));
  if (!E.Message.empty())
    L.msg().warning(J.T.name() + ": " + E.Message);

  LastResult = Clock::now();
  learn(J, A, E);
  NumTwiceWon += OfTwin;
  if (OfTwin)
    callOff(J.First, J.At == Stage::Accepted);
  else if (J.Twin.Id)
    callOff(J.Twin, J.Twin.IsAccepted);
  freeBytes(J);
  notLeft(J);

  // Which jobs are verified is a matter of their rank, so of the inputs alone.
  size_t Rank = J.Index;
  unsigned Percent = L.opts().VerifyPercent;
  if (Percent && (Rank + 1) * Percent / 100 != Rank * Percent / 100) {
    ++NumVerified;
    J.ToVerify = std::move(E.Object);
    return startLocal(J);
  }
  deliver(J, std::move(E.Object), E.RanHere && E.NoObject);
}

void Scheduler::onLocalDone(Job &J, Event &E) {
  J.RunsHere = false;
  --NumLocalRunning;
  if (E.Status == DTLTO_OK)
    learnHere(J, E.Seconds);
  if (J.At == Stage::Ended || J.At == Stage::Delivering)
    return; // the plugin was faster
  if (J.At != Stage::LocalRunning) {
    withdraw(J);
    ++NumTwiceWon;
  }
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
    if (Error Why = compareSideFiles(J)) {
      fail("plugin '" + pluginName() + "': module '" + J.T.name() +
           "': " + toString(std::move(Why)));
      return endJob(J);
    }
    J.ToVerify.reset();
  }
  // They have been written.
  J.Outputs = {};
  J.Packed.reset();
  deliver(J, std::move(E.Object), E.NoObject);
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
  if (NumHere && NumHere == Jobs.size())
    L.msg().warning("plugin '" + pluginName() + "': it took none of the " +
                    Twine(Jobs.size()) + " jobs; all were compiled here");
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
