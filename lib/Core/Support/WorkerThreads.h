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

/// A thread pool for processes whose number of threads is limited. LLVM's ends
/// the process if a thread can't be started; this one works with the threads
/// that it has.
class WorkerThreads {
public:
  /// Starts at most \p Max threads, each when there is work for it.
  explicit WorkerThreads(unsigned Max);
  /// Waits for all work to end.
  ~WorkerThreads();
  WorkerThreads(const WorkerThreads &) = delete;

  /// Runs \p Work on one of the threads, in the order of the calls. If no
  /// thread can be started at all, \p Work runs before the call returns. Called
  /// by one thread.
  void async(std::function<void()> Work);

private:
  struct State;
  ThreadCheck Caller;
  const unsigned Max;
  const std::shared_ptr<State> S; // with the threads, which are detached
};

} // namespace dtlto

#endif // DTLTO_SUPPORT_WORKERTHREADS_H
