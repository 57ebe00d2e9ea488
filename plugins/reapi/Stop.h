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
public:
  Stop() = default;
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
    return Raised;
  }
  /// Waits for \p Time. Returns true at once if the stop is raised.
  bool pause(std::chrono::milliseconds Time) {
    std::unique_lock<std::mutex> Lock(Mutex);
    return Changed.wait_for(Lock, Time, [&] { return Raised; });
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
  mutable std::mutex Mutex; // guards all
  std::condition_variable Changed;
  bool Raised = false;
  std::vector<grpc::ClientContext *> Calls;
};

} // namespace dtlto::reapi

#endif // DTLTO_REAPI_STOP_H
