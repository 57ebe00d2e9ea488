//===- SchedulerSharing.cpp - This machine's share, and stragglers --------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Who links waits for the last job. So while the plugin has no room, this
// machine takes jobs from the cheap end of the order: these come last, need the
// least time here, and the plugin is far from them. And once all jobs are given
// out,
//
//   - jobs that only wait at the plugin's are taken back, if they would be
//     ready here before the plugin is through;
//   - jobs that run for much longer than was to be expected, or don't begin
//     while slots are idle, are started a second time, elsewhere if the plugin
//     has room, else here.
//
// A plugin that hasn't begun a single job may wait for machines that will never
// answer. Nothing that it says is relied on until then, and the link goes on
// as if it weren't there: this machine uses all its cores, and compiles what
// the plugin has, too. Whoever has the result first is right.
//
// Estimates (CostHistory.h) are only good for comparisons. What they are worth
// at the plugin's and here is measured while the link runs (Rate.h).
//
//===----------------------------------------------------------------------===//

#include "Link/Scheduler.h"

using namespace llvm;
using namespace dtlto;
using namespace std::chrono_literals;

// A job is slow if it takes that many times what was expected, and this much
// longer: it would be quicker by now to have started it again.
static constexpr double SlowFactor = 2;
static constexpr double SlowSeconds = 0.5;
// Jobs that wait for a part of the network that all share wait together; one
// that waits that many times longer than others is alone.
static constexpr double LongWaitFactor = 4;
// A worker with so many slow jobs is slow with all that it has.
static constexpr unsigned SlowWorkerJobs = 2;
// So many jobs must have ended before what is expected of others means a thing.
static constexpr size_t MinMeasured = 3;
// How long a job may wait at the plugin's while there seem to be free slots.
static constexpr std::chrono::seconds MaxWait = 1s;
// How long a plugin may have no result before this machine takes its jobs.
static constexpr double PatienceSeconds = 0.5;
// The same for jobs that it has, if it has begun none: it may be about to.
static constexpr double UnheardSeconds = 0.1;
// A plugin that has begun no job for so long is taken for dead, and the longest
// jobs are started first.
static constexpr double DeadSeconds = 1;
// How often the jobs are looked through for such as these.
static constexpr std::chrono::milliseconds LookInterval = 50ms;

/// How many jobs may run here beside the plugin's.
unsigned Scheduler::localShare() const {
  if (PluginGone || !PluginOpen || KeepOrder)
    return 0;
  if (L.opts().LocalJobs)
    return *L.opts().LocalJobs;
  // Who wants no fallback wants to know that all is done elsewhere.
  if (!LoadKnown || !mayFallBack())
    return 0;
  if (LastLoad.local != 0 && LastLoad.local >= LastLoad.slots)
    return 0; // the plugin is this machine
  // The linker itself has work to do while others compile.
  unsigned Taken = LastLoad.local;
  if (NumAccepted + NumOffered != 0 && PluginBegan)
    Taken += 1 + L.Parallelism / 8;
  return L.Parallelism > Taken ? L.Parallelism - Taken : 0;
}

/// A side that hasn't ended a job yet is taken to be as fast as the other one.
double Scheduler::remoteRate() const {
  return RemoteRate.count() ? RemoteRate.value() : LocalRate.value();
}
double Scheduler::localRate() const {
  return LocalRate.count() ? LocalRate.value() : RemoteRate.value();
}

double Scheduler::expected(const Job &J) const {
  return J.Seconds * remoteRate();
}

/// Whether \p J would be ready here before the plugin is through with the rest.
bool Scheduler::paysHere(const Job &J) const {
  if (NumAccepted + NumOffered == 0)
    return true;
  size_t Slots = LastLoad.slots == UINT32_MAX ? NumAccepted : LastLoad.slots;
  double Rest = SecondsLeft * remoteRate() / std::max<size_t>(1, Slots);
  double Here = J.Seconds * localRate();
  // A plugin that has had no result for so long is not as fast as it says.
  return Here <= Rest ||
         secondsSince(LastResult) > std::max(Here, PatienceSeconds) ||
         secondsSilent() > std::min(Here, PatienceSeconds);
}

/// How long the plugin has been open without having begun a job; 0 if it has.
double Scheduler::secondsSilent() const {
  return PluginBegan ? 0 : secondsSince(LastResult);
}

/// There is a core for \p J here, but it doesn't pay yet.
void Scheduler::lookAgain(const Job &J) {
  HereIsIdle = true;
  Clock::time_point Now = Clock::now();
  if (Now >= NextLook)
    NextLook = Now + LookInterval;
  if (PluginBegan)
    return;
  double Wait = std::min(J.Seconds * localRate(), PatienceSeconds);
  auto Pays = LastResult + std::chrono::duration_cast<Clock::duration>(
                               std::chrono::duration<double>(Wait));
  NextLook = std::min(NextLook, std::max(Pays, Now) + 1ms);
}

void Scheduler::shareMore() {
  unsigned Share = localShare();
  bool Asked = L.opts().LocalJobs.has_value();
  HereIsIdle = false;
  while (NumLocalRunning + LocalQueue.size() + NumPreparingHere < Share) {
    bool IsDead = secondsSilent() > DeadSeconds;
    if (IsDead && startUnheard())
      continue;
    bool HasWaiting = NextWaiting != EndWaiting;
    if (!HasWaiting && Ready.empty()) {
      if (!steal(Asked) && !startUnheard())
        return;
      continue;
    }
    bool IsFull =
        PluginBusy || IsDead ||
        (LastLoad.slots != UINT32_MAX && NumAccepted >= LastLoad.slots);
    if (!IsFull)
      return;
    // The ready ones are the more expensive.
    Job &J = job(IsDead && !Ready.empty() ? *Ready.begin()
                 : IsDead                 ? NextWaiting
                 : HasWaiting             ? EndWaiting - 1
                                          : *Ready.rbegin());
    if (!Asked && !paysHere(J))
      return lookAgain(J);
    ++NumHere;
    Record.staysHere(J.Index, "the plugin was full");
    if (J.At == Stage::Waiting) {
      if (IsDead)
        ++NextWaiting;
      else
        --EndWaiting;
      startPreparing(J, /*ForHere=*/true);
    } else {
      Ready.erase(J.Index);
      J.Built.reset();
      startLocal(J);
    }
  }
}

/// Takes a job back that waits at the plugin's. Returns false if there is none.
bool Scheduler::steal(bool Asked) {
  // Without news of jobs, they may well run.
  if (!ReportsStates || !isGivenOut() || Clock::now() < NextLook)
    return false;
  Clock::time_point Now = Clock::now();
  for (size_t I = Jobs.size(); I-- != 0;) {
    Job &J = job(I);
    if (J.At != Stage::Accepted || J.First.State != DTLTO_STATE_QUEUED ||
        J.Twin.Id || J.RunsHere)
      continue;
    if (LastLoad.free != 0 && Now - J.First.Accepted < MaxWait)
      continue;
    if (!Asked && !paysHere(J))
      break;
    callOff(J.First, /*IsAccepted=*/true);
    newId(J);
    ++NumHere;
    Record.staysHere(J.Index, "taken back, since it only waited there");
    startLocal(J);
    return true;
  }
  return false;
}

/// Begins a job here that the plugin has, if it has begun none so far: the
/// cheapest, or the longest if it seems to be dead. The plugin keeps the job,
/// since it may not tell when jobs begin. Returns false if there is none.
bool Scheduler::startUnheard() {
  if (PluginBegan || NumAccepted == 0)
    return false;
  double Silent = secondsSilent();
  bool IsDead = Silent > DeadSeconds;
  for (size_t I = 0; I != Jobs.size(); ++I) {
    Job &J = job(IsDead ? I : Jobs.size() - 1 - I);
    // Two attempts must not write the same files at once.
    if (J.At != Stage::Accepted || J.RunsHere || !J.Side.empty())
      continue;
    if (Silent < UnheardSeconds || !paysHere(J)) {
      lookAgain(J);
      return false;
    }
    ++NumHere;
    J.IsUnheard = true;
    Record.staysHere(J.Index, "the plugin had begun no job");
    startLocal(J, /*AsTwin=*/true);
    return true;
  }
  return false;
}

void Scheduler::doubleStragglers() {
  if (!TheSession || !PluginOpen || PluginGone || Aborting || KeepOrder ||
      !isGivenOut())
    return;
  Clock::time_point Now = Clock::now();
  if (Now < NextLook)
    return;
  NextLook = Now + LookInterval;
  if (Now - LastLoadQuery >= LoadInterval) {
    LastLoadQuery = Now;
    TheSession->queryLoad();
  }
  // A plugin that has ended none may have a machine that never will.
  if (std::max(RemoteRate.count(), LocalRate.count()) < MinMeasured ||
      L.opts().DuplicatePercent == 0)
    return;

  std::vector<Job *> Slow;
  for (auto &J : Jobs) {
    if (J->At != Stage::Accepted || J->Twin.Id || J->RunsHere)
      continue;
    double Limit =
        std::max(SlowFactor * expected(*J), expected(*J) + SlowSeconds);
    bool Runs = J->First.Running != Clock::time_point();
    // One that only waits, for its inputs or for a slot, while others idle.
    if (ReportsStates && !Runs) {
      if (LastLoad.free == 0)
        continue;
      Limit = std::max({Limit, std::chrono::duration<double>(MaxWait).count(),
                        LongWaitFactor * Waits.value()});
    }
    Clock::time_point Since = Runs ? J->First.Running : J->First.Accepted;
    double Took = std::chrono::duration<double>(Now - Since).count();
    if (Took > Limit) {
      NumSlowOn[J->Worker] += !J->IsSlow;
      J->IsSlow = true;
    } else if (Took < SlowSeconds || J->Worker.empty() ||
               NumSlowOn.lookup(J->Worker) < SlowWorkerJobs)
      continue;
    Slow.push_back(J.get());
  }
  if (Slow.empty())
    return;
  // All that run since long; the largest of them will run on the longest.
  llvm::stable_sort(
      Slow, [](const Job *A, const Job *B) { return A->Seconds > B->Seconds; });
  double Limit = SecondsInAll * L.opts().DuplicatePercent / 100;
  uint32_t Free = LastLoad.free == UINT32_MAX ? 1 : LastLoad.free;
  for (Job *J : Slow) {
    // One is always allowed: of a few jobs, each is a large part.
    if (SecondsTwice != 0 && SecondsTwice + J->Seconds > Limit)
      continue;
    bool Started = false;
    if (Free != 0 && !PluginBusy && startTwin(*J)) {
      --Free;
      Started = true;
    } else if (J->Side.empty() && NumLocalRunning < localShare()) {
      // Two attempts must not write the same files at once.
      startLocal(*J, /*AsTwin=*/true);
      Started = true;
    }
    if (!Started)
      break;
    ++NumTwice;
    SecondsTwice += J->Seconds;
    L.msg().debug("plugin '" + pluginName() + "': module '" + J->T.name() +
                  "' takes long" +
                  (J->Worker.empty() ? "" : " on " + J->Worker) +
                  "; started a second time");
  }
}

/// Gives \p J to the plugin a second time.
bool Scheduler::startTwin(Job &J) {
  uint64_t Id = takeId(J);
  Expected<std::unique_ptr<BuiltJob>> Built = Builder.build(J.T, Id, cost(J));
  if (!Built) {
    consumeError(Built.takeError());
    return false;
  }
  (*Built)->Avoid = J.Worker;
  (*Built)->Job.avoid = J.Worker.empty() ? nullptr : (*Built)->Avoid.c_str();
  J.Twin = {};
  J.Twin.Id = Id;
  J.Twin.Accepted = Clock::now();
  ++NumOffered;
  Record.offered(J.Index, Id, **Built, /*IsTwin=*/true);
  TheSession->submit(std::move(*Built), J.T, /*Insist=*/false);
  return true;
}

void Scheduler::onTwinSubmitted(Job &J, Event &E) {
  if (J.Twin.IsAccepted)
    return;
  --NumOffered;
  if (E.Status != DTLTO_OK) {
    if (E.Status == DTLTO_BUSY)
      Record.busy(E.Job);
    else
      Record.lost(E.Job, AttemptRecord::Outcome::Refused);
    J.Twin = {};
    PluginBusy |= E.Status == DTLTO_BUSY && !E.RoomSince;
    return;
  }
  ++NumAccepted;
  J.Twin.IsAccepted = true;
  Record.accepted(E.Job);
  J.Twin.Accepted = J.Twin.LastSign = LastSign = Clock::now();
}

/// Ends an attempt that nobody needs any more.
void Scheduler::callOff(Attempt &A, bool IsAccepted) {
  if (IsAccepted)
    --NumAccepted;
  else
    --NumOffered;
  if (TheSession)
    TheSession->forget(A.Id);
  Record.lost(A.Id, AttemptRecord::Outcome::Cancelled);
  A = {};
}

/// Takes \p J away from wherever it is but for local threads.
void Scheduler::withdraw(Job &J) {
  if (J.Twin.Id)
    callOff(J.Twin, J.Twin.IsAccepted);
  if (J.At == Stage::Offered || J.At == Stage::Accepted)
    callOff(J.First, J.At == Stage::Accepted);
  else if (J.At == Stage::Ready)
    Ready.erase(J.Index);
  else if (J.At == Stage::LocalQueue)
    llvm::erase(LocalQueue, J.Index);
  J.Built.reset();
  newId(J);
  J.At = Stage::LocalRunning;
}

/// An attempt of \p J has failed, and isn't counted any more. Returns whether
/// another one goes on.
bool Scheduler::loseAttempt(Job &J, bool OfTwin) {
  if (OfTwin)
    return true;
  if (J.Twin.Id) {
    J.At = J.Twin.IsAccepted ? Stage::Accepted : Stage::Offered;
    J.First = J.Twin;
    J.Twin = {};
    return true;
  }
  if (!J.RunsHere)
    return false;
  newId(J);
  J.At = Stage::LocalRunning;
  return true;
}

/// \p J needs nobody's time any more, or has a thread here.
void Scheduler::notLeft(Job &J) {
  if (J.IsLeft)
    SecondsLeft -= J.Seconds;
  J.IsLeft = false;
}

void Scheduler::onState(Job &J, Attempt &A, Event &E) {
  A.State = static_cast<uint32_t>(E.Status);
  A.LastSign = LastSign = Clock::now();
  Record.state(E.Job, A.State, E.Worker);
  if (&A == &J.First && !E.Worker.empty())
    J.Worker = E.Worker;
  if (A.State == DTLTO_STATE_QUEUED)
    return;
  PluginBegan = true;
  if (A.State == DTLTO_STATE_SENDING)
    return;
  ReportsStates = true;
  if (A.State == DTLTO_STATE_RECEIVING) {
    A.Receiving = A.LastSign;
    return;
  }
  if (A.Running != Clock::time_point())
    return;
  A.Running = A.LastSign;
  showStart(J, E.Worker);
  Waits.add(1, std::chrono::duration<double>(A.Running - A.Accepted).count());
}

/// \p A, an attempt of \p J, had a good result.
void Scheduler::learn(Job &J, const Attempt &A, const Event &E) {
  if (E.RanHere)
    return learnHere(J, E.Seconds);
  const Clock::time_point None;
  Clock::time_point End = A.Receiving == None ? Clock::now() : A.Receiving;
  auto SecondsFrom = [&](Clock::time_point Begin) {
    return std::chrono::duration<double>(End - Begin).count();
  };
  if (A.Running == None)
    return RemoteRate.add(J.Seconds, SecondsFrom(A.Accepted));
  double Took = SecondsFrom(A.Running);
  // It is not, or no more.
  if (Took < SlowFactor * expected(J))
    NumSlowOn.erase(E.Worker);
  RemoteRate.add(J.Seconds, Took);
  Match.add(J.Seconds, Took);
  Costs->record(J.CostKey, J.T.Module.getBuffer().size(), Took);
}

/// \p J took \p Took seconds on this machine.
void Scheduler::learnHere(Job &J, double Took) {
  LocalRate.add(J.Seconds, Took);
  Match.add(J.Seconds, Took);
  Costs->record(J.CostKey, J.T.Module.getBuffer().size(), Took);
}
