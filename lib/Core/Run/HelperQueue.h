//===- HelperQueue.h - What helpers of a link do next -----------*- C++ -*-===//
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

/// Work on jobs that threads of the linker's are to do. Any thread.
///
/// It is done in the order of jobs' ranks, by default the longest first, and
/// for each job in order. But while machines are idle, whatever is ready soon
/// is best: the job among the next ones that imports least takes the least time
/// to prepare and to send, and imports of others are slimmed on the way. A job
/// that the link may have to wait for isn't held up.
class HelperQueue {
public:
  using Work = std::function<void()>;

  /// \p Seconds that job \p J is expected to take; \p ImportWork as in
  /// JobFacts.
  void add(plan::JobId J, double Seconds, size_t ImportWork, Work W);

  /// Takes out what is next. Call it as often as add().
  Work take();

  /// Whether machines are idle, and what is so long that a link may have to
  /// wait for it, in seconds.
  void set(bool NewHasIdle, double NewLongFrom) {
    HasIdle = NewHasIdle;
    LongFrom = NewLongFrom;
  }

private:
  struct Entry {
    double Seconds;
    size_t ImportWork;
    Work W;
  };
  using Entries = std::multimap<plan::JobId, Entry>;
  Entries::iterator next();

  std::mutex Mutex;
  Entries All; // guarded by it
  // Set after each event, which shall not wait for helpers.
  std::atomic<bool> HasIdle = false;
  std::atomic<double> LongFrom = 0;
};

} // namespace dtlto

#endif // DTLTO_RUN_HELPERQUEUE_H
