//===- LinkRun.cpp - Runs the jobs of a link ------------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Run/LinkRun.h"
#include "Host/PluginCheck.h"
#include "Host/PluginGuard.h"
#include "Run/LogObserver.h"
#include "Run/Notices.h"
#include "Run/Observers.h"
#include "Run/RemoteCache.h"
#include "Support/System.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <set>

using namespace llvm;
using namespace dtlto;
using namespace std::chrono_literals;

using plan::Action;
using plan::AttemptId;
using PlanEvent = plan::Event;

// The limits of close(), and of open() if no job is left for the plugin.
static constexpr std::chrono::seconds MaxClose = 10s, MaxOpen = 2s;

LinkRun::LinkRun(const RunContext &Ctx, std::shared_ptr<JobSource> TheSource,
                 function_ref<void(plan::Options &)> Adjust)
    : Ctx(Ctx), Source(std::move(TheSource)) {
  for (size_t J = 0; J != Source->numJobs(); ++J)
    Jobs.push_back({J, Source->facts(J)});
  orderJobs();
  std::string Note;
  auto Tokens = Jobserver::connect(Ctx.opts().MakeFlags, Note);
  if (!Note.empty())
    Ctx.msg().debug(Note);
  Room = std::make_shared<LocalRoom>(Ctx.opts().LocalMemory, std::move(Tokens));

  plan::Options O = options();
  if (Adjust)
    Adjust(O);
  CloseTimeout = std::min<plan::Time>({MaxClose, O.CallTimeout, O.JobTimeout});
  std::vector<plan::JobInfo> Infos;
  for (const Job &J : Jobs)
    Infos.push_back(
        {J.Facts.Seconds, !Source->sideFiles(J.Number).empty(), J.Memory});
  ThePlan = std::make_unique<plan::Plan>(Infos, O);
  if (Ctx.Store && Ctx.isLast())
    Remote = std::make_unique<RemoteCache>(
        Ctx, *Source,
        map_to_vector(Jobs, [](const Job &J) { return J.Number; }), Events);
  startObservers();
  if (O.VerifyPercent != 0)
    Ctx.msg().debug("--thinlto-dist-verify=" + Twine(O.VerifyPercent) + ":" +
                    Twine(O.VerifySeed) + " would compare the same jobs again");
  if (!Ctx.opts().Log.empty())
    Observers.push_back(std::make_unique<LogObserver>(*this, Ctx, O, Infos));
}

LinkRun::~LinkRun() = default;

/// Estimates all jobs and sorts them.
void LinkRun::orderJobs() {
  std::string Note;
  Costs = CostHistory::load(costHistoryPath(Ctx.opts()), &Note);
  Ctx.msg().emit(Costs->noteLevel(), Note);
  for (Job &J : Jobs) {
    JobFacts &F = J.Facts;
    CostEstimate E = Costs->estimate(F.CostKey, F.Size, F.LoadedSize);
    F.Seconds = E.Seconds;
    J.Memory = E.Memory;
  }
  // A single local thread takes modules in LLVM's order, like in-process
  // ThinLTO, so that the order of warnings and the file that is written last
  // stay the same.
  KeepOrder =
      Ctx.Host.Parallelism == 1 && !Jobs.empty() && Source->mustStayLocal(0);
  // LLVM also has its own order: the largest bitcode first.
  if (Ctx.opts().Order == OrderKind::Link)
    llvm::stable_sort(Jobs, [](const auto &A, const auto &B) {
      return A.Facts.Number < B.Facts.Number;
    });
  else if (!KeepOrder)
    llvm::stable_sort(Jobs, [](const auto &A, const auto &B) {
      return A.Facts.Seconds > B.Facts.Seconds;
    });
}

plan::Options LinkRun::options() const {
  plan::Options O;
  O.Cores = Ctx.Host.Parallelism;
  O.LocalJobs = Ctx.opts().LocalJobs;
  O.DuplicatePercent = Ctx.opts().DuplicatePercent;
  O.VerifyPercent = Ctx.opts().VerifyPercent;
  O.VerifySeed = Ctx.opts().VerifySeed.value_or(randomSeed());
  O.Fallback = Ctx.opts().Fallback == FallbackKind::Local &&
               Ctx.Host.Config.NoFallback.empty();
  O.KeepOrder = KeepOrder;
  O.OpenAtOnce = !Jobs.empty() && !Source->mayHit() &&
                 !Source->mustStayLocal(Jobs.front().Number);
  O.MaxBytesInFlight = Ctx.opts().Memory;
  O.MaxLocalBytes = Ctx.opts().LocalMemory;
  O.NeedsTokens = Room->tokens() != nullptr;
  O.JobTimeout = std::chrono::seconds(Ctx.opts().TimeoutSeconds);
  return O;
}

void LinkRun::startObservers() {
  auto Notes = std::make_unique<Notices>(*this, Ctx);
  TheNotices = Notes.get();
  Observers.push_back(std::move(Notes));
  Observers.push_back(std::make_unique<CostObserver>(*this, *Costs));
  if (!Ctx.opts().Report.empty() || Ctx.Timelines ||
      !Ctx.opts().StatsFile.empty())
    Observers.push_back(std::make_unique<TimelineObserver>(*this, Ctx));
  if (Ctx.opts().Progress == ProgressKind::Always ||
      (Ctx.opts().Progress == ProgressKind::Auto && Ctx.msg().columns()))
    Observers.push_back(std::make_unique<ProgressObserver>(*this, Ctx));
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

// In each turn, the plan's actions start as much work as it allows. Then this
// thread waits until some of that work has ended, and reports that to the plan.
Error LinkRun::run() {
  if (Remote)
    Remote->lookUp();
  Step First;
  First.Now = now();
  finishStep(First, ThePlan->start(First.Now));
  while (!ThePlan->isDone()) {
    Clock::time_point Due = Clock::now() + 1h;
    if (plan::Time At = ThePlan->wakeUp(); At != plan::Never)
      Due = std::min(Due, Ctx.StartTime + At);
    for (const auto &O : Observers)
      Due = std::min(Due, O->due());
    WakeUpPolicy P{ThePlan->updatesCanWait(), ThePlan->numDeferrableResults()};
    for (Event &E : Events->popAll(Due, P))
      handle(E);
    // Fail instead of waiting forever if no thread is working on the remaining
    // jobs.
    if (NumOnThreads == 0 && ThePlan->numOnThreads() != 0) {
      TheNotices->internalError(ThePlan->check());
      break;
    }
    tick();
  }
  close();
  finish();
  TheNotices->summarize(Source->notes(), Source->debugNotes());
  if (Error E = TheNotices->takeError())
    return E;
  return failForFindings();
}

/// Ends the threads, and whatever spans the whole link.
void LinkRun::finish() {
  // Report a plugin's violations and compilers' messages even after the last
  // job.
  for (Event &E : Events->popAll(Clock::now()))
    if (E.Kind == Event::Violation || E.Kind == Event::GaveUp ||
        E.Kind == Event::CompilerOutput)
      handle(E);
  if (Remote)
    Remote->stop();
  Helpers.reset();
  LocalPool.reset();
  Room->disconnect();
  for (const auto &O : Observers)
    O->finish();
  if (std::string Note = Costs->save(); !Note.empty())
    Ctx.msg().emit(
        Ctx.opts().Costs ? MessageLevel::Warning : Costs->noteLevel(), Note);
  // Name only the workers whose objects are in the link.
  std::set<std::string> Winners;
  for (const Job &J : Jobs)
    if (StringRef Name = workerName(workerOf(J.Winner));
        !Name.empty() && Name != ThisMachine)
      Winners.insert(Name.str());
  nameWorkersAtCrash(std::vector<std::string>(Winners.begin(), Winners.end()));
}

void LinkRun::step(const PlanEvent &E, Step S) {
  Owner.check();
  S.Now = now();
  S.E = &E;
  S.Job = E.Attempt ? JobOf.lookup(E.Attempt) : E.Job;
  finishStep(S, ThePlan->handle(S.Now, E));
}

void LinkRun::finishStep(Step &S, ArrayRef<Action> Actions) {
  S.Actions = Actions;
  HelperWork.set(ThePlan->hasIdleSlots() && Ctx.opts().Order != OrderKind::Link,
                 ThePlan->longJobThreshold());
  for (const Action &A : Actions)
    if (A.Attempt)
      JobOf[A.Attempt] = A.Job;
  for (const auto &O : Observers)
    O->onStep(S);
  for (const Action &A : Actions)
    perform(A);
}

void LinkRun::perform(const Action &A) {
  switch (A.What) {
  case Action::Open:
    raiseDescriptorLimit();
    TheSession = std::make_unique<Session>(Ctx.Host, Events, Jobs.size(), Room);
    return TheSession->open();
  case Action::Prepare:
    return prepare(A);
  case Action::Offer:
    return offer(A);
  case Action::CompleteBatch:
    return TheSession->completeBatch();
  case Action::Cancel:
    return cancel(A.Attempt);
  case Action::CompileLocally:
    return compileLocally(A);
  case Action::Won:
    Jobs[A.Job].Winner = A.Attempt;
    if (A.AKind == plan::AttemptKind::Found) {
      Attempts[A.Attempt].Result = Remote->take(A.Job);
      Attempts[A.Attempt].Side = Source->sideFiles(Jobs[A.Job].Number);
      recordWorker(A.Attempt, RemoteCacheName);
    }
    return;
  case Action::Refute:
    return TheSession->refute(A.Attempt);
  case Action::Verify:
    return verify(A);
  case Action::Deliver:
    return deliver(A);
  case Action::QueryLoad:
    return TheSession->queryLoad();
  case Action::TakeToken:
    return Room->tokens()->take(
        [Events = Events] { Events->push(Event{Event::TokenTaken}); });
  case Action::ReturnToken:
    return Jobserver::releaseToken();
  case Action::EndJob:
    if (A.Why == plan::Cause::LocalCompiler)
      deliverDespiteErrors(A);
    Jobs[A.Job].Out = Jobs[A.Job].RemoteOut = nullptr;
    Attempts.erase(A.Attempt);
    if (Remote)
      Remote->drop(A.Job);
    return;
  case Action::Close:
    return close();
  case Action::DropPlugin:
  case Action::StayLocal:
  case Action::FailLink:
    return;
  }
}

//===----------------------------------------------------------------------===//
// Queries of observers
//===----------------------------------------------------------------------===//

const BuiltJob *LinkRun::built(AttemptId A) const {
  auto It = Attempts.find(A);
  return It == Attempts.end() ? nullptr : It->second.Built.get();
}

bool LinkRun::hasErrors() const { return TheNotices->hasErrors(); }

uint64_t LinkRun::objectSize(AttemptId A) const {
  auto It = Attempts.find(A);
  return It == Attempts.end() ? 0 : It->second.Result.Object.bytes().size();
}

//===----------------------------------------------------------------------===//
// Actions
//===----------------------------------------------------------------------===//

/// Begins \p Work on \p J, which ends with an event. With \p OnThread, it takes
/// long enough for a helper thread.
void LinkRun::begin(plan::JobId J, bool OnThread, std::function<void()> Work) {
  ++NumOnThreads;
  if (!OnThread)
    return Work();
  const JobFacts &F = Jobs[J].Facts;
  HelperWork.add(J, F.Seconds, F.ImportWork, std::move(Work));
  if (!Helpers)
    Helpers =
        std::make_unique<WorkerThreads>(std::min(Ctx.Host.Parallelism, 4u));
  Helpers->async([this] { HelperWork.take()(); });
}

/// Reports the end of work on \p J, and why it failed, if it did. Any thread.
void LinkRun::reportEnd(Event::KindTy Kind, plan::JobId J, Error Why) {
  Event E{Kind};
  E.Job = J;
  E.Message = toString(std::move(Why));
  Events->push(std::move(E));
}

void LinkRun::prepare(const Action &A) {
  const Job &J = Jobs[A.Job];
  // Costs descend in the order of the jobs.
  uint64_t Cost =
      std::max<uint64_t>(1, static_cast<uint64_t>(J.Facts.Seconds * 1e6));
  begin(A.Job, Source->needsThread(A),
        [this, A, &J, Cost, Avoid = workerName(A.Avoid).str()] {
          Events->push(Source->prepare(A, J.Number, Cost, Avoid));
        });
}

void LinkRun::offer(const Action &A) {
  const Job &J = Jobs[A.Job];
  Attempt &Current = Attempts[A.Attempt];
  std::unique_ptr<BuiltJob> Job = std::move(Current.Built);
  if (Job->Job.fields & DTLTO_JOB_CONFIG) {
    Current.Side = Source->sideFiles(J.Number);
    Current.Side.Optimized = Job->ReturnsOptimized;
  }
  Current.Stop = std::make_shared<std::atomic<bool>>(false);
  LocalJob Local{J.Facts.Name, J.Memory,
                 [S = Source.get(), Number = J.Number, Stop = Current.Stop] {
                   return S->compileLocally(Number, Stop.get());
                 },
                 [S = Source.get(), Number = J.Number](StringRef Object) {
                   return S->check(Number, Object, /*IsAsWritten=*/false);
                 }};
  TheSession->submit(std::move(Job), std::move(Local), A.Insist);
}

/// Cancels an attempt that is no longer needed.
void LinkRun::cancel(AttemptId A) {
  if (TheSession)
    TheSession->forget(A);
  if (auto &Stop = Attempts[A].Stop)
    *Stop = true;
  Attempts.erase(A);
}

void LinkRun::compileLocally(const Action &A) {
  if (!LocalPool)
    LocalPool = std::make_unique<WorkerThreads>(
        std::max(Ctx.Host.Parallelism, Ctx.opts().LocalJobs.value_or(1)));
  ++NumOnThreads;
  auto Stop = Attempts[A.Attempt].Stop =
      std::make_shared<std::atomic<bool>>(false);
  const Job &J = Jobs[A.Job];
  Room->begin(J.Memory);
  LocalPool->async([this, &J, Id = A.Attempt, Stop] {
    Clock::time_point Begin = Clock::now();
    CodegenResult Code = Source->compileLocally(J.Number, Stop.get());
    Room->reclaim(J.Memory);
    Room->end(J.Memory);
    Event E{Event::LocalDone};
    E.Job = Id;
    E.Status = Code.Failed ? DTLTO_ERROR_COMPILER : DTLTO_OK;
    E.Message = join(Code.Errors, "\n");
    E.Errors = std::move(Code.Errors);
    E.Messages = std::move(Code.Messages);
    E.NoObject = !Code.HasObject;
    E.Object = Buffer::own(std::move(Code.Object));
    E.setEnded(Begin);
    Events->push(std::move(E));
  });
}

/// Compares the plugin's object with the local one.
void LinkRun::verify(const Action &A) {
  const Job &J = Jobs[A.Job];
  auto LocalResult =
      std::make_shared<JobResult>(std::move(Attempts[A.Attempt].Result));
  Attempts.erase(A.Attempt);
  // The plan delivers it only after the comparison has ended.
  const Attempt &Remote = Attempts[J.Winner];
  RemoteResult M{Remote.Result.Object.bytes(), Remote.Result.Outputs,
                 Remote.Side, workerName(workerOf(J.Winner)).str(),
                 Remote.Result.CacheEntry};
  begin(A.Job, /*OnThread=*/true,
        [this, &J, LocalResult, M = std::move(M), Id = A.Job] {
          reportEnd(Event::Verified, Id,
                    Source->compare(J.Number, M, LocalResult->Object.bytes()));
        });
}

/// Delivers a checked object.
void LinkRun::deliver(const Action &A) {
  const Job &J = Jobs[A.Job];
  Attempt &Current = Attempts[A.Attempt];
  auto Shared = std::make_shared<JobResult>(std::move(Current.Result));
  // Delivery to memory is only a copy; other deliveries write files.
  begin(A.Job, !Source->deliversToMemory() || !Shared->Packed.bytes().empty(),
        [this, &J, &Out = A.IsProven ? J.Out : J.RemoteOut, Shared, Id = A.Job,
         Side = Current.Side] {
          const bool IsEmpty = Shared->Object.bytes().empty();
          Error Why = Shared->MayBeEmpty && IsEmpty
                          ? Error::success()
                          : Source->deliver(J.Number, *Shared, Side, Out);
          if (!Why && Remote)
            Remote->put(Id, *Shared);
          *Shared = {};
          reportEnd(Event::Delivered, Id, std::move(Why));
        });
}

/// LLVM makes an object in spite of errors in assembly. LLD reports the errors
/// and continues with the object; otherwise other objects would miss its
/// symbols. The object isn't cached.
void LinkRun::deliverDespiteErrors(const Action &A) {
  const JobResult &R = Attempts[A.Attempt].Result;
  if (R.Object.bytes().empty())
    return;
  if (Error E = Source->deliver(Jobs[A.Job].Number, R, /*Side=*/{},
                                /*Out=*/nullptr))
    Ctx.msg().debug(toString(std::move(E)));
}

void LinkRun::close() {
  if (!TheSession)
    return;
  const std::string Plugin = "plugin '" + std::string(Ctx.Host.Plugin->name);
  // A call that has hung for that long has been reported.
  std::optional<Session::Call> C = TheSession->currentCall();
  plan::Time Elapsed = C ? Clock::now() - C->Since : plan::Time(0);
  const bool IsStuck = C && Elapsed >= CloseTimeout;
  plan::Time Limit = CloseTimeout;
  if (IsStuck)
    Limit = plan::Time(0);
  else if (C && StringRef(C->Name) == "open")
    Limit =
        std::clamp<plan::Time>(MaxOpen - Elapsed, plan::Time(0), CloseTimeout);
  if (!TheSession->close(
          std::chrono::duration_cast<std::chrono::milliseconds>(Limit))) {
    C = TheSession->currentCall();
    StringRef Call = C ? C->Name : "close";
    if (!IsStuck)
      Ctx.msg().warning(Plugin + "': " + Call +
                        "() has not returned; continuing without it");
    TheSession->keepAlive(Source);
  }
  Numbers = TheSession->numbers();
  TheSession.reset();
  if (std::string Changed = restoreProcess(); !Changed.empty())
    Ctx.msg().warning(Plugin + "' changed the linker's " + Changed +
                      ", which was undone; report this to its vendor");
}
