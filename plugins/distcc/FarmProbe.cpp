//===- FarmProbe.cpp - Detects which hosts are usable ---------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Resolves a host's name, and asks for its compiler's version and its slots.
//
//===----------------------------------------------------------------------===//

#include "Farm.h"
#include "Verdict.h"
#include <utility>

using namespace dtlto::distcc;
using namespace std::chrono_literals;

// After this time, the only usable host is asked again, once.
static constexpr Clock::duration SecondChance = 300ms;
// A compiler's version has a few hundred bytes. With this limit, a probe ends
// within about two minutes even at the lowest rate.
static constexpr uint64_t MaxProbeReply = 64 << 10;

void Farm::find(Host &H) {
  H.AskedAt = Clock::now();
  if (!H.isBeingAsked())
    H.AskedFirst = H.AskedAt;
  H.State = Host::Resolving;
  H.NumErrors = H.NumRefuted = H.NumInRow = 0;
  H.AskedStats = H.AskedSign = H.IsAskedSoon = false;
  H.MaxOpen = MaxSlots;
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
    return R.IsOurLack
               ? lack(H, "this machine cannot look up the name: " + R.Error)
               : rest(H, "cannot be found: " + R.Error);
  H.State = Host::Probing;
  H.Addresses = std::move(R.Addresses);
  H.Probe = std::make_unique<Connection>(H.Spec, H.Addresses, ProbeRequest, S,
                                         S.IoTimeout, Children, MaxProbeReply);
}

/// Once the probe is connected, asks the same address for the number of slots.
/// If it isn't connected soon, asks all addresses for a sign of life: the host
/// may be up but accept no more connections.
void Farm::askStats(Host &H, Clock::time_point Now) {
  Connection::StateTy State = H.Probe->state();
  if (H.Spec.Kind != HostKind::Tcp || State == Connection::Failed)
    return;
  bool IsConnected = State != Connection::Connecting;
  bool &Asked = IsConnected ? H.AskedStats : H.AskedSign;
  if (H.Stats || Asked || (!IsConnected && Now < H.AskedAt + QuickConnect))
    return;
  Asked = true;
  if (uint16_t Port = S.statsPort(H.Spec, /*DespiteLimit=*/!IsConnected))
    H.Stats = std::make_unique<StatsQuery>(
        IsConnected ? std::vector<Address>{H.Probe->address()} : H.Addresses,
        Port);
}

void Farm::statsEnded(Host &H, Clock::time_point Now) {
  std::unique_ptr<StatsQuery> Stats = std::move(H.Stats);
  if (Stats->isHeard())
    H.LastSign = Now;
  H.LoadHundredths = Stats->loadHundredths();
  if (unsigned Slots = Stats->slots(); Slots && !H.Spec.Limit) {
    TheLog.debug(H.Name + ": its statistics port reports " +
                 std::to_string(Slots) + " jobs at a time");
    H.Slots = Slots;
  }
}

void Farm::probeEnded(Host &H) {
  std::unique_ptr<Connection> P = std::move(H.Probe);
  if (P->state() == Connection::Done) {
    std::string Line;
    std::string Why = judgeProbe(P->reply(), S.Compiler, LlvmVersion, Line);
    if (!Why.empty())
      return leaveOut(H, Why);
    // Keep the probed address: others of the name may be different machines.
    if (!H.Addresses.empty())
      H.Addresses = {P->address()};
    compareVersion(H, std::move(Line));
    TheLog.debug(H.Name + ": has " + S.Compiler + " " + LlvmVersion + ", " +
                 std::to_string(H.Slots) + " slots");
    H.State = Host::Usable;
    H.LackUntil = {};
    H.SaidWhy = false;
    return;
  }
  bool OverSsh = H.Spec.Kind == HostKind::Ssh;
  // Ask the only host again: one connection that breaks on a busy host must not
  // end a link.
  bool IsQuick = P->failure() == Connection::Unreachable ||
                 P->failure() == Connection::Dropped;
  if (IsQuick && !OverSsh && !P->wasIgnored() && !S.OnlyStatus &&
      isOnlyHope(H) && !std::exchange(H.HadChance, true)) {
    TheLog.debug(H.Name + ": " + P->error() + "; asking again");
    H.Stats.reset();
    H.State = Host::Resting;
    H.IsAskedSoon = true;
    H.RestsUntil = Clock::now() + SecondChance;
    return;
  }
  if (P->wasIgnored() && !P->wasReset() && H.LastSign >= H.AskedAt &&
      Clock::now() < H.AskedFirst + S.IoTimeout) {
    std::string Text =
        "it accepts no more connections, since it is busy; waiting for it";
    sayFull(H, Text);
    return find(H);
  }
  probeFailed(H, *P);
}

/// Reports why the probe failed, and what may help.
void Farm::probeFailed(Host &H, const Connection &P) {
  bool OverSsh = H.Spec.Kind == HostKind::Ssh;
  std::string Why = P.error();
  switch (P.failure()) {
  case Connection::Unreachable:
    return rest(H, Why);
  case Connection::Dropped:
    if (OverSsh)
      return rest(H, Why + ": does 'ssh " + H.Name.substr(H.Spec.User.empty()) +
                         " distccd --version' work without a prompt?");
    // distccd (seen with 3.4) sends no message. It resets the connection of an
    // address that isn't allowed, and closes it for a compiler that isn't.
    if (P.wasReset())
      return rest(H, "it refused the connection: its distccd must --allow this "
                     "machine, and be able to write its TMPDIR and log; see "
                     "the log");
    return rest(H, "it closed the connection when asked for " + S.Compiler +
                       (isWorker(S.Compiler)
                            ? ": its distccd needs that in /usr/bin and "
                              "/usr/lib/distcc, or in its DISTCC_CMDLIST"
                            : ": install that there and run "
                              "update-distcc-symlinks, or see DISTCC_CMDLIST "
                              "of its distccd"));
  case Connection::Silent:
    if (OverSsh)
      return rest(H, Why + " when asked for its compiler: does ssh reach it?");
    return rest(H, Why + " when asked for its compiler: is it overloaded?");
  case Connection::Lost:
    return rest(H, Why);
  case Connection::Exhausted:
    return lack(H, Why);
  case Connection::Nonsense:
    return leaveOut(H, "not a distccd: " + Why);
  }
}

/// Compares builds: an equal version may have other sources, a vendor's or
/// another revision. Reports a difference once for each host.
void Farm::compareVersion(Host &H, std::string Line) {
  if (std::exchange(H.Version, Line) == Line)
    return;
  std::string Text = H.Name + ": its compiler says '" + Line + "', but ";
  if (!Linker.empty() && !isBuildOf(Line, Linker))
    return warn(
        Text + "this linker is '" + Linker +
        "': the objects may differ; --thinlto-dist-verify compares them");
  if (!FirstProven)
    FirstProven = &H;
  else if (FirstProven->Version != Line)
    TheLog.note(Text + FirstProven->Name + "'s says '" + FirstProven->Version +
                "'");
}
