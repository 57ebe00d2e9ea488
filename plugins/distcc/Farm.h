//===- Farm.h - All hosts of a link -----------------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finds out which hosts are of use, and chooses one for each job. Belongs to
// the I/O thread.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_DISTCC_FARM_H
#define DTLTO_DISTCC_FARM_H

#include "Host.h"
#include "Log.h"
#include "Poller.h"
#include "SlotSharing.h"
#include "dtlto/sdk/Status.hpp"

namespace dtlto::distcc {

class Farm {
public:
  /// \p LlvmVersion is what each compiler must have, \p Linker what the linker
  /// says of itself (empty: not known). \p CanRunHere: hosts of kind Local are
  /// of use.
  Farm(const Settings &S, std::string LlvmVersion, std::string Linker,
       bool CanRunHere, Log &TheLog, std::shared_ptr<Mailbox> Box,
       Reaper &Children);

  /// Begins to probe hosts, at the same time: as many as have slots for the
  /// jobs of the link, or all, if only their status is wanted.
  void start();

  /// What this link knows of its tries: a bit for each host, by index.
  using HostSet = std::vector<bool>;

  /// A usable host with an idle slot that is not in \p Tried, or null; no other
  /// link has that slot. The fastest first; those that have not shown their
  /// speed before, in the order of the list. One that is suspect or, worse,
  /// called \p Avoid, only where there is no better one, be that busy or not.
  Host *choose(const HostSet &Tried, const std::string &Avoid = {});
  bool anyRoom() const;
  /// Before jobs are given to hosts: slots that other links wait for are theirs
  /// now.
  void yield() { Sharing.yield(); }
  /// After that: what was not needed is given back, and spare hosts are probed
  /// for the jobs that still wait for a slot.
  void settle(size_t NumWaiting);
  /// This machine lacks descriptors: locks need one, too.
  void endSharing() { Sharing.end(); }
  /// A host that is not in \p Tried is usable, or may be soon.
  bool mayTake(const HostSet &Tried) const;
  /// The same for any host at all.
  bool anyHope() const { return mayTake(HostSet(Hosts.size())); }

  /// A job of \p Module, which \p H has had since \p Began, failed, and the
  /// host is to blame. It rests if \p IsOff, or if it has failed in several
  /// jobs in a row. One that has done jobs, or is the only one, fails more
  /// often before it rests.
  void recordFailure(Host &H, const void *Module, Clock::time_point Began,
                     const std::string &Why, bool IsOff);
  /// Its machine is there, but doesn't take more connections than \p NumOpen.
  void recordFull(Host &H, unsigned NumOpen);
  /// A job came back well.
  void recordSuccess(Host &H, uint64_t Cost, Clock::duration Took);
  /// Its compiler failed: that says nothing of its speed.
  void recordCompileError(Host &H);
  /// The linker has taken a job back that the host had since \p Since.
  void recordUnanswered(Host &H, Clock::time_point Since);
  /// The linker has found that host's result, of this status, to be wrong.
  void recordRefuted(const std::string &Name, int32_t Status);
  /// Tells the user of failures that were made good.
  void sayFailures();

  void prepare(Poller &P);
  void checkTime(Clock::time_point Now);

  Host &host(size_t Index) { return *Hosts[Index]; }
  size_t size() const { return Hosts.size(); }
  /// Slots of hosts that are usable; and of those that may be, as far as the
  /// list tells.
  unsigned slots() const;
  unsigned expectedSlots() const;
  unsigned freeSlots() const;
  unsigned localSlots() const; // of those that are usable, this machine's
  unsigned numUsable() const;

  /// No host is still being asked what it is.
  bool isSettled() const;
  /// All hosts, in the order of the list. One that is still being asked counts
  /// as out: it was given \p Waited.
  std::vector<sdk::Worker> report(std::chrono::milliseconds Waited) const;

private:
  // A machine that is there, and has room, takes a connection in this time.
  static constexpr std::chrono::seconds QuickConnect{1};

  static bool mayTake(const Host &H, const HostSet &Tried);
  void askSpares(uint64_t NumJobs);
  void find(Host &H);
  void probe(Host &H, Resolved R);
  void probeEnded(Host &H);
  void probeFailed(Host &H, const Connection &P);
  void askStats(Host &H, Clock::time_point Now);
  bool isOnlyHope(const Host &H) const;
  void sayFull(Host &H, const std::string &Text);
  void compareVersion(Host &H, std::string Line);
  void lack(Host &H, const std::string &Why);
  void rest(Host &H, const std::string &Why);
  void rest(Host &H, const std::string &Why, Clock::duration Period);
  void leaveOut(Host &H, const std::string &Why);
  void say(const std::string &Text);

  const Settings &S;
  const std::string LlvmVersion, Linker;
  const bool CanRunHere;
  Log &TheLog;
  const std::shared_ptr<Mailbox> Box;
  Reaper &Children;
  const std::shared_ptr<const Request> ProbeRequest;
  std::vector<std::unique_ptr<Host>> Hosts;
  const Host *FirstProven = nullptr; // others' versions are compared with it
  SlotSharing Sharing;
  bool HasWaiting = false; // jobs, when hosts had been given what they can take
};

} // namespace dtlto::distcc

#endif // DTLTO_DISTCC_FARM_H
