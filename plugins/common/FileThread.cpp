//===- FileThread.cpp - A thread for files that may hang ------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FileThread.h"
#include "dtlto/sdk/Detached.hpp"
#include <condition_variable>
#include <deque>
#include <mutex>

using namespace dtlto;

struct FileThread::Queue {
  std::mutex Mutex; // guards the rest
  std::condition_variable Changed;
  std::deque<std::function<void()>> Work;
  uint64_t NumPosted = 0, NumDone = 0;
  bool IsEnding = false;

  void run() {
    std::unique_lock<std::mutex> Lock(Mutex);
    while (true) {
      Changed.wait(Lock, [&] { return IsEnding || !Work.empty(); });
      if (Work.empty())
        return;
      auto Next = std::move(Work.front());
      Work.pop_front();
      Lock.unlock();
      Next();
      Next = nullptr; // what it has captured may be large
      Lock.lock();
      ++NumDone;
      Changed.notify_all();
    }
  }
};

FileThread::FileThread() : TheQueue(std::make_shared<Queue>()) {
  sdk::runDetached([Q = TheQueue] { Q->run(); });
}

FileThread::~FileThread() {
  std::lock_guard<std::mutex> Lock(TheQueue->Mutex);
  TheQueue->IsEnding = true;
  TheQueue->Changed.notify_all();
}

void FileThread::post(std::function<void()> Work) {
  std::lock_guard<std::mutex> Lock(TheQueue->Mutex);
  TheQueue->Work.push_back(std::move(Work));
  ++TheQueue->NumPosted;
  TheQueue->Changed.notify_all();
}

bool FileThread::wait(std::chrono::milliseconds Limit) {
  std::unique_lock<std::mutex> Lock(TheQueue->Mutex);
  return TheQueue->Changed.wait_for(Lock, Limit,
                                    [&, Number = TheQueue->NumPosted] {
                                      return TheQueue->NumDone >= Number;
                                    });
}
