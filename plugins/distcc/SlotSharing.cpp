//===- SlotSharing.cpp - Slots of this link, and of others ----------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SlotSharing.h"
#include "dtlto/sdk/Detached.hpp"
#include <algorithm>
#include <system_error>
#include <utility>

using namespace dtlto::distcc;
using namespace std::chrono_literals;

// No job is given to a host before, unless the locks are there.
static constexpr Clock::duration LocksLimit = 500ms;
// Each link that waits looks at times of its own.
static constexpr unsigned MinLookMs = 15, MaxLookMs = 40;
// So long a link leaves to others what they wait for: each has looked by then.
static constexpr Clock::duration YieldTime = 60ms;
// Whoever waits may be suspended, and take nothing.
static constexpr Clock::duration MaxTenure = 8s;

SlotSharing::SlotSharing(std::vector<std::unique_ptr<Host>> &Hosts, Log &TheLog,
                         Clock::duration Patience)
    : Hosts(Hosts), TheLog(TheLog), Patience(Patience),
      Random(static_cast<unsigned>(Clock::now().time_since_epoch().count())) {}

/// On a thread of its own: a file server may take its time, or all time.
void SlotSharing::open(const std::string &File, std::shared_ptr<Mailbox> Box) {
  if (File.empty())
    return;
  try {
    sdk::runDetached([this, Box, File] {
      std::shared_ptr<SlotLocks> L = SlotLocks::open(File);
      Box->post([this, L] {
        Locks = Ended ? nullptr : L;
        LocksBy = {};
      });
    });
    LocksBy = Clock::now() + LocksLimit;
  } catch (const std::system_error &) {
    // No thread: this link shares its slots with nobody.
  }
}

bool SlotSharing::reserve(Host &H) {
  if (!Locks || H.Spec.Kind == HostKind::Local || H.idleSlot())
    return true;
  H.InSlot.resize(std::max<size_t>(H.InSlot.size(), H.Slots));
  Clock::time_point Now = Clock::now();
  for (unsigned I = 0; I != H.Slots; ++I) {
    Host::Slot &Slot = H.InSlot[I];
    if (Slot.Job || Now < Slot.Yields)
      continue;
    bool Yielded = std::exchange(Slot.Yields, {}) != Clock::time_point();
    Slot.IsOurs = Locks->take(H.Key, I);
    if (Yielded) // in vain?
      H.Tenure =
          Slot.IsOurs ? std::min(2 * H.Tenure, MaxTenure) : Host::MinTenure;
    if (Slot.IsOurs) {
      Slot.Since = Now;
      return true;
    }
  }
  // Another link may be suspended, or have long jobs. None is held up by others
  // for long.
  if (!H.NumBusy && NoSlotSince < Now - Patience)
    return true;
  NoSlotSince = std::min(NoSlotSince, Now);
  H.IsTaken = true;
  if (!std::exchange(H.SaidTaken, true))
    TheLog.debug(H.Name + ": other links have its slots");
  return false;
}

void SlotSharing::give(Host &H, size_t Slot) {
  Locks->give(H.Key, static_cast<unsigned>(Slot));
  H.InSlot[Slot].IsOurs = false;
}

void SlotSharing::yield() {
  if (!Locks)
    return;
  Clock::time_point Now = Clock::now();
  for (auto &H : Hosts)
    for (size_t I = 0; I != H->InSlot.size(); ++I) {
      Host::Slot &Slot = H->InSlot[I];
      if (Slot.IsOurs && !Slot.Job && Slot.Since <= Now - H->Tenure &&
          Locks->isAwaited(H->Key)) {
        give(*H, I);
        Slot.Yields = Now + YieldTime;
      }
    }
}

void SlotSharing::settle(bool JobsWait) {
  if (!Locks)
    return;
  bool HasSlot = false;
  for (auto &H : Hosts) {
    for (size_t I = 0; I != H->InSlot.size(); ++I)
      if (H->InSlot[I].IsOurs && !H->InSlot[I].Job)
        give(*H, I);
      else
        HasSlot |= H->InSlot[I].IsOurs;
    bool Awaits = JobsWait && H->State == Host::Usable && H->IsTaken;
    if (std::exchange(H->Awaits, Awaits) == Awaits)
      continue;
    if (Awaits)
      Locks->await(H->Key);
    else
      Locks->stopAwaiting(H->Key);
  }
  if (HasSlot || !JobsWait)
    NoSlotSince = Clock::time_point::max();
}

void SlotSharing::end() {
  Ended = true;
  Locks.reset();
  LocksBy = {};
  for (auto &H : Hosts) {
    H->IsTaken = H->Awaits = false;
    for (Host::Slot &S : H->InSlot)
      S.IsOurs = false;
  }
}

void SlotSharing::prepare(Poller &P) const {
  if (!isReady())
    P.wakeAt(LocksBy);
  for (auto &H : Hosts)
    if (H->Awaits)
      P.wakeAt(LookAgain);
}

void SlotSharing::checkTime(Clock::time_point Now) {
  if (LocksBy <= Now)
    LocksBy = {};
  if (Now < LookAgain)
    return;
  for (auto &H : Hosts)
    H->IsTaken = false;
  std::uniform_int_distribution<unsigned> Ms(MinLookMs, MaxLookMs);
  LookAgain = Now + std::chrono::milliseconds(Ms(Random));
}
