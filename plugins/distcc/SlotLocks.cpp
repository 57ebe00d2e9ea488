//===- SlotLocks.cpp - Slots that several links share ---------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SlotLocks.h"
#include "System.h"

using namespace dtlto;
using namespace dtlto::distcc;

static constexpr unsigned BytesOfAHost = MaxSlots + 1;

std::unique_ptr<SlotLocks> SlotLocks::open(const std::string &File) {
  for (size_t End : {File.rfind('/', File.rfind('/') - 1), File.rfind('/')})
    if (End != std::string::npos && End != 0)
      os::makeFolder(File.substr(0, End));
  int Fd = os::openLocks(File);
  return Fd < 0 ? nullptr : std::unique_ptr<SlotLocks>(new SlotLocks(Fd));
}

SlotLocks::~SlotLocks() { os::closeLocks(Fd); }

/// All builds must find the same bytes: FNV-1a, in as many bits as leave the
/// offset positive.
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
