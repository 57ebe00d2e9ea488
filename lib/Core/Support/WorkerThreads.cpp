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
  std::condition_variable HasWork, HasEnded;
  std::deque<std::function<void()>> Queue;
  unsigned NumThreads = 0;
  unsigned NumIdle = 0; // of NumThreads
  bool Quit = false;

  void run() {
    std::unique_lock<std::mutex> Lock(Mutex);
    while (true) {
      ++NumIdle;
      HasWork.wait(Lock, [this] { return Quit || !Queue.empty(); });
      --NumIdle;
      if (Queue.empty())
        break;
      runNext(Lock);
    }
    --NumThreads;
    HasEnded.notify_all();
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
    : Max(Max), S(std::make_shared<State>()) {}

WorkerThreads::~WorkerThreads() {
  std::unique_lock<std::mutex> Lock(S->Mutex);
  S->Quit = true;
  S->HasWork.notify_all();
  S->HasEnded.wait(Lock, [this] { return S->NumThreads == 0; });
}

void WorkerThreads::async(std::function<void()> Work) {
  Caller.check();
  std::unique_lock<std::mutex> Lock(S->Mutex);
  S->Queue.push_back(std::move(Work));
  if (S->NumIdle < S->Queue.size() && S->NumThreads < Max) {
    ++S->NumThreads;
    // The new thread can't end before this thread unlocks.
    if (!startThread([S = S] { S->run(); })) {
      --S->NumThreads;
      if (S->NumThreads == 0)
        return S->runNext(Lock);
    }
  }
  S->HasWork.notify_one();
}
