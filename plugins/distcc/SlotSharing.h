//===- SlotSharing.h - Slots of this link, and of others --------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A link holds a lock for each slot that it uses. Where another one waits, it
// keeps a slot for half a second, and leaves it at the end of the job that runs
// then. Nobody tells that a slot was left: who waits looks a few dozen times in
// a second.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_DISTCC_SLOTSHARING_H
#define DTLTO_DISTCC_SLOTSHARING_H

#include "Host.h"
#include "Log.h"
#include "Mailbox.h"
#include "Poller.h"
#include <random>

namespace dtlto::distcc {

/// For all hosts of a link but this machine. Belongs to the I/O thread.
class SlotSharing {
public:
  /// A link that had no slot for \p Patience uses one of each host anyway.
  SlotSharing(std::vector<std::unique_ptr<Host>> &Hosts, Log &TheLog,
              Clock::duration Patience);

  /// Begins to open the locks; an empty \p File: shares nothing.
  void open(const std::string &File, std::shared_ptr<Mailbox> Box);
  /// It is known whether there are locks; soon in any case.
  bool isReady() const { return LocksBy == Clock::time_point(); }

  /// Makes sure that the slot of \p H that is taken next is no other link's.
  /// Returns false if all are: then it has no room.
  bool reserve(Host &H);
  /// Before jobs are given to hosts: idle slots that others wait for are
  /// theirs.
  void yield();
  /// After that: idle slots are given back. \p JobsWait: for one.
  void settle(bool JobsWait);

  /// Gives the locks up, with their descriptor. Slots are this link's alone.
  void end();

  void prepare(Poller &P) const;
  void checkTime(Clock::time_point Now);

private:
  void give(Host &H, size_t Slot);

  std::vector<std::unique_ptr<Host>> &Hosts;
  Log &TheLog;
  const Clock::duration Patience;
  std::shared_ptr<SlotLocks> Locks; // null: slots are shared with nobody
  Clock::time_point LocksBy;        // they may still come
  bool Ended = false;
  Clock::time_point LookAgain; // for slots that others have left
  /// Since then jobs have waited and this link had no slot at all.
  Clock::time_point NoSlotSince = Clock::time_point::max();
  std::minstd_rand Random;
};

} // namespace dtlto::distcc

#endif // DTLTO_DISTCC_SLOTSHARING_H
