//===- Stop.h - Stops calls that wait ---------------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_REAPI_STOP_H
#define DTLTO_REAPI_STOP_H

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <grpcpp/client_context.h>
#include <mutex>
#include <vector>

namespace dtlto::reapi {

/// Once raised, ends all calls and pauses that use it. Any thread.
class Stop {
  using Clock = std::chrono::steady_clock;

public:
  Stop() = default;
  /// Is also raised after \p Limit.
  explicit Stop(std::chrono::milliseconds Limit)
      : Deadline(Clock::now() + Limit) {}
  Stop(const Stop &) = delete;

  void raise() {
    std::lock_guard<std::mutex> Lock(Mutex);
    Raised = true;
    for (grpc::ClientContext *C : Calls)
      C->TryCancel();
    Changed.notify_all();
  }
  bool raised() const {
    std::lock_guard<std::mutex> Lock(Mutex);
    return Raised || Clock::now() >= Deadline;
  }
  /// Returns the time left until the limit, rounded up; 100 days if there is no
  /// limit.
  std::chrono::milliseconds left() const {
    constexpr Clock::duration Most = std::chrono::hours(2400);
    return std::chrono::ceil<std::chrono::milliseconds>(
        std::clamp(Deadline - Clock::now(), Clock::duration::zero(), Most));
  }
  /// Waits for \p Time. Returns true as soon as the stop is raised.
  bool pause(std::chrono::milliseconds Time) {
    std::unique_lock<std::mutex> Lock(Mutex);
    return Changed.wait_for(Lock, std::min(Time, left()), [&] {
      return Raised;
    }) || Clock::now() >= Deadline;
  }

  /// Registers a call during this object's lifetime.
  class Call {
  public:
    Call(Stop &S, grpc::ClientContext &Context) : S(S), Context(Context) {
      std::lock_guard<std::mutex> Lock(S.Mutex);
      S.Calls.push_back(&Context);
      if (S.Raised)
        Context.TryCancel();
    }
    ~Call() {
      std::lock_guard<std::mutex> Lock(S.Mutex);
      S.Calls.erase(std::find(S.Calls.begin(), S.Calls.end(), &Context));
    }
    Call(const Call &) = delete;

  private:
    Stop &S;
    grpc::ClientContext &Context;
  };

private:
  const Clock::time_point Deadline = Clock::time_point::max();
  mutable std::mutex Mutex; // guards what follows
  std::condition_variable Changed;
  bool Raised = false;
  std::vector<grpc::ClientContext *> Calls;
};

} // namespace dtlto::reapi

#endif // DTLTO_REAPI_STOP_H
