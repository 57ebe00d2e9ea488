//===- dtlto/sdk/WorkPool.hpp - Threads for what takes time -----*- C++ -*-===//
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

/// Threads that do what they are given, in order. One starts with each task
/// that finds none idle, as long as the limits of threads leave as many again,
/// and what the linker needs (ThreadRoom.hpp): several links may share them.
class WorkPool {
public:
  /// \p Left says how many threads may still be started.
  explicit WorkPool(unsigned MaxThreads,
                    std::function<size_t()> Left = threadsLeft)
      : MaxThreads(MaxThreads), Left(std::move(Left)) {}
  ~WorkPool() { stop(); }
  WorkPool(const WorkPool &) = delete;

  /// Starts the first thread, or throws std::system_error: there is none to be
  /// had. Before the first run(), which has to do its task itself then.
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
          // The linker needs some that these have.
          NumToEnd = unsigned(std::min<size_t>(NumLive - std::min(NumLive, 1u),
                                               threadsToLeave()));
          // The threads that there are will do it, or else the caller.
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
  /// How many threads tasks can have now: fewer than there may be at most, if
  /// one could not be started a moment ago.
  unsigned room() {
    std::lock_guard<std::mutex> Lock(Mutex);
    return Clock::now() - LastRefused < RetryAfter ? std::max(1u, NumLive)
                                                   : MaxThreads;
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
  using Clock = std::chrono::steady_clock;
  // What a thread that could not be started says of the next.
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
    // Looking may take as long as starting some.
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
        return; // and is joined by stop()
      }
    }
  }

  const unsigned MaxThreads;
  const std::function<size_t()> Left;
  std::mutex Mutex; // guards the rest
  std::condition_variable Changed;
  std::deque<std::function<void()>> Tasks;
  unsigned NumIdle = 0;
  unsigned NumLive = 0, NumToEnd = 0; // threads
  Clock::time_point LastRefused{}, LastLook{};
  size_t Seen = 0; // Left(), less those that were started since
  bool Stopping = false;
  std::vector<std::thread> Threads; // also those that have ended
};

} // namespace dtlto::sdk

#endif // DTLTO_SDK_WORKPOOL_HPP
