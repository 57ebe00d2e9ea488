//===- BatchTest.cpp - The size of batches, and their results -------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch.h"
#include "gtest/gtest.h"

using namespace dtlto::icecc;

TEST(BatchTest, NothingIsKnown) {
  Pace P;
  EXPECT_EQ(1u, P.jobs(1));
  EXPECT_FALSE(P.mayAdd(1, 1, 1));
}

TEST(BatchTest, TwoJobsTryIt) {
  Pace P;
  P.learn(0.5, 0, 100);
  EXPECT_EQ(1u, P.jobs(100)) << "no short trip";
  P.learn(0.15, 0, 30);
  EXPECT_EQ(1u, P.jobs(31)) << "it may take longer";
  EXPECT_EQ(2u, P.jobs(30));
  P.learn(0.2, 0, 29);
  EXPECT_EQ(2u, P.jobs(30)) << "the shortest counts";
  EXPECT_FALSE(P.mayAdd(1, 31, 1));
}

TEST(BatchTest, ThreeQuartersOfATripAreWork) {
  Pace P;
  // A trip loses 0.1 s. A job with a cost of 10 takes 0.01 s.
  P.learn(0.12, 0.02, 20);
  EXPECT_EQ(Pace::MaxJobs, P.jobs(10));
  EXPECT_EQ(3u, P.jobs(100));
  EXPECT_TRUE(P.mayAdd(1, 299, 1));
  EXPECT_FALSE(P.mayAdd(1, 300, 1));
  EXPECT_EQ(1u, P.jobs(200));
  // A single trip that lost more doesn't change the pace.
  P.learn(0.52, 0.02, 20);
  EXPECT_EQ(3u, P.jobs(100));
}

TEST(BatchTest, JobsDoNotWaitLongForEachOther) {
  Pace P;
  P.learn(1.02, 0.02, 20);
  EXPECT_EQ(4u, P.jobs(100)); // 0.4 s of work
  EXPECT_FALSE(P.mayAdd(1, 300, 101));
}

TEST(BatchTest, WhatANodeSaysIsBelievedWithinReason) {
  Pace P;
  P.learn(0.1, 1e9, 2); // longer than the trip
  EXPECT_EQ(1u, P.jobs(1));
  Pace Q;
  Q.learn(0.1, 1e-6, 1);
  EXPECT_EQ(Pace::MaxJobs, Q.jobs(1000));
}

TEST(BatchTest, AFewFailuresEndIt) {
  Pace P;
  P.learn(0.12, 0.02, 20);
  for (unsigned I = 0; I != 2; ++I)
    P.recordFailure();
  EXPECT_LT(1u, P.jobs(1));
  P.recordFailure();
  EXPECT_EQ(1u, P.jobs(1));
}

TEST(BatchTest, TheUsersNumber) {
  Pace P(4);
  EXPECT_EQ(4u, P.jobs(UINT64_MAX / 8)) << "nothing is known";
  P.learn(10, 9, 1);
  EXPECT_EQ(4u, P.jobs(1)) << "it doesn't pay";
  for (unsigned I = 0; I != 3; ++I)
    P.recordFailure();
  EXPECT_EQ(1u, P.jobs(1));
  EXPECT_EQ(1u, Pace(1).jobs(1));
}

static std::string entry(const std::string &Frame, uint64_t Microseconds) {
  std::string Time = batchHeader(Microseconds);
  return batchHeader(Frame.size()) + Time + Frame;
}

TEST(BatchTest, Reply) {
  std::vector<BatchEntry> Entries;
  std::string All = entry("first", 1500000) + entry("", 0) + entry("3", 7);
  ASSERT_TRUE(readBatchReply(All, 3, Entries));
  ASSERT_EQ(3u, Entries.size());
  EXPECT_EQ("first", Entries[0].Frame);
  EXPECT_EQ(1.5, Entries[0].Seconds);
  EXPECT_EQ("", Entries[1].Frame);
  EXPECT_EQ("3", Entries[2].Frame);
}

TEST(BatchTest, WrongReplies) {
  std::vector<BatchEntry> Entries;
  std::string All = entry("first", 1) + entry("second", 2);
  for (size_t I = 0; I != All.size(); ++I)
    EXPECT_FALSE(readBatchReply(All.substr(0, I), 2, Entries)) << I;
  EXPECT_FALSE(readBatchReply(All, 1, Entries));
  EXPECT_FALSE(readBatchReply(All, 3, Entries));
  EXPECT_FALSE(readBatchReply(All + "x", 2, Entries));
  All[7] = '\xff';
  EXPECT_FALSE(readBatchReply(All, 2, Entries));
}
