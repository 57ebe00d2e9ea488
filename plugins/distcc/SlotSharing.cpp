//===- SlotSharing.cpp - Shares slots with other links --------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SlotSharing.h"
#include "System.h"
#include "dtlto/sdk/Detached.hpp"
#include <algorithm>
#include <cassert>
#include <system_error>
#include <utility>

using namespace dtlto;
using namespace dtlto::distcc;
using namespace std::chrono_literals;

// How long jobs wait for the locks to be opened.
static constexpr Clock::duration LocksLimit = 500ms;
// A waiting link polls at random intervals.
static constexpr unsigned MinLookMs = 15, MaxLookMs = 40;
// How long a link leaves a slot to others; each has polled by then.
static constexpr Clock::duration YieldTime = 60ms;
// The limit of Tenure, which doubles while waiting links take nothing. They may
// be suspended.
static constexpr Clock::duration MaxTenure = 8s;

static constexpr unsigned BytesOfAHost = MaxSlots + 1;

//===----------------------------------------------------------------------===//
// Locks
//===----------------------------------------------------------------------===//

std::unique_ptr<SlotLocks> SlotLocks::open(const std::string &File) {
  for (size_t End : {File.rfind('/', File.rfind('/') - 1), File.rfind('/')})
    if (End != std::string::npos && End != 0)
      os::makeFolder(File.substr(0, End));
  int Fd = os::openLocks(File);
  return Fd < 0 ? nullptr : std::unique_ptr<SlotLocks>(new SlotLocks(Fd));
}

SlotLocks::~SlotLocks() { os::closeLocks(Fd); }

/// FNV-1a, so that all builds find the same bytes. The shift keeps the offset
/// positive.
SlotLocks::Host SlotLocks::host(std::string_view Name) {
  uint64_t Hash = 0xcbf29ce484222325;
  for (unsigned char C : Name)
    Hash = (Hash ^ C) * 0x100000001b3;
  return (Hash >> 14) * BytesOfAHost;
}

bool SlotLocks::take(Host H, unsigned Slot) {
  return Slot < MaxSlots && os::lockByte(Fd, H + Slot, false);
}

void SlotLocks::give(Host H, unsigned Slot) { os::unlockByte(Fd, H + Slot); }

void SlotLocks::await(Host H) { os::lockByte(Fd, H + MaxSlots, true); }

void SlotLocks::stopAwaiting(Host H) { os::unlockByte(Fd, H + MaxSlots); }

bool SlotLocks::isAwaited(Host H) const {
  return os::isLockedByOther(Fd, H + MaxSlots);
}

//===----------------------------------------------------------------------===//
// Sharing
//===----------------------------------------------------------------------===//

/// Opens the locks on a detached thread: a file server may be slow, or hang.
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
    // Without a thread, this link doesn't share its slots.
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
    Slot.IsOurs = Locks->take(SlotLocks::host(H.Name), I);
    if (Yielded) // whether another link took it
      H.Tenure =
          Slot.IsOurs ? std::min(2 * H.Tenure, MaxTenure) : Host::MinTenure;
    if (Slot.IsOurs) {
      Slot.Since = Now;
      return true;
    }
  }
  // Another link may be suspended, or have long jobs: wait only briefly.
  if (!H.NumBusy && NoSlotSince < Now - Patience)
    return true;
  NoSlotSince = std::min(NoSlotSince, Now);
  H.IsTaken = true;
  if (!std::exchange(H.SaidTaken, true))
    TheLog.debug(H.Name + ": other links have its slots");
  return false;
}

void SlotSharing::give(Host &H, size_t Slot) {
  assert(H.InSlot[Slot].IsOurs && !H.InSlot[Slot].Job);
  Locks->give(SlotLocks::host(H.Name), static_cast<unsigned>(Slot));
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
          Locks->isAwaited(SlotLocks::host(H->Name))) {
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
      Locks->await(SlotLocks::host(H->Name));
    else
      Locks->stopAwaiting(SlotLocks::host(H->Name));
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
