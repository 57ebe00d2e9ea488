//===- Farm.cpp - A simulated plugin --------------------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Farm.h"
#include <algorithm>
#include <cassert>
#include <utility>

using namespace dtlto::sim;
using namespace dtlto::plan;
using namespace std::chrono_literals;

enum Stream : uint64_t { OfFates = 100, OfLies, OfStates, OfStorms };

Farm::Farm(const Scenario &S, Host H)
    : S(S), TheHost(std::move(H)), Workers(S.Workers), Taken(S.Workers.size()),
      Old(S.Workers.size()), Lies{S.Seed, OfLies} {}

void Farm::begin() {
  assert(Jobs.empty() && "the farm begins once, before its first job");
  for (const BusySlot &B : S.Busy) {
    ++Taken[B.Worker];
    ++Old[B.Worker];
    if (B.For != Never)
      TheHost.Ask(B.For, Stage::Freed, B.Worker);
  }
}

std::vector<BusySlot> Farm::leftOver(Time Now) const {
  std::vector<BusySlot> Busy;
  for (const auto &[Id, J] : Jobs)
    if (J.Worker != SIZE_MAX && Workers[J.Worker].Slots != 0 &&
        (S.has(Feature::CancelIgnored) || J.Comes == Fate::Lost))
      Busy.push_back({J.Worker, J.EndsAt > Now ? J.EndsAt - Now : Never});
  return Busy;
}

Farm::Fate Farm::drawFate(JobId J, unsigned Number) const {
  Random R{S.Seed, OfFates, J, Number};
  Fate Comes = Fate::Good;
  auto May = [&](Feature F, Fate What) {
    bool Happens = R.chance(S.Often);
    if (S.has(F) && Happens)
      Comes = What;
  };
  May(Feature::DoubleResults, Fate::Twice);
  May(Feature::LateResults, Fate::Late);
  May(Feature::BadResults, Fate::Bad);
  May(Feature::Failures, Fate::Failed);
  May(Feature::Cancels, Fate::Cancelled);
  May(Feature::Refusals, Fate::Caller);
  May(Feature::LostResults, Fate::Lost);
  May(Feature::NeverBegun, Fate::NeverBegun);
  return Comes;
}

/// Whether the plugin refuses jobs for no visible reason.
bool Farm::isStormy(Time T) const {
  if (!S.has(Feature::BusyStorm))
    return false;
  Random R{S.Seed, OfStorms};
  bool IsForEver = R.chance(0.2);
  Time Period = R.of<Time>({20ms, 500ms, 4s});
  return IsForEver || (T / Period) % 2 == 0;
}

bool Farm::hasRoom() const {
  size_t Room = 0;
  for (const Worker &W : Workers)
    Room += W.Slots + S.Ahead;
  if (Workers.empty() && S.Ahead > 3)
    Room = SIZE_MAX; // it waits for workers
  return !isStormy(Now) && Jobs.size() < Room;
}

Farm::Answer Farm::submit(Time T, AttemptId Id, JobId J, unsigned Number,
                          WorkerId Avoid) {
  Now = T;
  Random R{S.Seed, OfFates, J, Number, 1};
  if (Stopped || (S.has(Feature::Refusals) && R.chance(S.Often / 2)))
    return Answer::Refused;
  if (!hasRoom()) {
    SaidBusy = true;
    return Answer::Busy;
  }
  Job &New = Jobs[Id];
  New.Id = J;
  New.Comes = drawFate(J, Number);
  New.Avoid = Avoid;
  if (New.Comes != Fate::NeverBegun)
    (S.has(Feature::Batches) ? Batch : Queue).push_back(Id);
  assign();
  return Answer::Accepted;
}

void Farm::completeBatch(Time T) {
  Now = T;
  Queue.insert(Queue.end(), Batch.begin(), Batch.end());
  Batch.clear();
  assign();
}

void Farm::assign() {
  if (Stopped)
    return;
  while (!Queue.empty()) {
    AttemptId Id = Queue.front();
    Job &J = Jobs[Id];
    size_t Best = SIZE_MAX;
    auto Value = [&](size_t I) {
      return std::tuple(I + 1 != J.Avoid, Workers[I].endsAtOnce(),
                        Workers[I].Speed, Workers[I].Slots - Taken[I]);
    };
    for (size_t I = 0; I != Workers.size(); ++I)
      if (Taken[I] < Workers[I].Slots &&
          (Best == SIZE_MAX || Value(I) > Value(Best)))
        Best = I;
    if (Best == SIZE_MAX)
      return;
    Queue.pop_front();
    ++Taken[Best];
    J.Worker = Best;
    tellState(Id, J, PluginState::Sending);
    double Sending =
        S.IsThisMachine ? 0 : double(S.Jobs[J.Id].Bytes) / S.BytesPerSecond;
    TheHost.Ask(fromSeconds(Sending), Stage::Sent, Id);
  }
}

/// Frees a slot that was taken before the link.
void Farm::freeSlot(size_t Worker) {
  if (Old[Worker] == 0)
    return; // the worker is dead
  --Old[Worker];
  --Taken[Worker];
  assign();
  tellRoom();
}

void Farm::advance(Time T, Stage At, AttemptId Id) {
  Now = T;
  if (At == Stage::Freed)
    return freeSlot(Id);
  auto It = Jobs.find(Id);
  if (It == Jobs.end() || Stopped)
    return;
  Job &J = It->second;
  const Worker &W = Workers[J.Worker];
  bool IsDead = W.DiesAt <= Now;
  if (IsDead && W.DiesSilently)
    return; // the plugin waits forever
  switch (At) {
  case Stage::Sent: {
    tellState(Id, J, PluginState::Running);
    double Seconds = S.Jobs[J.Id].Seconds / W.Speed;
    if (J.Comes == Fate::Late)
      Seconds *= 20;
    if (W.endsAtOnce())
      Seconds = 0;
    J.Took = fromSeconds(Seconds);
    J.EndsAt = Now + J.Took;
    if (S.IsThisMachine)
      for (Time Sign = S.O.JobTimeout / 2; Sign < J.Took;
           Sign += S.O.JobTimeout / 2)
        TheHost.Ask(Sign, Stage::StillAlive, Id);
    return TheHost.Ask(J.Took, Stage::Ran, Id);
  }
  case Stage::StillAlive:
    return TheHost.Tell(S.Latency, {Event::Alive, 0, Id});
  case Stage::Ran:
    tellState(Id, J, PluginState::Receiving);
    return TheHost.Ask(S.Latency, Stage::Returned, Id);
  case Stage::Freed:
    return;
  case Stage::Returned:
    if (J.Comes == Fate::Lost) {
      // Either the slot stays taken, or the plugin has forgotten the job.
      if (Id % 2)
        leave(Id);
      return;
    }
    ++NumResults;
    tellResult(Id, J);
    if (J.Comes == Fate::Twice)
      tellResult(Id, J);
    leave(Id);
    return;
  }
}

void Farm::tellState(AttemptId Id, const Job &J, PluginState State) {
  if (!S.TellsStates)
    return;
  Event E{Event::StateChanged, 0, Id};
  E.State = State;
  E.RanHere = S.IsThisMachine || Id % 16 == 0; // like some jobs of icecream
  Time Delay = S.Latency;
  Random R{S.Seed, OfStates, Id, uint64_t(State)};
  if (S.has(Feature::LateStates)) {
    if (R.chance(0.3))
      return;
    Delay += fromSeconds(R.unit() * R.unit() * 2);
  }
  if (State != PluginState::Sending || R.chance(0.5))
    E.Worker = static_cast<WorkerId>(J.Worker + 1);
  TheHost.Tell(Delay, E);
}

void Farm::tellResult(AttemptId Id, const Job &J) {
  const JobTruth &Truth = S.Jobs[J.Id];
  Event E{Event::Succeeded, 0, Id, static_cast<WorkerId>(J.Worker + 1)};
  E.RanHere = E.IsOurs = S.IsThisMachine;
  E.Seconds = std::chrono::duration<double>(J.Took).count();
  if (Workers[J.Worker].FailsAtOnce || J.Comes == Fate::Failed)
    E.Why = Cause::Infrastructure;
  else if (J.Comes == Fate::Bad)
    E.Why = Cause::BadResult;
  else if (J.Comes == Fate::Cancelled)
    E.Why = Cause::Cancelled;
  else if (J.Comes == Fate::Caller)
    E.Why = Cause::Caller;
  else if (Truth.Error || Workers[J.Worker].Lies ||
           (Truth.RemoteError && !S.IsThisMachine))
    E.Why = S.IsThisMachine ? Cause::CompilerHere : Cause::Compiler;
  if (E.Why != Cause::None)
    E.What = Event::Failed;
  TheHost.Tell(S.Latency, E);
}

/// Removes \p Id from the plugin's jobs.
void Farm::leave(AttemptId Id) {
  auto It = Jobs.find(Id);
  if (It->second.Worker != SIZE_MAX)
    --Taken[It->second.Worker];
  for (auto *List : {&Queue, &Batch})
    List->erase(std::remove(List->begin(), List->end(), Id), List->end());
  Jobs.erase(It);
  assign();
  tellRoom();
}

/// Reports room once after a submit() that found none.
void Farm::tellRoom() {
  if (!SaidBusy || !hasRoom())
    return;
  SaidBusy = false;
  if (S.has(Feature::SilentRoom) || Stopped)
    return;
  ++NumRoomTold;
  TheHost.Tell(S.Latency, {Event::RoomChanged});
}

void Farm::cancel(AttemptId Id) {
  auto It = Jobs.find(Id);
  if (It == Jobs.end() || S.has(Feature::CancelIgnored) || Stopped)
    return;
  Event E{Event::Failed, 0, Id};
  E.Why = Cause::Cancelled;
  TheHost.Tell(S.Latency, E);
  leave(Id);
}

Load Farm::load() {
  Load L;
  if (S.has(Feature::FalseLoad)) {
    L.Slots = Lies.of<uint32_t>({0, 1, 3, 1000000, Unknown});
    L.Free = Lies.of<uint32_t>({0, 1, 7, 1000000, Unknown});
    L.Workers = Lies.of<uint32_t>({0, 1, 64, Unknown});
    L.Local = Lies.of<uint32_t>({0, 0, 2, 1000, Unknown});
    return L;
  }
  if (!S.KnowsLoad)
    return L;
  L.Slots = L.Free = 0;
  for (size_t I = 0; I != Workers.size(); ++I) {
    L.Slots += Workers[I].Slots;
    L.Free += Workers[I].Slots - Taken[I];
  }
  L.Workers = static_cast<uint32_t>(Workers.size());
  if (S.IsThisMachine)
    L.Local = L.Slots;
  return L;
}

void Farm::look(Time T) {
  Now = T;
  if (Stopped)
    return;
  for (size_t I = 0; I != Workers.size(); ++I) {
    Worker &W = Workers[I];
    if (W.DiesAt > Now || W.DiesSilently || W.Slots == 0)
      continue;
    W.Slots = 0;
    Taken[I] -= std::exchange(Old[I], 0);
    std::vector<AttemptId> Lost;
    for (const auto &[Id, J] : Jobs)
      if (J.Worker == I)
        Lost.push_back(Id);
    for (AttemptId Id : Lost) {
      Event E{Event::Failed, 0, Id, static_cast<WorkerId>(I + 1)};
      E.Why = Cause::Infrastructure;
      TheHost.Tell(S.Latency + 100ms, E);
      leave(Id);
    }
  }
  tellRoom();
}
