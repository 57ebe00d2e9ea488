//===- Farm.h - All hosts of a link -----------------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Detects which hosts are usable, and chooses one for each job. I/O thread
// only.
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
  /// Each compiler must have the version \p LlvmVersion. \p Linker is the
  /// linker's version, empty if unknown. \p CanRunLocally makes hosts of kind
  /// Local usable.
  Farm(const Settings &S, std::string LlvmVersion, std::string Linker,
       bool CanRunLocally, MessageLog &TheLog, std::shared_ptr<Mailbox> Box,
       Reaper &Children);

  /// Begins to probe hosts in parallel: enough to have slots for the jobs of
  /// the link, or all of them for a status.
  void start();

  /// A bit for each host, by index.
  using HostSet = std::vector<bool>;

  /// Returns a usable host that is not in \p Tried and has an idle slot that no
  /// other link has, or null. Prefers hosts of unknown speed, in the order of
  /// the list, and then the fastest. Chooses a suspect host, or as a last
  /// resort the host \p Avoid, only if no better one exists, even a busy one.
  Host *choose(const HostSet &Tried, const std::string &Avoid = {});
  /// Before jobs are given to hosts: leaves slots to other links that wait.
  void yield() { Sharing.yield(); }
  /// After that: gives back unneeded slots, and probes spare hosts for the jobs
  /// that still wait for a slot.
  void settle(size_t NumWaiting);
  /// Stops sharing if this machine lacks descriptors: locks need one, too.
  void endSharing() { Sharing.end(); }
  /// Whether a host that is not in \p Tried is usable, or may be soon.
  bool mayTake(const HostSet &Tried) const;
  /// Whether any host is usable, or may be soon.
  bool mayTakeJobs() const { return mayTake(HostSet(Hosts.size())); }

  /// Records that a job of \p Module, which \p H has had since \p BeginTime,
  /// failed through the host's fault. The host rests if \p IsOff, or after
  /// several failures in a row: more of them if it has done jobs, or is the
  /// only host.
  void recordFailure(Host &H, const void *Module, Clock::time_point BeginTime,
                     const std::string &Why, bool IsOff);
  /// Records that the host is up, but accepts no more than \p NumOpen
  /// connections.
  void recordFull(Host &H, unsigned NumOpen);
  /// Records a successful job.
  void recordSuccess(Host &H, uint64_t Cost, Clock::duration Duration);
  /// Records a compile error, which doesn't show the host's speed.
  void recordCompileError(Host &H);
  /// Records that the linker has cancelled a job that \p H had since \p Since.
  void recordUnanswered(Host &H, Clock::time_point Since);
  /// Records that the linker has refuted a result with this status.
  void recordRefuted(const std::string &Name, int32_t Status);
  /// Reports failures of jobs that were tried again.
  void reportFailures();

  void prepare(Poller &P);
  void checkTime(Clock::time_point Now);

  Host &host(size_t Index) { return *Hosts[Index]; }
  size_t size() const { return Hosts.size(); }
  struct Counts {
    unsigned Hosts = 0, Slots = 0, Free = 0; // of usable hosts
    unsigned Local = 0;                      // of the slots: this machine's
    /// Slots of hosts that are or may become usable, as far as known.
    unsigned Expected = 0;
  };
  Counts counts() const;

  /// Whether no host is being probed any more.
  bool isSettled() const;
  /// Describes all hosts, in the order of the list. A host that hasn't answered
  /// within \p WaitTime counts as out.
  std::vector<sdk::Worker> report(std::chrono::milliseconds WaitTime) const;

private:
  // A host that is up and has room accepts a connection within this time.
  static constexpr std::chrono::seconds QuickConnect{1};

  void probeSpares(uint64_t NumJobs);
  void beginProbe(Host &H);
  void probe(Host &H, LookupResult R);
  void onProbeEnd(Host &H);
  void onProbeFailure(Host &H, const Connection &P);
  void queryStats(Host &H, Clock::time_point Now);
  void onStatsEnd(Host &H, Clock::time_point Now);
  bool isOnlyCandidate(const Host &H) const;
  void reportFull(Host &H, const std::string &Text);
  void compareVersion(Host &H, std::string Line);
  void handleShortage(Host &H, const std::string &Why);
  void rest(Host &H, const std::string &Why, Clock::duration Period = {});
  void restIf(bool IsBad, Host &H, const std::string &Why);
  void leaveOut(Host &H, const std::string &Why);
  void warn(const std::string &Text);

  const Settings &S;
  const std::string LlvmVersion, Linker;
  const bool CanRunLocally;
  MessageLog &TheLog;
  const std::shared_ptr<Mailbox> Box;
  Reaper &Children;
  const std::shared_ptr<const Request> ProbeRequest;
  std::vector<std::unique_ptr<Host>> Hosts;
  const Host *ReferenceHost = nullptr; // reference for the versions of others
  SlotSharing Sharing;
  // Jobs that wait after the idle slots were filled.
  bool HasWaitingJobs = false;
};

} // namespace dtlto::distcc

#endif // DTLTO_DISTCC_FARM_H
