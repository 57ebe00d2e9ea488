//===- Farm.cpp - All hosts of a link -------------------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Farm.h"
#include "Verdict.h"
#include <algorithm>
#include <utility>

using namespace dtlto::distcc;
using namespace std::chrono_literals;

// distcc's own numbers.
static constexpr unsigned DefaultSlots = 4;
static constexpr unsigned DefaultLocalSlots = 2;
// A host that is so busy with others that it doesn't get to a question for its
// version in this time is of no use now.
static constexpr Clock::duration MaxProbe = 30s;
// A compiler says its version in a few hundred bytes. So no host is being asked
// for longer than about two minutes.
static constexpr uint64_t MaxProbeReply = 64 << 10;
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

void Farm::find(Host &H) {
  H.State = Host::Resolving;
  H.AskedAt = Clock::now();
  H.NumErrors = H.NumRefuted = 0;
  H.IsProven = H.Spec.Kind == HostKind::Local;
  switch (H.Spec.Kind) {
  case HostKind::Local:
    if (CanRunHere)
      H.State = Host::Usable;
    else
      leaveOut(H, "this linker offers no code generation to plugins");
    return;
  case HostKind::Ssh:
    return probe(H, {}); // ssh looks the name up
  case HostKind::Tcp:
    resolve(H.Spec.Name, H.Spec.Port, Box, [this, &H](Resolved R) {
      if (H.State == Host::Resolving)
        probe(H, std::move(R));
    });
    return;
  }
}

void Farm::probe(Host &H, Resolved R) {
  if (!R.Error.empty())
    return R.IsOurLack ? lack(H, "this machine can't look it up: " + R.Error)
                       : rest(H, "can't be found: " + R.Error);
  H.State = Host::Probing;
  H.Addresses = std::move(R.Addresses);
  H.Probe = std::make_unique<Connection>(
      H.Spec, H.Addresses, ProbeRequest, S,
      std::min<Clock::duration>(MaxProbe, S.IoTimeout), Children,
      MaxProbeReply);
  uint16_t Port = S.statsPort(H.Spec);
  if (Port && !H.Addresses.empty())
    H.Stats = std::make_unique<StatsQuery>(H.Addresses.front(), Port);
}

void Farm::probeEnded(Host &H) {
  std::unique_ptr<Connection> P = std::move(H.Probe);
  if (P->state() == Connection::Done) {
    std::string Line;
    std::string Why = judgeProbe(P->reply(), S.Compiler, LlvmVersion, Line);
    if (!Why.empty())
      return leaveOut(H, Why);
    // Others of its name may be other machines, which have proven nothing.
    if (!H.Addresses.empty())
      H.Addresses = {P->address()};
    compareVersion(H, std::move(Line));
    TheLog.debug(H.Name + ": has " + S.Compiler + " " + LlvmVersion + ", " +
                 std::to_string(H.Slots) + " slots");
    H.State = Host::Usable;
    H.LackUntil = {};
    H.IsProven = true;
    H.SaidWhy = false;
    return;
  }
  bool OverSsh = H.Spec.Kind == HostKind::Ssh;
  switch (P->failure()) {
  case Connection::Unreachable:
    return rest(H,
                P->error() + (OverSsh ? ""
                                      : ": is distccd running there, on port " +
                                            std::to_string(H.Spec.Port) + "?"));
  case Connection::Dropped:
    if (OverSsh)
      return rest(H, P->error() + ": does ssh reach it without a password, and "
                                  "does it find distccd there?");
    // What a distccd does without a word (seen with 3.4): a reset for an
    // address that is not allowed, an end of file for such a compiler.
    if (P->wasReset())
      return rest(H, "it refused the connection: its distccd must --allow this "
                     "machine, and be able to write its TMPDIR and log; see "
                     "that log");
    return rest(H, "it closed the connection when asked for " + S.Compiler +
                       (S.isWorker()
                            ? ": its distccd needs that in /usr/bin and "
                              "/usr/lib/distcc, or in its DISTCC_CMDLIST"
                            : ": install that there and run "
                              "update-distcc-symlinks, or see DISTCC_CMDLIST "
                              "of its distccd"));
  case Connection::Silent:
    return rest(H, P->failedIn() == Connection::Connecting
                       ? P->error()
                       : P->error() + " when asked for its compiler: is it "
                                      "overloaded?");
  case Connection::Lost:
    return rest(H, P->error());
  case Connection::Exhausted:
    return lack(H, P->error());
  case Connection::Nonsense:
    return leaveOut(H, "is no distccd: " + P->error());
  }
}

/// The same version may be of other sources: a vendor's, or another revision.
/// Says so once for each host.
void Farm::compareVersion(Host &H, std::string Line) {
  if (std::exchange(H.Version, Line) == Line)
    return;
  std::string Text = H.Name + ": its compiler says '" + Line + "', but ";
  if (!Linker.empty() && !isBuildOf(Line, Linker))
    return say(
        Text + "this linker is '" + Linker +
        "': the objects may differ; --thinlto-dist-verify compares them");
  if (!FirstProven)
    FirstProven = &H;
  else if (FirstProven->Version != Line)
    TheLog.note(Text + FirstProven->Name + "'s says '" + FirstProven->Version +
                "'");
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

void Farm::recordFailure(Host &H, const std::string &Why) {
  if (H.State != Host::Usable)
    return;
  if (S.BackoffPeriod == 0s) {
    TheLog.debug(H.Name + ": " + Why);
    return;
  }
  rest(H, Why);
}

void Farm::recordSuccess(Host &H, uint64_t Cost, Clock::duration Took) {
  ++H.NumDone;
  H.NumErrors = 0;
  H.LastAnswer = Clock::now();
  H.learn(Cost, Took);
  // It works: what broke a moment ago was not the machine. One that has been
  // asked for its compiler since, and has not answered, must do that first.
  if (H.State == Host::Resting && H.IsProven && H.NumRefuted < Host::MaxWrong) {
    TheLog.debug(H.Name + ": finished a job, and is used again");
    H.State = Host::Usable;
    H.SaidWhy = false;
  }
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
  if (++H.NumRefuted >= Host::MaxWrong)
    recordFailure(H, std::to_string(H.NumRefuted) +
                         " of its results were wrong, the last one " +
                         (IsError ? "an error of a module that does compile"
                                  : "an object that is none"));
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
    N += H->State == Host::Usable ? H->Slots : 0;
  return N;
}

unsigned Farm::expectedSlots() const {
  unsigned N = 0;
  for (auto &H : Hosts)
    N += H->State == Host::Usable || H->mayBecomeUsable() ? H->Slots : 0;
  return N;
}

unsigned Farm::freeSlots() const {
  unsigned N = 0;
  for (auto &H : Hosts)
    N += H->hasRoom() && !H->isSuspect() ? H->Slots - H->NumBusy : 0;
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
      R.Why = H->State == Host::Resolving
                  ? "its address was not found within " + Time
                  : "did not tell its compiler's version within " + Time;
    } else {
      R.Why = H->Why;
    }
    All.push_back(std::move(R));
  }
  return All;
}

void Farm::prepare(Poller &P) const {
  Sharing.prepare(P);
  Clock::time_point Now = Clock::now();
  for (auto &Owned : Hosts) {
    Host *H = Owned.get();
    if (H->Probe) {
      P.wakeAt(H->Probe->deadline());
      if (!H->Probe->ended())
        P.add(H->Probe->fd(), H->Probe->events(),
              [H](short Events) { H->Probe->ready(Events); });
    }
    if (H->Stats && !H->Stats->ended()) {
      P.wakeAt(H->Stats->deadline());
      P.add(H->Stats->fd(), H->Stats->events(),
            [H](short) { H->Stats->ready(); });
    }
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
      if (H->Probe->ended())
        probeEnded(*H);
    }
    if (H->Stats) {
      H->Stats->checkTime(Now);
      if (H->Stats->ended()) {
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
