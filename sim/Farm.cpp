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

Farm::Farm(const Scenario &TheScenario, Host H)
    : TheScenario(TheScenario), TheHost(std::move(H)),
      Workers(TheScenario.Workers), UsedSlots(TheScenario.Workers.size()),
      OldSlots(TheScenario.Workers.size()), Lies{TheScenario.Seed, OfLies} {}

void Farm::begin() {
  assert(Jobs.empty() && "the farm begins once, before its first job");
  for (const BusySlot &B : TheScenario.Busy) {
    ++UsedSlots[B.Worker];
    ++OldSlots[B.Worker];
    if (B.For != Never)
      TheHost.ScheduleAdvance(B.For, Stage::Freed, B.Worker);
  }
}

std::vector<BusySlot> Farm::busySlots(Time Now) const {
  std::vector<BusySlot> Busy;
  for (const auto &[Id, J] : Jobs)
    if (J.Worker != SIZE_MAX && Workers[J.Worker].Slots != 0 &&
        (TheScenario.has(Feature::CancelIgnored) || J.Outcome == Fate::Lost))
      Busy.push_back({J.Worker, J.EndsAt > Now ? J.EndsAt - Now : Never});
  return Busy;
}

Farm::Fate Farm::drawFate(JobId J, unsigned Number) const {
  Random R{TheScenario.Seed, OfFates, J, Number};
  Fate Outcome = Fate::Good;
  auto May = [&](Feature F, Fate What) {
    bool Happens = R.chance(TheScenario.FaultRate);
    if (TheScenario.has(F) && Happens)
      Outcome = What;
  };
  May(Feature::DoubleResults, Fate::Twice);
  May(Feature::LateResults, Fate::Late);
  May(Feature::BadResults, Fate::Bad);
  May(Feature::Failures, Fate::Failed);
  May(Feature::Cancels, Fate::Cancelled);
  May(Feature::Refusals, Fate::Caller);
  May(Feature::LostResults, Fate::Lost);
  May(Feature::NeverBegun, Fate::NeverBegun);
  return Outcome;
}

/// Whether the plugin refuses jobs for no visible reason.
bool Farm::isStormy(Time T) const {
  if (!TheScenario.has(Feature::BusyStorm))
    return false;
  Random R{TheScenario.Seed, OfStorms};
  bool IsForEver = R.chance(0.2);
  Time Period = R.pick<Time>({20ms, 500ms, 4s});
  return IsForEver || (T / Period) % 2 == 0;
}

bool Farm::hasRoom() const {
  size_t Room = 0;
  for (const Worker &W : Workers)
    Room += W.Slots + TheScenario.Ahead;
  if (Workers.empty() && TheScenario.Ahead > 3)
    Room = SIZE_MAX; // it waits for workers
  return !isStormy(Now) && Jobs.size() < Room;
}

Farm::Answer Farm::submit(Time T, AttemptId Id, JobId J, unsigned Number,
                          WorkerId Avoid) {
  Now = T;
  Random R{TheScenario.Seed, OfFates, J, Number, 1};
  if (IsStopped || (TheScenario.has(Feature::Refusals) &&
                    R.chance(TheScenario.FaultRate / 2)))
    return Answer::Refused;
  if (!hasRoom()) {
    ReturnedBusy = true;
    return Answer::Busy;
  }
  Job &New = Jobs[Id];
  New.Id = J;
  New.Outcome = drawFate(J, Number);
  New.Avoid = Avoid;
  if (New.Outcome != Fate::NeverBegun)
    (TheScenario.has(Feature::Batches) ? Batch : Queue).push_back(Id);
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
  if (IsStopped)
    return;
  while (!Queue.empty()) {
    AttemptId Id = Queue.front();
    Job &J = Jobs[Id];
    size_t Best = SIZE_MAX;
    auto Value = [&](size_t I) {
      return std::tuple(I + 1 != J.Avoid, Workers[I].endsAtOnce(),
                        Workers[I].Speed, Workers[I].Slots - UsedSlots[I]);
    };
    for (size_t I = 0; I != Workers.size(); ++I)
      if (UsedSlots[I] < Workers[I].Slots &&
          (Best == SIZE_MAX || Value(I) > Value(Best)))
        Best = I;
    if (Best == SIZE_MAX)
      return;
    Queue.pop_front();
    ++UsedSlots[Best];
    J.Worker = Best;
    reportState(Id, J, PluginState::Sending);
    double Sending =
        TheScenario.IsThisMachine
            ? 0
            : double(TheScenario.Jobs[J.Id].Bytes) / TheScenario.BytesPerSecond;
    TheHost.ScheduleAdvance(fromSeconds(Sending), Stage::Sent, Id);
  }
}

/// Frees a slot that was taken before the link.
void Farm::freeSlot(size_t Worker) {
  if (OldSlots[Worker] == 0)
    return; // the worker is dead
  --OldSlots[Worker];
  --UsedSlots[Worker];
  assign();
  reportRoom();
}

void Farm::advance(Time T, Stage At, AttemptId Id) {
  Now = T;
  if (At == Stage::Freed)
    return freeSlot(Id);
  auto It = Jobs.find(Id);
  if (It == Jobs.end() || IsStopped)
    return;
  Job &J = It->second;
  const Worker &W = Workers[J.Worker];
  bool IsDead = W.DiesAt <= Now;
  if (IsDead && W.DiesSilently)
    return; // the plugin waits forever
  switch (At) {
  case Stage::Sent: {
    reportState(Id, J, PluginState::Running);
    double Seconds = TheScenario.Jobs[J.Id].Seconds / W.Speed;
    if (J.Outcome == Fate::Late)
      Seconds *= 20;
    if (W.endsAtOnce())
      Seconds = 0;
    J.Duration = fromSeconds(Seconds);
    J.EndsAt = Now + J.Duration;
    if (TheScenario.IsThisMachine)
      for (Time Sign = TheScenario.Opts.JobTimeout / 2; Sign < J.Duration;
           Sign += TheScenario.Opts.JobTimeout / 2)
        TheHost.ScheduleAdvance(Sign, Stage::StillAlive, Id);
    return TheHost.ScheduleAdvance(J.Duration, Stage::Ran, Id);
  }
  case Stage::StillAlive:
    return TheHost.PostEvent(TheScenario.Latency, {Event::Alive, 0, Id});
  case Stage::Ran:
    reportState(Id, J, PluginState::Receiving);
    return TheHost.ScheduleAdvance(TheScenario.Latency, Stage::Returned, Id);
  case Stage::Freed:
    return;
  case Stage::Returned:
    if (J.Outcome == Fate::Lost) {
      // Either the slot stays taken, or the plugin has forgotten the job.
      if (Id % 2)
        leave(Id);
      return;
    }
    ++NumResults;
    reportResult(Id, J);
    if (J.Outcome == Fate::Twice)
      reportResult(Id, J);
    leave(Id);
    return;
  }
}

void Farm::reportState(AttemptId Id, const Job &J, PluginState State) {
  if (!TheScenario.ReportsStates)
    return;
  Event E{Event::StateChanged, 0, Id};
  E.State = State;
  // Like some jobs of icecream.
  E.RanLocally = TheScenario.IsThisMachine || Id % 16 == 0;
  Time Delay = TheScenario.Latency;
  Random R{TheScenario.Seed, OfStates, Id, uint64_t(State)};
  if (TheScenario.has(Feature::LateStates)) {
    if (R.chance(0.3))
      return;
    Delay += fromSeconds(R.unit() * R.unit() * 2);
  }
  if (State != PluginState::Sending || R.chance(0.5))
    E.Worker = static_cast<WorkerId>(J.Worker + 1);
  TheHost.PostEvent(Delay, E);
}

void Farm::reportResult(AttemptId Id, const Job &J) {
  const JobTruth &Truth = TheScenario.Jobs[J.Id];
  Event E{Event::Succeeded, 0, Id, static_cast<WorkerId>(J.Worker + 1)};
  E.RanLocally = E.IsFromLinker = TheScenario.IsThisMachine;
  E.Seconds = std::chrono::duration<double>(J.Duration).count();
  if (Workers[J.Worker].FailsAtOnce || J.Outcome == Fate::Failed)
    E.Why = Cause::Infrastructure;
  else if (J.Outcome == Fate::Bad)
    E.Why = Cause::BadResult;
  else if (J.Outcome == Fate::Cancelled)
    E.Why = Cause::Cancelled;
  else if (J.Outcome == Fate::Caller)
    E.Why = Cause::Caller;
  else if (Truth.Error || Workers[J.Worker].Lies ||
           (Truth.RemoteError && !TheScenario.IsThisMachine))
    E.Why = TheScenario.IsThisMachine ? Cause::LocalCompiler : Cause::Compiler;
  if (E.Why != Cause::None)
    E.What = Event::Failed;
  TheHost.PostEvent(TheScenario.Latency, E);
}

/// Removes \p Id from the plugin's jobs.
void Farm::leave(AttemptId Id) {
  auto It = Jobs.find(Id);
  if (It->second.Worker != SIZE_MAX)
    --UsedSlots[It->second.Worker];
  for (auto *List : {&Queue, &Batch})
    List->erase(std::remove(List->begin(), List->end(), Id), List->end());
  Jobs.erase(It);
  assign();
  reportRoom();
}

/// Reports room once after a submit() that found none.
void Farm::reportRoom() {
  if (!ReturnedBusy || !hasRoom())
    return;
  ReturnedBusy = false;
  if (TheScenario.has(Feature::SilentRoom) || IsStopped)
    return;
  ++NumRoomReports;
  TheHost.PostEvent(TheScenario.Latency, {Event::RoomChanged});
}

void Farm::cancel(AttemptId Id) {
  auto It = Jobs.find(Id);
  if (It == Jobs.end() || TheScenario.has(Feature::CancelIgnored) || IsStopped)
    return;
  Event E{Event::Failed, 0, Id};
  E.Why = Cause::Cancelled;
  TheHost.PostEvent(TheScenario.Latency, E);
  leave(Id);
}

Load Farm::load() {
  Load NewLoad;
  if (TheScenario.has(Feature::FalseLoad)) {
    NewLoad.Slots = Lies.pick<uint32_t>({0, 1, 3, 1000000, Unknown});
    NewLoad.Free = Lies.pick<uint32_t>({0, 1, 7, 1000000, Unknown});
    NewLoad.Workers = Lies.pick<uint32_t>({0, 1, 64, Unknown});
    NewLoad.Local = Lies.pick<uint32_t>({0, 0, 2, 1000, Unknown});
    return NewLoad;
  }
  if (!TheScenario.KnowsLoad)
    return NewLoad;
  NewLoad.Slots = NewLoad.Free = 0;
  for (size_t I = 0; I != Workers.size(); ++I) {
    NewLoad.Slots += Workers[I].Slots;
    NewLoad.Free += Workers[I].Slots - UsedSlots[I];
  }
  NewLoad.Workers = static_cast<uint32_t>(Workers.size());
  if (TheScenario.IsThisMachine)
    NewLoad.Local = NewLoad.Slots;
  return NewLoad;
}

void Farm::poll(Time T) {
  Now = T;
  if (IsStopped)
    return;
  for (size_t I = 0; I != Workers.size(); ++I) {
    Worker &W = Workers[I];
    if (W.DiesAt > Now || W.DiesSilently || W.Slots == 0)
      continue;
    W.Slots = 0;
    UsedSlots[I] -= std::exchange(OldSlots[I], 0);
    std::vector<AttemptId> Lost;
    for (const auto &[Id, J] : Jobs)
      if (J.Worker == I)
        Lost.push_back(Id);
    for (AttemptId Id : Lost) {
      Event E{Event::Failed, 0, Id, static_cast<WorkerId>(I + 1)};
      E.Why = Cause::Infrastructure;
      TheHost.PostEvent(TheScenario.Latency + 100ms, E);
      leave(Id);
    }
  }
  reportRoom();
}
