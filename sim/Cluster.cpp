//===- Cluster.cpp - A simulated cluster ----------------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Cluster.h"
#include <algorithm>
#include <cmath>
#include <utility>

using namespace dtlto::replay;

static constexpr uint32_t NoMachine = UINT32_MAX;

static Time duration(double Bytes, double Rate) {
  return static_cast<Time>(std::llround(Bytes / Rate));
}

Cluster::Cluster(const ClusterSettings &S) : S(S), Machines(S.Machines) {
  for (size_t I = 0; I != S.Faults.size(); ++I)
    if (S.Faults[I].At != Never)
      push(Event::FaultDue, S.Faults[I].At, I);
    else if (S.Faults[I].AfterJobs == 0 && S.Faults[I].AtBegin == 0)
      apply(S.Faults[I], 0);
}

void Cluster::push(Event::KindTy Kind, Time At, uint64_t Id) {
  Events.push({Kind, At, NextOrder++, Id});
}

void Cluster::report(Report::KindTy Kind, uint64_t Id, uint32_t Machine,
                     Time At) {
  Reports.push_back({Kind, Id, Machine, At});
}

std::vector<Cluster::Report> Cluster::takeReports() {
  return std::exchange(Reports, {});
}

bool Cluster::takeLoadChanged() { return std::exchange(LoadChanged, false); }

std::vector<uint64_t> Cluster::jobs() const {
  std::vector<uint64_t> Ids;
  for (const auto &Entry : Jobs)
    Ids.push_back(Entry.first);
  return Ids;
}

//===----------------------------------------------------------------------===//
// The client
//===----------------------------------------------------------------------===//

bool Cluster::has(uint32_t Content, uint32_t Machine) const {
  if (!S.Cache || Content >= Contents.size() || Contents[Content].empty())
    return false;
  return Contents[Content][Machine / 64] >> (Machine % 64) & 1;
}

uint64_t Cluster::missing(const Job &J, uint32_t Machine) const {
  uint64_t Bytes = 0;
  for (const Input &In : J.Inputs)
    if (!has(In.Content, Machine))
      Bytes += In.Bytes;
  return Bytes;
}

uint32_t Cluster::chooseMachine(const Job &J) const {
  uint32_t Best = NoMachine;
  uint64_t BestMissing = 0;
  bool IsMissingKnown = false; // BestMissing is valid
  for (uint32_t I = 0; I != Machines.size(); ++I) {
    const Machine &M = Machines[I];
    if (!M.IsAlive || M.NumTaken >= S.Slots + S.Ahead)
      continue;
    if (Best != NoMachine) {
      const Machine &B = Machines[Best];
      if (M.NumTaken > B.NumTaken)
        continue;
      if (M.NumTaken == B.NumTaken) {
        if (!std::exchange(IsMissingKnown, true))
          BestMissing = missing(J, Best);
        uint64_t Missing = missing(J, I);
        if (Missing < BestMissing) {
          Best = I;
          BestMissing = Missing;
        }
        continue;
      }
    }
    Best = I;
    IsMissingKnown = false;
  }
  return Best;
}

bool Cluster::submit(Time Now, Job J) {
  advance(Now);
  uint32_t Index = chooseMachine(J);
  if (Index == NoMachine) {
    ReturnedBusy = true;
    ++Sums.Busy;
    return false;
  }
  Machine &M = Machines[Index];
  ++M.NumTaken;
  uint64_t Id = J.Id;
  (M.NumTaken <= S.Slots ? Urgent : Early).push_back(Id);
  JobState State;
  State.J = std::move(J);
  State.Machine = Index;
  Jobs.emplace(Id, std::move(State));
  pump(Now);
  updateLoad();
  return true;
}

void Cluster::cancel(Time Now, uint64_t Id) {
  advance(Now);
  auto It = Jobs.find(Id);
  if (It == Jobs.end())
    return;
  JobState &State = It->second;
  uint32_t Machine = State.Machine;
  freePlace(State, Now);
  Jobs.erase(It);
  ++Sums.Cancelled;
  report(Report::Cancelled, Id, Machine, Now);
  startWaiting(Machine, Now);
  updateLoad();
}

Cluster::Load Cluster::load() const {
  Load NewLoad = {};
  for (const Machine &M : Machines) {
    if (!M.IsAlive)
      continue;
    ++NewLoad.Machines;
    NewLoad.Slots += S.Slots;
    NewLoad.Free += S.Slots - std::min(S.Slots, M.NumTaken);
    NewLoad.Queued += M.NumTaken - M.Running;
  }
  return NewLoad;
}

/// Sets LoadChanged if the change matters to the caller.
void Cluster::updateLoad() {
  bool Room = false, Free = false;
  for (const Machine &M : Machines) {
    Room |= M.IsAlive && M.NumTaken < S.Slots + S.Ahead;
    Free |= M.IsAlive && M.NumTaken < S.Slots;
  }
  if (Free != HadFreeSlot) {
    HadFreeSlot = Free;
    LoadChanged = true;
  }
  if (ReturnedBusy && Room) {
    ReturnedBusy = false;
    LoadChanged = true;
  }
}

//===----------------------------------------------------------------------===//
// Events
//===----------------------------------------------------------------------===//

void Cluster::advance(Time Now) {
  while (!Events.empty() && Events.top().At <= Now) {
    Event E = Events.top();
    Events.pop();
    handle(E);
  }
}

void Cluster::handle(const Event &E) {
  if (E.Kind == Event::UplinkIdle) {
    UplinkBusy = false;
    return pump(E.At);
  }
  if (E.Kind == Event::FaultDue) {
    apply(S.Faults[E.Id], E.At);
    return updateLoad();
  }
  auto It = Jobs.find(E.Id);
  if (It == Jobs.end())
    return; // cancelled
  JobState &State = It->second;
  if ((State.At == Stage::Dead) != (E.Kind == Event::Lost))
    return;
  switch (E.Kind) {
  case Event::Arrived:
    State.At = Stage::Waiting;
    Machines[State.Machine].Waiting.push_back(E.Id);
    startWaiting(State.Machine, E.At);
    break;
  case Event::RunEnd:
    onRunEnd(State, E.At);
    break;
  case Event::Done:
    ++Sums.Done;
    Sums.BytesUseful += State.Sent;
    Sums.UsefulTime += State.RunTime;
    Sums.BytesBack += State.J.ObjectBytes;
    report(Report::Done, E.Id, State.Machine, E.At);
    Jobs.erase(It);
    for (const Fault &F : S.Faults)
      if (F.At == Never && F.AtBegin == 0 && F.AfterJobs == Sums.Done)
        apply(F, E.At);
    break;
  case Event::Lost:
    ++Sums.Lost;
    report(Report::Lost, E.Id, State.Machine, E.At);
    Jobs.erase(It);
    break;
  case Event::UplinkIdle:
  case Event::FaultDue:
    break;
  }
  updateLoad();
}

/// Sends the next message if the linker's link is idle.
void Cluster::pump(Time Now) {
  while (!UplinkBusy && !(Urgent.empty() && Early.empty())) {
    std::deque<uint64_t> &From = Urgent.empty() ? Early : Urgent;
    uint64_t Id = From.front();
    From.pop_front();
    auto It = Jobs.find(Id);
    if (It == Jobs.end() || It->second.At != Stage::Queued)
      continue;
    JobState &State = It->second;
    Machine &M = Machines[State.Machine];

    // Only now, so that earlier messages to the machine count as arrived.
    uint64_t Bytes = missing(State.J, State.Machine);
    if (S.Cache)
      for (const Input &In : State.J.Inputs) {
        if (In.Content >= Contents.size())
          Contents.resize(
              std::max<size_t>(In.Content + 1, Contents.size() * 2));
        std::vector<uint64_t> &On = Contents[In.Content];
        On.resize((Machines.size() + 63) / 64);
        On[State.Machine / 64] |= uint64_t(1) << (State.Machine % 64);
      }
    State.Sent = Bytes;
    State.At = Stage::Sending;
    Time End = Now + duration(double(Bytes), S.Rate);
    Time LinkEnd = std::max(End, std::max(Now, M.InIdle) +
                                     duration(double(Bytes), S.MachineRate));
    M.InIdle = LinkEnd;
    Sums.BytesSent += Bytes;
    Sums.Sending += End - Now;
    UplinkBusy = true;
    push(Event::UplinkIdle, End, 0);
    push(Event::Arrived, LinkEnd + S.Latency, Id);
    report(Report::Sending, Id, State.Machine, Now);
  }
}

void Cluster::startWaiting(uint32_t Index, Time Now) {
  Machine &M = Machines[Index];
  while (M.IsAlive && M.Running < S.Slots && !M.Waiting.empty()) {
    uint64_t Id = M.Waiting.front();
    M.Waiting.pop_front();
    auto It = Jobs.find(Id);
    if (It == Jobs.end())
      continue;
    JobState &State = It->second;
    State.At = Stage::Running;
    State.Started = Now;
    ++M.Running;
    push(Event::RunEnd, Now + std::llround(double(State.J.Cpu) * M.Slow), Id);
    report(Report::Running, Id, Index, Now);
    ++M.NumBegun;
    for (const Fault &F : S.Faults)
      if (F.AtBegin && F.AtBegin == M.NumBegun && F.Machine == Index)
        apply(F, Now);
  }
}

void Cluster::stopRunning(JobState &State, Time Now) {
  --Machines[State.Machine].Running;
  Sums.SlotTime += Now - State.Started;
}

void Cluster::freePlace(JobState &State, Time Now) {
  if (State.At == Stage::Dead || State.At == Stage::Receiving)
    return;
  if (State.At == Stage::Running)
    stopRunning(State, Now);
  --Machines[State.Machine].NumTaken;
}

void Cluster::onRunEnd(JobState &State, Time Now) {
  freePlace(State, Now);
  State.RunTime = Now - State.Started;
  State.At = Stage::Receiving;
  Machine &M = Machines[State.Machine];
  double Bytes = double(State.J.ObjectBytes);
  Time Begin = std::max(Now, M.OutIdle);
  M.OutIdle = Begin + duration(Bytes, S.MachineRate);
  DownIdle =
      std::max(M.OutIdle, std::max(Begin, DownIdle) + duration(Bytes, S.Rate));
  report(Report::Receiving, State.J.Id, State.Machine, Now);
  push(Event::Done, DownIdle + S.Latency, State.J.Id);
  startWaiting(State.Machine, Now);
}

void Cluster::apply(const Fault &F, Time Now) {
  Machine &M = Machines[F.Machine];
  if (F.Kind == Fault::Slow) {
    M.Slow = F.Factor;
    return;
  }
  if (!M.IsAlive)
    return;
  ++Sums.Deaths;
  LoadChanged = true;
  for (auto &Entry : Jobs) {
    JobState &State = Entry.second;
    if (State.Machine != F.Machine)
      continue;
    freePlace(State, Now);
    State.At = Stage::Dead;
    push(Event::Lost, Now + S.Notice, Entry.first);
  }
  M.IsAlive = false;
  M.Waiting.clear();
  for (std::vector<uint64_t> &On : Contents)
    if (!On.empty())
      On[F.Machine / 64] &= ~(uint64_t(1) << (F.Machine % 64));
}
