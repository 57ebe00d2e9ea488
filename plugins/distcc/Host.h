//===- Host.h - A host of the farm, as this link knows it -------*- C++ -*-===//
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
// period if it can't be reached, fails in several jobs in a row, or has had two
// wrong results. It is out if it can't be used in this link: the compiler is
// missing, or of another version.
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
  Clock::time_point AskedAt;    // the probe's begin
  Clock::time_point AskedFirst; // the begin of the first of several in a row
  /// A name may have several, each of another machine. A usable host has the
  /// one that answered the probe.
  std::vector<Address> Addresses;
  std::unique_ptr<Connection> Probe;
  std::unique_ptr<StatsQuery> Stats; // runs at the same time as the probe
  bool AskedStats = false;           // the address that has answered the probe
  bool AskedSign = false; // all addresses, since the probe is not connected
  Clock::time_point RestsUntil;
  /// Until then, a shortage of this machine, for which the host rests, may end.
  Clock::time_point LackUntil;
  bool IsAskedSoon = false; // it rests for a moment, see HadChance
  bool HadChance =
      false;            // the only usable host has failed, and was asked again
  bool SaidWhy = false; // Why was reported since the host was last usable
  std::string Why;      // it rests, or is out
  std::string Version;  // of its compiler, as it was last reported

  unsigned Slots = 0; // jobs at the same time
  /// Connections that it accepts at the same time, as far as is known. A server
  /// whose queue is full doesn't answer.
  unsigned MaxOpen = MaxSlots;
  bool SaidFull = false;
  struct Slot {
    uint64_t Job = 0;         // its id; 0: idle
    bool IsOurs = false;      // this link has its lock
    Clock::time_point Since;  // when it got the lock
    Clock::time_point Yields; // until then, to another link
  };
  std::vector<Slot> InSlot; // monitors show slots by number
  unsigned NumBusy = 0;
  bool IsTaken = false; // other links have the slots that this one doesn't
  bool SaidTaken = false;
  bool Awaits = false; // this link has announced that it needs a slot
  /// How long a slot is kept while another link needs one.
  static constexpr Clock::duration MinTenure = std::chrono::milliseconds(500);
  Clock::duration Tenure = MinTenure;
  unsigned NumDone = 0;
  uint32_t LoadHundredths = UINT32_MAX; // of its statistics port

  /// Cost per second in one slot, smoothed; 0: not known.
  double Speed = 0;

  /// Jobs that failed through the host's fault, and how many were reported.
  unsigned NumFailed = 0, NumSaid = 0;
  std::string LastFailure;
  /// Such failures since its last good object, of different modules. Failures
  /// at the same time count once.
  unsigned NumInRow = 0;
  Clock::time_point CountedAt;
  const void *CountedModule = nullptr;

  /// Since its last good object: compile errors that were not refuted, and jobs
  /// that were cancelled without any answer.
  unsigned NumErrors = 0;
  Clock::time_point LastAnswer; // to a job
  Clock::time_point LastSign;   // of its statistics port
  unsigned NumRefuted = 0;      // wrong results since the host was last asked
  static constexpr unsigned MaxWrong = 2; // of each

  /// Whether the host may fail to compile anything, at once, or be frozen.
  bool isSuspect() const { return NumErrors >= MaxWrong; }
  /// How many jobs it can have at the same time now.
  unsigned room() const { return std::min(Slots, MaxOpen); }
  bool hasRoom() const {
    return State == Usable && NumBusy < room() && !IsTaken;
  }
  bool isBeingAsked() const { return State == Resolving || State == Probing; }
  bool mayBecomeUsable() const {
    return State == Spare || isBeingAsked() ||
           (State == Resting && (IsAskedSoon || Clock::now() < LackUntil));
  }

  bool mayTakeJobs() const { return State == Usable || mayBecomeUsable(); }

  /// Returns the slot's number: of one that is this link's, if there is any.
  int take(uint64_t Job);
  void release(uint64_t Job);
  /// Returns an idle slot that is this link's, or null.
  Slot *idleSlot();
  void learn(uint64_t Cost, Clock::duration Took);
};

} // namespace dtlto::distcc

#endif // DTLTO_DISTCC_HOST_H
