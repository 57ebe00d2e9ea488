//===- ServerRecord.h - What a link has learned about a server --*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Executions, refusals, tries and wrong results of all jobs of the link.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_REAPI_SERVERRECORD_H
#define DTLTO_REAPI_SERVERRECORD_H

#include "Fault.h"
#include "dtlto/PluginAPI.h"
#include <map>
#include <mutex>
#include <set>
#include <unordered_map>

namespace dtlto::reapi {

/// Any thread.
class ServerRecord {
public:
  /// What the server reports on one execution.
  struct Execution {
    bool IsActive = false, IsRunning = false, IsQueued = false;
  };
  /// Replaces \p Old by \p New.
  void change(Execution &Old, Execution New);
  void addWorker(const std::string &Name);
  size_t numWorkers() const;
  /// Fills in what is known. \p Used of \p Size places for executions are
  /// taken, and the session has \p Accepted jobs.
  void load(dtlto_load &Load, unsigned Used, unsigned Size,
            uint32_t Accepted) const;

  /// Records that the server has accepted the action once more.
  void recordStart(const BlobName &Action);
  /// Returns why the action may not begin again, even if the linker submits its
  /// job again. Returns nothing if it may.
  std::string whyNot(const BlobName &Action) const;
  /// Records that one execution of the action has ended with \p F. \p
  /// IsRefusal: the server has not accepted it.
  void recordEnd(const BlobName &Action, const Fault &F, bool IsRefusal);
  /// Counts an action that failed with \p F. Returns whether the server seems
  /// to fail all actions of this link. \p HasExecuted: it has executed others.
  bool isRejected(const Fault &F, bool HasExecuted);

  /// Records that the server refuses executions with \p Text. Returns whether
  /// to tell the user: if it \p ShouldReport, the first time.
  bool handleRefusal(const std::string &Text, bool ShouldReport);
  /// Returns, once, that jobs wait in the server's queue and none begins.
  /// Returns nothing as long as jobs run.
  std::string waitingReason();
  /// Returns why no job has run, or nothing if one has or the user already
  /// knows.
  std::string noResultReason() const;

  /// Records the action as that of \p Job. Returns whether the linker has
  /// refuted one of its results.
  bool wasRefuted(uint64_t Job, const BlobName &Action);
  /// Records that a result of \p Job was wrong. \p MayBeCached: in the action
  /// cache, too.
  void refute(uint64_t Job, bool MayBeCached);
  /// Returns actions whose wrong results may be in the action cache, by digest.
  /// Each is returned once.
  std::map<std::string, BlobName> takeRepairs();

private:
  /// The tries of an action that has not succeeded yet.
  struct Tries {
    unsigned NumBegun = 0, NumFailed = 0;
    std::string Why; // of the last failure
  };

  mutable std::mutex Mutex; // guards what follows
  unsigned NumActive = 0, NumRunning = 0, MaxRunning = 0;
  unsigned NumQueued = 0, MaxQueued = 0; // in the server's queue
  bool HasQueued = false;                // a job has waited while others ran
  std::chrono::steady_clock::time_point WaitingSince; // while none ran
  std::set<std::string> Workers;
  std::map<std::string, Tries> TriesByAction; // by the action's digest
  unsigned NumRejected = 0;                   // in a row
  std::string LastRefusal;                    // since the last success
  bool HasReportedWaiting = false;
  std::unordered_map<uint64_t, BlobName> ActionByJob; // by the job's id
  std::set<std::string> Refuted;                      // digests of actions
  std::map<std::string, BlobName> ToRepair;
};

} // namespace dtlto::reapi

#endif // DTLTO_REAPI_SERVERRECORD_H
