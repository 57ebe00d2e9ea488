//===- PluginTest.cpp - The replay plugin obeys the ABI -------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Calls the plugin's functions as a host does, with a recording of modules that
// don't exist. The cluster runs a thousand times faster than real time. No test
// checks the clock.
//
//===----------------------------------------------------------------------===//

#include "Recording.h"
#include "dtlto/PluginAPI.h"
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>
#include <map>
#include <mutex>
#include <thread>
#include <unistd.h>

using namespace dtlto::replay;

namespace {

/// A host that records calls, and a folder with a recording of ten jobs.
class ReplayPluginTest : public testing::Test {
protected:
  void SetUp() override {
    char Name[] = "/tmp/replay-test-XXXXXX";
    ASSERT_TRUE(::mkdtemp(Name));
    Folder = Name;
    Recording R;
    std::string Objects;
    for (int I = 0; I != 10; ++I) {
      RecordedJob J;
      J.Name = "m" + std::to_string(I);
      J.Digest.assign(32, static_cast<char>('a' + I));
      J.Path = "m." + J.Name;
      J.CpuNs = 1000000000;
      J.Offset = Objects.size();
      Objects += "object of " + J.Name;
      J.Size = Objects.size() - J.Offset;
      R.Jobs.push_back(J);
    }
    ASSERT_TRUE(writeFile(Folder + "/objects", Objects));
    ASSERT_TRUE(writeFile(Folder + "/jobs", writeRecording(R)));

    Host.size = sizeof(Host);
    Host.context = reinterpret_cast<dtlto_host_context *>(this);
    Host.log = [](dtlto_host_context *C, uint32_t Level, const char *Text) {
      std::lock_guard<std::mutex> Lock(self(C).Mutex);
      if (Level == DTLTO_LOG_ERROR)
        self(C).Errors += Text;
    };
    Host.job_state = [](dtlto_host_context *C, uint64_t Job, uint32_t,
                        const char *) {
      std::lock_guard<std::mutex> Lock(self(C).Mutex);
      EXPECT_FALSE(self(C).Done.count(Job));
    };
    Host.job_done = [](dtlto_host_context *C, uint64_t Job,
                       const dtlto_result *R) { self(C).jobDone(Job, *R); };
    Host.load_changed = [](dtlto_host_context *C) {
      std::lock_guard<std::mutex> Lock(self(C).Mutex);
      ++self(C).LoadChanges;
      self(C).Changed.notify_all();
    };
    Host.extension = [](dtlto_host_context *, const char *) -> const void * {
      return nullptr;
    };
  }

  void TearDown() override {
    for (const char *File : {"/objects", "/jobs", "/stats"})
      ::unlink((Folder + File).c_str());
    EXPECT_EQ(::rmdir(Folder.c_str()), 0);
  }

  static ReplayPluginTest &self(dtlto_host_context *C) {
    return *reinterpret_cast<ReplayPluginTest *>(C);
  }

  void jobDone(uint64_t Job, const dtlto_result &R) {
    std::lock_guard<std::mutex> Lock(Mutex);
    EXPECT_NE(std::this_thread::get_id(), Submitting);
    EXPECT_TRUE(Done.emplace(Job, R.status).second) << "twice";
    Objects[Job].assign(static_cast<const char *>(R.object.data),
                        R.object.size);
    Changed.notify_all();
  }

  int32_t open(std::vector<std::string> Args) {
    // Room for all jobs, unless the test says otherwise.
    Args.insert(Args.begin(), "ahead=3");
    Args.push_back("recording=" + Folder);
    Args.push_back("scale=1000");
    std::vector<const char *> Words;
    for (const std::string &Arg : Args)
      Words.push_back(Arg.c_str());
    dtlto_session_params P = {};
    P.size = sizeof(P);
    P.args = Words.data();
    P.num_args = static_cast<uint32_t>(Words.size());
    return dtlto_plugin_entry.open(&Host, &P, &Session);
  }

  /// Offers module number \p Index as job \p Id.
  int32_t submit(uint64_t Id, int Index, char Digest = 0) {
    dtlto_input In = {};
    In.path = "m.o";
    In.size = sizeof(In);
    In.role = DTLTO_ROLE_PRIMARY;
    In.bytes.data = Zeros;
    In.bytes.size = sizeof(Zeros);
    std::memset(In.digest, Digest ? Digest : 'a' + Index, 32);
    const dtlto_input *Ins[] = {&In};
    std::string Name = "m" + std::to_string(Index);
    dtlto_job J = {};
    J.size = sizeof(J);
    J.id = Id;
    J.name = Name.c_str();
    J.inputs = Ins;
    J.num_inputs = 1;
    {
      std::lock_guard<std::mutex> Lock(Mutex);
      Submitting = std::this_thread::get_id();
    }
    int32_t Status = dtlto_plugin_entry.submit(Session, &J);
    std::lock_guard<std::mutex> Lock(Mutex);
    Submitting = {};
    return Status;
  }

  dtlto_load load() {
    dtlto_load Load = {};
    Load.size = sizeof(Load);
    EXPECT_EQ(dtlto_plugin_entry.load(Session, &Load), DTLTO_OK);
    return Load;
  }

  void waitForDone(size_t Count) {
    std::unique_lock<std::mutex> Lock(Mutex);
    ASSERT_TRUE(Changed.wait_for(Lock, std::chrono::seconds(60),
                                 [&] { return Done.size() >= Count; }));
  }

  void close() { dtlto_plugin_entry.close(Session); }

  std::string Folder;
  dtlto_host Host = {};
  dtlto_session *Session = nullptr;
  std::mutex Mutex; // guards the members below
  std::condition_variable Changed;
  std::thread::id Submitting;
  std::map<uint64_t, int32_t> Done;
  std::map<uint64_t, std::string> Objects;
  std::string Errors;
  unsigned LoadChanges = 0;
  static constexpr char Zeros[1000] = {};
};

TEST_F(ReplayPluginTest, ObjectsComeBack) {
  ASSERT_EQ(open({"machines=2", "slots=2", "stats=" + Folder + "/stats"}),
            DTLTO_OK);
  dtlto_load Load = load();
  EXPECT_EQ(Load.slots, 4u);
  EXPECT_EQ(Load.free, 4u);
  EXPECT_EQ(Load.workers, 2u);
  for (int I = 0; I != 10; ++I)
    ASSERT_EQ(submit(100 + I, I), DTLTO_OK);
  waitForDone(10);
  for (int I = 0; I != 10; ++I) {
    EXPECT_EQ(Done[100 + I], DTLTO_OK);
    EXPECT_EQ(Objects[100 + I], "object of m" + std::to_string(I));
  }
  close();
  std::string Stats;
  ASSERT_TRUE(readFile(Folder + "/stats", Stats));
  EXPECT_NE(Stats.find("\"finished\": 10,"), std::string::npos) << Stats;
}

TEST_F(ReplayPluginTest, CompressedInputsAreFewBytes) {
  for (bool Compress : {false, true}) {
    ASSERT_EQ(open({"machines=1", "slots=2", "stats=" + Folder + "/stats",
                    Compress ? "compress=1" : "compress=0"}),
              DTLTO_OK);
    for (uint64_t I : {0, 1, 2}) { // the last has no new input
      ASSERT_EQ(submit(Compress * 3 + I, I ? 1 : 0), DTLTO_OK);
      waitForDone(Compress * 3 + I + 1);
    }
    close();
    std::string Stats;
    ASSERT_TRUE(readFile(Folder + "/stats", Stats));
    size_t At = Stats.find("\"bytes_distinct\": ");
    ASSERT_NE(At, std::string::npos) << Stats;
    long Bytes = std::atol(Stats.c_str() + At + 18);
    if (Compress)
      EXPECT_LT(Bytes, 200);
    else
      EXPECT_EQ(Bytes, 2000);
    EXPECT_GT(Bytes, 0);
  }
}

TEST_F(ReplayPluginTest, RoomIsToldAfterBusy) {
  ASSERT_EQ(open({"machines=1", "slots=1", "ahead=1"}), DTLTO_OK);
  uint64_t Id = 0;
  unsigned Busy = 0;
  while (Id != 10) {
    unsigned Before;
    size_t DoneBefore;
    {
      std::lock_guard<std::mutex> Lock(Mutex);
      Before = LoadChanges;
      DoneBefore = Done.size();
    }
    if (submit(Id + 1, int(Id)) == DTLTO_OK) {
      ++Id;
      continue;
    }
    ++Busy;
    std::unique_lock<std::mutex> Lock(Mutex);
    ASSERT_TRUE(Changed.wait_for(Lock, std::chrono::seconds(60), [&] {
      return LoadChanges != Before || Done.size() != DoneBefore;
    }));
  }
  waitForDone(10);
  EXPECT_EQ(load().free, 1u);
  close();
  EXPECT_GE(Busy, 1u);
}

TEST_F(ReplayPluginTest, CloseEndsWhatRuns) {
  // A thousand seconds per job.
  ASSERT_EQ(open({"machines=1", "slots=1", "slow=0:1000000@0"}), DTLTO_OK);
  for (int I = 0; I != 3; ++I)
    ASSERT_EQ(submit(1 + I, I), DTLTO_OK);
  close();
  ASSERT_EQ(Done.size(), 3u);
  for (auto [Id, Status] : Done)
    EXPECT_EQ(Status, DTLTO_CANCELLED);
}

TEST_F(ReplayPluginTest, CancelFreesTheSlot) {
  ASSERT_EQ(open({"machines=1", "slots=1", "slow=0:1000000@0"}), DTLTO_OK);
  ASSERT_EQ(submit(1, 0), DTLTO_OK);
  EXPECT_EQ(load().free, 0u);
  dtlto_plugin_entry.cancel(Session, 1);
  EXPECT_EQ(load().free, 1u);
  dtlto_plugin_entry.cancel(Session, 1);
  dtlto_plugin_entry.cancel(Session, 99);
  waitForDone(1);
  EXPECT_EQ(Done[1], DTLTO_CANCELLED);
  close();
  EXPECT_EQ(Done.size(), 1u);
}

TEST_F(ReplayPluginTest, TheLastMachineDies) {
  ASSERT_EQ(open({"machines=1", "slots=1", "die=0@1begun"}), DTLTO_OK);
  ASSERT_EQ(submit(1, 0), DTLTO_OK);
  waitForDone(1);
  EXPECT_EQ(Done[1], DTLTO_ERROR_INFRASTRUCTURE);
  EXPECT_EQ(submit(2, 1), DTLTO_BUSY);
  close();
  EXPECT_EQ(Errors, "no machine is left");
}

TEST_F(ReplayPluginTest, UnknownModules) {
  ASSERT_EQ(open({}), DTLTO_OK);
  EXPECT_EQ(submit(1, 10), DTLTO_ERROR_CALLER);
  EXPECT_NE(Errors.find("is not in the recording"), std::string::npos);
  Errors.clear();
  EXPECT_EQ(submit(2, 3, 'x'), DTLTO_ERROR_CALLER);
  EXPECT_NE(Errors.find("is not the recorded one"), std::string::npos);
  close();
  EXPECT_TRUE(Done.empty());
}

} // namespace
