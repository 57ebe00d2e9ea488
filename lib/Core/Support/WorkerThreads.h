//===- WorkerThreads.h - Threads for a link's own work ----------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_SUPPORT_WORKERTHREADS_H
#define DTLTO_SUPPORT_WORKERTHREADS_H

#include "Support/ThreadCheck.h"
#include <functional>
#include <memory>

namespace dtlto {

/// A thread pool that works if the number of threads is limited. LLVM's pool
/// ends the process if a thread can't be started; this one continues with the
/// threads that it has.
class WorkerThreads {
public:
  /// Starts at most \p Max threads, each when it is needed.
  explicit WorkerThreads(unsigned Max);
  /// Waits for all work to end.
  ~WorkerThreads();
  WorkerThreads(const WorkerThreads &) = delete;

  /// Runs \p Work on one of the threads; starts work in the order of the calls.
  /// If no thread can be started, runs \p Work before returning. Call it on one
  /// thread only.
  void async(std::function<void()> Work);

private:
  struct State;
  ThreadCheck Caller;
  const unsigned Max;
  const std::shared_ptr<State>
      SharedState; // shared with the threads, which are detached
};

} // namespace dtlto

#endif // DTLTO_SUPPORT_WORKERTHREADS_H
