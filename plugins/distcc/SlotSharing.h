//===- SlotSharing.h - Slots of this link, and of others --------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A host's limit is meant for all that a user runs on a machine. A distccd
// doesn't enforce it: further jobs wait there, before the jobs of others. So
// the links of a user share a host's slots, by locks on the bytes of a file in
// $DISTCC_DIR. Each host has MaxSlots + 1 bytes, found by a hash of its name:
// one for each slot, and the last for links that wait for a slot.
//
// A link holds a lock for each slot that it uses. While another link waits, it
// keeps a slot for half a second, and leaves the slot at the end of the job
// that runs then. A waiting link polls a few dozen times a second.
//
// distcc has one file for each slot, and polls them once a second. A link would
// hardly ever leave one free for that long, so it uses other locks.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_DISTCC_SLOTSHARING_H
#define DTLTO_DISTCC_SLOTSHARING_H

#include "Host.h"
#include "Mailbox.h"
#include "MessageLog.h"
#include <random>

namespace dtlto::distcc {

/// The locks end with this, and with the process, however it ends. One thread.
class SlotLocks {
public:
  /// Creates \p File, its folder and that one's; this may wait for a file
  /// server. Null where there are no such locks.
  static std::unique_ptr<SlotLocks> open(const std::string &File);
  ~SlotLocks();
  SlotLocks(const SlotLocks &) = delete;

  using Host = uint64_t;
  static Host host(std::string_view Name);

  /// Returns false if another link has the slot.
  bool take(Host H, unsigned Slot);
  void give(Host H, unsigned Slot);
  /// This link has no slot of \p H and needs one; or no longer.
  void await(Host H);
  void stopAwaiting(Host H);
  /// Another link needs one.
  bool isAwaited(Host H) const;

private:
  explicit SlotLocks(int Fd) : Fd(Fd) {}
  const int Fd;
};

/// For all hosts of a link but this machine. Belongs to the I/O thread.
class SlotSharing {
public:
  /// A link that had no slot for \p Patience uses one of each host anyway.
  SlotSharing(std::vector<std::unique_ptr<Host>> &Hosts, MessageLog &TheLog,
              Clock::duration Patience)
      : Hosts(Hosts), TheLog(TheLog), Patience(Patience),
        Random(static_cast<unsigned>(Clock::now().time_since_epoch().count())) {
  }

  /// Begins to open the locks; an empty \p File: shares nothing.
  void open(const std::string &File, std::shared_ptr<Mailbox> Box);
  /// It is known whether there are locks; soon in any case.
  bool isReady() const { return LocksBy == Clock::time_point(); }

  /// Makes sure that the slot of \p H that is taken next is no other link's.
  /// Returns false if all are: then the host has no room.
  bool reserve(Host &H);
  /// Before jobs are given to hosts: leaves idle slots that others wait for.
  void yield();
  /// After that: gives idle slots back. \p JobsWait: for a slot.
  void settle(bool JobsWait);

  /// Gives the locks up, with their descriptor. Slots are this link's alone.
  void end();

  void prepare(Poller &P) const;
  void checkTime(Clock::time_point Now);

private:
  void give(Host &H, size_t Slot);

  std::vector<std::unique_ptr<Host>> &Hosts;
  MessageLog &TheLog;
  const Clock::duration Patience;
  std::shared_ptr<SlotLocks> Locks; // null: slots are not shared
  Clock::time_point LocksBy;        // they may still come
  bool Ended = false;
  Clock::time_point LookAgain; // for slots that others have left
  /// Since then jobs have waited and this link had no slot at all.
  Clock::time_point NoSlotSince = Clock::time_point::max();
  std::minstd_rand Random;
};

} // namespace dtlto::distcc

#endif // DTLTO_DISTCC_SLOTSHARING_H
