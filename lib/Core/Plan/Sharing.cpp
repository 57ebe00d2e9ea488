//===- Sharing.cpp - This machine's share, and stragglers -----------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Who links waits for the last job. So while the plugin has no room, this
// machine takes jobs: first from the cheap end of the order, which tell how
// fast it is, then the longest that the plugin would end after all the rest.
// Beside a large farm these are cheap, too, beside a few slots they are not.
// And once all jobs are given out,
//
//   - jobs that only wait at the plugin's are taken back, if they would be
//     ready here before the plugin is through;
//   - jobs that run for much longer than was to be expected, or don't begin
//     while slots are idle, get a duplicate attempt, elsewhere if the plugin
//     has room, else here;
//   - where too much would be done twice, they are still compiled here: cores
//     that are idle cost nobody's time, and machines may be frozen.
//
// A plugin that hasn't begun a single job may wait for machines that will never
// answer, and one whose first object is overdue may have jobs on machines that
// are frozen. Such a plugin is silent. Until it isn't, the link goes on as if
// there were no plugin: the linker uses all its cores, and compiles what the
// plugin has, too. The first result wins. The same goes for a link that gets
// late after the first results: it must not take more than about twice what it
// takes on this machine alone.
//
// Estimates are only good for comparisons. What they are worth at the plugin's
// and here is measured while the link runs (Rate.h).
//
//===----------------------------------------------------------------------===//

#include "Plan/Plan.h"
#include <algorithm>

using namespace dtlto::plan;

using Kind = AttemptKind;
using State = AttemptState;

static double seconds(Time T) {
  return std::chrono::duration<double>(T).count();
}

static Time fromSeconds(double S) {
  return std::chrono::duration_cast<Time>(std::chrono::duration<double>(S));
}

/// How many jobs may run here beside the plugin's.
unsigned Plan::localShare() const {
  if (PluginGone || (!IsOpen && !opensSlowly()) || O.KeepOrder)
    return 0;
  if (O.LocalJobs)
    return *O.LocalJobs;
  // Without fallback, the user wants to know that all is done elsewhere.
  if (!mayFallBack() || (IsOpen && !LoadIsKnown && !IsLate))
    return 0;
  if (isThisMachine())
    return 0;
  // The linker itself has work to do while others compile.
  unsigned Taken = TheLoad.Local;
  if (numAtPlugin() != 0 && !isSilent() && !IsLate)
    Taken += 1 + O.Cores / 8;
  return O.Cores > Taken ? O.Cores - Taken : 0;
}

/// A side that hasn't ended a job yet is taken to be as fast as the other one.
double Plan::remoteRate() const {
  return RemoteRate.count() ? RemoteRate.value() : LocalRate.value();
}
double Plan::localRate() const {
  return LocalRate.count() ? LocalRate.value() : RemoteRate.value();
}

double Plan::expected(const Job &J) const {
  return J.Info.Estimate * remoteRate();
}

/// Seconds after which \p J is slow, counted from when the plugin began it.
double Plan::slowAfter(const Job &J) const {
  return std::max(O.SlowFactor * expected(J),
                  expected(J) + seconds(O.SlowExtra));
}

/// The plugin has begun \p J, which gives it some time to return an object.
void Plan::expectResult(JobId J) {
  if (DueBegan && Now + fromSeconds(slowAfter(Jobs[J])) >= firstDue())
    return;
  DueBegan = Now;
  DueJob = J;
}

/// When the first object of the plugin is overdue, by what is known now of how
/// long jobs take. Only once it has begun one.
Time Plan::firstDue() const {
  return *DueBegan + fromSeconds(slowAfter(Jobs[DueJob]));
}

/// How long the plugin has been silent: it has jobs, or is being opened, but it
/// has not begun a job, or its first object is overdue.
Time Plan::silence() const {
  if (!isSilent())
    return Time();
  return Now - (DueBegan ? firstDue() : LastResult);
}

/// Whether nobody waits for the plugin to be open any more.
bool Plan::opensSlowly() const {
  return OpenAsked && !IsOpen && silence() > O.DeadAfter;
}

/// Whether there is no memory for the plugin's next job. The throughput of a
/// silent plugin is unknown.
bool Plan::waitsForMemory() const {
  const KeySet &Ready = in(State::Ready);
  return !isSilent() && !Ready.empty() &&
         lacksMemory(*find(Ready.begin()->second));
}

/// How many jobs the plugin does at once.
size_t Plan::slots() const {
  size_t Slots =
      TheLoad.Slots == Unknown ? in(State::Accepted).size() : TheLoad.Slots;
  if (waitsForMemory())
    Slots = std::min(Slots, numAtPlugin());
  return std::max<size_t>(1, Slots);
}

bool Plan::hasIdleSlots() const {
  if (PluginGone || O.KeepOrder)
    return false;
  // The first jobs are prepared while the plugin is opened.
  return !LoadIsKnown || (IsOpen && TheLoad.Slots != Unknown &&
                          !waitsForMemory() && numAtPlugin() < slots());
}

double Plan::longFrom() const {
  size_t Slots = LoadIsKnown ? slots() : O.MinPrepared;
  return SecondsLeft / 2 / double(Slots + localShare());
}

/// Whether \p J could begin here now. What must be compiled here goes first.
bool Plan::mayBeginHere(const Job &J) {
  return in(State::Queued).empty() &&
         hasRoomHere(J, NumPreparingHere, BytesPreparingHere);
}

/// Whether \p J would be ready here before the plugin is through with the rest.
bool Plan::paysHere(const Job &J) const {
  if (numAtPlugin() == 0 || IsLate)
    return true;
  double Rest = SecondsLeft * remoteRate() / double(slots());
  double Here = J.Info.Estimate * localRate();
  double Patience = seconds(O.Patience);
  // A plugin that has had no result for so long is not as fast as it says.
  return Here <= Rest || seconds(Now - LastResult) > std::max(Here, Patience) ||
         seconds(silence()) > std::min(Here, Patience);
}

/// Estimates are relied on here even if nothing was measured so far.
void Plan::checkLate() {
  if (IsLate || Now < NextLate || !HasOffered || PluginGone || !mayFallBack() ||
      O.LocalJobs)
    return;
  NextLate = Now + O.DeadlineStep;
  double Longest = 0, LongestLeft = 0, InAll = 0;
  for (const Job &J : Jobs) {
    if (J.IsCached)
      continue;
    InAll += J.Info.Estimate;
    Longest = std::max(Longest, J.Info.Estimate);
    if (J.IsLeft)
      LongestLeft = std::max(LongestLeft, J.Info.Estimate);
  }
  double Alone = std::max(Longest, InAll / O.Cores);
  double Left = std::max(LongestLeft, SecondsLeft / O.Cores);
  IsLate =
      Now - FirstOffer >
      O.LateExtra + fromSeconds(localRate() * (O.LateFactor * Alone - Left));
}

/// There is a core for \p J here, but it doesn't pay yet.
void Plan::recheckLater(const Job &J) {
  HereIsIdle = true;
  if (Now >= NextLook)
    NextLook = Now + O.LookInterval;
  if (!isSilent())
    return;
  Time Pays =
      Now - silence() +
      fromSeconds(std::min(J.Info.Estimate * localRate(), seconds(O.Patience)));
  NextLook =
      std::min(NextLook, std::max(Pays, Now) + std::chrono::milliseconds(1));
}

/// \p J needs nobody's time any more, or has a thread here.
void Plan::markTaken(Job &J) {
  if (J.IsLeft)
    SecondsLeft -= J.Info.Estimate;
  J.IsLeft = false;
}

/// The longest or cheapest job that is ready for the plugin. Duplicates are not
/// begun for this machine.
std::optional<Plan::Key> Plan::readyForHere(bool Longest) const {
  const KeySet &Ready = in(State::Ready);
  auto IsIt = [this](const Key &K) {
    return find(K.second)->Kind != Kind::Duplicate;
  };
  if (Longest) {
    auto It = std::find_if(Ready.begin(), Ready.end(), IsIt);
    return It == Ready.end() ? std::nullopt : std::optional<Key>(*It);
  }
  auto It = std::find_if(Ready.rbegin(), Ready.rend(), IsIt);
  return It == Ready.rend() ? std::nullopt : std::optional<Key>(*It);
}

void Plan::shareMore() {
  checkLate();
  unsigned Share = localShare();
  HereIsIdle = false;
  while (in(State::Compiling).size() + in(State::Queued).size() +
             NumPreparingHere <
         Share) {
    bool IsDead = silence() > O.DeadAfter || IsLate;
    if (IsDead && startSilent())
      continue;
    bool HasWaiting = NextWaiting != EndWaiting;
    std::optional<Key> Ready = readyForHere(/*Longest=*/IsDead);
    if (!HasWaiting && !Ready) {
      if (!takeBack() && !startSilent())
        return;
      continue;
    }
    bool IsFull = isFull() || IsDead || waitsForMemory() ||
                  (TheLoad.Slots != Unknown &&
                   in(State::Accepted).size() >= TheLoad.Slots);
    if (!IsFull)
      return;
    if (std::optional<Key> Late;
        !IsDead && Now >= NextTake && (Late = lateThere())) {
      if (!mayBeginHere(Jobs[Late->first]))
        return;
      takeFromPlugin(*Late);
      continue;
    }
    // The ready ones are the more expensive.
    bool FromReady = Ready && (IsDead || !HasWaiting);
    JobId J = FromReady ? Ready->first : IsDead ? NextWaiting : EndWaiting - 1;
    if (!O.LocalJobs && !paysHere(Jobs[J])) {
      recheckLater(Jobs[J]);
      NextTake = NextLook;
      return;
    }
    if (!mayBeginHere(Jobs[J]))
      return;
    if (FromReady) {
      takeFromPlugin(*Ready);
    } else {
      IsDead ? ++NextWaiting : --EndWaiting;
      prepare(J, /*ForPlugin=*/false,
              IsOpen ? Cause::PluginFull : Cause::PluginSilent);
    }
  }
}

/// Begins a job here that is ready for the plugin, or waits there.
void Plan::takeFromPlugin(Key K) {
  Cause Why = find(K.second)->State != State::Ready ? Cause::TakenBack
              : IsOpen                              ? Cause::PluginFull
                                                    : Cause::PluginSilent;
  cancel(K.second, Why);
  compileHere(K.first, Why);
  compile(Jobs[K.first].Attempts.back());
}

/// Whether jobs that wait at the plugin's may be about to begin.
bool Plan::hasFreeSlots() const {
  if (TheLoad.Free == 0 || TheLoad.Slots == Unknown)
    return TheLoad.Free != 0;
  // The load is from before: slots that have begun a job since aren't free.
  const KeySet &Accepted = in(State::Accepted);
  auto HasBegun = [this](const Key &K) {
    return find(K.second)->Reported != PluginState::Queued;
  };
  return std::count_if(Accepted.begin(), Accepted.end(), HasBegun) <
         static_cast<ptrdiff_t>(TheLoad.Slots);
}

/// Whether \p A only waits at the plugin's. Without news of jobs, it may well
/// run.
bool Plan::onlyWaits(const Attempt &A, bool HasFreeSlots) const {
  return ReportsStates && A.State == State::Accepted &&
         A.Reported == PluginState::Queued && !A.RunsHere &&
         numLive(Jobs[A.Job]) == 1 && !hasHere(Jobs[A.Job]) &&
         (!HasFreeSlots || Now - A.Since >= O.MaxWait);
}

/// How many jobs the plugin will do at once when those that wait for memory are
/// of average size: large ones that come first leave slots idle for a while.
double Plan::laterSlots() const {
  if (!waitsForMemory() || TheLoad.Slots == Unknown)
    return double(slots());
  double Bytes = 0;
  for (const Key &K : in(State::Ready))
    Bytes += double(find(K.second)->Bytes);
  double Each = std::max(1.0, Bytes / double(in(State::Ready).size()));
  return std::clamp(double(O.MaxBytesInFlight) / Each, double(slots()),
                    std::max(double(slots()), double(TheLoad.Slots)));
}

/// The longest job that the plugin would end after all the rest, and that would
/// be ready here before. How fast this machine is, cheap jobs have to tell.
std::optional<Plan::Key> Plan::lateThere() const {
  if (LocalRate.count() == 0)
    return std::nullopt;
  bool HasFreeSlots = hasFreeSlots();
  double Slots = double(slots()), Before = 0;
  double Rest =
      SecondsLeft / (laterSlots() / remoteRate() + localShare() / localRate());
  for (State S : {State::Accepted, State::Offered, State::Ready})
    for (const Key &K : in(S)) {
      const Attempt &A = *find(K.second);
      double Estimate = Jobs[K.first].Info.Estimate;
      double There = (Before / Slots + Estimate) * remoteRate();
      bool IsThere = S != State::Ready && !onlyWaits(A, HasFreeSlots);
      if (!IsThere && A.Kind != Kind::Duplicate && There > Rest &&
          Estimate * localRate() <= There)
        return K;
      Before += Estimate;
    }
  return std::nullopt;
}

/// Takes a job back that waits at the plugin's. Returns false if there is none.
bool Plan::takeBack() {
  if (!isGivenOut() || Now < NextTake)
    return false;
  std::optional<Key> Best = lateThere();
  bool HasFreeSlots = hasFreeSlots();
  const KeySet &Accepted = in(State::Accepted);
  for (auto It = Accepted.rbegin(); It != Accepted.rend() && !Best; ++It) {
    if (!onlyWaits(*find(It->second), HasFreeSlots))
      continue;
    if (!O.LocalJobs && !paysHere(Jobs[It->first]))
      break;
    Best = *It;
  }
  if (!Best) {
    NextTake = NextLook;
    return false;
  }
  if (!mayBeginHere(Jobs[Best->first]))
    return false;
  takeFromPlugin(*Best);
  return true;
}

/// Begins a job here that the plugin has, if it is silent or the link is late:
/// the cheapest, or the longest if the plugin seems to be dead.
/// It keeps the job, since it may not tell when jobs begin. Returns false if
/// there is none.
bool Plan::startSilent() {
  const KeySet &Accepted = in(State::Accepted);
  if ((!isSilent() && !IsLate) || Accepted.empty())
    return false;
  bool IsDead = silence() > O.DeadAfter || IsLate;
  const bool HasBegun = DueBegan.has_value();
  auto Try = [&](JobId Id) -> std::optional<bool> {
    Job &J = Jobs[Id];
    if (hasHere(J) || (J.Info.HasSideFiles && !IsLate) ||
        (HasBegun && mustBeAlone(J) && !IsLate))
      return std::nullopt;
    if (IsLate && mustBeAlone(J) && mayStillCome(J)) {
      recheckLater(J);
      return std::nullopt;
    }
    if (!IsLate && (silence() < O.SilentPatience || !paysHere(J))) {
      // Otherwise, jobs are looked through for stragglers.
      if (!HasBegun)
        recheckLater(J);
      return false;
    }
    if (!mayBeginHere(J))
      return false;
    if (IsLate) {
      startOverdue(Id);
      return true;
    }
    compileHere(Id, Cause::PluginSilent);
    compile(J.Attempts.back());
    return true;
  };
  if (IsDead) {
    for (const Key &K : Accepted)
      if (std::optional<bool> Result = Try(K.first))
        return *Result;
  } else {
    for (auto It = Accepted.rbegin(); It != Accepted.rend(); ++It)
      if (std::optional<bool> Result = Try(It->first))
        return *Result;
  }
  return false;
}

/// Whether an attempt of \p J has not run for longer than was to be expected.
bool Plan::mayStillCome(const Job &J) const {
  return std::any_of(J.Attempts.begin(), J.Attempts.end(),
                     [&](const Attempt &A) {
                       return seconds(Now - A.Running.value_or(A.Since)) <
                              expected(J) + seconds(O.SlowExtra);
                     });
}

/// Begins \p J here, and takes it from the plugin if nothing may be done twice.
void Plan::startOverdue(JobId J) {
  WorkerId Slow = 0;
  for (const Attempt &A : Jobs[J].Attempts)
    Slow = A.Worker ? A.Worker : Slow;
  if (mustBeAlone(Jobs[J]))
    cancelAll(J, Cause::Overdue);
  compileHere(J, Cause::Overdue, Slow);
  compile(Jobs[J].Attempts.back());
}

/// Whether \p A takes much longer than was to be expected, or its worker does.
bool Plan::isSlow(Attempt &A) {
  if (A.RunsHere && A.Reported == PluginState::Queued)
    return false; // it waits for memory or a token
  const Job &J = Jobs[A.Job];
  double Limit = slowAfter(J);
  // One that only waits, for its inputs or for a slot, while others idle.
  if (ReportsStates && !A.Running) {
    if (TheLoad.Free == 0 && A.Reported == PluginState::Queued)
      return false;
    Limit =
        std::max({Limit, seconds(O.MaxWait), O.LongWaitFactor * Waits.value()});
  }
  double Took = seconds(Now - A.Running.value_or(A.Since));
  if (Took > Limit) {
    if (!A.IsSlow && A.Worker)
      ++NumSlowOn[A.Worker];
    A.IsSlow = true;
    return true;
  }
  auto It = NumSlowOn.find(A.Worker);
  return Took >= seconds(O.SlowExtra) && A.Worker && It != NumSlowOn.end() &&
         It->second >= O.SlowWorkerJobs;
}

void Plan::duplicateMore() {
  if (!IsOpen || PluginGone || O.KeepOrder || !isGivenOut() || Now < NextLook)
    return;
  NextLook = Now + O.LookInterval;
  if (NumEnded == Jobs.size())
    return;
  if (Now - LastLoadQuery >= O.LoadInterval) {
    LastLoadQuery = Now;
    act(Action::QueryLoad);
  }
  // One that would wait for room or memory holds up its job, which may be begun
  // here: there will be other stragglers, or this one again.
  KeySet Ready = in(State::Ready);
  for (const Key &K : Ready)
    if (const Attempt &A = *find(K.second);
        A.Kind == Kind::Duplicate && (isFull() || lacksMemory(A))) {
      --Jobs[A.Job].Duplicates;
      cancel(A.Id, Cause::Overtaken);
    }
  // A plugin that has ended none may have a machine that never will.
  if (std::max(RemoteRate.count(), LocalRate.count()) < O.MinMeasured)
    return;

  std::vector<Key> Slow;
  for (const Key &K : in(State::Accepted)) {
    Job &J = Jobs[K.first];
    if (K.second == J.Attempts.front().Id && !hasHere(J) &&
        std::all_of(J.Attempts.begin(), J.Attempts.end(), [this](Attempt &A) {
          return A.State == State::Accepted && isSlow(A);
        }))
      Slow.push_back(K);
  }
  // All that run since long; the largest of them will run on the longest.
  std::sort(Slow.begin(), Slow.end(), [&](const Key &A, const Key &B) {
    double CostA = Jobs[A.first].Info.Estimate,
           CostB = Jobs[B.first].Info.Estimate;
    return CostA != CostB ? CostA > CostB : A < B;
  });
  uint32_t Free = TheLoad.Free == Unknown ? 1 : TheLoad.Free;
  for (const Key &K : Slow) {
    Job &J = Jobs[K.first];
    bool MayTwice = O.DuplicatePercent != 0 && numLive(J) == 1 &&
                    mayDoTwice(J.Info.Estimate);
    bool FitsHere =
        !J.Info.HasSideFiles &&
        in(State::Compiling).size() + in(State::Queued).size() < localShare();
    // One that is lost each time is not given to the plugin for ever.
    if (MayTwice && Free != 0 && !isFull() && !lacksMemory(*find(K.second)) &&
        J.Duplicates < O.MaxTries) {
      --Free;
      prepareAgain(K.first, Kind::Duplicate, find(K.second)->Worker);
    } else if (!FitsHere || !mayBeginHere(J)) {
      continue;
    } else if (!MayTwice) {
      startOverdue(K.first);
    } else {
      compileHere(K.first, Cause::Straggler, find(K.second)->Worker);
      compile(J.Attempts.back());
    }
  }
}

/// An attempt had a good result.
void Plan::learn(const Attempt &A, const Event &E) {
  double Estimate = Jobs[A.Job].Info.Estimate;
  if (E.RanHere || E.What == Event::CompiledHere)
    return LocalRate.add(Estimate, E.Seconds);
  Time End = A.Receiving.value_or(Now);
  if (!A.Running)
    return RemoteRate.add(Estimate, seconds(End - A.Since));
  double Took = seconds(End - *A.Running);
  // Its worker is not slow, or no more.
  if (Took < O.SlowFactor * expected(Jobs[A.Job]))
    NumSlowOn.erase(A.Worker);
  RemoteRate.add(Estimate, Took);
}
