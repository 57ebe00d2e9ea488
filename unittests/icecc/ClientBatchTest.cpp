//===- ClientBatchTest.cpp - Batches of small jobs ------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The mock's node reports that a job takes a microsecond, so batches are large.
// The node has as many slots as there are requests.
//
//===----------------------------------------------------------------------===//

#include "ClientLinkTest.h"
#include <algorithm>

using namespace dtlto::test;

namespace {

class ClientBatchTest : public ClientLinkTest {
protected:
  /// Submits \p N jobs faster than the plugin's threads can take them.
  void submitAll(unsigned N) {
    for (unsigned I = 0; I != N; ++I)
      Ids.push_back(submit("bundle " + std::to_string(I)));
  }
  /// Waits for all jobs, and expects that a node made the right object.
  void waitForAll() {
    for (size_t I = 0; I != Ids.size(); ++I) {
      Completion D = wait(Ids[I]);
      EXPECT_EQ(DTLTO_OK, D.Status) << D.Message;
      EXPECT_EQ("bundle " + std::to_string(I), D.Object);
      EXPECT_EQ(0u, D.Worker.find("127.0.0.1:"));
    }
  }
  MockCluster::Records closed() {
    close();
    EXPECT_TRUE(Cluster->waitForClosed());
    return Cluster->records();
  }

  std::vector<uint64_t> Ids;
};

} // namespace

TEST_F(ClientBatchTest, SmallJobsGoTogether) {
  ASSERT_EQ(DTLTO_OK, open({"jobs=3"}));
  submitAll(300);
  waitForAll();
  MockCluster::Records S = closed();
  EXPECT_LT(S.Jobs, 200u);
  EXPECT_EQ(300u, S.Bundles.size() + S.Jobs - S.Batches);
  EXPECT_EQ(S.Jobs, S.Ends);
  EXPECT_EQ(S.Jobs, S.Requests) << "those in line ask for no node";
  EXPECT_TRUE(hasLogged(DTLTO_LOG_DEBUG, ", in a batch of "));
}

TEST_F(ClientBatchTest, JobsThatWaitForTheWindowGoAlone) {
  ASSERT_EQ(DTLTO_OK, open());
  EXPECT_EQ(DTLTO_OK, compile().Status); // teaches the speed
  submitAll(5);                          // the limit with one slot
  waitForAll();
  EXPECT_EQ(0u, closed().Batches);
}

TEST_F(ClientBatchTest, BatchesThatFailAreDoneJobByJob) {
  Cluster->expectBatches({Behaviour::CompileError, Behaviour::WrongChunkSize,
                          Behaviour::WorkerError, Behaviour::ShortObject,
                          Behaviour::Crash});
  ASSERT_EQ(DTLTO_OK, open({"jobs=3"}));
  submitAll(300);
  waitForAll();
  MockCluster::Records S = closed();
  // At least three, plus those that were running.
  EXPECT_LE(3u, S.Batches);
  EXPECT_TRUE(
      hasLogged(DTLTO_LOG_DEBUG,
                ": a batch of 2: error: no registers left; asking again"));
}

TEST_F(ClientBatchTest, NodesThatFailABatch) {
  Cluster->expectBatches({Behaviour::Close, Behaviour::CutObject,
                          Behaviour::OddMessage, Behaviour::OddObject,
                          Behaviour::WrongEntry});
  ASSERT_EQ(DTLTO_OK, open({"jobs=3"}));
  submitAll(300);
  waitForAll();
  MockCluster::Records S = closed();
  EXPECT_LE(5u, S.Batches);
  EXPECT_TRUE(
      hasLogged(DTLTO_LOG_DEBUG, ": the linker refuses it; asking again"));
}

TEST_F(ClientBatchTest, CancelOneOfABatch) {
  Cluster->expectBatches({Behaviour::Silent});
  ASSERT_EQ(DTLTO_OK, open({"jobs=3"}));
  while (Cluster->records().Batches == 0)
    submitAll(1);
  // Cancel all jobs, which includes those of the batch.
  submitAll(1);
  for (uint64_t Id : Ids)
    cancel(Id);
  for (uint64_t Id : Ids)
    EXPECT_LE(wait(Id).Status, DTLTO_CANCELLED);
  closed();
}

TEST_F(ClientBatchTest, CloseWithABatch) {
  Cluster->expectBatches({Behaviour::Silent});
  ASSERT_EQ(DTLTO_OK, open({"jobs=3"}));
  while (Cluster->records().Batches == 0)
    submitAll(1);
  close();
}

TEST_F(ClientBatchTest, ABatchThatTakesTooLong) {
  Params.job_timeout_s = 1;
  Cluster->expectBatches({Behaviour::Silent});
  ASSERT_EQ(DTLTO_OK, open({"jobs=3"}));
  while (Cluster->records().Batches == 0)
    submitAll(1);
  unsigned NumLost = 0;
  for (uint64_t Id : Ids)
    NumLost += wait(Id).Status == DTLTO_ERROR_INFRASTRUCTURE;
  EXPECT_EQ(2u, NumLost) << "each module meets the limit once";
  closed();
}
