//===- LinkRunTest.cpp - Links through a plugin, with threads -------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tests the driver: it carries out what the plan decides, and passes events to
// the plan. Decisions are tested in unittests/Plan, messages in
// NoticesTest.cpp, the contents of jobs in BackendTest.cpp, and failures in
// FailedJobsTest.cpp and LostPluginTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "LinkRunTest.h"
#include "Bundle/JobOutputs.h"
#include "TempFolder.h"
#include "dtlto/ext/draft/local-room.h"
#include "llvm/Support/Path.h"
#include <algorithm>

using namespace llvm;
using namespace dtlto;
using namespace dtlto::test;
using namespace std::chrono_literals;

namespace {

//===----------------------------------------------------------------------===//
// Order, room and memory
//===----------------------------------------------------------------------===//

TEST_F(LinkRunTest, LargestFirstAndProgress) {
  makeProgram(12);
  options().Progress = ProgressKind::Always;
  options().StatusFormat = "[%f/%t of %s] ";
  Plugin.OnRun = [&](const FakePlugin::Job &J) {
    Plugin.state(J.Id, DTLTO_STATE_RUNNING, "node3");
    Plugin.done(J.Id, remote(J));
    // Late states are ignored.
    Plugin.state(J.Id, DTLTO_STATE_RUNNING, "host:1");
    Plugin.state(0x123456789, DTLTO_STATE_RUNNING);
    Plugin.state(0, 4711);
    Plugin.loadChanged();
  };
  linkSame();
  EXPECT_TRUE(TheLink.Msg.warnings().empty());
  std::vector<FakePlugin::Job> Jobs = Plugin.submitted();
  ASSERT_EQ(Jobs.size(), 12u);
  EXPECT_TRUE(std::is_sorted(
      Jobs.begin(), Jobs.end(),
      [](const auto &A, const auto &B) { return A.Cost > B.Cost; }));
  EXPECT_GT(Jobs.front().Cost, Jobs.back().Cost);
  // Not the order of the program.
  EXPECT_NE(Jobs.front().Name, "m0.o");

  std::vector<std::string> Lines = TheLink.Msg.progressLines();
  ASSERT_EQ(Lines.size(), 12u);
  EXPECT_TRUE(StringRef(Lines[0]).starts_with("[1/12 of "));
  EXPECT_TRUE(StringRef(Lines[1]).starts_with("[2/12 of "));
  EXPECT_TRUE(StringRef(Lines[11]).starts_with("[12/12 of 12] codegen m"));
  for (StringRef Line : Lines)
    EXPECT_TRUE(Line.ends_with(" on node3")) << Line.str();
}

TEST_F(LinkRunTest, ProgressOnATerminal) {
  makeProgram(3);
  options().Progress = ProgressKind::Auto;
  options().StatusFormat = "[%f/%t] ";
  TheLink.Msg.Columns = 80;
  linkSame();
  std::vector<std::string> Lines = TheLink.Msg.progressLines();
  ASSERT_GE(Lines.size(), 2u);
  EXPECT_EQ(Lines[0].substr(0, 14), "[0/3] codegen "); // at the beginning
  EXPECT_EQ(Lines.back(), "");                         // cleared
}

class InputOrderTest : public LinkRunTest,
                       public testing::WithParamInterface<bool> {};

TEST_P(InputOrderTest, IsKept) {
  makeProgram(12);
  // Because of the option, or because there is one thread: it compiles in this
  // process, in the order of a plain link.
  if (GetParam())
    options().Order = OrderKind::Link;
  else
    TheLink.Parallelism = 1;
  linkSame();
  std::vector<FakePlugin::Job> Jobs = Plugin.submitted();
  ASSERT_EQ(Jobs.size(), 12u);
  for (unsigned I = 0; I != 12; ++I)
    EXPECT_EQ(Jobs[I].Name, "m" + std::to_string(I) + ".o");
}
INSTANTIATE_TEST_SUITE_P(LinkRunTest, InputOrderTest, testing::Bool());

TEST(LearntCostsTest, PutJobsInOrder) {
  TestLink TheLink;
  TheLink.addProgram(4);
  TestLink::Result ExpectedResult = TheLink.inProcess();
  TempFolder Folder;
  TheLink.TheLinker.Opts.Costs = Folder.path("costs");
  // The first link learns that the smallest job takes longest.
  std::string Smallest;
  for (bool IsFirst : {true, false}) {
    FakePlugin Plugin;
    Gate All;
    Plugin.OnSubmit = [&, N = 0](const FakePlugin::Job &) mutable {
      if (++N == 4)
        All.open();
      return DTLTO_OK;
    };
    Plugin.OnRun = [&](const FakePlugin::Job &J) {
      All.wait();
      Plugin.state(J.Id, DTLTO_STATE_RUNNING);
      if (IsFirst && J.Name == Plugin.submitted().back().Name)
        std::this_thread::sleep_for(200ms);
      Plugin.done(J.Id, Plugin.object(ExpectedResult.Objects[J.Name]));
    };
    TestLink::Result ActualResult = TheLink.withPlugin(Plugin.entry());
    Plugin.waitForEnd();
    EXPECT_EQ(ActualResult.Error, "");
    ASSERT_EQ(Plugin.submitted().size(), 4u);
    if (IsFirst)
      Smallest = Plugin.submitted().back().Name;
    else
      EXPECT_EQ(Plugin.submitted().front().Name, Smallest);
  }
}

/// When load_changed() is called.
enum class LoadReport { Never, AfterTheEnd, BeforeTheAnswer, NeverWithoutJobs };
class RoomTest : public LinkRunTest,
                 public testing::WithParamInterface<LoadReport> {};

TEST_P(RoomTest, IsUsed) {
  // With several jobs, the end of another job would count as room.
  bool IsOneJob = GetParam() >= LoadReport::BeforeTheAnswer;
  makeProgram(IsOneJob ? 1 : 10);
  // A busy plugin isn't polled within the time limit, except in the case that
  // needs polling.
  options().TimeoutSeconds = 5;
  TheLink.Adjust = [](plan::Options &O) {
    O.BusyRetry = 1h;
    if (GetParam() == LoadReport::NeverWithoutJobs)
      O.BusyRetry = 20ms;
  };
  std::atomic<bool> Occupied{false};
  std::atomic<unsigned> NumBusy{0};
  Plugin.OnSubmit = [&](const FakePlugin::Job &J) {
    if (IsOneJob) {
      if (J.Attempt > 1)
        return DTLTO_OK;
      // load_changed() is [any-thread]: a plugin may call it even before
      // submit() returns BUSY.
      if (GetParam() == LoadReport::BeforeTheAnswer)
        Plugin.loadChanged();
    } else if (!Occupied.exchange(true)) {
      return DTLTO_OK;
    }
    ++NumBusy;
    TheGate.open();
    return DTLTO_BUSY;
  };
  Plugin.OnRun = [&](const FakePlugin::Job &J) {
    TheGate.wait(); // until a job was refused for lack of room
    if (GetParam() == LoadReport::AfterTheEnd) {
      Plugin.done(J.Id, remote(J));
      Occupied = false;
      return Plugin.loadChanged();
    }
    // The end of a job implies room.
    Occupied = false;
    Plugin.done(J.Id, remote(J));
  };
  linkSame();
  EXPECT_TRUE(TheLink.Msg.warnings().empty())
      << testing::PrintToString(TheLink.Msg.warnings());
  EXPECT_GT(NumBusy, 0u);
  // At most one BUSY for each job that made room, plus the first.
  if (GetParam() == LoadReport::Never)
    EXPECT_LE(NumBusy, 11u);
}
INSTANTIATE_TEST_SUITE_P(LinkRunTest, RoomTest,
                         testing::Values(LoadReport::Never,
                                         LoadReport::AfterTheEnd,
                                         LoadReport::BeforeTheAnswer,
                                         LoadReport::NeverWithoutJobs));

TEST_F(LinkRunTest, MemoryIsBounded) {
  makeProgram(10);
  Plugin.setNeeds(DTLTO_JOB_INPUTS);
  // The limit has no room for two jobs.
  options().Memory = 1;
  std::atomic<unsigned> NumRunning{0}, MaxRunning{0};
  Plugin.OnSubmit = [&](const FakePlugin::Job &) {
    unsigned N = ++NumRunning;
    if (N > MaxRunning)
      MaxRunning = N;
    return DTLTO_OK;
  };
  Plugin.OnRun = [&](const FakePlugin::Job &J) {
    dtlto_result R = remote(J);
    --NumRunning;
    Plugin.done(J.Id, R);
  };
  linkSame();
  EXPECT_EQ(MaxRunning, 1u);
}

/// One local compile at a time.
TEST_F(LinkRunTest, MemoryHereIsBounded) {
  makeProgram(10);
  options().LocalMemory = 1;
  std::atomic<unsigned> NumRunning{0}, MaxRunning{0};
  auto Began = [&] {
    unsigned N = ++NumRunning;
    if (N > MaxRunning)
      MaxRunning = N;
  };
  // Jobs run in the linker or in the plugin's processes, and some fail.
  Plugin.OnRun = [&](const FakePlugin::Job &J) {
    const dtlto_host &Host = Plugin.host();
    const auto *Room = static_cast<const dtlto_local_room *>(
        Host.extension(Host.context, DTLTO_EXT_LOCAL_ROOM));
    if (J.Id % 3 == 0)
      return Plugin.done(J.Id, remote(J));
    if (J.Id % 3 == 1)
      EXPECT_EQ(Room->enter(Host.context, J.Id + 1000), DTLTO_ERROR_CALLER);
    EXPECT_EQ(Room->enter(Host.context, J.Id), DTLTO_OK);
    Began();
    dtlto_result R = remote(J);
    --NumRunning;
    if (J.Id % 3 == 1) // otherwise job_done() does it
      Room->leave(Host.context, J.Id, 1 << 20);
    Plugin.done(J.Id, R);
  };
  linkSame();
  EXPECT_EQ(MaxRunning, 1u);
}

//===----------------------------------------------------------------------===//
// Jobs that this machine takes
//===----------------------------------------------------------------------===//

class SharingTest : public LinkRunTest {
protected:
  SharingTest() {
    options().LocalJobs.reset();
    TheLink.Msg.Verbose = true;
    TheLink.Adjust = [](plan::Options &O) {
      O.Patience = O.SilentPatience = O.ScanInterval = 5ms;
      // On a loaded machine, no job counts as slow, and no link as late.
      O.SlowExtra = O.LateExtra = 1h;
    };
    Plugin.OnLoad = [this](dtlto_load &Load) {
      Load.slots = Slots;
      Load.free = Free;
      Load.workers = 1;
      Load.local = 0;
      return DTLTO_OK;
    };
  }
  std::atomic<uint32_t> Slots{4}, Free{0};
};

TEST_F(SharingTest, TheCheapestRunHere) {
  makeProgram(12);
  // Even if the link is slow, the plugin's job isn't duplicated locally.
  TheLink.Adjust = [](plan::Options &O) { O.SlowExtra = 1h; };
  // The plugin takes one job, and keeps it until all others are done.
  openGateAfter(11);
  std::atomic<bool> Occupied{false};
  Plugin.OnSubmit = [&](const FakePlugin::Job &J) {
    if (Occupied.exchange(true))
      return DTLTO_BUSY;
    Plugin.state(J.Id, DTLTO_STATE_SENDING);
    return DTLTO_OK;
  };
  uint64_t Cost = 0;
  Plugin.OnRun = [&](const FakePlugin::Job &J) {
    Cost = J.Cost;
    TheGate.wait();
    Plugin.done(J.Id, remote(J));
  };
  linkSame();
  EXPECT_TRUE(hasDebugMessage("11 of 12 modules were compiled locally"));
  for (const FakePlugin::Job &J : Plugin.submitted())
    EXPECT_LE(J.Cost, Cost);
}

TEST_F(SharingTest, JobsThatWaitAtThePluginsAreTakenBack) {
  makeProgram(6);
  Slots = 1;
  // The plugin accepts all jobs, but runs only one.
  openGateAfter(5);
  std::atomic<bool> Occupied{false};
  Plugin.OnSubmit = [&](const FakePlugin::Job &J) {
    if (!Occupied.exchange(true))
      Plugin.state(J.Id, DTLTO_STATE_RUNNING, "away");
    return DTLTO_OK;
  };
  Plugin.OnRun = [&](const FakePlugin::Job &J) {
    TheGate.wait();
    Plugin.done(J.Id, remote(J));
  };
  linkSame();
  EXPECT_EQ(Plugin.cancelled().size(), 5u);
  EXPECT_TRUE(hasDebugMessage("5 of 6 modules were compiled locally"));
}

TEST_F(SharingTest, APluginThatBeginsNoJob) {
  makeProgram(6);
  Slots = Free = 100;
  // The plugin returns its jobs when all objects were compiled locally.
  openGateAfter(6);
  Plugin.OnRun = [&](const FakePlugin::Job &J) {
    TheGate.wait();
    Plugin.done(J.Id, Plugin.failure(DTLTO_ERROR_INFRASTRUCTURE, "no host"));
  };
  linkSame();
  // This is a warning only if the link took long.
  StringRef Text = "; all were compiled locally";
  EXPECT_TRUE(hasDebugMessage(Text) || warned({Text}));
  EXPECT_FALSE(warned({"no host"}));
}

//===----------------------------------------------------------------------===//
// Duplicates
//===----------------------------------------------------------------------===//

/// The last of five jobs never ends, but a second attempt ends at once.
class StragglerTest : public SharingTest {
protected:
  StragglerTest() {
    options().LocalJobs = 0;
    options().DuplicatePercent = 5;
    Free = 1;
    TheLink.Adjust = [](plan::Options &O) {
      O.SlowExtra = 50ms;
      O.ScanInterval = 5ms;
    };
    Plugin.OnSubmit = [this](const FakePlugin::Job &J) {
      if (J.Attempt > 1)
        Avoid[J.Name] = J.Raw->avoid ? J.Raw->avoid : "";
      return DTLTO_OK;
    };
    Plugin.OnRun = [this](const FakePlugin::Job &J) {
      Plugin.state(J.Id, DTLTO_STATE_RUNNING,
                   J.Attempt == 1 ? "slow.example" : "fast.example");
      if (J.Attempt != 1 || ++NumRun != 5)
        return Plugin.done(J.Id, remote(J));
      Stuck = J.Id;
      Name = J.Name;
    };
    Plugin.OnCancel = [this](uint64_t Id) {
      if (Id == Stuck)
        Plugin.done(Id, Plugin.failure(DTLTO_CANCELLED));
    };
  }

  void SetUp() override { makeProgram(5); }

  void linkWithADuplicate() {
    linkSame();
    EXPECT_EQ(Avoid[Name], "slow.example");
    EXPECT_TRUE(hasDebugMessage("duplicate attempts for slow jobs: "));
    EXPECT_EQ(TheLink.Msg.warnings(), std::vector<std::string>());
  }

  unsigned NumRun = 0;
  std::atomic<uint64_t> Stuck{0};
  std::string Name;
  std::map<std::string, std::string> Avoid; // by module name
};

TEST_F(StragglerTest, TheDuplicateIsCached) {
  MemoryCache Cache;
  TheLink.Cache = &Cache;
  linkWithADuplicate();
  EXPECT_EQ(Cache.NumMisses, 10u);
  EXPECT_EQ(Cache.Objects.size(), 5u);
  // The duplicate is another machine's object as well.
  TheLink.inProcess();
  EXPECT_EQ(Cache.NumHits, 0u);
}

TEST_F(StragglerTest, TheDuplicateIsVerifiedAndCached) {
  options().VerifyPercent = 100;
  MemoryCache Cache;
  TheLink.Cache = &Cache;
  linkWithADuplicate();
  EXPECT_EQ(Cache.Objects.size(), 5u);
  TheLink.inProcess();
  EXPECT_EQ(Cache.NumHits, 5u);
}

//===----------------------------------------------------------------------===//
// The cache
//===----------------------------------------------------------------------===//

TEST_F(LinkRunTest, ObjectsOfOtherMachinesHaveKeysOfTheirOwn) {
  makeProgram(5);
  runElsewhere();
  MemoryCache Cache;
  TheLink.Cache = &Cache;
  linkSame();
  EXPECT_EQ(Cache.Objects.size(), 5u);
  for (const auto &[Key, Object] : Cache.Objects)
    EXPECT_EQ(Key.size(), 40u);
  size_t NumJobs = Plugin.submitted().size();
  linkSame();
  EXPECT_EQ(Plugin.submitted().size(), NumJobs);
  EXPECT_EQ(Cache.NumHits, 5u);
  // A link without a plugin doesn't find these objects.
  EXPECT_TRUE(TheLink.inProcess().Objects == ExpectedResult.Objects);
  EXPECT_EQ(Cache.NumHits, 5u);
  EXPECT_EQ(Cache.Objects.size(), 10u);
}

TEST_F(LinkRunTest, UnlessTheUserTrustsThem) {
  makeProgram(5);
  runElsewhere();
  options().Cache = CacheKind::Shared;
  MemoryCache Cache;
  TheLink.Cache = &Cache;
  linkSame();
  EXPECT_EQ(Cache.NumMisses, 5u);
  EXPECT_TRUE(TheLink.inProcess().Objects == ExpectedResult.Objects);
  EXPECT_EQ(Cache.NumHits, 5u);
}

TEST_F(LinkRunTest, AnObjectFromElsewhereAfterATryHere) {
  makeProgram(5);
  runM1([&](const FakePlugin::Job &J) {
    dtlto_result LocalResult = Plugin.codegen(J.Id);
    if (LocalResult.object.release)
      LocalResult.object.release(LocalResult.object.owner,
                                 LocalResult.object.data,
                                 LocalResult.object.size);
    Plugin.done(J.Id, remote(J));
  });
  options().Cache = CacheKind::Separate;
  MemoryCache Cache;
  TheLink.Cache = &Cache;
  linkSame();
  TheLink.inProcess();
  EXPECT_EQ(Cache.NumHits, 0u);
}

TEST_F(LinkRunTest, ADifferenceKeepsAllFromTheCache) {
  TempFolder Folder;
  options().OutputFile = Folder.path("app");
  options().VerifyPercent = 100;
  makeProgram(5);
  runM1([&](const FakePlugin::Job &J) {
    FakePlugin::Job Other = J;
    Other.Name = "m2.o";
    Plugin.done(J.Id, remote(Other));
  });
  MemoryCache Cache;
  TheLink.Cache = &Cache;
  link();
  EXPECT_NE(ActualResult.Error.find("'m1.o' differs"), std::string::npos)
      << ActualResult.Error;
  EXPECT_TRUE(Cache.Objects.empty());
}

TEST_F(StragglerTest, TheDuplicateIsVerified) {
  options().VerifyPercent = 100;
  linkWithADuplicate();
  EXPECT_TRUE(hasDebugMessage("5 of 5 objects verified"));
}

TEST_F(LinkRunTest, VerificationFindsAnotherObject) {
  TempFolder Folder; // both objects are saved next to the output
  options().OutputFile = Folder.path("app");
  options().VerifyPercent = 100;
  makeProgram(5);
  // An object of the right kind: only the comparison can detect it.
  runM1([&](const FakePlugin::Job &J) {
    FakePlugin::Job Other = J;
    Other.Name = "m2.o";
    dtlto_result Result = remote(Other);
    Result.worker = "host:1";
    Plugin.done(J.Id, Result);
  });
  link();
  EXPECT_NE(
      ActualResult.Error.find("plugin 'fake': the object of module 'm1.o' "
                              "differs from the one compiled locally"),
      std::string::npos)
      << ActualResult.Error;
  EXPECT_NE(ActualResult.Error.find("compiled on host:1"), std::string::npos)
      << ActualResult.Error;
  EXPECT_EQ(Folder.read("app.dtlto-verify/m.m1-o.remote.o"),
            ExpectedResult.Objects["m2.o"]);
  EXPECT_EQ(Folder.read("app.dtlto-verify/m.m1-o.local.o"),
            ExpectedResult.Objects["m1.o"]);
}

//===----------------------------------------------------------------------===//
// Side files
//===----------------------------------------------------------------------===//

TEST_F(LinkRunTest, FilesBesideTheObjects) {
  TempFolder Folder;
  TheLink.Configure = [&](lto::Config &Conf) {
    Conf.RemarksFilename = Folder.path("remarks");
    Conf.RemarksFormat = "yaml";
  };
  makeProgram(3);
  // Modules are numbered from 1.
  auto FileOf = [](StringRef Module) {
    int I = Module[1] - '0';
    return "remarks.thin." + std::to_string(I + 1) + ".yaml";
  };
  std::map<std::string, std::string> Remarks;
  for (const auto &[Module, Object] : ExpectedResult.Objects) {
    Remarks[Module] = Folder.read(FileOf(Module));
    EXPECT_NE(Remarks[Module].find("--- "), std::string::npos) << Module;
    sys::fs::remove(Folder.path(FileOf(Module)));
  }
  Plugin.setNeeds(DTLTO_JOB_INPUTS | DTLTO_JOB_CONFIG);
  Plugin.OnRun = [&](const FakePlugin::Job &J) {
    JobOutputs Outputs;
    Outputs.Object = ExpectedResult.Objects[J.Name];
    // The object alone isn't enough, because remarks were requested.
    if (J.Name != "m1.o")
      Outputs.Remarks = Remarks[J.Name];
    Plugin.done(J.Id, Plugin.object(ref(packOutputs(Outputs))));
  };
  linkSame();
  EXPECT_TRUE(warned({"'m1.o'", "invalid result: "}))
      << testing::PrintToString(TheLink.Msg.warnings());
  EXPECT_EQ(TheLink.Msg.warnings().size(), 2u);
  for (const auto &[Module, Object] : ExpectedResult.Objects)
    EXPECT_EQ(Folder.read(FileOf(Module)), Remarks[Module]);
}

} // namespace
