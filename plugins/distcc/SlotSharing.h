//===- SlotSharing.h - Shares slots with other links ------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A host's limit applies to everything that a user runs on a machine. A distccd
// doesn't enforce it: further jobs wait at the server, before the jobs of
// others. So the links of a user share a host's slots through locks on the
// bytes of a file in $DISTCC_DIR. Each host has MaxSlots + 1 bytes, found by a
// hash of its name: one for each slot, and the last for links that wait for a
// slot.
//
// A link holds a lock for each slot that it uses. While another link waits, it
// keeps a slot for half a second, and gives it up at the end of the current
// job. A waiting link polls a few dozen times a second.
//
// distcc has one file for each slot, and polls them once a second. A link would
// hardly ever leave a slot free for that long, so it uses other locks.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_DISTCC_SLOTSHARING_H
#define DTLTO_DISTCC_SLOTSHARING_H

#include "Host.h"
#include "Mailbox.h"
#include "MessageLog.h"
#include <random>

namespace dtlto::distcc {

/// The locks of a link. They end with this object or the process, however it
/// ends. One thread.
class SlotLocks {
public:
  /// Creates \p File and its two innermost folders; this may wait for a file
  /// server. Returns null if such locks are not available.
  static std::unique_ptr<SlotLocks> open(const std::string &File);
  ~SlotLocks();
  SlotLocks(const SlotLocks &) = delete;

  using Host = uint64_t;
  static Host host(std::string_view Name);

  /// Locks the slot. Returns false if another link has it.
  bool take(Host H, unsigned Slot);
  void release(Host H, unsigned Slot);
  /// Announces that this link has no slot of \p H and needs one, until
  /// cancelRequest().
  void request(Host H);
  void cancelRequest(Host H);
  /// Whether another link needs a slot of \p H.
  bool isRequested(Host H) const;

private:
  explicit SlotLocks(int Fd) : Fd(Fd) {}
  const int Fd;
};

/// Shares the slots of all hosts but this machine. I/O thread only.
class SlotSharing {
public:
  /// A link without a slot for \p Patience uses one of each host anyway.
  SlotSharing(std::vector<std::unique_ptr<Host>> &Hosts, MessageLog &TheLog,
              Clock::duration Patience)
      : Hosts(Hosts), TheLog(TheLog), Patience(Patience),
        Random(static_cast<unsigned>(Clock::now().time_since_epoch().count())) {
  }

  /// Begins to open the locks. An empty \p File disables sharing.
  void open(const std::string &File, std::shared_ptr<Mailbox> Box);
  /// Whether opening the locks has ended, or has taken too long.
  bool isReady() const { return LocksDeadline == Clock::time_point(); }

  /// Makes sure that no other link has the slot of \p H that is taken next.
  /// Returns false if others have all; the host then has no room.
  bool reserve(Host &H);
  /// Before jobs are given to hosts: leaves idle slots to other links that
  /// wait.
  void yield();
  /// After that: gives idle slots back. \p HasWaitingJobs: jobs still need a
  /// slot.
  void settle(bool HasWaitingJobs);

  /// Gives up the locks and their descriptor. Slots are no longer shared.
  void end();

  void prepare(Poller &P) const;
  void checkTime(Clock::time_point Now);

private:
  void release(Host &H, size_t Slot);

  std::vector<std::unique_ptr<Host>> &Hosts;
  MessageLog &TheLog;
  const Clock::duration Patience;
  std::shared_ptr<SlotLocks> Locks; // null: slots are not shared
  Clock::time_point LocksDeadline;  // when to stop waiting for them
  bool HasEnded = false;
  Clock::time_point NextPoll; // when to poll for free slots
  /// Since when jobs have waited while this link had no slot at all.
  Clock::time_point NoSlotSince = Clock::time_point::max();
  std::minstd_rand Random;
};

} // namespace dtlto::distcc

#endif // DTLTO_DISTCC_SLOTSHARING_H
