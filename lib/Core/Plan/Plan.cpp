//===- Plan.cpp - What events do to jobs ----------------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Plan/Plan.h"
#include <algorithm>
#include <random>

using namespace dtlto::plan;

using Kind = AttemptKind;
using State = AttemptState;

// More often than a plugin's threads tell of room between a job's BUSY and that
// answer's way to the plan.
static constexpr unsigned MaxBusyInSpite = 100;

Plan::Plan(std::vector<JobInfo> Infos, const Options &Opts)
    : O(Opts), PreparedLimit(Opts.MinPrepared), OffersAhead(Opts.MaxOffers) {
  Jobs.resize(Infos.size());
  for (size_t I = 0; I != Infos.size(); ++I) {
    Jobs[I].Info = Infos[I];
    SecondsInAll += Infos[I].Estimate;
  }
  SecondsLeft = SecondsInAll;
  EndWaiting = static_cast<JobId>(Jobs.size());
  sample();
}

/// Chooses which jobs are compared: all sets of so many are equally likely. At
/// least one, so that no link is too small for a percentage.
void Plan::sample() {
  std::mt19937_64 Random(O.VerifySeed);
  uint64_t Left = (uint64_t(Jobs.size()) * O.VerifyPercent + 99) / 100;
  for (size_t J = 0; J != Jobs.size(); ++J) {
    Jobs[J].IsSampled = Random() % (Jobs.size() - J) < Left;
    Left -= Jobs[J].IsSampled;
  }
}

Action &Plan::act(Action::Kind What, JobId J, AttemptId A, Cause Why) {
  Action &New = Out->emplace_back();
  New.What = What;
  New.Job = J;
  New.Attempt = A;
  New.Why = Why;
  if (const Attempt *Of = A ? find(A) : nullptr)
    New.AKind = Of->Kind;
  return New;
}

void Plan::start(Time T, std::vector<Action> &Actions) {
  Now = LastSign = LastWork = T;
  Out = &Actions;
  decide();
  Out = nullptr;
}

void Plan::handle(Time T, const Event &E, std::vector<Action> &Actions) {
  forgive(T);
  Now = std::max(Now, T);
  Out = &Actions;
  react(E);
  decide();
  returnTokens();
  Out = nullptr;
}

/// Where wakeUp() was missed by far, this process was stopped, and nobody was
/// heard: that time doesn't count.
void Plan::forgive(Time T) {
  Time Due = wakeUp();
  if (Due == Never || T - Due <= std::max(4 * O.DeadlineStep, O.JobTimeout / 4))
    return;
  Time Lost = T - Due;
  for (Time *At : {&LastSign, &LastWork, &LastResult, &FirstOffer})
    *At += Lost;
  if (DueBegan)
    *DueBegan += Lost;
  if (CallSince != Never)
    CallSince += Lost;
  StoppedFrom = Due;
  StoppedInCall += Lost;
  for (const Key &K : in(State::Accepted)) {
    Attempt &A = *find(K.second);
    A.LastSign += Lost;
    A.Since += Lost;
    if (A.Running)
      *A.Running += Lost;
  }
}

/// All that there is to do now. What one of these makes possible, those after
/// it do.
void Plan::decide() {
  LacksToken = false;
  checkDeadlines();
  deliverHeld();
  if (!Failing) {
    prepareMore();
    offerMore();
    compileMore();
    shareMore();
    prepareMore(); // what was begun here has left its place
    duplicateMore();
    if (isBatchComplete()) {
      BatchIsOpen = false;
      act(Action::CompleteBatch);
    }
  }
  if (LacksToken && !TokenAsked) {
    TokenAsked = true;
    act(Action::TakeToken);
  }
  if (NumEnded == Jobs.size() && OpenAsked && !CloseAsked) {
    CloseAsked = true;
    act(Action::Close);
  }
}

bool Plan::isDone() const {
  return NumEnded == Jobs.size() && in(State::Preparing).empty() &&
         in(State::Compiling).empty();
}

//===----------------------------------------------------------------------===//
// Events
//===----------------------------------------------------------------------===//

void Plan::react(const Event &E) {
  switch (E.What) {
  case Event::Tick:
    CallSince = E.CallSince;
    if (CallSince == Never || CallSince >= StoppedFrom)
      StoppedInCall = Time(0);
    else
      CallSince += StoppedInCall;
    return;
  case Event::OpenWanted:
    OpenIsWanted = true;
    return;
  case Event::Opened:
    return onOpened(E);
  case Event::OpenFailed:
    if (PluginGone)
      return;
    if (E.Flag)
      FallbackForbidden = true;
    return dropPlugin(Cause::OpenFailed);
  case Event::PluginFailed:
    return dropPlugin(Cause::PluginFailed);
  case Event::RoomChanged:
    LastSign = Now;
    PluginBusy = false;
    if (!std::exchange(EndedSinceRoom, false) && FullAt != SIZE_MAX) {
      FullAt = SIZE_MAX;
      OffersAhead = 0;
    }
    if (IsOpen && !PluginGone && !CloseAsked &&
        Now - LastLoadQuery >= O.LoadInterval) {
      LastLoadQuery = Now;
      act(Action::QueryLoad);
    }
    return;
  case Event::LoadKnown:
    return onLoad(E.TheLoad);
  case Event::TokenTaken:
    TokenAsked = false;
    ++Tokens;
    NextLook = Now; // for the straggler that may have wanted it
    return;

  case Event::Verified:
  case Event::VerifyFailed:
    if (Jobs[E.Job].At != Stage::Verifying)
      return;
    --NumBusyThreads;
    if (E.What == Event::Verified) {
      Jobs[E.Job].IsProven = true;
      return hold(E.Job);
    }
    HasDifference = true;
    // An object from a cache is none of the plugin's.
    if (!Jobs[E.Job].IsCached)
      refute(E.Job, Jobs[E.Job].Decisive, Cause::VerifyFailed);
    return endJob(E.Job, Cause::VerifyFailed);
  case Event::Delivered:
  case Event::DeliverFailed:
    if (Jobs[E.Job].At != Stage::Delivering)
      return;
    --NumBusyThreads;
    return endJob(E.Job, E.What == Event::Delivered ? Cause::Done
                                                    : Cause::DeliverFailed);
  case Event::Confirmed: {
    auto &Doubted = Jobs[E.Job].Doubted;
    Doubted.erase(std::remove(Doubted.begin(), Doubted.end(),
                              std::pair(E.Attempt, Cause::BadResult)),
                  Doubted.end());
    return;
  }
  default:
    break;
  }

  Attempt *A = find(E.Attempt);
  if (!A)
    return;
  if (A->IsOrphan) {
    // Only its thread is of interest.
    bool IsPreparation =
        E.What == Event::Prepared || E.What == Event::CacheHit ||
        E.What == Event::PrepareFailed || E.What == Event::NotExpressible;
    bool IsCompile =
        E.What == Event::CompiledHere || E.What == Event::CompileHereFailed;
    if (E.What == Event::CompiledHere)
      learn(*A, E);
    if ((A->State == State::Preparing && IsPreparation) ||
        (A->State == State::Compiling && IsCompile))
      remove(A->Id);
    return;
  }
  if (E.Worker && isAtPlugin(*A))
    A->Worker = E.Worker;
  switch (E.What) {
  case Event::Prepared:
  case Event::CacheHit:
  case Event::PrepareFailed:
  case Event::NotExpressible:
    if (A->State == State::Preparing)
      onPrepared(*A, E);
    return;
  case Event::Accepted:
    if (A->State != State::Offered)
      return;
    A->Since = A->LastSign = Now;
    sawWork();
    BusyInSpite = 0;
    OffersAhead = std::min(OffersAhead + 1, O.MaxOffers);
    BatchIsOpen = WantsBatches;
    return move(*A, State::Accepted);
  case Event::Busy:
    if (A->State == State::Offered)
      onBusy(*A, E);
    return;
  case Event::StateChanged:
    if (A->State == State::Offered || A->State == State::Accepted)
      onState(*A, E);
    return;
  case Event::Alive:
    A->LastSign = Now;
    return sawWork();
  case Event::Succeeded:
  case Event::Failed:
    // A result may overtake the answer of submit().
    if (A->State != State::Offered && A->State != State::Accepted)
      return;
    sawWork();
    if (E.Why != Cause::Refused) {
      PluginBusy = false;
      EndedSinceRoom = true;
    }
    return E.What == Event::Succeeded ? onSucceeded(*A, E)
                                      : onFailed(*A, E.Why);
  case Event::CompiledHere:
    if (A->State == State::Compiling)
      onCompiledHere(*A, E);
    return;
  case Event::CompileHereFailed:
    if (A->State == State::Compiling)
      onCompileHereFailed(*A);
    return;
  default:
    return;
  }
}

void Plan::onPrepared(Attempt &A, const Event &E) {
  JobId J = A.Job;
  AttemptId Id = A.Id;
  Jobs[J].WasPrepared = true;
  switch (E.What) {
  case Event::CacheHit:
    Jobs[J].IsCached = true;
    if (E.Flag)
      return compare(A);
    [[fallthrough]];
  case Event::PrepareFailed:
    Jobs[J].Decisive = Id;
    remove(Id);
    return endJob(J, E.What == Event::CacheHit ? Cause::Cached
                                               : Cause::PrepareFailed);
  case Event::NotExpressible:
    remove(Id);
    if (numLive(Jobs[J]) == 0)
      compileHere(J, Cause::NotExpressible);
    return;
  default:
    break;
  }
  if (!isAtPlugin(A))
    return move(A, State::Queued);
  if (PluginGone) {
    act(Action::Cancel, J, Id, Cause::PluginGone);
    remove(Id);
    if (numLive(Jobs[J]) == 0)
      compileHere(J, Cause::PluginGone);
    return;
  }
  A.Bytes = E.Bytes;
  move(A, State::Ready);
}

void Plan::onOpened(const Event &E) {
  if (PluginGone || IsOpen || CloseAsked)
    return;
  IsOpen = true;
  WantsBatches = E.WantsBatches;
  LastLoadQuery = LastResult = Now;
  sawWork();
  act(Action::QueryLoad);
}

void Plan::onLoad(const Load &L) {
  LoadIsKnown = true;
  TheLoad = L;
  if (TheLoad.Local == Unknown)
    TheLoad.Local = 0;
  if (L.Slots != Unknown)
    PreparedLimit = static_cast<unsigned>(std::clamp<uint64_t>(
        uint64_t(O.PreparedPerSlot) * L.Slots, O.MinPrepared,
        std::max(O.MinPrepared, O.MaxPrepared)));
}

void Plan::onBusy(Attempt &A, const Event &E) {
  OffersAhead = 0;
  // One that tells of room each time isn't asked without end.
  if (!E.Flag || ++BusyInSpite > MaxBusyInSpite) {
    PluginBusy = true;
    EndedSinceRoom = false;
    FullAt = numAtPlugin() - 1;
    FullSince = Now;
  }
  if (A.Kind != Kind::Duplicate)
    return move(A, State::Ready);
  // There will be other stragglers, or this one again.
  --Jobs[A.Job].Duplicates;
  cancel(A.Id, Cause::Overtaken);
}

void Plan::onState(Attempt &A, const Event &E) {
  count(A, false);
  A.Reported = E.State;
  A.RunsHere = E.RanHere;
  count(A, true);
  A.LastSign = LastSign = Now;
  if (E.State == PluginState::Queued)
    return;
  LastWork = Now;
  expectResult(A.Job);
  if (E.State == PluginState::Sending)
    return;
  ReportsStates = true;
  std::optional<Time> &Began =
      E.State == PluginState::Receiving ? A.Receiving : A.Running;
  if (Began)
    return;
  Began = Now;
  if (E.State == PluginState::Receiving)
    return;
  Waits.add(1, std::chrono::duration<double>(Now - A.Since).count());
}

void Plan::onSucceeded(Attempt &A, const Event &E) {
  LastResult = Now;
  PluginEnded = true;
  learn(A, E);
  JobId J = A.Job;
  Jobs[J].IsProven = E.Flag;
  if (Jobs[J].IsSampled && !E.Flag)
    return compare(A);
  win(A);
  hold(J);
}

/// The object of \p A wins if it is equal to one that is made here.
void Plan::compare(Attempt &A) {
  HasCompared = true;
  JobId J = A.Job;
  // It may be compiled here already: then that one is compared.
  bool IsHere = false;
  for (Attempt &Other : Jobs[J].Attempts)
    if (Other.Id != A.Id && !isAtPlugin(Other)) {
      setKind(Other, Kind::Verify, /*IsTwice=*/false);
      IsHere = true;
    }
  win(A);
  if (!IsHere)
    add(J, Kind::Verify, State::Queued, Cause::None);
}

/// The job has its object. Whatever else is under way for it is cancelled, but
/// for what is to be compared with it.
void Plan::win(Attempt &A) {
  JobId J = A.Job;
  act(Action::Won, J, A.Id, A.Why);
  for (auto [Wrong, Why] : Jobs[J].Doubted)
    refute(J, Wrong, Why);
  Jobs[J].Decisive = A.Id;
  std::vector<AttemptId> Others;
  for (const Attempt &Other : Jobs[J].Attempts)
    if (Other.Id != A.Id && Other.Kind != Kind::Verify && !Other.IsOrphan) {
      Others.push_back(Other.Id);
      SecondsInVain += Other.IsTwice ? Jobs[J].Info.Estimate : 0;
    }
  remove(A.Id);
  for (AttemptId Id : Others)
    cancel(Id, Cause::Overtaken);
  markTaken(Jobs[J]);
}

void Plan::refute(JobId J, AttemptId Wrong, Cause Why) {
  if (!PluginGone)
    act(Action::Refute, J, Wrong, Why);
}

/// An attempt at the plugin's has come to nothing.
void Plan::onFailed(Attempt &A, Cause Why) {
  JobId J = A.Job;
  AttemptId Id = A.Id;
  WorkerId Worker = A.Worker;
  Job &TheJob = Jobs[J];
  SecondsInVain += A.IsTwice ? TheJob.Info.Estimate : 0;
  remove(Id);
  bool IsDoubted = Why == Cause::Compiler || Why == Cause::BadResult;
  if (IsDoubted)
    TheJob.Doubted.push_back({Id, Why});
  // The same compiler would say the same again.
  if (Why == Cause::CompilerHere) {
    TheJob.Decisive = Id;
    return endJob(J, Why);
  }
  // While another attempt is under way, this is no failure of the job.
  if (numLive(TheJob) != 0) {
    for (Attempt &Other : TheJob.Attempts)
      if (Other.IsTwice && numLive(TheJob) == 1)
        setKind(Other, isAtPlugin(Other) ? Kind::Retry : Other.Kind,
                /*IsTwice=*/false);
    return;
  }
  // Not compiled here, so another worker has to say what it says.
  bool IsRemoteWord = IsDoubted && !mayFallBack();
  bool IsFirst = std::count_if(TheJob.Doubted.begin(), TheJob.Doubted.end(),
                               [=](auto &D) { return D.second == Why; }) == 1;
  bool IsWorthATry = Why == Cause::Infrastructure || Why == Cause::Cancelled ||
                     (IsRemoteWord && IsFirst);
  if (IsWorthATry && TheJob.Tries < O.MaxTries && !PluginGone)
    return prepareAgain(J, Kind::Retry, IsRemoteWord ? Worker : 0);
  if (IsRemoteWord && Why == Cause::Compiler) {
    TheJob.Decisive = Id;
    return endJob(J, Why);
  }
  fallBack(J, Id, Why);
}

void Plan::onCompiledHere(Attempt &A, const Event &E) {
  learn(A, E);
  JobId J = A.Job;
  if (A.Kind == Kind::Verify) {
    AttemptId Id = A.Id;
    act(Action::Verify, J, Id);
    remove(Id);
    Jobs[J].At = Stage::Verifying;
    ++NumBusyThreads;
    return;
  }
  win(A);
  Jobs[J].IsProven = true;
  hold(J);
}

void Plan::onCompileHereFailed(Attempt &A) {
  JobId J = A.Job;
  Jobs[J].Decisive = A.Id;
  remove(A.Id);
  endJob(J, Cause::CompilerHere);
}
