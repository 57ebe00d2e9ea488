//===- WorkerThreadsTest.cpp - Threads for the linker's own work ----------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Support/WorkerThreads.h"
#include "gtest/gtest.h"
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

using namespace dtlto;

TEST(WorkerThreadsTest, RunsAllBeforeItEnds) {
  std::atomic<unsigned> NumRun = 0;
  {
    WorkerThreads Threads(3);
    for (unsigned I = 0; I != 100; ++I)
      Threads.async([&] { ++NumRun; });
  }
  EXPECT_EQ(NumRun, 100u);
}

TEST(WorkerThreadsTest, OneThreadKeepsTheOrder) {
  std::vector<unsigned> Order;
  {
    WorkerThreads Threads(1);
    for (unsigned I = 0; I != 100; ++I)
      Threads.async([&, I] { Order.push_back(I); });
  }
  ASSERT_EQ(Order.size(), 100u);
  for (unsigned I = 0; I != 100; ++I)
    EXPECT_EQ(Order[I], I);
}

TEST(WorkerThreadsTest, AsManyAtATimeAsAskedFor) {
  constexpr unsigned Max = 3;
  std::mutex Mutex;
  std::condition_variable Changed;
  unsigned NumWaiting = 0;
  std::set<std::thread::id> Seen;
  {
    WorkerThreads Threads(Max);
    for (unsigned I = 0; I != 4 * Max; ++I)
      Threads.async([&, I] {
        std::unique_lock<std::mutex> Lock(Mutex);
        Seen.insert(std::this_thread::get_id());
        if (I >= Max)
          return;
        // Returns once all jobs have arrived.
        ++NumWaiting;
        Changed.notify_all();
        Changed.wait(Lock, [&] { return NumWaiting == Max; });
      });
  }
  EXPECT_EQ(Seen.size(), Max);
  EXPECT_EQ(Seen.count(std::this_thread::get_id()), 0u);
}

TEST(WorkerThreadsTest, WorkIsDestroyedOnceItHasRun) {
  auto Owned = std::make_shared<int>(0);
  std::weak_ptr<int> Watch = Owned;
  WorkerThreads Threads(1);
  Threads.async([Owned = std::move(Owned)] {});
  std::mutex Mutex;
  std::condition_variable Changed;
  bool IsGone = false, HasRun = false;
  Threads.async([&] {
    std::lock_guard<std::mutex> Lock(Mutex);
    IsGone = Watch.expired();
    HasRun = true;
    Changed.notify_all();
  });
  std::unique_lock<std::mutex> Lock(Mutex);
  Changed.wait(Lock, [&] { return HasRun; });
  EXPECT_TRUE(IsGone);
}
