//===- dtlto/sdk/WorkPool.hpp - Threads for slow tasks ----------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_SDK_WORKPOOL_HPP
#define DTLTO_SDK_WORKPOOL_HPP

#include "ThreadRoom.hpp"
#include <algorithm>
#include <cassert>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace dtlto::sdk {

/// A pool of threads that runs tasks in order. A task that finds no idle thread
/// starts one, if the thread limits leave room for as many again and for the
/// linker's own (ThreadRoom.hpp): several links may share the limits.
class WorkPool {
public:
  /// \p CountAvailable returns how many threads may still be started.
  explicit WorkPool(unsigned MaxThreads,
                    std::function<size_t()> CountAvailable = availableThreads)
      : CountAvailable(std::move(CountAvailable)), MaxThreads(MaxThreads) {}
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
      // The existing threads will run the task, or else the caller.
      if (!startThread(Lock) && NumLive == 0) {
        Task = std::move(Tasks.back());
        Tasks.pop_back();
        Lock.unlock();
        return Task();
      }
    }
    Changed.notify_one();
  }
  /// Changes the maximum. Threads above it end once their tasks do; new ones
  /// start now if tasks wait.
  void setMaxThreads(unsigned N) {
    {
      std::unique_lock<std::mutex> Lock(Mutex);
      MaxThreads = N;
      for (size_t I = Tasks.size(); I-- != 0 && startThread(Lock);)
        ;
    }
    Changed.notify_all();
  }
  /// How many threads tasks can have now: fewer than the maximum if one could
  /// not be started a moment ago.
  unsigned room() {
    std::lock_guard<std::mutex> Lock(Mutex);
    return Clock::now() - LastFailure < RetryInterval
               ? std::min(MaxThreads, std::max(1u, NumLive))
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
    Ended.clear();
  }

private:
  using Clock = std::chrono::steady_clock;
  // After a thread couldn't be started, try no other for this long.
  static constexpr std::chrono::milliseconds RetryInterval{500};
  static constexpr std::chrono::milliseconds CheckInterval{50};

  using Guard = std::unique_lock<std::mutex>;
  void add(const Guard &Lock) {
    assert(Lock.owns_lock());
    (void)Lock;
    for (std::thread::id Id : std::exchange(Ended, {})) {
      auto T = std::find_if(Threads.begin(), Threads.end(),
                            [&](auto &T) { return T.get_id() == Id; });
      T->join(); // it needs the mutex no more
      Threads.erase(T);
    }
    Threads.emplace_back([this] { work(); });
    ++NumLive;
  }
  /// Starts a thread if a task needs one and there may be one more. Returns
  /// whether it did.
  bool startThread(const Guard &Lock) {
    if (NumIdle >= Tasks.size() || NumLive >= MaxThreads || !mayStart(Lock))
      return false;
    try {
      add(Lock);
      return true;
    } catch (const std::system_error &) {
      recordFailure(Lock);
      // End this many threads, to leave room for the linker's.
      NumSurplus = unsigned(
          std::min<size_t>(NumLive - std::min(NumLive, 1u), reservedThreads()));
      return false;
    }
  }
  void recordFailure(const Guard &Lock) {
    assert(Lock.owns_lock());
    (void)Lock;
    LastFailure = Clock::now();
  }
  bool mayStart(const Guard &Lock) {
    assert(Lock.owns_lock());
    if (NumLive == 0)
      return true;
    if (Clock::now() - LastFailure < RetryInterval)
      return false;
    // Looking at the limits may take as long as starting some threads.
    if (Clock::now() - LastCheck >= CheckInterval) {
      LastCheck = Clock::now();
      NumAvailable = CountAvailable();
    }
    if (NumAvailable <= reservedThreads() ||
        NumAvailable - reservedThreads() <= NumLive) {
      recordFailure(Lock);
      return false;
    }
    NumAvailable -= NumAvailable != SIZE_MAX;
    return true;
  }

  void work() {
    std::unique_lock<std::mutex> Lock(Mutex);
    while (true) {
      ++NumIdle;
      Changed.wait(Lock, [&] {
        return Stopping || NumLive > MaxThreads || !Tasks.empty();
      });
      --NumIdle;
      if (Stopping)
        return;
      if (NumLive > MaxThreads)
        return leave(Lock);
      {
        std::function<void()> Task = std::move(Tasks.front());
        Tasks.pop_front();
        Lock.unlock();
        Task();
      }
      Lock.lock();
      if (NumSurplus != 0 && NumLive > 1) {
        --NumSurplus;
        return leave(Lock);
      }
    }
  }
  /// Ends this thread.
  void leave(const Guard &Lock) {
    assert(Lock.owns_lock());
    (void)Lock;
    --NumLive;
    Ended.push_back(std::this_thread::get_id());
  }

  const std::function<size_t()> CountAvailable;
  std::mutex Mutex; // guards the fields below
  std::condition_variable Changed;
  std::deque<std::function<void()>> Tasks;
  unsigned MaxThreads;
  unsigned NumIdle = 0;
  unsigned NumLive = 0, NumSurplus = 0; // threads
  Clock::time_point LastFailure{}, LastCheck{};
  size_t NumAvailable = 0; // CountAvailable(), less the threads started since
  bool Stopping = false;
  std::vector<std::thread> Threads;   // also those that have ended
  std::vector<std::thread::id> Ended; // not joined yet
};

} // namespace dtlto::sdk

#endif // DTLTO_SDK_WORKPOOL_HPP
