//===- Window.h - Limits the executions in flight ---------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_REAPI_WINDOW_H
#define DTLTO_REAPI_WINDOW_H

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace dtlto::reapi {

/// Limits the number of executions in flight. The limit shrinks with each
/// execution that the server refuses, and grows with each that succeeds.
/// Refusals of executions that were in flight together are one round. The next
/// round begins after a pause, with one execution. Any thread.
class Window {
public:
  using Clock = std::chrono::steady_clock;

  explicit Window(unsigned Max) : Max(Max), Size(Max) {}

  /// Waits for a place, and sets \p Round to its round. Returns false if \p
  /// IsStopped(), which is called at each wake(), returns true.
  template <typename F> bool enter(F IsStopped, uint64_t &Round) {
    std::unique_lock<std::mutex> Lock(Mutex);
    while (!IsStopped()) {
      if (Used < Size && Clock::now() >= NotBefore) {
        ++Used;
        Round = CurrentRound;
        return true;
      }
      if (Used < Size)
        Changed.wait_until(Lock, NotBefore);
      else
        Changed.wait(Lock);
    }
    return false;
  }
  void leave() {
    std::lock_guard<std::mutex> Lock(Mutex);
    --Used;
    Changed.notify_all();
  }
  void wake() {
    std::lock_guard<std::mutex> Lock(Mutex);
    Changed.notify_all();
  }
  /// Records that one execution in flight has succeeded.
  void grow() {
    std::lock_guard<std::mutex> Lock(Mutex);
    Size = std::min(Max, Size + 1);
    RefusalStreak = 0;
    NotBefore = {};
    Changed.notify_all();
  }
  /// Records that the server has begun one execution in flight.
  void recordStart() {
    std::lock_guard<std::mutex> Lock(Mutex);
    RefusalStreak = 0;
  }
  /// Records that the server refuses one execution in flight, which entered in
  /// \p Round. Each refused execution must leave(). After several refusals, the
  /// limit is a little below what the server had room for. \p Pause(n) is the
  /// pause after n rounds in a row. Returns that n.
  template <typename F> unsigned handleRefusal(uint64_t Round, F Pause) {
    std::lock_guard<std::mutex> Lock(Mutex);
    Size = std::max(1u, std::min(Size, Used) - 1);
    if (Round == CurrentRound) {
      ++CurrentRound;
      NotBefore = Clock::now() + Pause(++RefusalStreak);
    }
    return RefusalStreak;
  }
  unsigned size() const {
    std::lock_guard<std::mutex> Lock(Mutex);
    return Size;
  }
  unsigned used() const {
    std::lock_guard<std::mutex> Lock(Mutex);
    return Used;
  }

private:
  const unsigned Max;
  mutable std::mutex Mutex; // guards what follows
  std::condition_variable Changed;
  unsigned Size, Used = 0;
  uint64_t CurrentRound = 0;  // the round
  unsigned RefusalStreak = 0; // rounds that ended with a refusal
  Clock::time_point NotBefore{};
};

} // namespace dtlto::reapi

#endif // DTLTO_REAPI_WINDOW_H
