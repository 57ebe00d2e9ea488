//===- WorkPoolTest.cpp - A few threads for slow work ---------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtlto/sdk/WorkPool.hpp"
#include "FakeHost.h"
#include <atomic>

using namespace dtlto::test;
using dtlto::sdk::WorkPool;

TEST(WorkPoolTest, NothingToDo) {
  size_t Before = numThreads();
  WorkPool Pool(4);
  EXPECT_EQ(numThreads(), Before); // no thread without a task
  Pool.stop();
  Pool.stop();
}

TEST(WorkPoolTest, InOrder) {
  std::vector<unsigned> Order; // used by one thread only
  Gate Last;
  WorkPool Pool(1);
  for (unsigned I = 0; I != 100; ++I)
    Pool.run([&, I] {
      Order.push_back(I);
      if (I == 99)
        Last.open();
    });
  EXPECT_TRUE(Last.wait());
  Pool.stop();
  ASSERT_EQ(Order.size(), 100u);
  for (unsigned I = 0; I != 100; ++I)
    EXPECT_EQ(Order[I], I);
}

TEST(WorkPoolTest, AtTheSameTimeButNoMore) {
  constexpr unsigned MaxThreads = 3;
  std::atomic<unsigned> Now{0}, Most{0}, Done{0};
  Gate AllStarted, Last;
  WorkPool Pool(MaxThreads);
  for (unsigned I = 0; I != 30; ++I)
    Pool.run([&] {
      unsigned Here = ++Now;
      for (unsigned M = Most; M < Here && !Most.compare_exchange_weak(M, Here);)
        ;
      if (Here == MaxThreads)
        AllStarted.open();
      EXPECT_TRUE(AllStarted.wait());
      --Now;
      if (++Done == 30)
        Last.open();
    });
  EXPECT_TRUE(Last.wait());
  EXPECT_EQ(Most, MaxThreads);
}

/// Tasks come from many threads, and add more tasks.
TEST(WorkPoolTest, FromManyThreads) {
  std::atomic<unsigned> Done{0};
  Gate Last;
  WorkPool Pool(4);
  std::vector<std::thread> Threads;
  for (unsigned T = 0; T != 4; ++T)
    Threads.emplace_back([&] {
      for (unsigned I = 0; I != 250; ++I)
        Pool.run([&] {
          Pool.run([&] {
            if (++Done == 1000)
              Last.open();
          });
        });
    });
  for (std::thread &T : Threads)
    T.join();
  EXPECT_TRUE(Last.wait());
}

/// The pool starts only as many threads as the process's limits leave, minus a
/// reserve. It grows when the limits leave more.
TEST(WorkPoolTest, LimitsOfThreads) {
  std::atomic<size_t> Left{dtlto::sdk::reservedThreads() + 2};
  std::atomic<unsigned> NumStarted{0};
  std::atomic<bool> MayEnd{false};
  WorkPool Pool(20, [&] { return Left.load(); });
  auto Task = [&] {
    ++NumStarted;
    while (!MayEnd)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  };
  auto WaitFor = [&](unsigned N) {
    for (int I = 0; I != 5000 && NumStarted < N; ++I)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  };
  Pool.start();
  for (int I = 0; I != 6; ++I)
    Pool.run(Task);
  WaitFor(2);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(2u, NumStarted);
  EXPECT_EQ(2u, Pool.room());
  Left = dtlto::sdk::reservedThreads() + 100;
  std::this_thread::sleep_for(std::chrono::milliseconds(600));
  EXPECT_EQ(20u, Pool.room());
  for (int I = 0; I != 3; ++I)
    Pool.run(Task);
  WaitFor(5);
  EXPECT_EQ(5u, NumStarted);
  MayEnd = true;
  WaitFor(9);
  EXPECT_EQ(9u, NumStarted);
}

/// The maximum changes while tasks run, on many threads.
TEST(WorkPoolTest, TheMaximumChanges) {
  WorkPool Pool(1);
  Pool.start();
  std::atomic<unsigned> NumDone{0};
  std::thread Changer([&] {
    for (unsigned I = 0; I != 300; ++I)
      Pool.setMaxThreads(1 + I * 7 % 5);
    Pool.setMaxThreads(2);
  });
  for (unsigned I = 0; I != 2000; ++I)
    Pool.run([&] { ++NumDone; });
  Changer.join();
  for (int I = 0; I != 20000 && NumDone != 2000; ++I)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(2000u, NumDone);
  EXPECT_EQ(2u, Pool.room());
  // Two tasks, and no third, run at a time.
  Gate G;
  std::atomic<unsigned> NumRunning{0}, MaxRunning{0};
  for (int I = 0; I != 6; ++I)
    Pool.run([&] {
      unsigned N = ++NumRunning;
      if (N > MaxRunning)
        MaxRunning = N;
      if (N == 2)
        G.open();
      EXPECT_TRUE(G.wait());
      --NumRunning;
      ++NumDone;
    });
  for (int I = 0; I != 20000 && NumDone != 2006; ++I)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(2006u, NumDone);
  EXPECT_EQ(2u, MaxRunning);
}

TEST(WorkPoolTest, StopDropsWhatHasNotBegun) {
  Gate Started, G;
  bool First = false;
  auto Held = std::make_shared<int>();
  WorkPool Pool(1);
  Pool.run([&] {
    Started.open();
    G.wait();
    First = true;
  });
  EXPECT_TRUE(Started.wait());
  Pool.run([Held] {});
  std::thread Opener([&] { G.open(); });
  Pool.stop(); // waits for the first task
  EXPECT_TRUE(First);
  // The second task was dropped or has run; it isn't held any more.
  EXPECT_EQ(Held.use_count(), 1);
  bool Late = false;
  Pool.run([&] { Late = true; });
  Pool.stop();
  EXPECT_FALSE(Late);
  Opener.join();
}
