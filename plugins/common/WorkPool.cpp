//===- WorkPool.cpp - A few threads for what takes time -------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WorkPool.h"
#include <system_error>

using namespace dtlto;

void WorkPool::run(std::function<void()> Task) {
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

void WorkPool::work() {
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

void WorkPool::stop() {
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
