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
    : O(Opts), Jobs(Infos) {
  std::mt19937_64 Random(O.VerifySeed);
  uint64_t Left = (uint64_t(Jobs.size()) * O.VerifyPercent + 99) / 100;
  for (JobId J = 0; J != Jobs.size(); ++J) {
    bool IsSampled = Random() % (Jobs.size() - J) < Left;
    Jobs.notes(J).IsSampled = IsSampled;
    Left -= IsSampled;
  }
}

std::vector<Action> Plan::start(Time T) {
  assert(!HasStarted);
  HasStarted = true;
  Plugin.Now = std::max(Plugin.Now, T);
  Plugin.sawWork();
  decide();
  return Do.takeActions();
}

std::vector<Action> Plan::handle(Time T, const Event &E) {
  assert(HasStarted);
  // If we wake far too late, this process was suspended.
  if (Time Due = wakeUp();
      Due != Never && T - Due > std::max(4 * O.DeadlineStep, O.JobTimeout / 4))
    exclude(Due, T - Due);
  Plugin.Now = std::max(Plugin.Now, T);
  react(E);
  decide();
  while (Local.hasSpareToken()) {
    Local.returnToken();
    Do.act(Action::ReturnToken);
  }
  return Do.takeActions();
}

/// Excludes \p Lost, the time since \p From, from all deadlines.
void Plan::exclude(Time From, Time Lost) {
  Plugin.exclude(From, Lost);
  for (const Attempt *A : Jobs.in(State::Accepted)) {
    AttemptNotes &N = Jobs.notes(*A);
    N.LastSign += Lost;
    N.Since += Lost;
    if (N.Running)
      *N.Running += Lost;
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

double Plan::longFrom() const {
  size_t Slots = Room.hasLoad() ? Room.slots() : O.MinPrepared;
  return Jobs.sums().SecondsLeft / 2 / double(Slots + Share.localShare());
}

size_t Plan::numOnThreads() const {
  return Jobs.in(State::Preparing).size() + Jobs.in(State::Compiling).size() +
         Jobs.sums().NumBusyThreads;
}

bool Plan::newsCanWait() const {
  return Room.isThisMachine() && !Room.WantsBatches && !O.KeepOrder &&
         (Room.isFull() || Jobs.in(State::Ready).empty());
}

size_t Plan::numResultsThatCanWait() const {
  if (!Room.isThisMachine() || !Room.isFull() ||
      Jobs.in(State::Ready).empty() || Jobs.numAtPlugin() <= Room.load().Slots)
    return 0;
  return (Jobs.numAtPlugin() - Room.load().Slots) / 2;
}

//===----------------------------------------------------------------------===//
// Events of the session and of jobs
//===----------------------------------------------------------------------===//

void Plan::react(const Event &E) {
  switch (E.What) {
  case Event::Tick:
    return Plugin.sawCall(E.CallSince);
  case Event::OpenWanted:
    OpenIsWanted = true;
    return;
  case Event::Opened:
    return onOpened(E);
  case Event::OpenFailed:
    if (E.IsArgumentWrong && !Plugin.IsDropped)
      Plugin.IsArgumentWrong = true;
    return Do.dropPlugin(Cause::OpenFailed);
  case Event::PluginFailed:
    return Do.dropPlugin(Cause::PluginFailed);
  case Event::RoomChanged:
    Plugin.LastSign = Plugin.Now;
    Room.sawRoom();
    return queryLoad();
  case Event::LoadKnown:
    return Room.sawLoad(E.TheLoad);
  case Event::TokenTaken:
    Local.takeToken();
    return Share.lookNow(); // for the straggler that may have needed it
  case Event::Verified:
  case Event::VerifyFailed:
  case Event::Delivered:
  case Event::DeliverFailed:
  case Event::Confirmed:
    return reactOfJob(E);
  default:
    break;
  }
  const Attempt *A = Jobs.find(E.Attempt);
  if (A && A->IsOrphan)
    reactOfOrphan(*A, E);
  else if (A)
    reactOfAttempt(*A, E);
}

void Plan::onOpened(const Event &E) {
  if (!Plugin.isOpening())
    return;
  Plugin.sawOpen(/*IsDone=*/true);
  Room.LastQuery = Plugin.Now;
  Room.WantsBatches = E.WantsBatches;
  Do.act(Action::QueryLoad);
}

void Plan::reactOfJob(const Event &E) {
  const Job &J = Jobs[E.Job];
  switch (E.What) {
  case Event::Verified:
  case Event::VerifyFailed:
    if (J.At == Stage::Verifying)
      Do.verified(E.Job, E.What == Event::Verified);
    return;
  case Event::Delivered:
  case Event::DeliverFailed:
    if (J.At == Stage::Delivering)
      Do.endJob(E.Job, E.What == Event::Delivered ? Cause::Done
                                                  : Cause::DeliverFailed);
    return;
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
void Plan::reactOfOrphan(const Attempt &A, const Event &E) {
  bool IsPreparation = E.What == Event::Prepared || E.What == Event::CacheHit ||
                       E.What == Event::PrepareFailed ||
                       E.What == Event::NotExpressible;
  bool IsCompile =
      E.What == Event::CompiledHere || E.What == Event::CompileHereFailed;
  if (E.What == Event::CompiledHere)
    Rates.endedHere(Jobs[A].Info.Estimate, E.Seconds);
  if ((A.State == State::Preparing && IsPreparation) ||
      (A.State == State::Compiling && IsCompile))
    Do.remove(A);
}

void Plan::reactOfAttempt(const Attempt &A, const Event &E) {
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
    return Plugin.sawWork();
  case Event::Succeeded:
  case Event::Failed:
    // A result may overtake the answer of submit().
    if (!A.isInFlight())
      return;
    Plugin.sawWork();
    if (E.Why != Cause::Refused)
      Room.sawEnd();
    return E.What == Event::Succeeded ? onSucceeded(A, E) : onFailed(A, E.Why);
  case Event::CompiledHere:
    if (A.State == State::Compiling)
      onCompiledHere(A, E);
    return;
  case Event::CompileHereFailed:
    if (A.State == State::Compiling)
      Do.endWith(A, Cause::CompilerHere);
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
      return Do.compare(A);
    return Do.endWith(A, Cause::Cached);
  case Event::PrepareFailed:
    return Do.endWith(A, Cause::PrepareFailed);
  case Event::NotExpressible:
    Do.remove(A);
    if (Jobs[J].numLive() == 0)
      Do.compileHere(J, Cause::NotExpressible);
    return;
  default:
    break;
  }
  if (!A.isAtPlugin())
    return Jobs.move(A, State::Queued);
  if (!Plugin.IsDropped)
    return Jobs.setPrepared(A, E.Bytes);
  Do.act(Action::Cancel, J, A.Id, Cause::PluginGone);
  Do.remove(A);
  if (Jobs[J].numLive() == 0)
    Do.compileHere(J, Cause::PluginGone);
}

void Plan::onAccepted(const Attempt &A) {
  AttemptNotes &N = Jobs.notes(A);
  N.Since = N.LastSign = Plugin.Now;
  Plugin.sawWork();
  Room.sawAccepted();
  Jobs.move(A, State::Accepted);
}

void Plan::onBusy(const Attempt &A, const Event &E) {
  Room.sawBusy(E.RoomSince);
  if (A.Kind == Kind::Duplicate)
    Do.dropDuplicate(A); // there will be other stragglers, or this one again
  else
    Jobs.move(A, State::Ready);
}

void Plan::onState(const Attempt &A, const Event &E) {
  Jobs.report(A, E.State, E.RanHere);
  Plugin.sawState(E.State, Jobs[A]);
  AttemptNotes &N = Jobs.notes(A);
  N.LastSign = Plugin.Now;
  if (E.State == PluginState::Receiving && !N.Receiving)
    N.Receiving = Plugin.Now;
  if (E.State != PluginState::Running || N.Running)
    return;
  N.Running = Plugin.Now;
  Rates.began(Plugin.Now - N.Since);
}

void Plan::onSucceeded(const Attempt &A, const Event &E) {
  Plugin.LastResult = Plugin.Now;
  Plugin.HasEnded = true;
  const JobId J = A.Job;
  if (E.RanHere)
    Rates.endedHere(Jobs[J].Info.Estimate, E.Seconds);
  else
    Rates.ended(A, Jobs[J], Plugin.Now);
  Jobs.notes(J).IsProven = E.IsOurs;
  if (Jobs[J].IsSampled && !E.IsOurs)
    return Do.compare(A);
  Do.win(A);
  Do.hold(J);
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
  Jobs.noteInVain(A);
  // The same compiler would fail again.
  if (Why == Cause::CompilerHere)
    return Do.endWith(A, Why);
  Do.remove(A);
  // While another attempt is under way, the job hasn't failed. A single
  // remaining attempt counts as a try, and no longer as duplicate work.
  if (unsigned NumLive = Jobs[J].numLive()) {
    for (const Attempt *Other : Jobs[J].Attempts)
      if (Other->IsTwice && NumLive == 1)
        Jobs.retag(*Other, Other->isAtPlugin() ? Kind::Retry : Other->Kind,
                   /*IsTwice=*/false);
    return;
  }
  // Without a local compile, another worker has to confirm the error.
  bool IsRemoteWord = IsDoubted && !Plugin.mayFallBack();
  bool IsFirst = std::count_if(Doubted.begin(), Doubted.end(),
                               [=](auto &D) { return D.second == Why; }) == 1;
  bool IsWorthATry = Why == Cause::Infrastructure || Why == Cause::Cancelled ||
                     (IsRemoteWord && IsFirst);
  if (IsWorthATry && Jobs[J].Tries < O.MaxTries && !Plugin.IsDropped)
    return Do.prepareAgain(J, Kind::Retry, IsRemoteWord ? Worker : 0);
  if (!IsRemoteWord || Why != Cause::Compiler)
    return Do.fallBack(J, Id, Why);
  Jobs.notes(J).Decisive = Id;
  Do.endJob(J, Why);
}

void Plan::onCompiledHere(const Attempt &A, const Event &E) {
  const JobId J = A.Job;
  Rates.endedHere(Jobs[J].Info.Estimate, E.Seconds);
  if (A.Kind == Kind::Verify)
    return Do.verify(A);
  Do.win(A);
  Jobs.notes(J).IsProven = true;
  Do.hold(J);
}
