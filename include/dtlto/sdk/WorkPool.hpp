//===- dtlto/sdk/WorkPool.hpp - Threads for what takes time -----*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_SDK_WORKPOOL_HPP
#define DTLTO_SDK_WORKPOOL_HPP

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace dtlto::sdk {

/// Threads that do what they are given, in order. One starts with each task
/// that finds none idle.
class WorkPool {
public:
  explicit WorkPool(unsigned MaxThreads) : MaxThreads(MaxThreads) {}
  ~WorkPool() { stop(); }
  WorkPool(const WorkPool &) = delete;

  /// Starts the first thread, or throws std::system_error: there is none to be
  /// had. Before the first run(), which has to do its task itself then.
  void start() {
    if (Threads.empty())
      Threads.emplace_back([this] { work(); });
  }
  void run(std::function<void()> Task) {
    {
      std::unique_lock<std::mutex> Lock(Mutex);
      if (Stopping)
        return;
      Tasks.push_back(std::move(Task));
      if (NumIdle < Tasks.size() && Threads.size() < MaxThreads)
        try {
          Threads.emplace_back([this] { work(); });
        } catch (const std::system_error &) {
          // The threads that there are will do it, or else the caller.
          if (Threads.empty()) {
            Task = std::move(Tasks.back());
            Tasks.pop_back();
            Lock.unlock();
            return Task();
          }
        }
    }
    Changed.notify_one();
  }
  /// Drops what has not begun and waits for what has.
  void stop() {
    std::deque<std::function<void()>> Dropped;
    {
      std::lock_guard<std::mutex> Lock(Mutex);
      Stopping = true;
      Dropped.swap(Tasks);
    }
    Changed.notify_all();
    for (std::thread &T : Threads)
      T.join();
    Threads.clear();
  }

private:
  void work() {
    std::unique_lock<std::mutex> Lock(Mutex);
    while (true) {
      ++NumIdle;
      Changed.wait(Lock, [&] { return Stopping || !Tasks.empty(); });
      --NumIdle;
      if (Stopping)
        return;
      {
        std::function<void()> Task = std::move(Tasks.front());
        Tasks.pop_front();
        Lock.unlock();
        Task();
      }
      Lock.lock();
    }
  }

  const unsigned MaxThreads;
  std::mutex Mutex; // guards the rest
  std::condition_variable Changed;
  std::deque<std::function<void()>> Tasks;
  unsigned NumIdle = 0;
  bool Stopping = false;
  std::vector<std::thread> Threads;
};

} // namespace dtlto::sdk

#endif // DTLTO_SDK_WORKPOOL_HPP
