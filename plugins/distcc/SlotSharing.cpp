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
static constexpr unsigned MinPollMs = 15, MaxPollMs = 40;
// How long a link leaves a slot to others; each has polled by then.
static constexpr Clock::duration YieldTime = 60ms;
// The limit of Tenure, which doubles while waiting links take nothing. They may
// be suspended.
static constexpr Clock::duration MaxTenure = 8s;

static constexpr unsigned BytesPerHost = MaxSlots + 1;

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
  return (Hash >> 14) * BytesPerHost;
}

bool SlotLocks::take(Host H, unsigned Slot) {
  return Slot < MaxSlots && os::lockByte(Fd, H + Slot, false);
}

void SlotLocks::release(Host H, unsigned Slot) { os::unlockByte(Fd, H + Slot); }

void SlotLocks::request(Host H) { os::lockByte(Fd, H + MaxSlots, true); }

void SlotLocks::cancelRequest(Host H) { os::unlockByte(Fd, H + MaxSlots); }

bool SlotLocks::isRequested(Host H) const {
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
      std::shared_ptr<SlotLocks> NewLocks = SlotLocks::open(File);
      Box->post([this, NewLocks] {
        Locks = HasEnded ? nullptr : NewLocks;
        LocksDeadline = {};
      });
    });
    LocksDeadline = Clock::now() + LocksLimit;
  } catch (const std::system_error &) {
    // Without a thread, this link doesn't share its slots.
  }
}

bool SlotSharing::reserve(Host &H) {
  if (!Locks || H.Spec.Kind == HostKind::Local || H.idleSlot())
    return true;
  H.SlotTable.resize(std::max<size_t>(H.SlotTable.size(), H.Slots));
  Clock::time_point Now = Clock::now();
  for (unsigned I = 0; I != H.Slots; ++I) {
    Host::Slot &Slot = H.SlotTable[I];
    if (Slot.Job || Now < Slot.YieldUntil)
      continue;
    bool WasYielded = std::exchange(Slot.YieldUntil, {}) != Clock::time_point();
    Slot.IsLocked = Locks->take(SlotLocks::host(H.Name), I);
    if (WasYielded) // whether another link took it
      H.Tenure =
          Slot.IsLocked ? std::min(2 * H.Tenure, MaxTenure) : Host::MinTenure;
    if (Slot.IsLocked) {
      Slot.Since = Now;
      return true;
    }
  }
  // Another link may be suspended, or have long jobs: wait only briefly.
  if (!H.NumBusy && NoSlotSince < Now - Patience)
    return true;
  NoSlotSince = std::min(NoSlotSince, Now);
  H.IsTaken = true;
  if (!std::exchange(H.WasTakenReported, true))
    TheLog.debug(H.Name + ": other links have its slots");
  return false;
}

void SlotSharing::release(Host &H, size_t Slot) {
  assert(H.SlotTable[Slot].IsLocked && !H.SlotTable[Slot].Job);
  Locks->release(SlotLocks::host(H.Name), static_cast<unsigned>(Slot));
  H.SlotTable[Slot].IsLocked = false;
}

void SlotSharing::yield() {
  if (!Locks)
    return;
  Clock::time_point Now = Clock::now();
  for (auto &H : Hosts)
    for (size_t I = 0; I != H->SlotTable.size(); ++I) {
      Host::Slot &Slot = H->SlotTable[I];
      if (Slot.IsLocked && !Slot.Job && Slot.Since <= Now - H->Tenure &&
          Locks->isRequested(SlotLocks::host(H->Name))) {
        release(*H, I);
        Slot.YieldUntil = Now + YieldTime;
      }
    }
}

void SlotSharing::settle(bool HasWaitingJobs) {
  if (!Locks)
    return;
  bool HasSlot = false;
  for (auto &H : Hosts) {
    for (size_t I = 0; I != H->SlotTable.size(); ++I)
      if (H->SlotTable[I].IsLocked && !H->SlotTable[I].Job)
        release(*H, I);
      else
        HasSlot |= H->SlotTable[I].IsLocked;
    bool IsAwaitingSlot =
        HasWaitingJobs && H->State == Host::Usable && H->IsTaken;
    if (std::exchange(H->IsAwaitingSlot, IsAwaitingSlot) == IsAwaitingSlot)
      continue;
    if (IsAwaitingSlot)
      Locks->request(SlotLocks::host(H->Name));
    else
      Locks->cancelRequest(SlotLocks::host(H->Name));
  }
  if (HasSlot || !HasWaitingJobs)
    NoSlotSince = Clock::time_point::max();
}

void SlotSharing::end() {
  HasEnded = true;
  Locks.reset();
  LocksDeadline = {};
  for (auto &H : Hosts) {
    H->IsTaken = H->IsAwaitingSlot = false;
    for (Host::Slot &S : H->SlotTable)
      S.IsLocked = false;
  }
}

void SlotSharing::prepare(Poller &P) const {
  if (!isReady())
    P.wakeAt(LocksDeadline);
  for (auto &H : Hosts)
    if (H->IsAwaitingSlot)
      P.wakeAt(NextPoll);
}

void SlotSharing::checkTime(Clock::time_point Now) {
  if (LocksDeadline <= Now)
    LocksDeadline = {};
  if (Now < NextPoll)
    return;
  for (auto &H : Hosts)
    H->IsTaken = false;
  std::uniform_int_distribution<unsigned> Ms(MinPollMs, MaxPollMs);
  NextPoll = Now + std::chrono::milliseconds(Ms(Random));
}
