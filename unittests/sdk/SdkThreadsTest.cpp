//===- SdkThreadsTest.cpp - Plugins of ThreadSession ----------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SdkHost.h"
#include "dtlto/sdk/Plugin.hpp"
#include "dtlto/sdk/ResultMemory.hpp"
#include <future>
#include <memory>

using namespace dtlto::sdk;

namespace {

std::function<Result(const Job &)> OnRun;
ThreadSession *TheSession;

class OneThread : public ThreadSession {
public:
  OneThread(const dtlto_host &Host, const dtlto_session_params &)
      : ThreadSession(Host, 0) { // means 1
    TheSession = this;
  }
  Result run(const Job &J) override { return OnRun(J); }
};

} // namespace

DTLTO_PLUGIN(OneThread, "one-thread", "test", 0);

namespace {

class SdkThreadsTest : public dtlto::test::SdkHostTest {
protected:
  /// Makes the plugin's only thread run \p Job until MayRun.
  void occupy(dtlto_job &Job) {
    OnRun = [this](const dtlto::sdk::Job &) {
      note([&] { Runs = true; });
      std::unique_lock<std::mutex> Lock(Mutex);
      Changed.wait(Lock, [&] { return MayRun; });
      return Result{"object", {}, {}};
    };
    ASSERT_EQ(submit(Job), DTLTO_OK);
    waitFor([&] { return Runs; });
  }
};

TEST_F(SdkThreadsTest, ACancelledJobMakesRoom) {
  dtlto_job One, Two, Three;
  occupy(One);
  ASSERT_EQ(submit(Two), DTLTO_OK);
  ASSERT_EQ(submit(Three), DTLTO_BUSY);
  // No job ends meanwhile, so only the cancelled one makes room.
  unsigned Before = numRoomReports();
  ThePlugin.cancel(Session, Two.id);
  waitFor([&] { return NumRoomReports > Before; });
  EXPECT_EQ(Status, DTLTO_CANCELLED);
  EXPECT_EQ(submit(Three), DTLTO_OK);
}

TEST_F(SdkThreadsTest, WhatItDoesNotWriteItDoesNotHave) {
  EXPECT_EQ(ThePlugin.extension(DTLTO_EXT_STATUS), nullptr);
  EXPECT_EQ(ThePlugin.extension(DTLTO_EXT_REFUTED), nullptr);
}

TEST_F(SdkThreadsTest, TheEndOfAJobIsTold) {
  dtlto_job One;
  occupy(One);
  note([&] { MayRun = true; });
  waitFor([&] { return NumDone == 1 && IsRoomReported; });
  dtlto_load Load = {};
  Load.size = sizeof(Load);
  ASSERT_EQ(ThePlugin.load(Session, &Load), DTLTO_OK);
  EXPECT_EQ(Load.free, 1u);
}

TEST_F(SdkThreadsTest, ThreadsAreLearntLater) {
  auto Slots = [this] {
    dtlto_load Load = {};
    Load.size = sizeof(Load);
    EXPECT_EQ(ThePlugin.load(Session, &Load), DTLTO_OK);
    return Load.slots;
  };
  unsigned NumRunning = 0, MaxRunning = 0; // guarded by Mutex
  OnRun = [&](const Job &) -> Result {
    note([&] { MaxRunning = std::max(MaxRunning, ++NumRunning); });
    {
      std::unique_lock<std::mutex> Lock(Mutex);
      Changed.wait(Lock, [&] { return MayRun; });
    }
    note([&] { --NumRunning; });
    return {"object"};
  };
  ASSERT_EQ(submit(), DTLTO_OK);
  waitFor([&] { return NumRunning == 1; });
  ASSERT_EQ(submit(), DTLTO_OK);
  ASSERT_EQ(submit(), DTLTO_BUSY);
  EXPECT_EQ(Slots(), 1u);
  unsigned Before = numRoomReports();
  std::thread([] { TheSession->setThreads(3); }).join();
  EXPECT_GT(numRoomReports(), Before);
  EXPECT_EQ(Slots(), 3u);
  waitFor([&] { return NumRunning == 2; }); // also the job that waited
  for (int I = 0; I != 4; ++I)
    ASSERT_EQ(submit(), DTLTO_OK);
  ASSERT_EQ(submit(), DTLTO_BUSY);
  waitFor([&] { return NumRunning == 3; });

  // All jobs are kept, but no more are accepted.
  Before = numRoomReports();
  TheSession->setThreads(0);
  EXPECT_GT(numRoomReports(), Before);
  EXPECT_EQ(Slots(), 1u);
  // The same number is no news.
  Before = numRoomReports();
  TheSession->setThreads(1);
  EXPECT_EQ(numRoomReports(), Before);
  note([&] { MayRun = true; });
  waitFor([&] { return NumDone == 6 && NumRunning == 0; });
  note([&] { MayRun = false, MaxRunning = 0; });
  ASSERT_EQ(submit(), DTLTO_OK);
  ASSERT_EQ(submit(), DTLTO_OK);
  ASSERT_EQ(submit(), DTLTO_BUSY);
  note([&] { MayRun = true; });
  waitFor([&] { return NumDone == 8; });
  EXPECT_EQ(MaxRunning, 1u);
}

/// No lock is held while the host is called.
TEST_F(SdkThreadsTest, SubmitDoesNotWaitForTheNewsOfThreads) {
  dtlto_job One;
  occupy(One);
  ASSERT_EQ(submit(), DTLTO_OK);
  ASSERT_EQ(submit(), DTLTO_BUSY);
  note([&] { Runs = false; });
  OnRoom = [&] {
    note([&] { Runs = true; });
    std::unique_lock<std::mutex> Lock(Mutex);
    Changed.wait(Lock, [&] { return MayRun; });
  };
  std::thread Setter([] { TheSession->setThreads(3); });
  waitFor([&] { return Runs; });
  auto Submitted = std::async(std::launch::async, [&] { return submit(); });
  EXPECT_EQ(Submitted.wait_for(std::chrono::seconds(30)),
            std::future_status::ready);
  note([&] { MayRun = true; });
  Setter.join();
  EXPECT_EQ(Submitted.get(), DTLTO_OK);
  waitFor([&] { return NumDone == 3; });
}

TEST_F(SdkThreadsTest, AnErrorNamesItsWorker) {
  OnRun = [](const Job &) -> Result {
    throw Error(DTLTO_ERROR_COMPILER, "no such thing", "node7");
  };
  dtlto_job One;
  ASSERT_EQ(submit(One), DTLTO_OK);
  waitFor([&] { return NumDone == 1; });
  EXPECT_EQ(Status, DTLTO_ERROR_COMPILER);
  EXPECT_EQ(Message, "no such thing");
  EXPECT_EQ(Worker, "node7");
}

TEST_F(SdkThreadsTest, AnErrorNeedNotNameAWorker) {
  OnRun = [](const Job &) -> Result {
    throw Error(DTLTO_ERROR_INFRASTRUCTURE, "no luck");
  };
  dtlto_job One;
  ASSERT_EQ(submit(One), DTLTO_OK);
  waitFor([&] { return NumDone == 1; });
  EXPECT_EQ(Status, DTLTO_ERROR_INFRASTRUCTURE);
  EXPECT_EQ(Worker, std::nullopt);
}

TEST_F(SdkThreadsTest, AFailureNeedNotBeThrown) {
  OnRun = [](const Job &) {
    return Result{{}, "as it is", "node8", DTLTO_ERROR_COMPILER};
  };
  dtlto_job One;
  ASSERT_EQ(submit(One), DTLTO_OK);
  waitFor([&] { return NumDone == 1; });
  EXPECT_EQ(Status, DTLTO_ERROR_COMPILER);
  EXPECT_EQ(Message, "as it is");
  EXPECT_EQ(Worker, "node8");
}

/// The thread waits only for the cancellation.
TEST_F(SdkThreadsTest, ARunningJobHearsThatItIsCancelled) {
  OnRun = [this](const Job &J) -> Result {
    J.onCancel([this] { note([&] { MayRun = true; }); });
    note([&] { Runs = true; });
    std::unique_lock<std::mutex> Lock(Mutex);
    Changed.wait(Lock, [&] { return MayRun; });
    throw Error(DTLTO_CANCELLED, "");
  };
  dtlto_job One;
  ASSERT_EQ(submit(One), DTLTO_OK);
  waitFor([&] { return Runs; });
  ThePlugin.cancel(Session, One.id);
  waitFor([&] { return NumDone == 1; });
  EXPECT_EQ(Status, DTLTO_CANCELLED);
}

TEST_F(SdkThreadsTest, WhatIsCancelledBeforeIsHeardAtOnce) {
  // The callback lives as long as the job, which is until the session ends.
  auto Heard = std::make_shared<bool>(false);
  OnRun = [&, Heard](const Job &J) -> Result {
    note([&] { Runs = true; });
    {
      std::unique_lock<std::mutex> Lock(Mutex);
      Changed.wait(Lock, [&] { return MayRun; });
    }
    J.onCancel([Heard] { *Heard = true; });
    EXPECT_TRUE(*Heard);
    EXPECT_TRUE(J.isCancelled());
    return {"too late"};
  };
  dtlto_job One;
  ASSERT_EQ(submit(One), DTLTO_OK);
  waitFor([&] { return Runs; });
  ThePlugin.cancel(Session, One.id);
  note([&] { MayRun = true; });
  waitFor([&] { return NumDone == 1; });
  EXPECT_EQ(Object, "too late");
}

} // namespace

TEST(ResultMemoryTest, WhoHasMoreThanItsPartMayNotGrow) {
  dtlto_session_params Params = {};
  Params.size = sizeof(Params);
  Params.result_bytes = 100;
  ResultMemory M(Params);
  ResultMemory::Share Small(M);
  {
    ResultMemory::Share Large(M);
    EXPECT_TRUE(Large.grow(80)); // there is room
    EXPECT_TRUE(Small.grow(20));
    EXPECT_EQ(Large.room(), 0u);
    EXPECT_FALSE(Large.grow(1));
    EXPECT_EQ(Small.room(), 30u); // up to half of the limit
    EXPECT_TRUE(Small.grow(30));
    EXPECT_FALSE(Small.grow(1));
  }
  EXPECT_EQ(Small.room(), 49u);
  EXPECT_TRUE(Small.grow(49));
  EXPECT_FALSE(Small.grow(1));
}

TEST(ResultMemoryTest, WithoutALimit) {
  dtlto_session_params Params = {};
  Params.size = sizeof(Params);
  ResultMemory None(Params);
  EXPECT_TRUE(ResultMemory::Share(None).grow(uint64_t(1) << 40));
}
