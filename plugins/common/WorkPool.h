//===- WorkPool.h - A few threads for what takes time -----------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_PLUGINS_WORKPOOL_H
#define DTLTO_PLUGINS_WORKPOOL_H

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace dtlto {

/// Threads that do what they are given, in order. They start with the first
/// task that finds none idle.
class WorkPool {
public:
  explicit WorkPool(unsigned MaxThreads) : MaxThreads(MaxThreads) {}
  ~WorkPool() { stop(); }
  WorkPool(const WorkPool &) = delete;

  void run(std::function<void()> Task);
  /// Drops what has not begun and waits for what has.
  void stop();

private:
  void work();

  const unsigned MaxThreads;
  std::mutex Mutex; // guards the rest
  std::condition_variable Changed;
  std::deque<std::function<void()>> Tasks;
  unsigned NumIdle = 0;
  bool Stopping = false;
  std::vector<std::thread> Threads;
};

} // namespace dtlto

#endif // DTLTO_PLUGINS_WORKPOOL_H
