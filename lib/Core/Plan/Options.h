//===- Options.h - What a plan goes by --------------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_CORE_PLAN_OPTIONS_H
#define DTLTO_CORE_PLAN_OPTIONS_H

#include <chrono>
#include <cstdint>
#include <optional>

namespace dtlto::plan {

using Time = std::chrono::nanoseconds; // since the first task; the driver's

/// What the user chose, and every threshold that there is.
struct Options {
  unsigned Cores = 1; // that may compile here, --thinlto-jobs
  /// Jobs that run here beside the plugin's; unset: as many as pay off.
  std::optional<unsigned> LocalJobs;
  unsigned DuplicatePercent = 25; // of all work that may be done twice
  unsigned VerifyPercent = 0;     // of the objects that are also made here
  /// Which these are. A worker that knew could be wrong about all others.
  uint64_t VerifySeed = 0;
  bool Fallback = true;   // what the plugin can't do is compiled here
  bool KeepOrder = false; // jobs are given out one by one, by rank
  /// No object is there already, and the first job can be expressed: the plugin
  /// is opened while jobs are being prepared, and not once one is ready.
  bool OpenAtOnce = false;
  uint64_t MaxBytesInFlight = UINT64_MAX; // of memory, offered and accepted
  /// Of memory, that jobs which run here take together. One always may run.
  uint64_t MaxBytesHere = UINT64_MAX;
  /// Each job that runs here beside another one needs a token of the build's
  /// jobserver. One always may run: its token is the linker's own.
  bool NeedsTokens = false;
  Time JobTimeout = std::chrono::seconds(600); // without a sign of life

  /// A plugin that only talks, of its load or of jobs that wait, may do so for
  /// so many times that long.
  double TalkFactor = 4;

  unsigned MaxTries = 2;   // at the plugin's, and as many duplicates there
  unsigned MaxOffers = 16; // offers ahead of their answers
  /// Jobs that are prepared ahead of the plugin: enough to keep it busy, and a
  /// limit to the linker's memory. In between, so many times the plugin's
  /// slots: the first jobs are to be of several lengths, as those of one end
  /// together, and all slots wait for the next inputs at the same time.
  unsigned MinPrepared = 32, PreparedPerSlot = 4, MaxPrepared = 4096;
  /// How long a plugin is left in peace that said BUSY but has no jobs.
  Time BusyRetry = std::chrono::seconds(1);
  /// How long a plugin that has as many jobs as when it said BUSY isn't asked
  /// whether it takes more by now.
  Time BusyIsNews = std::chrono::milliseconds(50);
  /// A call that the ABI says comes back at once may take so long.
  Time CallTimeout = std::chrono::seconds(60);
  /// How late a missed deadline may be noticed.
  Time DeadlineStep = std::chrono::milliseconds(500);
  /// The plugin's load is asked for at most so often.
  Time LoadInterval = std::chrono::milliseconds(250);
  /// How often jobs are looked through for stragglers and what pays here.
  Time LookInterval = std::chrono::milliseconds(50);

  /// A job is slow if it takes that many times what was expected, and at least
  /// this much longer: it would be quicker by now to have started it again.
  double SlowFactor = 2;
  Time SlowExtra = std::chrono::milliseconds(500);
  /// A worker with so many slow jobs is slow with all that it has.
  unsigned SlowWorkerJobs = 2;
  /// So many jobs must have ended before what is expected of others counts.
  unsigned MinMeasured = 3;
  /// How long a job may wait at the plugin's while there seem to be free slots.
  Time MaxWait = std::chrono::seconds(1);
  /// Jobs that wait for something that all share wait together; one that waits
  /// that many times longer than others is alone.
  double LongWaitFactor = 4;
  /// How long a plugin may have no result before this machine takes its jobs.
  Time Patience = std::chrono::milliseconds(500);
  /// The same for jobs that a silent plugin has: it may be about to begin them.
  Time SilentPatience = std::chrono::milliseconds(100);
  /// A plugin that has been silent (Sharing.cpp) for so long, or takes so long
  /// to open, is taken for dead, and the longest jobs are started here first.
  Time DeadAfter = std::chrono::seconds(1);
  /// A link is late when what is left could only just be made here within so
  /// many times what all of it takes here, and so much longer: nothing is
  /// expected of the plugin any more.
  double LateFactor = 2;
  Time LateExtra = std::chrono::seconds(2);
};

} // namespace dtlto::plan

#endif // DTLTO_CORE_PLAN_OPTIONS_H
