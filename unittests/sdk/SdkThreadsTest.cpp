//===- SdkThreadsTest.cpp - Plugins of ThreadSession ----------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtlto/sdk/Plugin.hpp"
#include "gtest/gtest.h"
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>

using namespace dtlto::sdk;

namespace {

std::function<Result(const Job &)> OnRun;

class OneThread : public ThreadSession {
public:
  OneThread(const dtlto_host &Host, const dtlto_session_params &)
      : ThreadSession(Host, 1) {}
  Result run(const Job &J) override { return OnRun(J); }
};

} // namespace

DTLTO_PLUGIN(OneThread, "one-thread", "test", 0);

namespace {

class SdkThreadsTest : public testing::Test {
protected:
  static SdkThreadsTest &from(dtlto_host_context *C) {
    return *reinterpret_cast<SdkThreadsTest *>(C);
  }

  void SetUp() override {
    Host.size = sizeof(Host);
    Host.context = reinterpret_cast<dtlto_host_context *>(this);
    Host.log = [](dtlto_host_context *, uint32_t, const char *) {};
    Host.job_state = [](dtlto_host_context *, uint64_t, uint32_t,
                        const char *) {};
    Host.job_done = [](dtlto_host_context *C, uint64_t, const dtlto_result *R) {
      SdkThreadsTest &T = from(C);
      T.note([&] {
        ++T.NumDone;
        T.Status = R->status;
        T.Message = R->message ? R->message : "";
        T.Worker.reset();
        if (R->worker)
          T.Worker = R->worker;
        T.ToldSinceDone = false;
      });
      if (R->object.release)
        R->object.release(R->object.owner, R->object.data, R->object.size);
    };
    Host.load_changed = [](dtlto_host_context *C) {
      SdkThreadsTest &T = from(C);
      T.note([&] {
        ++T.NumTold;
        T.ToldSinceDone = true;
      });
    };
    Host.extension = [](dtlto_host_context *, const char *) -> const void * {
      return nullptr;
    };
    dtlto_session_params Params = {};
    Params.size = sizeof(Params);
    ASSERT_EQ(P.open(&Host, &Params, &Session), DTLTO_OK);
  }
  void TearDown() override {
    note([&] { MayRun = true; });
    P.close(Session);
  }

  template <typename F> void note(F Fn) {
    std::lock_guard<std::mutex> Lock(Mutex);
    Fn();
    Changed.notify_all();
  }
  /// Waits for \p Until, which is asked with the lock held.
  template <typename F> void waitFor(F Until) {
    std::unique_lock<std::mutex> Lock(Mutex);
    ASSERT_TRUE(Changed.wait_for(Lock, std::chrono::seconds(60), Until));
  }
  unsigned numTold() {
    std::lock_guard<std::mutex> Lock(Mutex);
    return NumTold;
  }

  int32_t submit(dtlto_job &Job) {
    static uint64_t LastId = 0;
    Job = {};
    Job.size = sizeof(Job);
    Job.id = ++LastId;
    Job.name = "module.o";
    Job.output = "module.native.o";
    return P.submit(Session, &Job);
  }
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

  const dtlto_plugin &P = dtlto_plugin_entry;
  dtlto_host Host = {};
  dtlto_session *Session = nullptr;

  std::mutex Mutex; // guards what follows
  std::condition_variable Changed;
  bool Runs = false, MayRun = false;
  unsigned NumDone = 0, NumTold = 0;
  bool ToldSinceDone = false; // load_changed() has come since
  // Of the last job that was done.
  int32_t Status = DTLTO_OK;
  std::string Message;
  std::optional<std::string> Worker;
};

TEST_F(SdkThreadsTest, ACancelledJobMakesRoom) {
  dtlto_job One, Two, Three;
  occupy(One);
  ASSERT_EQ(submit(Two), DTLTO_OK);
  ASSERT_EQ(submit(Three), DTLTO_BUSY);
  // Nothing ends meanwhile, so nothing else tells of the room.
  unsigned Before = numTold();
  P.cancel(Session, Two.id);
  waitFor([&] { return NumTold > Before; });
  EXPECT_EQ(Status, DTLTO_CANCELLED);
  EXPECT_EQ(submit(Three), DTLTO_OK);
}

TEST_F(SdkThreadsTest, TheEndOfAJobIsTold) {
  dtlto_job One;
  occupy(One);
  note([&] { MayRun = true; });
  waitFor([&] { return NumDone == 1 && ToldSinceDone; });
  dtlto_load Load = {};
  Load.size = sizeof(Load);
  ASSERT_EQ(P.load(Session, &Load), DTLTO_OK);
  EXPECT_EQ(Load.free, 1u);
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

} // namespace
