//===- SlotLocks.h - Slots that several links share -------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A host's limit is meant for all that a user runs on a machine, and a distccd
// doesn't keep it: what is too much waits there, before what others send. So
// the links of a user take slots from each other, by locks on the bytes of a
// file in $DISTCC_DIR. Each host has MaxSlots + 1 bytes, found by a hash of its
// name: one for each slot, and the last for whoever waits for one.
//
// distcc has files of its own there, one for each slot, and looks at them once
// a second. A link would hardly ever leave one free for as long as that; so
// these are others.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_DISTCC_SLOTLOCKS_H
#define DTLTO_DISTCC_SLOTLOCKS_H

#include "HostSpec.h"
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace dtlto::distcc {

/// The locks end with this, and with the process, however it ends. One thread.
class SlotLocks {
public:
  /// \p File is made with its folder and that one's; this may wait for a file
  /// server. Null where there are no such locks: then nobody shares.
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

} // namespace dtlto::distcc

#endif // DTLTO_DISTCC_SLOTLOCKS_H
