//===- Farm.cpp - All hosts of a link -------------------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Farm.h"
#include <algorithm>
#include <cerrno>
#include <utility>

using namespace dtlto::distcc;
using namespace std::chrono_literals;

// distcc's own numbers.
static constexpr unsigned DefaultSlots = 4;
static constexpr unsigned DefaultLocalSlots = 2;
// A host that is so busy with others that it doesn't get to a question for its
// version in this time is left out, if another can be used.
static constexpr Clock::duration MaxProbe = 30s;
// A host rests after so many failures in a row: one that has done jobs before,
// and one that no other can take the place of.
static constexpr unsigned MaxInRow = 2, MaxInRowOfOnly = 3;
// What this machine lacks may come in this time.
static constexpr Clock::duration MaxLack = 3s;

Farm::Farm(const Settings &S, std::string LlvmVersion, std::string Linker,
           bool CanRunHere, Log &TheLog, std::shared_ptr<Mailbox> Box,
           Reaper &Children)
    : S(S), LlvmVersion(std::move(LlvmVersion)), Linker(std::move(Linker)),
      CanRunHere(CanRunHere), TheLog(TheLog), Box(std::move(Box)),
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
  if (!S.OnlyStatus)
    Sharing.open(S.LockFile, Box);
  askSpares(S.OnlyStatus ? UINT64_MAX : S.NumJobs);
}

/// Hosts that are being asked will have slots for some of the jobs. But one
/// that takes its time may be frozen.
void Farm::askSpares(uint64_t NumJobs) {
  uint64_t Soon = 0;
  for (auto &H : Hosts)
    if (H->isBeingAsked() && Clock::now() < H->AskedAt + S.quickProbe())
      Soon += H->Slots;
  for (auto &H : Hosts)
    if (H->State == Host::Spare &&
        (Soon < NumJobs || H->Spec.Kind == HostKind::Local)) {
      Soon += H->Slots;
      find(*H);
    }
}

void Farm::settle(size_t NumWaiting) {
  Sharing.settle(NumWaiting != 0);
  HasWaiting = NumWaiting != 0;
  if (Sharing.isReady()) // else none could be given a job
    askSpares(NumWaiting);
}

/// A list of all hosts has it anyway.
void Farm::say(const std::string &Text) {
  if (S.OnlyStatus)
    TheLog.debug(Text);
  else
    TheLog.warning(Text);
}

/// That is no fault of the host's.
void Farm::lack(Host &H, const std::string &Why) {
  Sharing.end();
  if (H.LackUntil == Clock::time_point())
    H.LackUntil = Clock::now() + MaxLack;
  rest(H, Why, 1s);
}

/// Says why, but not again for each try while nothing works.
void Farm::rest(Host &H, const std::string &Why) {
  // Without a back-off period, still don't ask all the time.
  rest(H, Why, std::max<Clock::duration>(S.BackoffPeriod, 1s));
}

void Farm::rest(Host &H, const std::string &Why, Clock::duration Period) {
  auto Seconds = std::chrono::duration_cast<std::chrono::seconds>(Period);
  std::string Text = H.Name + ": " + Why + "; not used for " +
                     std::to_string(Seconds.count()) + " s";
  if (H.SaidWhy)
    TheLog.debug(Text);
  else
    say(Text);
  H.SaidWhy = true;
  H.Why = Why;
  H.NumSaid = H.NumFailed;
  H.State = Host::Resting;
  H.RestsUntil = Clock::now() + Period;
  H.Stats.reset();
}

void Farm::leaveOut(Host &H, const std::string &Why) {
  say(H.Name + ": " + Why + "; not used for this link");
  H.Why = Why;
  H.State = Host::Out;
  H.Stats.reset();
}

/// No other host is usable, or may be soon.
bool Farm::isOnlyHope(const Host &H) const {
  HostSet This(Hosts.size());
  This[H.Index] = true;
  return !mayTake(This);
}

void Farm::recordFailure(Host &H, const void *Module, Clock::time_point Began,
                         const std::string &Why, bool IsOff) {
  ++H.NumFailed;
  H.LastFailure = Why;
  if (Began >= H.CountedAt && Module != H.CountedModule) {
    ++H.NumInRow;
    H.CountedAt = Clock::now();
    H.CountedModule = Module;
  }
  if (H.State != Host::Usable)
    return;
  // One that has done nothing yet may never do anything.
  unsigned Max = isOnlyHope(H)            ? MaxInRowOfOnly
                 : H.NumDone || H.NumBusy ? MaxInRow
                                          : 1;
  if (S.BackoffPeriod != 0s && (IsOff || H.NumInRow >= Max))
    rest(H, Why);
  else
    TheLog.debug(H.Name + ": " + Why);
}

void Farm::recordFull(Host &H, unsigned NumOpen) {
  H.MaxOpen = std::max(1u, NumOpen);
  std::string Text = "it is there, but takes no more than " +
                     std::to_string(H.MaxOpen) +
                     " connections of this link; jobs wait for it (is its "
                     "limit in the host list too high?)";
  sayFull(H, Text);
}

/// Once for each host.
void Farm::sayFull(Host &H, const std::string &Text) {
  if (std::exchange(H.SaidFull, true) || S.OnlyStatus)
    TheLog.debug(H.Name + ": " + Text);
  else
    TheLog.note(H.Name + ": " + Text);
}

void Farm::sayFailures() {
  for (auto &H : Hosts)
    if (unsigned N = H->NumFailed - H->NumSaid)
      TheLog.note(H->Name + ": " + std::to_string(N) + " of " +
                  std::to_string(H->NumFailed + H->NumDone) +
                  " jobs failed there and were tried again; the last one: " +
                  H->LastFailure);
}

void Farm::recordSuccess(Host &H, uint64_t Cost, Clock::duration Took) {
  ++H.NumDone;
  H.NumErrors = H.NumInRow = 0;
  H.CountedModule = nullptr;
  H.HadChance = false;
  H.LastAnswer = Clock::now();
  H.learn(Cost, Took);
  if (H.MaxOpen < H.Slots)
    ++H.MaxOpen; // there was room for one
}

void Farm::recordCompileError(Host &H) {
  ++H.NumErrors;
  H.LastAnswer = Clock::now();
}

/// It may be frozen; a slow one has answered something meanwhile.
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
  if (S.BackoffPeriod != 0s)
    rest(H, Why);
  else
    TheLog.debug(H.Name + ": " + Why);
}

Host *Farm::choose(const HostSet &Tried, const std::string &Avoid) {
  if (!Sharing.isReady())
    return nullptr;
  auto Rank = [&](const Host &H) {
    return H.Name == Avoid ? 2 : H.isSuspect() ? 1 : 0;
  };
  // One that fails at once always has room: it would get all the jobs that a
  // good one has none for.
  int BestRank = 2;
  for (auto &H : Hosts)
    if (mayTake(*H, Tried))
      BestRank = std::min(BestRank, Rank(*H));
  while (true) {
    Host *Best = nullptr;
    for (auto &H : Hosts) {
      if (!H->hasRoom() || Tried[H->Index] || Rank(*H) > BestRank)
        continue;
      // Unknown is taken for fast: else it would never be known.
      if (!Best ||
          (Best->Speed != 0 && (H->Speed == 0 || H->Speed > Best->Speed)))
        Best = H.get();
    }
    if (!Best || Sharing.reserve(*Best))
      return Best;
  }
}

bool Farm::anyRoom() const {
  for (auto &H : Hosts)
    if (H->hasRoom())
      return true;
  return false;
}

bool Farm::mayTake(const Host &H, const HostSet &Tried) {
  return !Tried[H.Index] && (H.State == Host::Usable || H.mayBecomeUsable());
}

bool Farm::mayTake(const HostSet &Tried) const {
  for (auto &H : Hosts)
    if (mayTake(*H, Tried))
      return true;
  return false;
}

unsigned Farm::slots() const {
  unsigned N = 0;
  for (auto &H : Hosts)
    N += H->State == Host::Usable ? H->room() : 0;
  return N;
}

unsigned Farm::expectedSlots() const {
  unsigned N = 0;
  for (auto &H : Hosts)
    N += H->State == Host::Usable || H->mayBecomeUsable() ? H->room() : 0;
  return N;
}

unsigned Farm::freeSlots() const {
  unsigned N = 0;
  for (auto &H : Hosts)
    N += H->hasRoom() && !H->isSuspect() ? H->room() - H->NumBusy : 0;
  return N;
}

unsigned Farm::localSlots() const {
  unsigned N = 0;
  for (auto &H : Hosts)
    if (H->State == Host::Usable && H->Spec.Kind == HostKind::Local)
      N += H->Slots;
  return N;
}

unsigned Farm::numUsable() const {
  unsigned N = 0;
  for (auto &H : Hosts)
    N += H->State == Host::Usable;
  return N;
}

bool Farm::isSettled() const {
  for (auto &H : Hosts)
    if (H->mayBecomeUsable() || H->Stats)
      return false;
  return true;
}

std::vector<dtlto::sdk::Worker>
Farm::report(std::chrono::milliseconds Waited) const {
  std::vector<sdk::Worker> All;
  for (auto &H : Hosts) {
    sdk::Worker R{H->Name, DTLTO_WORKER_OUT};
    if (H->State == Host::Usable) {
      R.State = DTLTO_WORKER_UP;
      R.Slots = H->Slots;
      R.Compiler = H->Spec.Kind == HostKind::Local
                       ? "this linker, LLVM " + LlvmVersion
                       : S.Compiler + " " + LlvmVersion;
      // Cores aren't told; distccd has about as many slots.
      if (H->LoadHundredths != UINT32_MAX && H->Slots)
        R.LoadPermille = H->LoadHundredths * 10 / H->Slots;
    } else if (H->isBeingAsked()) {
      std::string Time = std::to_string(Waited.count()) + " ms";
      if (H->State == Host::Resolving)
        R.Why = "its address was not found within " + Time;
      else if (H->Probe->state() != Connection::Connecting)
        R.Why = "did not tell its compiler's version within " + Time;
      else if (H->LastSign >= H->AskedFirst)
        R.Why = "it takes no more connections, since it is busy";
      else
        R.Why = H->Probe->whyNotConnected(ETIMEDOUT);
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
  for (auto &Owned : Hosts) {
    Host *H = Owned.get();
    if (H->Probe) {
      H->Probe->prepare(P);
      for (Clock::duration D : {Clock::duration(QuickConnect), MaxProbe})
        if (Now < H->AskedAt + D)
          P.wakeAt(H->AskedAt + D);
    }
    if (H->Stats)
      H->Stats->prepare(P);
    if (H->State == Host::Resting)
      P.wakeAt(H->RestsUntil);
    if (HasWaiting && H->isBeingAsked() && Now < H->AskedAt + S.quickProbe())
      P.wakeAt(H->AskedAt + S.quickProbe());
  }
}

void Farm::checkTime(Clock::time_point Now) {
  Sharing.checkTime(Now);
  for (auto &H : Hosts) {
    if (H->Probe) {
      H->Probe->checkTime(Now);
      askStats(*H, Now);
      // Where no other can be used, this one is waited for.
      if (Now >= H->AskedAt + MaxProbe && numUsable() != 0 &&
          H->Probe->state() == Connection::Waiting)
        H->Probe->giveUp(Now);
      if (H->Probe->ended())
        probeEnded(*H);
    }
    if (H->Stats) {
      H->Stats->checkTime(Now);
      if (H->Stats->ended()) {
        if (H->Stats->isHeard())
          H->LastSign = Now;
        H->LoadHundredths = H->Stats->loadHundredths();
        if (unsigned Slots = H->Stats->slots(); Slots && !H->Spec.Limit) {
          TheLog.debug(H->Name + ": runs " + std::to_string(Slots) +
                       " jobs at the same time, its statistics port says");
          H->Slots = Slots;
        }
        H->Stats.reset();
      }
    }
    // What it still does is not known to fail; it is asked again anyway.
    if (H->State == Host::Resting && Now >= H->RestsUntil)
      find(*H);
  }
}
