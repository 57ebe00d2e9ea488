//===- HelperQueue.h - The next work of a link's helpers --------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_RUN_HELPERQUEUE_H
#define DTLTO_RUN_HELPERQUEUE_H

#include "Plan/Plan.h"
#include <atomic>
#include <functional>
#include <map>
#include <mutex>

namespace dtlto {

/// Queued work on jobs for the linker's helper threads. Thread-safe.
///
/// The order is by the jobs' ranks (by default the longest first), and first
/// in, first out for each job. While machines are idle, the job among the next
/// ones that imports least goes first: it takes the least time to prepare and
/// send, and others share its slimmed imports. Jobs that may delay the link
/// keep their place.
class HelperQueue {
public:
  using Work = std::function<void()>;

  /// Queues \p Task for job \p J. \p Seconds is the job's expected time;
  /// \p ImportWork is as in JobFacts.
  void add(plan::JobId J, double Seconds, size_t ImportWork, Work Task);

  /// Removes and returns the next work. Call it once for each add().
  Work take();

  /// Sets whether machines are idle, and the expected time, in seconds, from
  /// which on a job may delay the link.
  void set(bool NewHasIdle, double NewLongThreshold) {
    HasIdle = NewHasIdle;
    LongThreshold = NewLongThreshold;
  }

private:
  struct Entry {
    double Seconds;
    size_t ImportWork;
    Work Task;
  };

  std::mutex Mutex;
  std::multimap<plan::JobId, Entry> Queue; // guarded by Mutex
  // Atomic, since they are set after each event, without waiting for helpers.
  std::atomic<bool> HasIdle = false;
  std::atomic<double> LongThreshold = 0;
};

} // namespace dtlto

#endif // DTLTO_RUN_HELPERQUEUE_H
