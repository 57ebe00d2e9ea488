//===- Farm.h - All hosts of a link -----------------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finds out which hosts are usable, and chooses one for each job. Belongs to
// the I/O thread.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_DISTCC_FARM_H
#define DTLTO_DISTCC_FARM_H

#include "Host.h"
#include "SlotSharing.h"
#include "dtlto/sdk/Status.hpp"

namespace dtlto::distcc {

class Farm {
public:
  /// \p LlvmVersion is what each compiler must have, \p Linker the linker's
  /// version (empty: not known). \p CanRunHere: hosts of kind Local are usable.
  Farm(const Settings &S, std::string LlvmVersion, std::string Linker,
       bool CanRunHere, MessageLog &TheLog, std::shared_ptr<Mailbox> Box,
       Reaper &Children);

  /// Begins to probe hosts, all at the same time: as many as have slots for the
  /// jobs of the link, or all of them for a status.
  void start();

  /// A bit for each host, by index.
  using HostSet = std::vector<bool>;

  /// Returns a usable host that is not in \p Tried, with an idle slot that no
  /// other link has; or null. The fastest first; hosts whose speed is unknown
  /// before those, in the order of the list. A host that is suspect or, worse,
  /// called \p Avoid is chosen only where there is no better one, busy or not.
  Host *choose(const HostSet &Tried, const std::string &Avoid = {});
  /// Before jobs are given to hosts: leaves slots that other links wait for.
  void yield() { Sharing.yield(); }
  /// After that: gives back slots that were not needed, and probes spare hosts
  /// for the jobs that still wait for a slot.
  void settle(size_t NumWaiting);
  /// This machine lacks descriptors: locks need one, too.
  void endSharing() { Sharing.end(); }
  /// Whether a host that is not in \p Tried is usable, or may be soon.
  bool mayTake(const HostSet &Tried) const;
  /// Whether any host is.
  bool anyHope() const { return mayTake(HostSet(Hosts.size())); }

  /// A job of \p Module, which \p H has had since \p Began, failed, and the
  /// host is to blame. The host rests if \p IsOff, or after several failures in
  /// a row: more of them if it has done jobs, or is the only host.
  void recordFailure(Host &H, const void *Module, Clock::time_point Began,
                     const std::string &Why, bool IsOff);
  /// The host is up, but doesn't accept more connections than \p NumOpen.
  void recordFull(Host &H, unsigned NumOpen);
  /// A job came back well.
  void recordSuccess(Host &H, uint64_t Cost, Clock::duration Took);
  /// A job came back with a compile error, which says nothing about speed.
  void recordCompileError(Host &H);
  /// The linker has cancelled a job that the host had since \p Since.
  void recordUnanswered(Host &H, Clock::time_point Since);
  /// The linker has found a result of this status to be wrong.
  void recordRefuted(const std::string &Name, int32_t Status);
  /// Reports failures of jobs that were tried again.
  void sayFailures();

  void prepare(Poller &P);
  void checkTime(Clock::time_point Now);

  Host &host(size_t Index) { return *Hosts[Index]; }
  size_t size() const { return Hosts.size(); }
  struct Counts {
    unsigned Hosts = 0, Slots = 0, Free = 0; // of usable hosts
    unsigned Local = 0;                      // of the slots: this machine's
    /// Slots of hosts that are or may become usable, as far as is known.
    unsigned Expected = 0;
  };
  Counts counts() const;

  /// No host is still being asked what it is.
  bool isSettled() const;
  /// All hosts, in the order of the list. A host that hasn't answered within
  /// \p Waited counts as out.
  std::vector<sdk::Worker> report(std::chrono::milliseconds Waited) const;

private:
  // A host that is up, and has room, accepts a connection in this time.
  static constexpr std::chrono::seconds QuickConnect{1};

  void askSpares(uint64_t NumJobs);
  void find(Host &H);
  void probe(Host &H, Resolved R);
  void probeEnded(Host &H);
  void probeFailed(Host &H, const Connection &P);
  void askStats(Host &H, Clock::time_point Now);
  void statsEnded(Host &H, Clock::time_point Now);
  bool isOnlyHope(const Host &H) const;
  void sayFull(Host &H, const std::string &Text);
  void compareVersion(Host &H, std::string Line);
  void lack(Host &H, const std::string &Why);
  void rest(Host &H, const std::string &Why, Clock::duration Period = {});
  void restIf(bool IsBad, Host &H, const std::string &Why);
  void leaveOut(Host &H, const std::string &Why);
  void warn(const std::string &Text);

  const Settings &S;
  const std::string LlvmVersion, Linker;
  const bool CanRunHere;
  MessageLog &TheLog;
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
