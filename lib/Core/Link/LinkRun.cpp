//===- LinkRun.cpp - Runs the jobs of a link ------------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Link/LinkRun.h"
#include "Bitcode/IndexShard.h"
#include "Link/CostObserver.h"
#include "Link/LogObserver.h"
#include "Link/Notices.h"
#include "Link/ProgressObserver.h"
#include "Link/TimelineObserver.h"
#include "Link/Verifier.h"
#include "Object/ObjectCheck.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"
#include <unistd.h>

using namespace llvm;
using namespace dtlto;
using namespace std::chrono_literals;

using plan::Action;
using plan::AttemptId;
using plan::Cause;
using PlanEvent = plan::Event;

// How long close() may take.
static constexpr std::chrono::seconds MaxClose = 10s;

/// A part of the machine's memory that a linker may well take, in bytes.
static uint64_t defaultMemory() {
  long Pages = ::sysconf(_SC_PHYS_PAGES), Size = ::sysconf(_SC_PAGESIZE);
  if (Pages <= 0 || Size <= 0)
    return uint64_t(1) << 30;
  return std::max<uint64_t>(uint64_t(256) << 20,
                            uint64_t(Pages) * uint64_t(Size) / 4);
}

LinkRun::LinkRun(const Link &L, std::vector<Task> Tasks,
                 function_ref<void(plan::Options &)> Adjust)
    : L(L),
      Slim(L.opts().Slim ? std::make_unique<SlimImports>(Tasks) : nullptr),
      Builder(L, L.Plugin->needs, slimForPlugin()), Cfi(L.Index),
      WorkerNames(1) {
  for (Task &T : Tasks) {
    Jobs.push_back(std::make_unique<Job>(std::move(T)));
    Jobs.back()->Out = L.AddStream;
  }
  order();
  if (!L.opts().SaveJobs.empty())
    Saver = std::make_unique<JobSaver>(L, L.opts().SaveJobs, Slim.get());

  plan::Options O = options();
  if (Adjust)
    Adjust(O);
  CloseTimeout = std::min<plan::Time>({MaxClose, O.CallTimeout, O.JobTimeout});
  std::vector<plan::JobInfo> Infos;
  for (const auto &J : Jobs)
    Infos.push_back({J->Seconds, !sideFiles(L.Conf, J->T.Number).empty()});
  ThePlan = std::make_unique<plan::Plan>(Infos, O);
  startObservers();
  if (!L.opts().Log.empty())
    Observers.push_back(std::make_unique<LogObserver>(*this, L, O, Infos));
}

LinkRun::~LinkRun() = default;

/// Estimates all jobs and puts them in order.
void LinkRun::order() {
  std::string Note;
  Costs = CostHistory::load(costHistoryPath(L.opts()), &Note);
  if (!Note.empty())
    L.msg().debug(Note);
  for (auto &J : Jobs) {
    J->CostKey = dtlto::costKey(Builder.names(), J->T.name(),
                                Builder.triple(J->T).str(), L.Conf);
    J->Seconds =
        Costs->estimate(J->CostKey, J->T.Module.getBuffer().size()).Seconds;
  }
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
}

plan::Options LinkRun::options() const {
  plan::Options O;
  O.Cores = L.Parallelism;
  O.LocalJobs = L.opts().LocalJobs;
  O.DuplicatePercent = L.opts().DuplicatePercent;
  O.VerifyPercent = L.opts().VerifyPercent;
  O.Fallback = L.opts().Fallback == FallbackKind::Local;
  O.KeepOrder = KeepOrder;
  O.MaxBytesInFlight = L.opts().Memory ? *L.opts().Memory : defaultMemory();
  O.JobTimeout = std::chrono::seconds(L.opts().TimeoutSeconds);
  return O;
}

void LinkRun::startObservers() {
  auto Notes = std::make_unique<Notices>(*this, L);
  TheNotices = Notes.get();
  Observers.push_back(std::move(Notes));
  Observers.push_back(std::make_unique<CostObserver>(*this, *Costs));
  if (!L.opts().Report.empty() || L.Conf.TimeTraceEnabled)
    Observers.push_back(std::make_unique<TimelineObserver>(*this, L));
  if (L.opts().Progress == ProgressKind::Always ||
      (L.opts().Progress == ProgressKind::Auto && L.msg().columns()))
    Observers.push_back(std::make_unique<ProgressObserver>(*this, L));
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

Error LinkRun::run() {
  {
    Step First;
    First.Now = now();
    std::vector<Action> Actions;
    ThePlan->start(First.Now, Actions);
    finishStep(First, Actions);
  }
  while (!ThePlan->isDone()) {
    Clock::time_point Due = Clock::now() + 1h;
    if (plan::Time At = ThePlan->wakeUp(); At != plan::Never)
      Due = std::min(Due, L.Started + At);
    for (const auto &O : Observers)
      Due = std::min(Due, O->due());
    for (Event &E : Events->popAll(Due))
      handle(E);
    // Every stage has an end.
    if (NumOnThreads == 0 && ThePlan->numOnThreads() != 0) {
      TheNotices->internalError(ThePlan->check());
      break;
    }
    tick();
  }
  close();
  // What a plugin does wrong after its last job still counts.
  for (Event &E : Events->popAll(Clock::now()))
    if (E.Kind == Event::Violation || E.Kind == Event::GaveUp)
      handle(E);
  Helpers.reset();
  LocalPool.reset();
  for (const auto &O : Observers)
    O->finish();
  if (std::string Note = Costs->save(); !Note.empty())
    L.msg().debug(Note);
  TheNotices->summarize(Slim.get(), Saver.get());
  return TheNotices->takeError();
}

void LinkRun::step(const PlanEvent &E, Step S) {
  S.Now = now();
  S.E = &E;
  S.Job = E.Attempt ? JobOf.lookup(E.Attempt) : E.Job;
  std::vector<Action> Actions;
  ThePlan->handle(S.Now, E, Actions);
  finishStep(S, Actions);
}

void LinkRun::finishStep(Step &S, ArrayRef<Action> Actions) {
  S.Actions = Actions;
  for (const Action &A : Actions)
    if (A.Attempt)
      JobOf[A.Attempt] = A.Job;
  for (const auto &O : Observers)
    O->saw(S);
  for (const Action &A : Actions)
    perform(A);
}

void LinkRun::perform(const Action &A) {
  switch (A.What) {
  case Action::Open:
    TheSession = std::make_unique<Session>(L, Events, Jobs.size());
    return TheSession->open();
  case Action::Prepare:
    return prepare(A);
  case Action::Offer:
    return offer(A);
  case Action::Cancel:
    return cancel(A.Attempt);
  case Action::CompileHere:
    return compileHere(A);
  case Action::Won:
    Jobs[A.Job]->Winner = A.Attempt;
    return;
  case Action::Verify:
    return verify(A);
  case Action::Deliver:
    return deliver(A);
  case Action::QueryLoad:
    return TheSession->queryLoad();
  case Action::EndJob:
    Jobs[A.Job]->Out = nullptr;
    return forget(A.Attempt);
  case Action::Close:
    return close();
  case Action::StaysHere:
  case Action::DropPlugin:
  case Action::FailLink:
    return;
  }
}

/// The plan is told what time it is, and what the session knows without events.
void LinkRun::tick() {
  PlanEvent E{PlanEvent::Tick};
  std::string Why; // it hangs
  if (TheSession) {
    // Code generation here is a sign of life as well.
    if (Clock::time_point Now = Clock::now(); Now >= NextPoll) {
      NextPoll = Now + 100ms;
      for (AttemptId Id : ThePlan->accepted())
        if (Now - TheSession->lastRunHere(Id) < 200ms) {
          PlanEvent Alive{PlanEvent::Alive};
          Alive.Attempt = Id;
          step(Alive);
        }
    }
    if (std::optional<Session::Call> C = TheSession->currentCall()) {
      E.CallSince = C->Since - L.Started;
      Why = (Twine(C->Name) + "() has not returned within " +
             Twine(static_cast<unsigned>(secondsSince(C->Since))) + " s")
                .str();
    }
  }
  Step S;
  S.Why = Why;
  step(E, S);
  for (const auto &O : Observers)
    if (Clock::now() >= O->due())
      O->tick();
}

//===----------------------------------------------------------------------===//
// What the session and our threads tell
//===----------------------------------------------------------------------===//

/// What a job takes on its way, in bytes: its shard, and its inputs once more,
/// since a plugin may have a copy.
static uint64_t memoryFor(const BuiltJob &Built) {
  uint64_t Bytes = Built.Shard.size();
  for (const dtlto_input &Input : Built.Inputs)
    Bytes += Input.bytes.size;
  return Bytes;
}

void LinkRun::handle(Event &E) {
  PlanEvent P;
  P.Attempt = E.Job;
  P.Seconds = E.Seconds;
  Step S;
  S.Said = S.Why = E.Message;
  S.Ended = E.Ended;
  S.Seconds = E.Seconds;
  auto Become = [&](PlanEvent::Kind What) {
    P.What = What;
    step(P, S);
  };

  switch (E.Kind) {
  case Event::Opened:
    if (E.Status != DTLTO_OK || !E.Message.empty()) {
      if (E.Message.empty())
        S.Why = "open() failed without a reason";
      // A wrong argument is the user's to mend, whatever else could be done.
      P.Flag = E.Status == DTLTO_ERROR_CALLER;
      return Become(PlanEvent::OpenFailed);
    }
    IsOpen = true;
    P.Flag = E.Needs != L.Plugin->needs;
    Builder.setParts(E.Needs);
    return Become(PlanEvent::Opened);
  case Event::LoadChanged:
    return Become(PlanEvent::RoomChanged);
  case Event::Loaded:
    S.Load = &E.Load;
    P.TheLoad = {E.Load.slots, E.Load.free, E.Load.workers, E.Load.local};
    return Become(PlanEvent::LoadKnown);
  case Event::Violation:
  case Event::GaveUp:
    P.Attempt = 0;
    return Become(PlanEvent::PluginFailed);
  case Event::FallbackForbidden:
    if (E.Message.empty())
      S.Why = "the plugin forbids it";
    return Become(PlanEvent::FallbackForbidden);
  case Event::Submitted: {
    if (E.Status == DTLTO_OK)
      return Become(PlanEvent::Accepted);
    if (E.Status == DTLTO_BUSY) {
      if (ThePlan->isLive(E.Job))
        Built[E.Job] = std::move(E.Built);
      P.Flag = E.RoomSince;
      return Become(PlanEvent::Busy);
    }
    std::string Why =
        ("submit() refused it with error " + Twine(E.Status)).str();
    S.Why = Why;
    P.Why = Cause::Refused;
    return Become(PlanEvent::Failed);
  }
  case Event::State:
    P.State = E.Status == DTLTO_STATE_QUEUED      ? plan::PluginState::Queued
              : E.Status == DTLTO_STATE_SENDING   ? plan::PluginState::Sending
              : E.Status == DTLTO_STATE_RECEIVING ? plan::PluginState::Receiving
                                                  : plan::PluginState::Running;
    S.State = static_cast<uint32_t>(E.Status);
    P.Worker = noteWorker(E.Job, E.Worker);
    return Become(PlanEvent::StateChanged);
  case Event::Done:
    // Nobody waits for a late one.
    if (ThePlan->isLive(E.Job))
      judge(E);
    return;

  case Event::Prepared:
    --NumOnThreads;
    if (E.Out)
      Jobs[JobOf[E.Job]]->Out = std::move(E.Out);
    if (!E.Built)
      return Become(E.Message.empty() ? PlanEvent::Prepared
                                      : PlanEvent::NotExpressible);
    if (!ThePlan->isLive(E.Job))
      return Become(PlanEvent::Prepared);
    // The plugin may have asked for more while this was built.
    if (IsOpen && Builder.lacks(*E.Built)) {
      Action Again{Action::Prepare, JobOf[E.Job], E.Job};
      Again.ForPlugin = Again.IsAgain = true;
      return prepareOnHelper(Again, std::move(E.Built));
    }
    P.Bytes = memoryFor(*E.Built);
    Built[E.Job] = std::move(E.Built);
    return Become(PlanEvent::Prepared);
  case Event::CacheHit:
    --NumOnThreads;
    return Become(PlanEvent::CacheHit);
  case Event::Broken:
    --NumOnThreads;
    return Become(PlanEvent::PrepareFailed);
  case Event::LocalDone:
    --NumOnThreads;
    noteWorker(E.Job, ThisMachine);
    S.Status = E.Status;
    if (E.Status != DTLTO_OK)
      return Become(PlanEvent::CompileHereFailed);
    if (ThePlan->isLive(E.Job))
      Results[E.Job] = {std::move(E.Object), E.NoObject, {}, {}};
    return Become(PlanEvent::CompiledHere);
  case Event::Verified:
  case Event::Delivered:
    --NumOnThreads;
    P.Attempt = 0;
    P.Job = static_cast<plan::JobId>(E.Job);
    if (E.Kind == Event::Delivered)
      return Become(E.Message.empty() ? PlanEvent::Delivered
                                      : PlanEvent::DeliverFailed);
    // The files beside the object have been written when it was made here.
    if (Result &R = Results[Jobs[P.Job]->Winner]; true)
      R.Packed.reset(), R.Outputs = {};
    return Become(E.Message.empty() ? PlanEvent::Verified
                                    : PlanEvent::VerifyFailed);
  case Event::WorkerTold:
  case Event::StatusTold:
  case Event::NoStatus:
    return;
  }
}

/// Whether \p Text has \p Worker as a word of its own.
static bool namesWorker(StringRef Text, StringRef Worker) {
  auto IsPart = [](char C) { return isAlnum(C) || C == '-' || C == '_'; };
  if (Worker.empty())
    return true;
  for (size_t At = 0; (At = Text.find(Worker, At)) != StringRef::npos; ++At) {
    size_t End = At + Worker.size();
    if ((At == 0 || !IsPart(Text[At - 1])) &&
        (End == Text.size() || !IsPart(Text[End])))
      return true;
  }
  return false;
}

/// Looks at what the plugin says that a job came to.
void LinkRun::judge(Event &E) {
  const Job &J = *Jobs[JobOf[E.Job]];
  PlanEvent P{PlanEvent::Failed};
  P.Attempt = E.Job;
  P.Worker = noteWorker(E.Job, E.Worker);
  P.RanHere = E.RanHere;
  P.Seconds = E.Seconds;
  std::string Where = E.Worker.empty() ? "" : " on " + E.Worker;
  std::string Why;
  Result R{std::move(E.Object), E.RanHere && E.NoObject, {}, {}};
  auto NoGood = [&](const char *What, Error Reason) {
    P.Why = Cause::BadResult;
    Why = What + Where + " is no good: " + toString(std::move(Reason));
  };

  switch (E.Status) {
  case DTLTO_OK: {
    P.What = PlanEvent::Succeeded;
    const SideFiles &Side = Sides[E.Job];
    if (!E.RanHere && !Side.empty()) {
      if (Error Reason = unpack(R, Side)) {
        NoGood("the result", std::move(Reason));
        break;
      }
    }
    if (!R.MayBeEmpty && L.Conf.CGFileType == CodeGenFileType::ObjectFile)
      if (Error Reason = checkObject(R.Object.bytes(), Builder.triple(J.T)))
        NoGood("the object", std::move(Reason));
    break;
  }
  case DTLTO_ERROR_COMPILER:
    P.Why = E.RanHere ? Cause::CompilerHere : Cause::Compiler;
    Why = "the compiler failed" + Where;
    break;
  case DTLTO_ERROR_CALLER:
    P.Why = Cause::Caller;
    Why = "it doesn't accept the job: " + E.Message;
    break;
  case DTLTO_CANCELLED:
    P.Why = Cause::Cancelled;
    Why = "cancelled without having been asked to";
    break;
  default:
    P.Why = Cause::Infrastructure;
    Why = StringRef(E.Message).rtrim().str();
    if (Why.empty())
      Why = "no reason given";
    if (!namesWorker(Why, E.Worker))
      Why += Where;
  }
  if (P.Why != Cause::None)
    P.What = PlanEvent::Failed;
  else
    Results[E.Job] = std::move(R);
  Step S;
  S.Said = E.Message;
  S.Why = Why;
  S.Status = E.Status;
  step(P, S);
}

/// Leaves the object in \p R, and the rest of what the worker made beside it.
Error LinkRun::unpack(Result &R, const SideFiles &Side) {
  Expected<JobOutputs> Outputs = unpackOutputs(R.Object.bytes(), Side);
  if (!Outputs)
    return Outputs.takeError();
  R.Packed = std::move(R.Object);
  R.Outputs = *Outputs;
  SmallVector<char, 0> Copy(Outputs->Object.begin(), Outputs->Object.end());
  R.Object = Buffer::own(std::move(Copy));
  return Error::success();
}

/// Names are numbers in the plan. An empty one leaves what is known of the
/// attempt as it is.
plan::WorkerId LinkRun::noteWorker(AttemptId A, StringRef Name) {
  if (Name.empty())
    return 0;
  auto [It, IsNew] = WorkerIds.try_emplace(Name, WorkerNames.size());
  if (IsNew)
    WorkerNames.push_back(Name.str());
  return Workers[A] = It->second;
}

const BuiltJob *LinkRun::built(AttemptId A) const {
  auto It = Built.find(A);
  return It == Built.end() ? nullptr : It->second.get();
}

bool LinkRun::hasErrors() const { return TheNotices->hasErrors(); }

uint64_t LinkRun::objectSize(AttemptId A) const {
  auto It = Results.find(A);
  return It == Results.end() ? 0 : It->second.Object.bytes().size();
}

//===----------------------------------------------------------------------===//
// Actions
//===----------------------------------------------------------------------===//

/// Work for a thread that ends with an event.
void LinkRun::onHelper(std::function<void()> Work) {
  ++NumOnThreads;
  if (!Helpers)
    Helpers = std::make_unique<DefaultThreadPool>(
        hardware_concurrency(std::min(L.Parallelism, 4u)));
  Helpers->async(std::move(Work));
}

void LinkRun::prepare(const Action &A) {
  std::unique_ptr<BuiltJob> Old;
  if (auto It = Built.find(A.Attempt); It != Built.end()) {
    Old = std::move(It->second);
    Built.erase(It);
  }
  bool Builds = A.ForPlugin && !Builder.isTrivial();
  if (Builds ||
      (!A.IsAgain && (Saver || L.EmitIndexFiles || hasCache(L.Cache))))
    return prepareOnHelper(A, std::move(Old));
  ++NumOnThreads;
  prepareNow(A, std::move(Old), WorkerNames[A.Avoid]);
}

void LinkRun::prepareOnHelper(const Action &A, std::unique_ptr<BuiltJob> Old) {
  // The pool's functions have to be copied.
  auto Shared = std::make_shared<std::unique_ptr<BuiltJob>>(std::move(Old));
  onHelper([this, A, Shared, Avoid = WorkerNames[A.Avoid]] {
    prepareNow(A, std::move(*Shared), Avoid);
  });
}

/// What localCache() in LLVM's Caching.cpp calls the file of the object. Only
/// CodeView tells of it: other objects shall not depend on where the cache is.
std::string LinkRun::objectName(const Task &T, StringRef Key) const {
  Triple TheTriple = Builder.triple(T);
  if (!TheTriple.isOSWindows() && !TheTriple.isOSBinFormatCOFF())
    return {};
  SmallString<128> Name(cacheFolder(L.Cache, L.opts().CacheFolder));
  sys::path::append(Name, "llvmcache-" + Key);
  return Name.str().str();
}

/// Any thread; touches nothing of the job that others change meanwhile. \p Old,
/// if there is one, is completed.
void LinkRun::prepareNow(const Action &A, std::unique_ptr<BuiltJob> Old,
                         StringRef Avoid) {
  Job &J = *Jobs[A.Job];
  Event E{Event::Prepared};
  E.Job = A.Attempt;
  Clock::time_point Begin = Clock::now();
  if (!A.IsAgain) {
    Expected<bool> IsCached = prepareFirst(J, E.Out);
    if (!IsCached) {
      E.Kind = Event::Broken;
      E.Message = toString(IsCached.takeError());
    } else if (*IsCached) {
      E.Kind = Event::CacheHit;
    }
  }
  if (E.Kind == Event::Prepared && A.ForPlugin) {
    if (Old) {
      if (Error Why = Builder.complete(*Old, J.T))
        E.Message = toString(std::move(Why));
      else
        E.Built = std::move(Old);
    } else if (auto New = Builder.build(J.T, A.Attempt, cost(J))) {
      E.Built = std::move(*New);
      E.Built->Avoid = Avoid.str();
      E.Built->Job.avoid = Avoid.empty() ? nullptr : E.Built->Avoid.c_str();
    } else {
      E.Message = toString(New.takeError());
    }
  }
  E.Ended = Clock::now();
  E.Seconds = std::chrono::duration<double>(E.Ended - Begin).count();
  Events->push(std::move(E));
}

/// What is done once for each job. True: LLVM's cache had the object. Else \p
/// Out becomes where it goes, if there is a cache.
Expected<bool> LinkRun::prepareFirst(Job &J, AddStreamFn &Out) {
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
      return createStringError(inconvertibleErrorCode(),
                               "dtlto: " + toString(std::move(Why)));
  if (L.EmitIndexFiles)
    if (Error Why = emitIndexFiles(L.Index, L.Defined, T.name(), *T.ImportList,
                                   L.EmitImportsFiles))
      return std::move(Why);
  if (Key.empty())
    return false;
  Expected<AddStreamFn> Stream = L.Cache(T.Number, Key, T.name());
  if (!Stream)
    return Stream.takeError();
  if (!*Stream)
    return true;
  Out = std::move(*Stream);
  return false;
}

void LinkRun::offer(const Action &A) {
  const Job &J = *Jobs[A.Job];
  std::unique_ptr<BuiltJob> Job = std::move(Built[A.Attempt]);
  Built.erase(A.Attempt);
  if (Job->Job.parts & DTLTO_PART_CONFIG)
    Sides[A.Attempt] = sideFiles(L.Conf, J.T.Number);
  TheSession->submit(std::move(Job), J.T, A.Insist);
}

/// Nobody waits for the attempt any more.
void LinkRun::cancel(AttemptId A) {
  if (TheSession)
    TheSession->forget(A);
  forget(A);
}

void LinkRun::forget(AttemptId A) {
  Built.erase(A);
  Results.erase(A);
  Sides.erase(A);
}

void LinkRun::compileHere(const Action &A) {
  if (!LocalPool)
    LocalPool = std::make_unique<DefaultThreadPool>(hardware_concurrency(
        std::max(L.Parallelism, L.opts().LocalJobs.value_or(1))));
  ++NumOnThreads;
  LocalPool->async([this, &T = Jobs[A.Job]->T, Id = A.Attempt] {
    Clock::time_point Begin = Clock::now();
    CodegenResult Code = runLocalCodegen(L, T);
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

/// Compares what the plugin made with what was made here.
void LinkRun::verify(const Action &A) {
  const Job &J = *Jobs[A.Job];
  auto Ours = std::make_shared<Result>(std::move(Results[A.Attempt]));
  forget(A.Attempt);
  const Result &Theirs = Results[J.Winner];
  Made M{Theirs.Object.bytes(), Theirs.Outputs, Sides.lookup(J.Winner),
         workerName(workerOf(J.Winner)).str()};
  onHelper([this, &J, Ours, M = std::move(M), Id = A.Job] {
    Event E{Event::Verified};
    E.Job = Id;
    if (Error Why = Verifier(L, Builder.names(), Slim.get())
                        .compare(J.T, M, Ours->Object.bytes()))
      E.Message = toString(std::move(Why));
    Events->push(std::move(E));
  });
}

/// Gives an object that has been checked to LLVM.
void LinkRun::deliver(const Action &A) {
  Job &J = *Jobs[A.Job];
  auto Shared = std::make_shared<Result>(std::move(Results[A.Attempt]));
  auto Work = [this, &J, Shared, Id = A.Job, Side = Sides.lookup(A.Attempt)] {
    Event E{Event::Delivered};
    E.Job = Id;
    if (!(Shared->MayBeEmpty && Shared->Object.bytes().empty()))
      E.Message = writeObject(J, *Shared, Side);
    *Shared = {};
    Events->push(std::move(E));
  };
  // Into memory is a copy; all else is files.
  if (hasCache(L.Cache) || !Shared->Packed.bytes().empty())
    return onHelper(std::move(Work));
  ++NumOnThreads;
  Work();
}

/// Any thread. Returns what went wrong, if anything did.
std::string LinkRun::writeObject(Job &J, const Result &R,
                                 const SideFiles &Side) {
  if (Error E = writeSideFiles(R.Outputs, Side))
    return toString(std::move(E));
  Expected<std::unique_ptr<CachedFileStream>> Stream =
      J.Out(J.T.Number, J.T.name());
  if (!Stream)
    return toString(Stream.takeError());
  *(*Stream)->OS << R.Object.bytes();
  // A cache stores the object and adds it to the link here, or where the stream
  // ends.
  if (Error E = commitStream(**Stream))
    return toString(std::move(E));
  return {};
}

void LinkRun::close() {
  if (!TheSession)
    return;
  if (!TheSession->close(
          std::chrono::duration_cast<std::chrono::milliseconds>(CloseTimeout)))
    L.msg().warning("plugin '" + StringRef(L.Plugin->name) +
                    "': close() has not returned; leaving it behind");
  TheSession.reset();
}
