//===- WorkerThreads.cpp - Threads for a link's own work ------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Support/WorkerThreads.h"
#include "Support/System.h"
#include <cassert>
#include <condition_variable>
#include <deque>
#include <mutex>

using namespace dtlto;

struct WorkerThreads::State {
  std::mutex Mutex; // guards all below
  std::condition_variable WorkReady, ThreadEnded;
  std::deque<std::function<void()>> Queue;
  unsigned NumThreads = 0;
  unsigned NumIdle = 0; // of NumThreads
  bool IsStopping = false;

  void run() {
    std::unique_lock<std::mutex> Lock(Mutex);
    while (true) {
      ++NumIdle;
      WorkReady.wait(Lock, [this] { return IsStopping || !Queue.empty(); });
      --NumIdle;
      if (Queue.empty())
        break;
      runNext(Lock);
    }
    --NumThreads;
    ThreadEnded.notify_all();
  }

  void runNext(std::unique_lock<std::mutex> &Lock) {
    assert(Lock.owns_lock() && !Queue.empty());
    std::function<void()> Work = std::move(Queue.front());
    Queue.pop_front();
    Lock.unlock();
    Work();
    Work = nullptr;
    Lock.lock();
  }
};

WorkerThreads::WorkerThreads(unsigned Max)
    : Max(Max), SharedState(std::make_shared<State>()) {}

WorkerThreads::~WorkerThreads() {
  std::unique_lock<std::mutex> Lock(SharedState->Mutex);
  SharedState->IsStopping = true;
  SharedState->WorkReady.notify_all();
  SharedState->ThreadEnded.wait(
      Lock, [this] { return SharedState->NumThreads == 0; });
}

void WorkerThreads::async(std::function<void()> Work) {
  Caller.check();
  std::unique_lock<std::mutex> Lock(SharedState->Mutex);
  SharedState->Queue.push_back(std::move(Work));
  if (SharedState->NumIdle < SharedState->Queue.size() &&
      SharedState->NumThreads < Max) {
    ++SharedState->NumThreads;
    // The new thread can't end before this thread unlocks.
    if (!startThread([SharedState = SharedState] { SharedState->run(); })) {
      --SharedState->NumThreads;
      if (SharedState->NumThreads == 0)
        return SharedState->runNext(Lock);
    }
  }
  SharedState->WorkReady.notify_one();
}
