//===- HelperQueueTest.cpp - The order of work for helper threads ---------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Run/HelperQueue.h"
#include "gtest/gtest.h"
#include <vector>

using namespace dtlto;

namespace {

class HelperQueueTest : public testing::Test {
protected:
  void add(plan::JobId J, size_t ImportWork, double Seconds = 1) {
    Queue.add(J, Seconds, ImportWork, [this, J] { Done.push_back(J); });
    ++NumAdded;
  }
  using Jobs = std::vector<plan::JobId>;
  /// Does everything that was added; returns the order.
  Jobs run() {
    Done.clear();
    for (; NumAdded; --NumAdded)
      Queue.take()();
    return Done;
  }

  HelperQueue Queue;
  size_t NumAdded = 0;
  Jobs Done;
};

TEST_F(HelperQueueTest, TheLongestFirst) {
  Queue.set(/*NewHasIdle=*/false, /*NewLongThreshold=*/5);
  add(2, 2000);
  add(0, 9000);
  add(1, 3000);
  EXPECT_EQ(run(), (Jobs{0, 1, 2}));
}

TEST_F(HelperQueueTest, WhatImportsLeastForIdleMachines) {
  Queue.set(/*NewHasIdle=*/true, /*NewLongThreshold=*/5);
  add(0, 9000);
  add(1, 3000);
  add(2, 2000);
  EXPECT_EQ(run(), (Jobs{2, 1, 0}));
}

TEST_F(HelperQueueTest, LongOnesAreNotHeldUp) {
  Queue.set(/*NewHasIdle=*/true, /*NewLongThreshold=*/5);
  add(0, 9000, 6);
  add(1, 8000, 5);
  add(2, 7000, 4);
  add(3, 2000, 3);
  EXPECT_EQ(run(), (Jobs{0, 1, 3, 2}));
}

TEST_F(HelperQueueTest, LittleIsLittleEnough) {
  Queue.set(/*NewHasIdle=*/true, /*NewLongThreshold=*/5);
  add(0, 9000);
  add(1, 1000);
  add(2, 10);
  EXPECT_EQ(run(), (Jobs{1, 2, 0}));
}

TEST_F(HelperQueueTest, NotAllAreLookedAt) {
  Queue.set(/*NewHasIdle=*/true, /*NewLongThreshold=*/5);
  for (plan::JobId J = 0; J != 512; ++J)
    add(J, 9000);
  add(512, 10);
  Jobs Got = run();
  EXPECT_EQ(Got[0], 0u);
  EXPECT_EQ(Got[1], 512u);
  EXPECT_EQ(Got[2], 1u);
}

TEST_F(HelperQueueTest, OfOneJobInOrder) {
  std::vector<int> Said;
  for (int I = 0; I != 3; ++I)
    Queue.add(7, 1, 10, [&Said, I] { Said.push_back(I); });
  for (int I = 0; I != 3; ++I)
    Queue.take()();
  EXPECT_EQ(Said, (std::vector<int>{0, 1, 2}));
}

} // namespace
