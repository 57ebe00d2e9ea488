//===- Options.h - The options of a plan ------------------------*- C++ -*-===//
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

using Time = std::chrono::nanoseconds; // driver's clock, since the first task

/// The user's choices, and all thresholds.
struct Options {
  unsigned Cores = 1; // for local compiles, --thinlto-jobs
  /// Local jobs next to the plugin's; unset: as many as save time.
  std::optional<unsigned> LocalJobs;
  unsigned DuplicatePercent = 25; // share of all work that may be done twice
  unsigned VerifyPercent = 0;     // of the objects, compiled locally as well
  /// Selects these. If a worker knew them, it could fake all others.
  uint64_t VerifySeed = 0;
  bool Fallback = true;   // compile locally what the plugin can't
  bool KeepOrder = false; // give out jobs one by one, by rank
  /// No object is cached yet, and the first job can be expressed: open the
  /// plugin while jobs are being prepared, not once one is ready.
  bool OpenAtOnce = false;
  uint64_t MaxBytesInFlight = UINT64_MAX; // of memory, offered and accepted
  /// The memory of all jobs that run locally. One job may always run.
  uint64_t MaxLocalBytes = UINT64_MAX;
  /// Each local job after the first needs a token of the build's jobserver. The
  /// first uses the linker's own.
  bool NeedsTokens = false;
  Time JobTimeout = std::chrono::seconds(600); // without a sign of life

  /// A plugin that only reports its load or waiting jobs is given up after this
  /// multiple of JobTimeout.
  double NoProgressFactor = 4;

  unsigned MaxTries = 2;   // at the plugin, and as many duplicates there
  unsigned MaxOffers = 16; // offers without an answer yet
  /// Limits on jobs that are prepared ahead of the plugin: enough to keep it
  /// busy, and bounded memory. In between, a multiple of the plugin's slots.
  /// This mixes short and long jobs first, so that slots don't all become free,
  /// and need inputs, at the same moment.
  unsigned MinPrepared = 32, PreparedPerSlot = 4, MaxPrepared = 4096;
  /// How long to wait after BUSY if the plugin has no jobs.
  Time BusyRetry = std::chrono::seconds(1);
  /// How long to wait after BUSY while the plugin has as many jobs as it had
  /// then.
  Time BusyHoldoff = std::chrono::milliseconds(50);
  /// The limit of a call that must return at once according to the ABI.
  Time CallTimeout = std::chrono::seconds(60);
  /// How late a missed deadline may be detected.
  Time DeadlineStep = std::chrono::milliseconds(500);
  /// The shortest time between two queries of the plugin's load.
  Time LoadInterval = std::chrono::milliseconds(250);
  /// How often to look for stragglers, and for jobs that are worth compiling
  /// locally.
  Time ScanInterval = std::chrono::milliseconds(50);

  /// A job is slow if it takes this multiple of the expected time, and at least
  /// this much longer: a restart would have been faster.
  double SlowFactor = 2;
  Time SlowExtra = std::chrono::milliseconds(500);
  /// A worker with this many slow jobs is slow with all its jobs.
  unsigned SlowWorkerJobs = 2;
  /// How many jobs must have ended before expected times are used.
  unsigned MinMeasured = 3;
  /// How long a job may wait at the plugin while slots seem to be free.
  Time MaxWait = std::chrono::seconds(1);
  /// Jobs that wait for a shared resource wait together. One that waits for
  /// this multiple of the others' time is stuck.
  double LongWaitFactor = 4;
  /// How long a plugin may return no result before this machine takes its jobs.
  Time Patience = std::chrono::milliseconds(500);
  /// The same for jobs of a silent plugin, which may be about to begin them.
  Time SilentPatience = std::chrono::milliseconds(100);
  /// A plugin that is silent (Sharing.cpp) for this long, or takes this long to
  /// open, counts as dead: the longest jobs are then started locally first.
  Time DeadAfter = std::chrono::seconds(1);
  /// A link is late if the remaining work could only just be done locally
  /// within this multiple of the time for all work, plus this extra. The linker
  /// then expects nothing more of the plugin.
  double LateFactor = 2;
  Time LateExtra = std::chrono::seconds(2);
};

} // namespace dtlto::plan

#endif // DTLTO_CORE_PLAN_OPTIONS_H
