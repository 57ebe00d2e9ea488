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
// Hosts that the link has no jobs for are spare. A host gets no job before it
// has proven that it has the right compiler. One that can't be reached, that
// fails in several jobs in a row, or that has had two wrong results, rests for
// the back-off period; one that will not do better in this link (the compiler
// is missing, or of another version) is out.
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
  Clock::time_point AskedFirst; // it was no longer spare, or rested no more
  /// A name may have several, each of another machine. A host that is usable
  /// has one: jobs go where the probe went.
  std::vector<Address> Addresses;
  std::unique_ptr<Connection> Probe;
  std::unique_ptr<StatsQuery> Stats; // runs at the same time as the probe
  bool AskedStats = false; // at the address that has answered the probe
  bool AskedSign = false;  // since the probe is not connected
  Clock::time_point RestsUntil;
  /// It rests for what this machine lacks, which may come until then.
  Clock::time_point LackUntil;
  bool IsAskedSoon = false; // it rests for a moment, see HadChance
  /// The only host that was left has failed, and was asked again.
  bool HadChance = false;
  bool SaidWhy = false; // why it rests, since it last was of use
  std::string Why;      // it rests, or is out
  std::string Version;  // what its compiler last said of itself

  unsigned Slots = 0; // jobs at the same time
  /// Connections that it takes at the same time, as far as is known. A server
  /// doesn't answer what its queue has no room for.
  unsigned MaxOpen = MaxSlots;
  bool SaidFull = false;
  struct Slot {
    uint64_t Job = 0;         // its id; 0: idle
    bool IsOurs = false;      // other links leave it alone
    Clock::time_point Since;  // that
    Clock::time_point Yields; // until then, to another link
  };
  std::vector<Slot> InSlot; // monitors show slots by number
  unsigned NumBusy = 0;
  bool IsTaken = false; // other links have the slots that this one doesn't
  bool SaidTaken = false;
  bool Awaits = false; // others have been told that this link needs a slot
  /// So long a slot is kept though another link needs one.
  static constexpr Clock::duration MinTenure = std::chrono::milliseconds(500);
  Clock::duration Tenure = MinTenure;
  unsigned NumDone = 0;
  uint32_t LoadHundredths = UINT32_MAX; // as its statistics port says

  /// Cost that it gets done in a second in one slot, smoothed; 0: not known.
  double Speed = 0;

  /// Jobs that failed there through no fault of theirs, and how many of them
  /// the user has been told of.
  unsigned NumFailed = 0, NumSaid = 0;
  std::string LastFailure;
  /// Such failures since its last good object, of different modules. What
  /// breaks at the same time counts once.
  unsigned NumInRow = 0;
  Clock::time_point CountedAt;
  const void *CountedModule = nullptr;

  /// Since its last good object: compile errors that nobody has refuted, and
  /// jobs that were taken back while it answered nothing.
  unsigned NumErrors = 0;
  Clock::time_point LastAnswer; // to a job
  Clock::time_point LastSign;   // of its machine: its statistics port answered
  /// Of its results, the linker has found so many to be wrong since it was last
  /// found.
  unsigned NumRefuted = 0;
  static constexpr unsigned MaxWrong = 2; // of each

  /// It may be one that fails to compile whatever it gets, in no time, or one
  /// that is frozen.
  bool isSuspect() const { return NumErrors >= MaxWrong; }
  /// Jobs that it can have at the same time now.
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
  /// An idle one that is this link's, or null.
  Slot *idleSlot();
  void learn(uint64_t Cost, Clock::duration Took);
};

} // namespace dtlto::distcc

#endif // DTLTO_DISTCC_HOST_H
