//===- Host.h - The state of one host ---------------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   Spare -> Resolving -> Probing -> Usable <-> Resting --(back-off period--+
//                ^           |                     ^              over)     |
//                |           +---> Out             |                        |
//                |           +---------------------+                        |
//                +----------------------------------------------------------+
//
// A host is spare while the link has no jobs for it. It gets no job before it
// has proven that it has the right compiler. A host rests for the back-off
// period if it can't be reached, fails several jobs in a row, or has returned
// two wrong results. It is out if it can't be used in this link: the compiler
// is missing, or of another version.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_DISTCC_HOST_H
#define DTLTO_DISTCC_HOST_H

#include "Connection.h"
#include "StatsQuery.h"

namespace dtlto::distcc {

struct Host {
  enum StateTy { Spare, Resolving, Probing, Usable, Resting, Out };

  Host(HostSpec Spec, size_t Index)
      : Spec(std::move(Spec)), Index(Index), Name(this->Spec.display()) {}

  const HostSpec Spec;
  const size_t Index; // in the list
  const std::string Name;

  StateTy State = Spare;
  Clock::time_point LastProbeTime;  // when the probe began
  Clock::time_point FirstProbeTime; // when the first probe in a row began
  /// A name may have several addresses, each of another machine. A usable host
  /// keeps the one that answered the probe.
  std::vector<SocketAddress> Addresses;
  std::unique_ptr<Connection> Probe;
  std::unique_ptr<StatsQuery> Stats; // runs in parallel with the probe
  bool HasQueriedStats = false;      // at the address that answered the probe
  // At all addresses, before the probe was connected.
  bool HasQueriedAll = false;
  Clock::time_point RestsUntil;
  /// A shortage of this machine that made the host rest may end until then.
  Clock::time_point ShortageUntil;
  bool IsRetriedSoon = false; // it rests briefly, see WasRetried
  // The only usable host has failed, and was asked again.
  bool WasRetried = false;
  // Why was reported since the host was last usable.
  bool WasReasonReported = false;
  std::string Why;     // why it rests, or is out
  std::string Version; // of its compiler, as it was last reported

  unsigned Slots = 0; // jobs at the same time
  /// Connections that the host accepts at a time, as far as known. A server
  /// whose queue is full doesn't answer.
  unsigned MaxOpen = MaxSlots;
  bool WasFullReported = false;
  struct Slot {
    uint64_t Job = 0;             // its id; 0: idle
    bool IsLocked = false;        // this link holds its lock
    Clock::time_point Since;      // when it got the lock
    Clock::time_point YieldUntil; // left to other links until then
  };
  std::vector<Slot> SlotTable; // monitors show slots by number
  unsigned NumBusy = 0;
  bool IsTaken = false; // other links have all further slots
  bool WasTakenReported = false;
  bool IsAwaitingSlot = false; // this link has announced that it needs a slot
  /// How long this link keeps a slot while another link needs one.
  static constexpr Clock::duration MinTenure = std::chrono::milliseconds(500);
  Clock::duration Tenure = MinTenure;
  unsigned NumDone = 0;
  uint32_t LoadHundredths = UINT32_MAX; // from its statistics port

  /// Cost per second in one slot, smoothed; 0: unknown.
  double Speed = 0;

  /// Jobs that failed through the host's fault, and how many were reported.
  unsigned NumFailed = 0, NumReported = 0;
  std::string LastFailure;
  /// Such failures of different modules since the host's last good object.
  /// Simultaneous failures count once.
  unsigned NumInRow = 0;
  Clock::time_point LastFailureTime;
  const void *LastFailedModule = nullptr;

  /// Since the host's last good object: compile errors that were not refuted,
  /// and jobs that were cancelled without an answer.
  unsigned NumErrors = 0;
  Clock::time_point LastAnswer;      // to a job
  Clock::time_point LastStatsAnswer; // from its statistics port
  unsigned NumRefuted = 0; // wrong results since the host was last asked
  static constexpr unsigned MaxWrong = 2; // limit for each of the two

  /// Whether the host may fail every compile at once, or be frozen.
  bool isSuspect() const { return NumErrors >= MaxWrong; }
  /// How many jobs the host can have at a time now.
  unsigned room() const { return std::min(Slots, MaxOpen); }
  bool hasRoom() const {
    return State == Usable && NumBusy < room() && !IsTaken;
  }
  bool isBeingProbed() const { return State == Resolving || State == Probing; }
  bool mayBecomeUsable() const {
    return State == Spare || isBeingProbed() ||
           (State == Resting &&
            (IsRetriedSoon || Clock::now() < ShortageUntil));
  }

  bool mayTakeJobs() const { return State == Usable || mayBecomeUsable(); }

  /// Takes a slot, one that is this link's if possible. Returns its number.
  int take(uint64_t Job);
  void release(uint64_t Job);
  /// Returns an idle slot that is this link's, or null.
  Slot *idleSlot();
  void learn(uint64_t Cost, Clock::duration Duration);
};

} // namespace dtlto::distcc

#endif // DTLTO_DISTCC_HOST_H
