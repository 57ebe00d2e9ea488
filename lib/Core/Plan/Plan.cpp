//===- Plan.cpp - How a plan handles events -------------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Plan/Plan.h"
#include <cassert>
#include <random>

using namespace dtlto::plan;

/// Chooses the jobs to compare: all sets of that size are equally likely.
/// Chooses at least one, however small the link.
Plan::Plan(const std::vector<JobInfo> &Infos, const Options &Opts)
    : Opts(Opts), Jobs(Infos) {
  std::mt19937_64 Random(Opts.VerifySeed);
  uint64_t NumLeft = (uint64_t(Jobs.size()) * Opts.VerifyPercent + 99) / 100;
  for (JobId J = 0; J != Jobs.size(); ++J) {
    bool IsSampled = Random() % (Jobs.size() - J) < NumLeft;
    Jobs.notes(J).IsSampled = IsSampled;
    NumLeft -= IsSampled;
  }
}

std::vector<Action> Plan::start(Time T) {
  assert(!HasStarted);
  HasStarted = true;
  Plugin.Now = std::max(Plugin.Now, T);
  Plugin.recordWork();
  decide();
  return Executor.takeActions();
}

std::vector<Action> Plan::handle(Time T, const Event &E) {
  assert(HasStarted);
  // If we wake far too late, this process was suspended.
  if (Time Due = wakeUp();
      Due != Never &&
      T - Due > std::max(4 * Opts.DeadlineStep, Opts.JobTimeout / 4))
    excludePause(Due, T - Due);
  Plugin.Now = std::max(Plugin.Now, T);
  dispatch(E);
  decide();
  while (Local.hasSpareToken()) {
    Local.returnToken();
    Executor.addAction(Action::ReturnToken);
  }
  return Executor.takeActions();
}

/// Excludes \p Pause, the time since \p From, from all deadlines.
void Plan::excludePause(Time From, Time Pause) {
  Plugin.excludePause(From, Pause);
  for (const Attempt *A : Jobs.in(State::Accepted)) {
    AttemptNotes &N = Jobs.notes(*A);
    N.LastSign += Pause;
    N.Since += Pause;
    if (N.Running)
      *N.Running += Pause;
  }
}

//===----------------------------------------------------------------------===//
// Queries
//===----------------------------------------------------------------------===//

bool Plan::isDone() const {
  return Jobs.hasEnded() && Jobs.in(State::Preparing).empty() &&
         Jobs.in(State::Compiling).empty();
}

bool Plan::isLive(AttemptId Id) const {
  const Attempt *A = Jobs.find(Id);
  return A && !A->IsOrphan;
}

std::vector<AttemptId> Plan::accepted() const {
  std::vector<AttemptId> Ids;
  for (const Attempt *A : Jobs.in(State::Accepted))
    Ids.push_back(A->Id);
  return Ids;
}

double Plan::longJobThreshold() const {
  size_t Slots = Room.hasLoad() ? Room.slots() : Opts.MinPrepared;
  return Jobs.sums().RemainingSeconds / 2 / double(Slots + Share.localShare());
}

size_t Plan::numOnThreads() const {
  return Jobs.in(State::Preparing).size() + Jobs.in(State::Compiling).size() +
         Jobs.sums().NumBusyThreads;
}

bool Plan::updatesCanWait() const {
  return Room.isThisMachine() && !Room.WantsBatches && !Opts.KeepOrder &&
         (Room.isFull() || Jobs.in(State::Ready).empty());
}

size_t Plan::numDeferrableResults() const {
  if (!Room.isThisMachine() || !Room.isFull() ||
      Jobs.in(State::Ready).empty() || Jobs.numAtPlugin() <= Room.load().Slots)
    return 0;
  return (Jobs.numAtPlugin() - Room.load().Slots) / 2;
}

//===----------------------------------------------------------------------===//
// Events of the session and of jobs
//===----------------------------------------------------------------------===//

void Plan::dispatch(const Event &E) {
  switch (E.What) {
  case Event::Tick:
    return Plugin.recordCall(E.CallSince);
  case Event::Opened:
    return onOpened(E);
  case Event::OpenFailed:
    if (E.IsArgumentWrong && !Plugin.IsDropped)
      Plugin.IsArgumentWrong = true;
    return Executor.dropPlugin(Cause::OpenFailed);
  case Event::PluginFailed:
    return Executor.dropPlugin(Cause::PluginFailed);
  case Event::RoomChanged:
    Plugin.LastSign = Plugin.Now;
    Room.recordRoom();
    return queryLoad();
  case Event::LoadReported:
    return Room.recordLoad(E.ReportedLoad);
  case Event::TokenTaken:
    Local.takeToken();
    return Share.scanNow(); // for the straggler that may have needed it
  case Event::Verified:
  case Event::VerifyFailed:
  case Event::Delivered:
  case Event::DeliverFailed:
  case Event::Confirmed:
  case Event::Found:
    return handleJobEvent(E);
  default:
    break;
  }
  const Attempt *A = Jobs.find(E.Attempt);
  if (A && A->IsOrphan)
    handleOrphanEvent(*A, E);
  else if (A)
    handleAttemptEvent(*A, E);
}

void Plan::onOpened(const Event &E) {
  if (!Plugin.isOpening())
    return;
  Plugin.recordOpen(/*IsDone=*/true);
  Room.LastQuery = Plugin.Now;
  Room.WantsBatches = E.WantsBatches;
  Executor.addAction(Action::QueryLoad);
}

void Plan::handleJobEvent(const Event &E) {
  const Job &J = Jobs[E.Job];
  switch (E.What) {
  case Event::Verified:
  case Event::VerifyFailed:
    if (J.At == Stage::Verifying)
      Executor.finishVerification(E.Job, E.What == Event::Verified);
    return;
  case Event::Delivered:
  case Event::DeliverFailed:
    if (J.At == Stage::Delivering)
      Executor.endJob(E.Job, E.What == Event::Delivered ? Cause::Done
                                                        : Cause::DeliverFailed);
    return;
  case Event::Found:
    return onFound(E.Job);
  default:
    break;
  }
  // Confirmed: the object was valid.
  auto &Doubted = Jobs.notes(E.Job).Doubted;
  Doubted.erase(std::remove(Doubted.begin(), Doubted.end(),
                            std::pair(E.Attempt, Cause::BadResult)),
                Doubted.end());
}

//===----------------------------------------------------------------------===//
// Events of attempts
//===----------------------------------------------------------------------===//

/// Only the end of \p A's thread matters.
void Plan::handleOrphanEvent(const Attempt &A, const Event &E) {
  bool IsPreparation = E.What == Event::Prepared || E.What == Event::CacheHit ||
                       E.What == Event::PrepareFailed ||
                       E.What == Event::NotExpressible;
  bool IsCompile =
      E.What == Event::CompiledLocally || E.What == Event::LocalCompileFailed;
  if (E.What == Event::CompiledLocally)
    Rates.recordLocal(Jobs[A].Info.Estimate, E.Seconds);
  if ((A.State == State::Preparing && IsPreparation) ||
      (A.State == State::Compiling && IsCompile))
    Executor.remove(A);
}

void Plan::handleAttemptEvent(const Attempt &A, const Event &E) {
  if (E.Worker && A.isAtPlugin())
    Jobs.notes(A).Worker = E.Worker;
  switch (E.What) {
  case Event::Prepared:
  case Event::CacheHit:
  case Event::PrepareFailed:
  case Event::NotExpressible:
    if (A.State == State::Preparing)
      onPrepared(A, E);
    return;
  case Event::Accepted:
    if (A.State == State::Offered)
      onAccepted(A);
    return;
  case Event::Busy:
    if (A.State == State::Offered)
      onBusy(A, E);
    return;
  case Event::StateChanged:
    if (A.isInFlight())
      onState(A, E);
    return;
  case Event::Alive:
    Jobs.notes(A).LastSign = Plugin.Now;
    return Plugin.recordWork();
  case Event::Succeeded:
  case Event::Failed:
    // A result may overtake the answer of submit().
    if (!A.isInFlight())
      return;
    Plugin.recordWork();
    if (E.Why != Cause::Refused)
      Room.recordEnd();
    return E.What == Event::Succeeded ? onSucceeded(A, E) : onFailed(A, E.Why);
  case Event::CompiledLocally:
    if (A.State == State::Compiling)
      onCompiledLocally(A, E);
    return;
  case Event::LocalCompileFailed:
    if (A.State == State::Compiling)
      Executor.endWith(A, Cause::LocalCompiler);
    return;
  default:
    return;
  }
}

void Plan::onPrepared(const Attempt &A, const Event &E) {
  const JobId J = A.Job;
  switch (E.What) {
  case Event::CacheHit:
    Jobs.notes(J).IsCached = true;
    if (E.MustCompare)
      return Executor.compare(A);
    return Executor.endWith(A, Cause::Cached);
  case Event::PrepareFailed:
    return Executor.endWith(A, Cause::PrepareFailed);
  default:
    break;
  }
  if (Jobs[J].IsFound) {
    if (E.What == Event::Prepared)
      Executor.addAction(Action::Cancel, J, A.Id, Cause::Overtaken);
    Executor.remove(A);
    return Executor.useFound(J);
  }
  if (E.What == Event::NotExpressible) {
    Executor.remove(A);
    if (Jobs[J].numLive() == 0)
      Executor.queueLocally(J, Cause::NotExpressible);
    return;
  }
  if (!A.isAtPlugin())
    return Jobs.move(A, State::Queued);
  if (!Plugin.IsDropped)
    return Jobs.setPrepared(A, E.Bytes);
  Executor.addAction(Action::Cancel, J, A.Id, Cause::PluginDropped);
  Executor.remove(A);
  if (Jobs[J].numLive() == 0)
    Executor.queueLocally(J, Cause::PluginDropped);
}

void Plan::onAccepted(const Attempt &A) {
  AttemptNotes &N = Jobs.notes(A);
  N.Since = N.LastSign = Plugin.Now;
  Plugin.recordWork();
  Room.recordAccepted();
  Jobs.move(A, State::Accepted);
}

void Plan::onBusy(const Attempt &A, const Event &E) {
  Room.recordBusy(E.HasRoomSince);
  // There will be other stragglers, or this one again.
  if (A.Kind == Kind::Duplicate)
    Executor.dropDuplicate(A);
  else
    Jobs.move(A, State::Ready);
}

void Plan::onState(const Attempt &A, const Event &E) {
  Jobs.report(A, E.State, E.RanLocally);
  Plugin.recordState(E.State, Jobs[A]);
  AttemptNotes &N = Jobs.notes(A);
  N.LastSign = Plugin.Now;
  if (E.State == PluginState::Receiving && !N.Receiving)
    N.Receiving = Plugin.Now;
  if (E.State != PluginState::Running || N.Running)
    return;
  N.Running = Plugin.Now;
  Rates.recordWait(Plugin.Now - N.Since);
}

void Plan::onSucceeded(const Attempt &A, const Event &E) {
  Plugin.LastResult = Plugin.Now;
  Plugin.HasEnded = true;
  Plugin.NumTimeouts = 0;
  const JobId J = A.Job;
  if (E.RanLocally)
    Rates.recordLocal(Jobs[J].Info.Estimate, E.Seconds);
  else
    Rates.recordRemote(A, Jobs[J], Plugin.Now);
  Jobs.notes(J).IsProven = E.IsFromLinker;
  if (Jobs[J].IsSampled && !E.IsFromLinker)
    return Executor.compare(A);
  Executor.win(A);
  Executor.hold(J);
}

/// Handles the failure of an attempt at the plugin.
void Plan::onFailed(const Attempt &A, Cause Why) {
  const JobId J = A.Job;
  const AttemptId Id = A.Id;
  const WorkerId Worker = A.Worker;
  auto &Doubted = Jobs.notes(J).Doubted;
  bool IsDoubted = Why == Cause::Compiler || Why == Cause::BadResult;
  if (IsDoubted)
    Doubted.push_back({Id, Why});
  Jobs.countWasted(A);
  // The same compiler would fail again.
  if (Why == Cause::LocalCompiler)
    return Executor.endWith(A, Why);
  Executor.remove(A);
  // While another attempt is under way, the job hasn't failed. A single
  // remaining attempt counts as a try, and no longer as duplicate work.
  if (unsigned NumLive = Jobs[J].numLive()) {
    for (const Attempt *Other : Jobs[J].Attempts)
      if (Other->IsRedundant && NumLive == 1)
        Jobs.setKind(*Other, Other->isAtPlugin() ? Kind::Retry : Other->Kind,
                     /*IsRedundant=*/false);
    return;
  }
  // Without a local compile, another worker has to confirm the error.
  bool IsRemoteVerdict = IsDoubted && !Plugin.mayFallBack();
  bool IsFirst = std::count_if(Doubted.begin(), Doubted.end(),
                               [=](auto &D) { return D.second == Why; }) == 1;
  bool IsWorthATry = Why == Cause::Infrastructure || Why == Cause::Cancelled ||
                     (IsRemoteVerdict && IsFirst);
  if (IsWorthATry && Jobs[J].Tries < Opts.MaxTries && !Plugin.IsDropped)
    return Executor.prepareAgain(J, Kind::Retry, IsRemoteVerdict ? Worker : 0);
  if (!IsRemoteVerdict || Why != Cause::Compiler)
    return Executor.fallBack(J, Id, Why);
  Jobs.notes(J).Decisive = Id;
  Executor.endJob(J, Why);
}

void Plan::onCompiledLocally(const Attempt &A, const Event &E) {
  const JobId J = A.Job;
  Rates.recordLocal(Jobs[J].Info.Estimate, E.Seconds);
  if (A.Kind == Kind::Verify)
    return Executor.verify(A);
  Executor.win(A);
  Jobs.notes(J).IsProven = true;
  Executor.hold(J);
}

/// Uses the object from the remote cache unless the job has one. A job that
/// isn't prepared comes first to LLVM's cache. If a local attempt is writing
/// the job's side files, they must belong to that attempt's object.
void Plan::onFound(JobId J) {
  const Job &Wanted = Jobs[J];
  const bool IsOpen = Wanted.At == Stage::UnderWay && Wanted.Decisive == 0;
  bool IsPreparing = true, IsCompiling = false;
  for (const Attempt *A : Wanted.Attempts) {
    IsPreparing &= A->IsOrphan || A->State == State::Preparing;
    IsCompiling |= A->State == State::Compiling;
  }
  if (Wanted.At == Stage::Waiting || (IsOpen && IsPreparing)) {
    Jobs.notes(J).IsFound = true;
    Jobs.markNotRemaining(J);
  } else if (IsOpen && !(Wanted.Info.HasSideFiles && IsCompiling)) {
    Executor.useFound(J);
  }
}
