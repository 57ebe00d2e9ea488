//===- Farm.cpp - All hosts of a link -------------------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Farm.h"
#include <algorithm>
#include <cassert>
#include <cerrno>
#include <utility>

using namespace dtlto::distcc;
using namespace std::chrono_literals;

// distcc's defaults.
static constexpr unsigned DefaultSlots = 4;
static constexpr unsigned DefaultLocalSlots = 2;
// A host that is too busy to report its version within this time is left out if
// another one is usable.
static constexpr Clock::duration MaxProbe = 30s;
// After this many failures in a row, a host rests: one that has done jobs
// before, and the only usable one.
static constexpr unsigned MaxInRow = 2, MaxInRowOfOnlyHost = 3;
// How long a shortage of this machine may last.
static constexpr Clock::duration MaxShortage = 3s;

Farm::Farm(const Settings &S, std::string LlvmVersion, std::string Linker,
           bool CanRunLocally, MessageLog &TheLog, std::shared_ptr<Mailbox> Box,
           Reaper &Children)
    : S(S), LlvmVersion(std::move(LlvmVersion)), Linker(std::move(Linker)),
      CanRunLocally(CanRunLocally), TheLog(TheLog), Box(std::move(Box)),
      Children(Children), ProbeRequest(buildProbe(S.Compiler)),
      Sharing(Hosts, TheLog, S.patience()) {
  for (const HostSpec &Spec : S.Hosts) {
    Hosts.push_back(std::make_unique<Host>(Spec, Hosts.size()));
    Host &H = *Hosts.back();
    H.Slots = Spec.Limit                     ? Spec.Limit
              : Spec.Kind == HostKind::Local ? DefaultLocalSlots
                                             : DefaultSlots;
  }
}

void Farm::start() {
  if (!S.IsStatusOnly)
    Sharing.open(S.LockFile, Box);
  probeSpares(S.IsStatusOnly ? UINT64_MAX : S.NumJobs);
}

/// Probes spare hosts for the jobs that exceed the slots of the hosts being
/// probed. A slow host may be frozen, and doesn't count.
void Farm::probeSpares(uint64_t NumJobs) {
  uint64_t ExpectedSlots = 0;
  for (auto &H : Hosts)
    if (H->isBeingProbed() && Clock::now() < H->LastProbeTime + S.quickProbe())
      ExpectedSlots += H->Slots;
  for (auto &H : Hosts)
    if (H->State == Host::Spare &&
        (ExpectedSlots < NumJobs || H->Spec.Kind == HostKind::Local)) {
      ExpectedSlots += H->Slots;
      beginProbe(*H);
    }
}

void Farm::settle(size_t NumWaiting) {
  Sharing.settle(NumWaiting != 0);
  HasWaitingJobs = NumWaiting != 0;
  if (Sharing.isReady()) // otherwise no job can be given to a host
    probeSpares(NumWaiting);
}

/// Warns, except in a status, which shows the text anyway.
void Farm::warn(const std::string &Text) {
  if (S.IsStatusOnly)
    TheLog.debug(Text);
  else
    TheLog.warning(Text);
}

/// Handles a shortage of this machine, which is not the host's fault.
void Farm::handleShortage(Host &H, const std::string &Why) {
  Sharing.end();
  if (H.ShortageUntil == Clock::time_point())
    H.ShortageUntil = Clock::now() + MaxShortage;
  rest(H, Why, 1s);
}

/// Lets \p H rest for \p Period, by default the back-off period. Reports the
/// reason, but not again for each try while nothing works.
void Farm::rest(Host &H, const std::string &Why, Clock::duration Period) {
  // Without a back-off period, limit how often the host is asked.
  if (Period == Clock::duration())
    Period = std::max<Clock::duration>(S.BackoffPeriod, 1s);
  auto Seconds = std::chrono::duration_cast<std::chrono::seconds>(Period);
  std::string Text = H.Name + ": " + Why + "; not used for " +
                     std::to_string(Seconds.count()) + " s";
  if (std::exchange(H.WasReasonReported, true))
    TheLog.debug(Text);
  else
    warn(Text);
  H.Why = Why;
  H.NumReported = H.NumFailed;
  H.State = Host::Resting;
  H.RestsUntil = Clock::now() + Period;
  H.Stats.reset();
}

void Farm::restIf(bool IsBad, Host &H, const std::string &Why) {
  if (IsBad && S.BackoffPeriod != 0s)
    rest(H, Why);
  else
    TheLog.debug(H.Name + ": " + Why);
}

void Farm::leaveOut(Host &H, const std::string &Why) {
  warn(H.Name + ": " + Why + "; not used for this link");
  H.Why = Why;
  H.State = Host::Out;
  H.Stats.reset();
}

/// Whether no other host is usable, or may be soon.
bool Farm::isOnlyCandidate(const Host &H) const {
  HostSet OnlyThis(Hosts.size());
  OnlyThis[H.Index] = true;
  return !mayTake(OnlyThis);
}

void Farm::recordFailure(Host &H, const void *Module,
                         Clock::time_point BeginTime, const std::string &Why,
                         bool IsOff) {
  ++H.NumFailed;
  H.LastFailure = Why;
  if (BeginTime >= H.LastFailureTime && Module != H.LastFailedModule) {
    ++H.NumInRow;
    H.LastFailureTime = Clock::now();
    H.LastFailedModule = Module;
  }
  if (H.State != Host::Usable)
    return;
  // A host that has done nothing yet may never succeed.
  unsigned Max = isOnlyCandidate(H)       ? MaxInRowOfOnlyHost
                 : H.NumDone || H.NumBusy ? MaxInRow
                                          : 1;
  restIf(IsOff || H.NumInRow >= Max, H, Why);
}

void Farm::recordFull(Host &H, unsigned NumOpen) {
  H.MaxOpen = std::max(1u, NumOpen);
  std::string Text = "it accepts no more than " + std::to_string(H.MaxOpen) +
                     " connections of this link; jobs wait for it (is its "
                     "limit in the host list too high?)";
  reportFull(H, Text);
}

/// Notes that the host is full, once for each host.
void Farm::reportFull(Host &H, const std::string &Text) {
  if (std::exchange(H.WasFullReported, true) || S.IsStatusOnly)
    TheLog.debug(H.Name + ": " + Text);
  else
    TheLog.note(H.Name + ": " + Text);
}

void Farm::reportFailures() {
  for (auto &H : Hosts)
    if (unsigned N = H->NumFailed - H->NumReported)
      TheLog.note(
          H->Name + ": " + std::to_string(N) + " of " +
          std::to_string(H->NumFailed + H->NumDone) +
          " jobs failed and were retried; the last one: " + H->LastFailure);
}

void Farm::recordSuccess(Host &H, uint64_t Cost, Clock::duration Duration) {
  ++H.NumDone;
  H.NumErrors = H.NumInRow = 0;
  H.LastFailedModule = nullptr;
  H.WasRetried = false;
  H.LastAnswer = Clock::now();
  H.learn(Cost, Duration);
  if (H.MaxOpen < H.Slots)
    ++H.MaxOpen; // there was room for one
}

void Farm::recordCompileError(Host &H) {
  ++H.NumErrors;
  H.LastAnswer = Clock::now();
}

/// The host may be frozen, unless it has answered something meanwhile.
void Farm::recordUnanswered(Host &H, Clock::time_point Since) {
  H.NumErrors += H.LastAnswer < Since;
}

void Farm::recordRefuted(const std::string &Name, int32_t Status) {
  auto It = std::find_if(Hosts.begin(), Hosts.end(),
                         [&](auto &H) { return H->Name == Name; });
  if (It == Hosts.end())
    return;
  Host &H = **It;
  bool IsError = Status == DTLTO_ERROR_COMPILER;
  if (IsError && H.NumErrors)
    --H.NumErrors;
  if (++H.NumRefuted < Host::MaxWrong || H.State != Host::Usable)
    return;
  std::string Why =
      std::to_string(H.NumRefuted) +
      " of its results were wrong, the last one " +
      (IsError ? "an error of a module that does compile" : "a wrong object");
  restIf(true, H, Why);
}

Host *Farm::choose(const HostSet &Tried, const std::string &Avoid) {
  if (!Sharing.isReady())
    return nullptr;
  auto Rank = [&](const Host &H) {
    return H.Name == Avoid ? 2 : H.isSuspect() ? 1 : 0;
  };
  // A host that fails at once always has room, so it would get all jobs that a
  // good one has no room for.
  int BestRank = 2;
  for (auto &H : Hosts)
    if (!Tried[H->Index] && H->mayTakeJobs())
      BestRank = std::min(BestRank, Rank(*H));
  while (true) {
    Host *Best = nullptr;
    for (auto &H : Hosts) {
      if (!H->hasRoom() || Tried[H->Index] || Rank(*H) > BestRank)
        continue;
      // Treat an unknown speed as fast; otherwise it would stay unknown.
      if (!Best ||
          (Best->Speed != 0 && (H->Speed == 0 || H->Speed > Best->Speed)))
        Best = H.get();
    }
    if (!Best || Sharing.reserve(*Best))
      return Best;
  }
}

bool Farm::mayTake(const HostSet &Tried) const {
  return std::any_of(Hosts.begin(), Hosts.end(), [&](auto &H) {
    return !Tried[H->Index] && H->mayTakeJobs();
  });
}

Farm::Counts Farm::counts() const {
  Counts C;
  for (auto &H : Hosts) {
    C.Expected += H->mayTakeJobs() ? H->room() : 0;
    if (H->State != Host::Usable)
      continue;
    ++C.Hosts;
    C.Slots += H->room();
    C.Free += H->hasRoom() && !H->isSuspect() ? H->room() - H->NumBusy : 0;
    C.Local += H->Spec.Kind == HostKind::Local ? H->Slots : 0;
  }
  return C;
}

bool Farm::isSettled() const {
  return std::none_of(Hosts.begin(), Hosts.end(),
                      [](auto &H) { return H->mayBecomeUsable() || H->Stats; });
}

std::vector<dtlto::sdk::Worker>
Farm::report(std::chrono::milliseconds WaitTime) const {
  std::vector<sdk::Worker> All;
  for (auto &H : Hosts) {
    sdk::Worker R{H->Name, DTLTO_WORKER_OUT};
    if (H->State == Host::Usable) {
      R.State = DTLTO_WORKER_UP;
      R.Slots = H->Slots;
      R.Compiler = H->Spec.Kind == HostKind::Local
                       ? "this linker, LLVM " + LlvmVersion
                       : S.Compiler + " " + LlvmVersion;
      // The number of cores is unknown; distccd has about as many slots.
      if (H->LoadHundredths != UINT32_MAX && H->Slots)
        R.LoadPermille = H->LoadHundredths * 10 / H->Slots;
    } else if (H->isBeingProbed()) {
      std::string Time = std::to_string(WaitTime.count()) + " ms";
      if (H->State == Host::Resolving)
        R.Why = "its address was not found within " + Time;
      else if (H->Probe->state() != Connection::Connecting)
        R.Why = "did not report its compiler's version within " + Time;
      else if (H->LastStatsAnswer >= H->FirstProbeTime)
        R.Why = "it accepts no more connections, since it is busy";
      else
        R.Why = H->Probe->connectErrorText(ETIMEDOUT);
    } else {
      R.Why = H->Why;
    }
    All.push_back(std::move(R));
  }
  return All;
}

void Farm::prepare(Poller &P) {
  Sharing.prepare(P);
  Clock::time_point Now = Clock::now();
  for (auto &H : Hosts) {
    if (H->Probe) {
      H->Probe->prepare(P);
      for (Clock::duration D : {Clock::duration(QuickConnect), MaxProbe})
        if (Now < H->LastProbeTime + D)
          P.wakeAt(H->LastProbeTime + D);
    }
    if (H->Stats)
      H->Stats->prepare(P);
    if (H->State == Host::Resting)
      P.wakeAt(H->RestsUntil);
    if (HasWaitingJobs && H->isBeingProbed() &&
        Now < H->LastProbeTime + S.quickProbe())
      P.wakeAt(H->LastProbeTime + S.quickProbe());
  }
}

void Farm::checkTime(Clock::time_point Now) {
  Sharing.checkTime(Now);
  for (auto &H : Hosts) {
    if (H->Probe) {
      H->Probe->checkTime(Now);
      queryStats(*H, Now);
      // Wait longer for the only host.
      if (Now >= H->LastProbeTime + MaxProbe && counts().Hosts != 0 &&
          H->Probe->state() == Connection::Waiting)
        H->Probe->giveUp(Now);
      if (H->Probe->ended())
        onProbeEnd(*H);
    }
    if (H->Stats) {
      H->Stats->checkTime(Now);
      if (H->Stats->ended())
        onStatsEnd(*H, Now);
    }
    // Ask a rested host again, even if it still has jobs.
    if (H->State == Host::Resting && Now >= H->RestsUntil)
      beginProbe(*H);
  }
}

//===----------------------------------------------------------------------===//
// Slots and speed of a host
//===----------------------------------------------------------------------===//

Host::Slot *Host::idleSlot() {
  for (Slot &S : SlotTable)
    if (!S.Job && S.IsLocked)
      return &S;
  return nullptr;
}

int Host::take(uint64_t Job) {
  ++NumBusy;
  Slot *To = idleSlot();
  for (size_t I = 0; !To && I != SlotTable.size(); ++I)
    if (!SlotTable[I].Job)
      To = &SlotTable[I];
  if (!To)
    To = &SlotTable.emplace_back();
  To->Job = Job;
  return static_cast<int>(To - SlotTable.data());
}

void Host::release(uint64_t Job) {
  assert(NumBusy > 0);
  --NumBusy;
  for (Slot &S : SlotTable)
    if (S.Job == Job) {
      S.Job = 0;
      IsTaken &= !S.IsLocked;
    }
}

void Host::learn(uint64_t Cost, Clock::duration Duration) {
  double Seconds =
      std::max(std::chrono::duration<double>(Duration).count(), 0.001);
  double Now = static_cast<double>(std::max<uint64_t>(Cost, 1)) / Seconds;
  // Jobs differ, and so does a machine's other work.
  Speed = Speed == 0 ? Now : 0.7 * Speed + 0.3 * Now;
}
