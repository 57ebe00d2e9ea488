//===- dtlto/sdk/WorkPool.hpp - Threads for slow tasks ----------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_SDK_WORKPOOL_HPP
#define DTLTO_SDK_WORKPOOL_HPP

#include "ThreadRoom.hpp"
#include <cassert>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace dtlto::sdk {

/// A pool of threads that runs tasks in order. A task that finds no idle thread
/// starts one, if the thread limits leave room for as many again and for the
/// linker's own (ThreadRoom.hpp): several links may share the limits.
class WorkPool {
public:
  /// \p Left returns how many threads may still be started.
  explicit WorkPool(unsigned MaxThreads,
                    std::function<size_t()> Left = threadsLeft)
      : MaxThreads(MaxThreads), Left(std::move(Left)) {}
  ~WorkPool() { stop(); }
  WorkPool(const WorkPool &) = delete;

  /// Starts the first thread; throws std::system_error if it can't. Call it
  /// before the first run(): otherwise run() may have to run the task itself.
  void start() {
    std::unique_lock<std::mutex> Lock(Mutex);
    if (Threads.empty())
      add(Lock);
  }
  void run(std::function<void()> Task) {
    {
      std::unique_lock<std::mutex> Lock(Mutex);
      if (Stopping)
        return;
      Tasks.push_back(std::move(Task));
      if (NumIdle < Tasks.size() && NumLive < MaxThreads && mayStart(Lock))
        try {
          add(Lock);
        } catch (const std::system_error &) {
          refuse(Lock);
          // End this many threads, to leave room for the linker's.
          NumToEnd = unsigned(std::min<size_t>(NumLive - std::min(NumLive, 1u),
                                               threadsToLeave()));
          // The existing threads will run the task, or else the caller.
          if (NumLive == 0) {
            Task = std::move(Tasks.back());
            Tasks.pop_back();
            Lock.unlock();
            return Task();
          }
        }
    }
    Changed.notify_one();
  }
  /// How many threads tasks can have now: fewer than the maximum if one could
  /// not be started a moment ago.
  unsigned room() {
    std::lock_guard<std::mutex> Lock(Mutex);
    return Clock::now() - LastRefused < RetryAfter ? std::max(1u, NumLive)
                                                   : MaxThreads;
  }
  /// Drops tasks that have not begun, and waits for the others.
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
  using Clock = std::chrono::steady_clock;
  // After a thread couldn't be started, try no other for this long.
  static constexpr std::chrono::milliseconds RetryAfter{500};
  static constexpr std::chrono::milliseconds LookAfter{50};

  using Guard = std::unique_lock<std::mutex>;
  void add(const Guard &Lock) {
    assert(Lock.owns_lock());
    (void)Lock;
    Threads.emplace_back([this] { work(); });
    ++NumLive;
  }
  void refuse(const Guard &Lock) {
    assert(Lock.owns_lock());
    (void)Lock;
    LastRefused = Clock::now();
  }
  bool mayStart(const Guard &Lock) {
    assert(Lock.owns_lock());
    if (NumLive == 0)
      return true;
    if (Clock::now() - LastRefused < RetryAfter)
      return false;
    // Looking at the limits may take as long as starting some threads.
    if (Clock::now() - LastLook >= LookAfter) {
      LastLook = Clock::now();
      Seen = Left();
    }
    if (Seen <= threadsToLeave() || Seen - threadsToLeave() <= NumLive) {
      refuse(Lock);
      return false;
    }
    Seen -= Seen != SIZE_MAX;
    return true;
  }

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
      if (NumToEnd != 0 && NumLive > 1) {
        --NumToEnd;
        --NumLive;
        return; // stop() joins it
      }
    }
  }

  const unsigned MaxThreads;
  const std::function<size_t()> Left;
  std::mutex Mutex; // guards the fields below
  std::condition_variable Changed;
  std::deque<std::function<void()>> Tasks;
  unsigned NumIdle = 0;
  unsigned NumLive = 0, NumToEnd = 0; // threads
  Clock::time_point LastRefused{}, LastLook{};
  size_t Seen = 0; // Left(), less the threads started since
  bool Stopping = false;
  std::vector<std::thread> Threads; // also those that have ended
};

} // namespace dtlto::sdk

#endif // DTLTO_SDK_WORKPOOL_HPP
