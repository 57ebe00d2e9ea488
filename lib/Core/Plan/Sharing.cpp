//===- Sharing.cpp - The local share of jobs, and stragglers --------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Plan/Sharing.h"

using namespace dtlto::plan;

using Kind = AttemptKind;
using State = AttemptState;

unsigned Sharing::localShare() const {
  if ((!Plugin.isOpen() && !Plugin.opensSlowly()) || Opts.KeepOrder)
    return 0;
  if (Opts.LocalJobs)
    return *Opts.LocalJobs;
  // Without fallback, the user wants all jobs to run remotely.
  if (!Plugin.mayFallBack() ||
      (Plugin.isOpen() && !Room.hasLoad() && !IsLate) || Room.isThisMachine())
    return 0;
  // Leave cores to the linker itself while others compile.
  unsigned NumTaken = Room.load().Local;
  if (Jobs.numAtPlugin() != 0 && !Plugin.isSilent() && !IsLate)
    NumTaken += 1 + Opts.Cores / 8;
  return Opts.Cores > NumTaken ? Opts.Cores - NumTaken : 0;
}

//===----------------------------------------------------------------------===//
// Whether a job begins locally
//===----------------------------------------------------------------------===//

/// Whether \p J could begin locally now. Jobs that must be compiled locally go
/// first.
bool Sharing::mayBeginNow(const Job &J) {
  return Jobs.in(State::Queued).empty() &&
         Local.hasRoom(J, Jobs.sums().NumPreparingLocal,
                       Jobs.sums().PreparingLocalBytes);
}

/// Whether \p J would end locally before the plugin ends the remaining work.
bool Sharing::paysLocally(const Job &J) const {
  if (Jobs.numAtPlugin() == 0 || IsLate)
    return true;
  double Rest =
      Jobs.sums().RemainingSeconds * Rates.remote() / double(Room.slots());
  double LocalTime = J.Info.Estimate * Rates.local();
  double Patience = seconds(Opts.Patience);
  // A plugin without a result for so long is slower than it claims.
  return LocalTime <= Rest ||
         seconds(Plugin.Now - Plugin.LastResult) >
             std::max(LocalTime, Patience) ||
         seconds(Plugin.silence()) > std::min(LocalTime, Patience);
}

/// Notes that a core is free for \p J, but compiling it locally doesn't pay
/// yet.
void Sharing::recheckLater(const Job &J) {
  IsLocalIdle = true;
  Time Now = Plugin.Now;
  if (Now >= NextScan)
    NextScan = Now + Opts.ScanInterval;
  if (!Plugin.isSilent())
    return;
  Time PayTime = Now - Plugin.silence() +
                 fromSeconds(std::min(J.Info.Estimate * Rates.local(),
                                      seconds(Opts.Patience)));
  NextScan =
      std::min(NextScan, std::max(PayTime, Now) + std::chrono::milliseconds(1));
}

/// Relies on estimates even before anything was measured.
void Sharing::checkLate() {
  if (IsLate || Plugin.Now < NextLate || !Plugin.FirstOffer ||
      Plugin.IsDropped || !Plugin.mayFallBack() || Opts.LocalJobs)
    return;
  NextLate = Plugin.Now + Opts.DeadlineStep;
  double Longest = 0, LongestLeft = 0, AllSeconds = 0;
  for (const Job &J : Jobs) {
    if (J.IsCached)
      continue;
    AllSeconds += J.Info.Estimate;
    Longest = std::max(Longest, J.Info.Estimate);
    if (J.IsRemaining)
      LongestLeft = std::max(LongestLeft, J.Info.Estimate);
  }
  double Alone = std::max(Longest, AllSeconds / Opts.Cores);
  double Remaining =
      std::max(LongestLeft, Jobs.sums().RemainingSeconds / Opts.Cores);
  IsLate = Plugin.Now - *Plugin.FirstOffer >
           Opts.LateExtra + fromSeconds(Rates.local() *
                                        (Opts.LateFactor * Alone - Remaining));
}

//===----------------------------------------------------------------------===//
// The next local job
//===----------------------------------------------------------------------===//

void Sharing::beginStep() {
  checkLate();
  IsLocalIdle = false;
}

Sharing::MaybeDecision Sharing::next(unsigned Share) {
  if (Jobs.numToCompile() >= Share)
    return std::nullopt;
  const bool IsDead = isDead();
  if (IsDead)
    if (MaybeDecision D = startSilent())
      return D;
  const Attempt *Ready = readyForLocal(/*Longest=*/IsDead);
  if (!Jobs.hasWaiting() && !Ready) {
    MaybeDecision D = takeBack();
    return D ? D : startSilent();
  }
  bool IsFull =
      Room.isFull() || IsDead || Room.waitsForMemory() ||
      (Room.hasSlots() && Jobs.in(State::Accepted).size() >= Room.load().Slots);
  if (!IsFull)
    return std::nullopt;
  if (!IsDead && Plugin.Now >= NextTake)
    if (const Attempt *Late = lateRemoteAttempt())
      return take(*Late);
  // Ready jobs are more expensive than waiting ones.
  if (!IsDead && Jobs.hasWaiting())
    Ready = nullptr;
  JobId Id = Ready    ? Ready->Job
             : IsDead ? Jobs.firstWaiting()
                      : Jobs.lastWaiting();
  if (!Opts.LocalJobs && !paysLocally(Jobs[Id])) {
    recheckLater(Jobs[Id]);
    NextTake = NextScan;
    return std::nullopt;
  }
  if (Ready)
    return take(*Ready);
  if (!mayBeginNow(Jobs[Id]))
    return std::nullopt;
  return Decision{Decision::PrepareLocally, Id,
                  Plugin.isOpen() ? Cause::PluginFull : Cause::PluginSilent};
}

/// Returns the longest or cheapest job that is ready for the plugin, or null.
/// Skips duplicates, which never begin locally.
const Attempt *Sharing::readyForLocal(bool Longest) const {
  const auto &Ready = Jobs.in(State::Ready);
  auto IsCandidate = [](const Attempt *A) {
    return A->Kind != Kind::Duplicate;
  };
  if (Longest) {
    auto It = std::find_if(Ready.begin(), Ready.end(), IsCandidate);
    return It == Ready.end() ? nullptr : *It;
  }
  auto It = std::find_if(Ready.rbegin(), Ready.rend(), IsCandidate);
  return It == Ready.rend() ? nullptr : *It;
}

/// Begins the job of \p A locally. \p A is ready for the plugin or waits there.
Sharing::MaybeDecision Sharing::take(const Attempt &A) {
  if (!mayBeginNow(Jobs[A]))
    return std::nullopt;
  Cause Why = A.State != State::Ready ? Cause::TakenBack
              : Plugin.isOpen()       ? Cause::PluginFull
                                      : Cause::PluginSilent;
  return Decision{Decision::TakeBack, A.Job, Why, 0, &A};
}

/// Whether \p A only waits at the plugin. False if the plugin reports no
/// states: the job may be running.
bool Sharing::isOnlyWaiting(const Attempt &A, bool HasFreeSlots) const {
  return Plugin.ReportsStates && A.State == State::Accepted &&
         A.Reported == PluginState::Queued && !A.RunsLocally &&
         Jobs[A].numLive() == 1 && !Jobs[A].hasLocalAttempt() &&
         (!HasFreeSlots || Plugin.Now - A.Since >= Opts.MaxWait);
}

/// Returns the longest job that the plugin would end after all the rest, but
/// that would end earlier locally. Needs a measured local rate, which the first
/// cheap jobs provide.
const Attempt *Sharing::lateRemoteAttempt() const {
  if (!Rates.hasLocal())
    return nullptr;
  bool HasFreeSlots = Room.hasFreeSlots();
  double Slots = double(Room.slots()), Before = 0;
  double Rest =
      Jobs.sums().RemainingSeconds /
      (Room.laterSlots() / Rates.remote() + localShare() / Rates.local());
  for (State S : {State::Accepted, State::Offered, State::Ready})
    for (const Attempt *A : Jobs.in(S)) {
      double Estimate = Jobs[*A].Info.Estimate;
      double RemoteTime = (Before / Slots + Estimate) * Rates.remote();
      bool HasBegun = S != State::Ready && !isOnlyWaiting(*A, HasFreeSlots);
      if (!HasBegun && A->Kind != Kind::Duplicate && RemoteTime > Rest &&
          Estimate * Rates.local() <= RemoteTime)
        return A;
      Before += Estimate;
    }
  return nullptr;
}

/// Takes back a job that waits at the plugin.
Sharing::MaybeDecision Sharing::takeBack() {
  if (!Jobs.allJobsOffered() || Plugin.Now < NextTake)
    return std::nullopt;
  const Attempt *Best = lateRemoteAttempt();
  bool HasFreeSlots = Room.hasFreeSlots();
  const auto &Accepted = Jobs.in(State::Accepted);
  for (auto It = Accepted.rbegin(); It != Accepted.rend() && !Best; ++It) {
    if (!isOnlyWaiting(**It, HasFreeSlots))
      continue;
    if (!Opts.LocalJobs && !paysLocally(Jobs[**It]))
      break;
    Best = *It;
  }
  if (Best)
    return take(*Best);
  NextTake = NextScan;
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Jobs that the plugin has as well
//===----------------------------------------------------------------------===//

/// Begins a job locally that the plugin has, if the plugin is silent or the
/// link is late: the cheapest, or the longest if the plugin seems to be dead.
/// The plugin keeps the job, since it may not report when jobs begin.
Sharing::MaybeDecision Sharing::startSilent() {
  if (!Plugin.isSilent() && !IsLate)
    return std::nullopt;
  const auto &Accepted = Jobs.in(State::Accepted);
  std::vector<const Attempt *> Order(Accepted.begin(), Accepted.end());
  if (!isDead())
    std::reverse(Order.begin(), Order.end());
  for (const Attempt *A : Order) {
    const Job &J = Jobs[*A];
    bool MustWait = J.Info.HasSideFiles || (Plugin.Due && mustBeAlone(J));
    if (J.hasLocalAttempt() || (MustWait && !IsLate))
      continue;
    if (IsLate && mustBeAlone(J) && mayStillFinish(J)) {
      recheckLater(J);
      continue;
    }
    if (!IsLate &&
        (Plugin.silence() < Opts.SilentPatience || !paysLocally(J))) {
      // Otherwise, the search for stragglers looks again.
      if (!Plugin.Due)
        recheckLater(J);
      return std::nullopt;
    }
    if (!mayBeginNow(J))
      return std::nullopt;
    return IsLate ? startOverdue(A->Job)
                  : Decision{Decision::CompileLocally, A->Job,
                             Cause::PluginSilent};
  }
  return std::nullopt;
}

/// Whether an attempt of \p J is still within its expected time.
bool Sharing::mayStillFinish(const Job &J) const {
  return std::any_of(
      J.Attempts.begin(), J.Attempts.end(), [&](const Attempt *A) {
        return seconds(Plugin.Now - A->Running.value_or(A->Since)) <
               Rates.expected(J) + seconds(Opts.SlowExtra);
      });
}

Sharing::Decision Sharing::startOverdue(JobId Id) const {
  Decision D{Decision::CompileLocally, Id, Cause::Overdue};
  for (const Attempt *A : Jobs[Id].Attempts)
    D.Slow = A->Worker ? A->Worker : D.Slow;
  return D;
}

//===----------------------------------------------------------------------===//
// Stragglers
//===----------------------------------------------------------------------===//

bool Sharing::startScanIfDue() {
  if (!Plugin.isOpen() || Opts.KeepOrder || !Jobs.allJobsOffered() ||
      Plugin.Now < NextScan)
    return false;
  NextScan = Plugin.Now + Opts.ScanInterval;
  return !Jobs.hasEnded();
}

std::vector<const Attempt *> Sharing::waitingDuplicates() const {
  std::vector<const Attempt *> Wait;
  for (const Attempt *A : Jobs.in(State::Ready))
    if (A->Kind == Kind::Duplicate && (Room.isFull() || Room.lacksMemory(*A)))
      Wait.push_back(A);
  return Wait;
}

/// Whether \p A takes much longer than expected, or its worker does.
bool Sharing::isSlow(const Attempt &A) {
  if (A.RunsLocally && A.Reported == PluginState::Queued)
    return false; // it waits for memory or a token
  double Limit = Rates.slowThreshold(Jobs[A].Info.Estimate);
  // The job waits for its inputs or for a slot while other slots are idle.
  if (Plugin.ReportsStates && !A.Running) {
    if (Room.load().Free == 0 && A.Reported == PluginState::Queued)
      return false;
    Limit = std::max(Limit, Rates.longWait());
  }
  double Took = seconds(Plugin.Now - A.Running.value_or(A.Since));
  return Rates.isSlow(A, Took, Limit);
}

/// Returns none before the plugin has ended a job: a machine may be frozen.
std::vector<const Attempt *> Sharing::slowAttempts() {
  std::vector<const Attempt *> Slow;
  if (!Rates.areReliable())
    return Slow;
  for (const Attempt *A : Jobs.in(State::Accepted)) {
    const Job &J = Jobs[*A];
    if (A == J.Attempts.front() && !J.hasLocalAttempt() &&
        std::all_of(J.Attempts.begin(), J.Attempts.end(),
                    [this](const Attempt *A) {
                      return A->State == State::Accepted && isSlow(*A);
                    }))
      Slow.push_back(A);
  }
  // All have run for long; the largest will run longest.
  auto IsLarger = [this](const Attempt *A, const Attempt *B) {
    double CostA = Jobs[*A].Info.Estimate, CostB = Jobs[*B].Info.Estimate;
    return CostA != CostB ? CostA > CostB : JobTable::ByRank()(A, B);
  };
  std::sort(Slow.begin(), Slow.end(), IsLarger);
  return Slow;
}

/// Whether this much more work may be done twice. One job at a time always may:
/// among few jobs, each is a large share, and each of several stuck jobs must
/// get its turn.
bool Sharing::mayDuplicate(double Estimate) const {
  const JobSums &S = Jobs.sums();
  return S.NumRedundant == 0 ||
         S.RedundantSeconds + S.WastedSeconds + Estimate <=
             S.TotalSeconds * Opts.DuplicatePercent / 100;
}

Sharing::MaybeDecision Sharing::helpFor(const Attempt &Slow, uint32_t &Free) {
  const Job &J = Jobs[Slow];
  bool MayDuplicate = Opts.DuplicatePercent != 0 && J.numLive() == 1 &&
                      mayDuplicate(J.Info.Estimate);
  // Limit the duplicates of a job that gets lost each time.
  if (MayDuplicate && Free != 0 && !Room.isFull() && !Room.lacksMemory(Slow) &&
      J.Duplicates < Opts.MaxTries) {
    --Free;
    return Decision{Decision::Duplicate, Slow.Job, Cause::None, Slow.Worker};
  }
  bool FitsLocally =
      !J.Info.HasSideFiles &&
      Jobs.in(State::Compiling).size() + Jobs.in(State::Queued).size() <
          localShare();
  if (!FitsLocally || !mayBeginNow(J))
    return std::nullopt;
  if (!MayDuplicate)
    return startOverdue(Slow.Job);
  return Decision{Decision::CompileLocally, Slow.Job, Cause::Straggler,
                  Slow.Worker};
}
