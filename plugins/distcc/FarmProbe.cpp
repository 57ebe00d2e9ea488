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
static constexpr Clock::duration RetryDelay = 300ms;
// A compiler's version has a few hundred bytes. With this limit, a probe ends
// within about two minutes even at the lowest rate.
static constexpr uint64_t MaxProbeReply = 64 << 10;

void Farm::beginProbe(Host &H) {
  H.LastProbeTime = Clock::now();
  if (!H.isBeingProbed())
    H.FirstProbeTime = H.LastProbeTime;
  H.State = Host::Resolving;
  H.NumErrors = H.NumRefuted = H.NumInRow = 0;
  H.HasQueriedStats = H.HasQueriedAll = H.IsRetriedSoon = false;
  H.MaxOpen = MaxSlots;
  switch (H.Spec.Kind) {
  case HostKind::Local:
    if (CanRunLocally)
      H.State = Host::Usable;
    else
      leaveOut(H, "this linker offers no code generation to plugins");
    return;
  case HostKind::Ssh:
    return probe(H, {}); // ssh looks the name up
  case HostKind::Tcp:
    resolve(H.Spec.Name, H.Spec.Port, Box, [this, &H](LookupResult R) {
      if (H.State == Host::Resolving)
        probe(H, std::move(R));
    });
    return;
  }
}

void Farm::probe(Host &H, LookupResult R) {
  if (!R.Error.empty())
    return R.IsLocalShortage
               ? handleShortage(H, "this machine cannot look up the name: " +
                                       R.Error)
               : rest(H, "cannot be found: " + R.Error);
  H.State = Host::Probing;
  H.Addresses = std::move(R.Addresses);
  H.Probe = std::make_unique<Connection>(H.Spec, H.Addresses, ProbeRequest, S,
                                         Children, MaxProbeReply);
}

/// Once the probe is connected, asks the same address for the number of slots.
/// If it isn't connected soon, asks all addresses for a sign of life: the host
/// may be up but accept no more connections.
void Farm::queryStats(Host &H, Clock::time_point Now) {
  Connection::StateTy State = H.Probe->state();
  if (H.Spec.Kind != HostKind::Tcp || State == Connection::Failed)
    return;
  bool IsConnected = State != Connection::Connecting;
  bool &HasQueried = IsConnected ? H.HasQueriedStats : H.HasQueriedAll;
  if (H.Stats || HasQueried ||
      (!IsConnected && Now < H.LastProbeTime + QuickConnect))
    return;
  HasQueried = true;
  if (uint16_t Port = S.statsPort(H.Spec, /*IgnoreLimit=*/!IsConnected))
    H.Stats = std::make_unique<StatsQuery>(
        IsConnected ? std::vector<SocketAddress>{H.Probe->address()}
                    : H.Addresses,
        Port);
}

void Farm::onStatsEnd(Host &H, Clock::time_point Now) {
  std::unique_ptr<StatsQuery> Stats = std::move(H.Stats);
  if (Stats->isAlive())
    H.LastStatsAnswer = Now;
  H.LoadHundredths = Stats->loadHundredths();
  if (unsigned Slots = Stats->slots(); Slots && !H.Spec.Limit) {
    TheLog.debug(H.Name + ": its statistics port reports " +
                 std::to_string(Slots) + " jobs at a time");
    H.Slots = Slots;
  }
}

void Farm::onProbeEnd(Host &H) {
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
    H.ShortageUntil = {};
    H.WasReasonReported = false;
    return;
  }
  bool OverSsh = H.Spec.Kind == HostKind::Ssh;
  // Ask the only host again: one connection that breaks on a busy host must not
  // end a link.
  bool IsQuick = P->failure() == Connection::Unreachable ||
                 P->failure() == Connection::Dropped;
  if (IsQuick && !OverSsh && !P->wasIgnored() && !S.IsStatusOnly &&
      isOnlyCandidate(H) && !std::exchange(H.WasRetried, true)) {
    TheLog.debug(H.Name + ": " + P->error() + "; asking again");
    H.Stats.reset();
    H.State = Host::Resting;
    H.IsRetriedSoon = true;
    H.RestsUntil = Clock::now() + RetryDelay;
    return;
  }
  if (P->wasIgnored() && !P->wasReset() &&
      H.LastStatsAnswer >= H.LastProbeTime &&
      Clock::now() < H.FirstProbeTime + S.IoTimeout) {
    std::string Text =
        "it accepts no more connections, since it is busy; waiting for it";
    reportFull(H, Text);
    return beginProbe(H);
  }
  onProbeFailure(H, *P);
}

/// Reports why the probe failed, and what may help.
void Farm::onProbeFailure(Host &H, const Connection &P) {
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
  case Connection::MachineLost:
    return rest(H, Why);
  case Connection::OutOfResources:
    return handleShortage(H, Why);
  case Connection::InvalidReply:
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
  if (!ReferenceHost)
    ReferenceHost = &H;
  else if (ReferenceHost->Version != Line)
    TheLog.note(Text + ReferenceHost->Name + "'s says '" +
                ReferenceHost->Version + "'");
}
