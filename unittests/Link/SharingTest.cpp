//===- SharingTest.cpp - This machine's share, and stragglers -------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Plugins here wait for events, and a link that goes wrong ends by its time
// limit.
//
//===----------------------------------------------------------------------===//

#include "PluginLinkTest.h"
#include "TempFolder.h"
#include <atomic>
#include <thread>

using namespace llvm;
using namespace dtlto;
using namespace dtlto::test;

namespace {

class SharingTest : public PluginLinkTest {
protected:
  SharingTest() {
    options().LocalJobs.reset();
    options().Fallback = FallbackKind::Local;
    setTimeout(60);
    TheLink.Parallelism = 4;
    TheLink.Msg.Verbose = true;
    Plugin.OnLoad = [this](dtlto_load &Load) {
      Load.slots = Slots;
      Load.free = Free;
      Load.workers = 1;
      Load.local = LocalSlots;
      return DTLTO_OK;
    };
  }

  Options &options() { return TheLink.TheLinker.Opts; }
  bool said(StringRef Text) {
    return TheLink.Msg.has(MessageLevel::Debug, {Text});
  }
  /// A warning only if the link took its time.
  bool tookNone(unsigned N) {
    std::string Text = "it took none of the " + std::to_string(N) + " jobs";
    return said(Text) || warned({Text});
  }

  void busyOnceWithEach() {
    Plugin.OnSubmit = [this](const FakePlugin::Job &J) {
      if (J.Attempt > 1)
        return DTLTO_OK;
      Plugin.loadChanged();
      return DTLTO_BUSY;
    };
    Plugin.OnRun = [this](const FakePlugin::Job &J) {
      ++NumRun;
      Plugin.done(J.Id, remote(J));
    };
  }

  /// Takes one job, which is on its way at once, and no other.
  void takeOne() {
    Plugin.OnSubmit = [this](const FakePlugin::Job &J) {
      if (Occupied.exchange(true))
        return DTLTO_BUSY;
      Plugin.state(J.Id, DTLTO_STATE_SENDING);
      return DTLTO_OK;
    };
  }

  std::atomic<bool> Occupied{false};
  std::atomic<uint32_t> Slots{4}, Free{0}, LocalSlots{0};
  std::atomic<unsigned> NumRun{0};
};

//===----------------------------------------------------------------------===//
// This machine's share
//===----------------------------------------------------------------------===//

TEST_F(SharingTest, AllJobsRunHereWhileThePluginTakesNone) {
  makeProgram(6);
  Plugin.OnSubmit = [](const FakePlugin::Job &) { return DTLTO_BUSY; };
  linkSame();
  EXPECT_TRUE(tookNone(6));
}

TEST_F(SharingTest, ALinkThatTookItsTimeWarnsIfThePluginTookNone) {
  makeProgram(6);
  Plugin.OnSubmit = [](const FakePlugin::Job &) { return DTLTO_BUSY; };
  // It can't end before its first object, which takes more than a second.
  std::atomic<bool> IsFirst{true};
  TheLink.OnObject = [&](StringRef) {
    if (IsFirst.exchange(false))
      std::this_thread::sleep_for(std::chrono::milliseconds(1100));
  };
  linkSame();
  EXPECT_TRUE(warned({"it took none of the 6 jobs"}));
}

TEST_F(SharingTest, NoneRunHereWhereTheUserWantsNone) {
  makeProgram(6);
  options().LocalJobs = 0;
  setTimeout(1);
  Plugin.OnSubmit = [](const FakePlugin::Job &) { return DTLTO_BUSY; };
  linkSame();
  EXPECT_TRUE(warned({"it is busy, but has not taken a job"}));
}

// With each job, the plugin says once that it is busy, and then that it isn't.

TEST_F(SharingTest, NoneRunHereWithoutFallback) {
  makeProgram(6);
  setFallback(FallbackKind::None);
  busyOnceWithEach();
  linkSame();
  EXPECT_EQ(NumRun, 6u);
}

TEST_F(SharingTest, NoneRunHereUnlessTheUserAllows) {
  makeProgram(6);
  options().LocalJobs = 0;
  busyOnceWithEach();
  linkSame();
  EXPECT_EQ(NumRun, 6u);
}

TEST_F(SharingTest, NoneRunHereBesideAPluginThatIsThisMachine) {
  makeProgram(6);
  LocalSlots = 4;
  busyOnceWithEach();
  linkSame();
  EXPECT_EQ(NumRun, 6u);
}

TEST_F(SharingTest, AsManyAsTheUserAllowsRunHere) {
  makeProgram(6);
  options().LocalJobs = 1;
  // The plugin takes one job, and ends it when all others have ended.
  std::atomic<unsigned> NumObjects{0};
  TheLink.OnObject = [&](StringRef) {
    if (++NumObjects == 5)
      TheGate.open();
  };
  takeOne();
  Plugin.OnRun = [&](const FakePlugin::Job &J) {
    TheGate.wait();
    Plugin.done(J.Id, remote(J));
  };
  linkSame();
  EXPECT_TRUE(TheLink.Msg.warnings().empty());
}

TEST_F(SharingTest, TheCheapestRunHere) {
  makeProgram(40);
  // One job stays away until all others are through.
  std::atomic<unsigned> NumObjects{0};
  TheLink.OnObject = [&](StringRef) {
    if (++NumObjects == 39)
      TheGate.open();
  };
  takeOne();
  uint64_t Cost = 0;
  Plugin.OnRun = [&](const FakePlugin::Job &J) {
    Cost = J.Cost;
    TheGate.wait();
    Plugin.done(J.Id, remote(J));
  };
  linkSame();
  EXPECT_TRUE(said("39 of 40 modules were compiled here beside its own"));
  for (const FakePlugin::Job &J : Plugin.submitted())
    EXPECT_LE(J.Cost, Cost);
}

TEST_F(SharingTest, JobsThatWaitAtThePluginsAreTakenBack) {
  makeProgram(6);
  Slots = 1;
  // It takes all of them, and runs one.
  std::atomic<unsigned> NumObjects{0};
  TheLink.OnObject = [&](StringRef) {
    if (++NumObjects == 5)
      TheGate.open();
  };
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
  EXPECT_TRUE(said("5 of 6 modules were compiled here beside its own"));
}

TEST_F(SharingTest, WithoutNewsOfJobsNoneAreTakenBack) {
  makeProgram(3);
  Plugin.OnSubmit = [&](const FakePlugin::Job &J) {
    Plugin.state(J.Id, DTLTO_STATE_SENDING);
    return DTLTO_OK;
  };
  Plugin.OnRun = [&](const FakePlugin::Job &J) {
    ++NumRun;
    Plugin.done(J.Id, remote(J));
  };
  linkSame();
  EXPECT_EQ(NumRun, 3u);
  EXPECT_TRUE(Plugin.cancelled().empty());
}

//===----------------------------------------------------------------------===//
// A plugin that begins no job
//===----------------------------------------------------------------------===//

/// It ends its jobs once all objects are there, and none before.
class UnheardTest : public SharingTest {
protected:
  void makeProgram(unsigned N) {
    SharingTest::makeProgram(N);
    TheLink.OnObject = [this, N](StringRef) {
      if (++NumObjects == N)
        TheGate.open();
    };
    Plugin.OnRun = [this](const FakePlugin::Job &J) {
      TheGate.wait();
      Plugin.done(J.Id, Plugin.failure(DTLTO_CANCELLED));
    };
  }
  void expectAllHere(unsigned N) {
    linkSame();
    EXPECT_LE(TheLink.Msg.warnings().size(), 1u);
    EXPECT_TRUE(tookNone(N));
  }

  std::atomic<unsigned> NumObjects{0};
};

TEST_F(UnheardTest, ThatTakesAllJobs) {
  makeProgram(6);
  Slots = Free = 100;
  expectAllHere(6);
}

TEST_F(UnheardTest, ThatTakesSome) {
  makeProgram(40);
  std::atomic<unsigned> NumTaken{0};
  Plugin.OnSubmit = [&](const FakePlugin::Job &) {
    return ++NumTaken > 5 ? DTLTO_BUSY : DTLTO_OK;
  };
  expectAllHere(40);
}

TEST_F(UnheardTest, ThatSaysThatTheyWait) {
  makeProgram(6);
  Plugin.OnSubmit = [&](const FakePlugin::Job &J) {
    Plugin.state(J.Id, DTLTO_STATE_QUEUED);
    return DTLTO_OK;
  };
  expectAllHere(6);
}

TEST_F(UnheardTest, ThatHasMoreThanFitsInMemory) {
  makeProgram(6);
  Plugin.setNeeds(DTLTO_PART_INPUTS);
  options().Memory = 1;
  Slots = Free = 100;
  expectAllHere(6);
}

TEST_F(UnheardTest, AllCoresAreUsed) {
  makeProgram(6);
  Plugin.setNeeds(DTLTO_PART_INPUTS);
  TheLink.Parallelism = 1; // of which one would be the linker's own
  expectAllHere(6);
}

TEST_F(UnheardTest, NotWhereTheUserWantsNone) {
  makeProgram(6);
  options().LocalJobs = 0;
  setTimeout(1);
  linkSame();
  EXPECT_TRUE(warned({"no result within 1 s"}));
}

TEST_F(UnheardTest, ItsErrorsAreNoMatter) {
  makeProgram(6);
  // It gives all back when the first object was made here.
  Plugin.OnRun = [&](const FakePlugin::Job &J) {
    TheGate.wait();
    Plugin.done(J.Id, Plugin.failure(DTLTO_ERROR_INFRASTRUCTURE, "no host"));
  };
  TheLink.OnObject = [&](StringRef) { TheGate.open(); };
  linkSame();
}

//===----------------------------------------------------------------------===//
// Stragglers
//===----------------------------------------------------------------------===//

/// The last of five jobs runs until there are five objects, or a test opens the
/// gate; OnSecond runs, on a thread of its own, when it comes a second time.
class StragglerTest : public SharingTest {
protected:
  StragglerTest() {
    options().DuplicatePercent = 5;
    options().LocalJobs = 0;
    Free = 1;
    TheLink.OnObject = [this](StringRef) {
      // Not those of the link in process.
      if (NumRun != 0 && ++NumObjects == 5)
        TheGate.open();
    };
    Plugin.OnSubmit = [this](const FakePlugin::Job &J) {
      if (J.Attempt == 2) {
        Avoid = J.Raw->avoid ? J.Raw->avoid : "";
        Second = std::thread([this, J] { OnSecond(J); });
      }
      return DTLTO_OK;
    };
    Plugin.OnRun = [this](const FakePlugin::Job &J) {
      if (J.Attempt == 2) {
        Second.join();
        if (!SecondIsDone)
          Plugin.done(J.Id, Plugin.failure(DTLTO_CANCELLED));
        return;
      }
      Plugin.state(J.Id, DTLTO_STATE_RUNNING, "slow.example");
      if (++NumRun != 5)
        return Plugin.done(J.Id, remote(J));
      TheGate.wait();
      Plugin.done(J.Id, First ? First(J) : Plugin.failure(DTLTO_CANCELLED));
    };
    Plugin.OnCancel = [](uint64_t) {};
  }

  void TearDown() override {
    if (Second.joinable())
      Second.join();
    SharingTest::TearDown();
  }

  void endSecond(const FakePlugin::Job &J, const dtlto_result &Result) {
    SecondIsDone = true;
    Plugin.done(J.Id, Result);
  }

  std::function<void(const FakePlugin::Job &)> OnSecond;
  std::function<dtlto_result(const FakePlugin::Job &)> First;
  std::thread Second;
  std::string Avoid;
  bool SecondIsDone = false;
  std::atomic<unsigned> NumObjects{0};
};

TEST_F(StragglerTest, TheSecondStartIsFaster) {
  makeProgram(5);
  OnSecond = [&](const FakePlugin::Job &J) { endSecond(J, remote(J)); };
  linkSame();
  EXPECT_EQ(Plugin.submitted().size(), 6u);
  EXPECT_EQ(Avoid, "slow.example");
  EXPECT_TRUE(
      said("1 slow jobs were started a second time, which was faster 1"));
  EXPECT_EQ(TheLink.Msg.warnings(), std::vector<std::string>());
}

TEST_F(StragglerTest, TheSecondStartIsFasterAndItsObjectIsCached) {
  makeProgram(5);
  MemoryCache Cache;
  OnSecond = [&](const FakePlugin::Job &J) { endSecond(J, remote(J)); };
  TheLink.Cache = &Cache;
  linkSame();
  EXPECT_EQ(Cache.NumMisses, 5u);
  EXPECT_TRUE(
      said("1 slow jobs were started a second time, which was faster 1"));
}

TEST_F(StragglerTest, TheSecondStartIsFasterAndItsObjectIsVerified) {
  makeProgram(5);
  options().VerifyPercent = 100;
  OnSecond = [&](const FakePlugin::Job &J) { endSecond(J, remote(J)); };
  linkSame();
  EXPECT_TRUE(
      said("1 slow jobs were started a second time, which was faster 1"));
  EXPECT_TRUE(said("5 of 5 objects verified"));
}

TEST_F(StragglerTest, TheFirstIsFasterAfterAll) {
  makeProgram(5);
  First = [&](const FakePlugin::Job &J) { return remote(J); };
  OnSecond = [&](const FakePlugin::Job &) { TheGate.open(); };
  linkSame();
  EXPECT_EQ(Plugin.submitted().size(), 6u);
  EXPECT_EQ(TheLink.Msg.warnings(), std::vector<std::string>());
}

TEST_F(StragglerTest, TheSecondFails) {
  makeProgram(5);
  First = [&](const FakePlugin::Job &J) { return remote(J); };
  OnSecond = [&](const FakePlugin::Job &J) {
    endSecond(J, Plugin.failure(DTLTO_ERROR_COMPILER, "no memory"));
    TheGate.open();
  };
  linkSame();
  EXPECT_TRUE(said("the compiler failed; it also runs elsewhere"));
  EXPECT_EQ(TheLink.Msg.warnings(), std::vector<std::string>());
}

TEST_F(StragglerTest, TheFirstFailsThen) {
  makeProgram(5);
  First = [&](const FakePlugin::Job &) {
    return Plugin.failure(DTLTO_ERROR_INFRASTRUCTURE, "gone");
  };
  std::atomic<bool> Ended{false};
  OnSecond = [&](const FakePlugin::Job &J) {
    TheGate.open();
    // Its own result comes when the first's was looked at.
    while (!said("gone; it also runs elsewhere") && !Ended)
      std::this_thread::yield();
    endSecond(J, remote(J));
  };
  linkSame();
  Ended = true;
  EXPECT_EQ(Plugin.submitted().size(), 6u);
  EXPECT_EQ(TheLink.Msg.warnings(), std::vector<std::string>());
}

TEST_F(StragglerTest, TheObjectOfTheSecondIsNoGood) {
  makeProgram(5);
  First = [&](const FakePlugin::Job &J) { return remote(J); };
  OnSecond = [&](const FakePlugin::Job &J) {
    endSecond(J, Plugin.object("no object"));
    TheGate.open();
  };
  linkSame();
  EXPECT_EQ(TheLink.Msg.warnings(), std::vector<std::string>());
}

TEST_F(StragglerTest, HereIfThePluginHasNoRoom) {
  makeProgram(5);
  Free = 0;
  options().LocalJobs = 1;
  // None of them waits, so none is taken back.
  Plugin.OnSubmit = [&](const FakePlugin::Job &J) {
    Plugin.state(J.Id, DTLTO_STATE_RUNNING, "slow.example");
    return DTLTO_OK;
  };
  linkSame();
  EXPECT_EQ(Plugin.submitted().size(), 5u);
  EXPECT_TRUE(said("started a second time"));
}

TEST_F(StragglerTest, TheOnlyOneThatThePluginTook) {
  makeProgram(5);
  Free = 0;
  options().LocalJobs = 2;
  takeOne();
  TheLink.OnObject = [this](StringRef) {
    if (Occupied && ++NumObjects == 5)
      TheGate.open();
  };
  Plugin.OnRun = [this](const FakePlugin::Job &J) {
    Plugin.state(J.Id, DTLTO_STATE_RUNNING, "slow.example");
    TheGate.wait();
    Plugin.done(J.Id, Plugin.failure(DTLTO_CANCELLED));
  };
  linkSame();
  EXPECT_TRUE(said("4 of 5 modules were compiled here beside its own"));
  EXPECT_TRUE(
      said("1 slow jobs were started a second time, which was faster 1"));
  EXPECT_EQ(TheLink.Msg.warnings(), std::vector<std::string>());
}

TEST_F(StragglerTest, NotWhereTheUserWantsNone) {
  makeProgram(5);
  options().DuplicatePercent = 0;
  setTimeout(1);
  linkSame();
  EXPECT_EQ(Plugin.submitted().size(), 5u);
  EXPECT_TRUE(warned({"no result within 1 s"}));
}

//===----------------------------------------------------------------------===//
// Order and memory
//===----------------------------------------------------------------------===//

TEST_F(SharingTest, LinkOrder) {
  makeProgram(12);
  options().LocalJobs = 0;
  options().Order = OrderKind::Link;
  std::vector<std::string> Names;
  Plugin.OnSubmit = [&](const FakePlugin::Job &J) {
    Names.push_back(J.Name);
    return DTLTO_OK;
  };
  linkSame();
  std::vector<std::string> Expected;
  for (unsigned I = 0; I != 12; ++I)
    Expected.push_back("m" + std::to_string(I) + ".o");
  EXPECT_EQ(Names, Expected);
}

TEST(LearntCostsTest, PutJobsInOrder) {
  TestLink TheLink;
  TheLink.addProgram(4);
  TestLink::Result Want = TheLink.inProcess();
  TempFolder Folder;
  TheLink.TheLinker.Opts.Costs = Folder.path("costs");

  // The first link learns that the smallest takes longest.
  std::string Smallest;
  for (bool IsFirst : {true, false}) {
    FakePlugin Plugin;
    Plugin.OnRun = [&](const FakePlugin::Job &J) {
      Plugin.state(J.Id, DTLTO_STATE_RUNNING);
      if (IsFirst && J.Name == Plugin.submitted().back().Name)
        std::this_thread::sleep_for(std::chrono::milliseconds(300));
      Plugin.done(J.Id, Plugin.object(Want.Objects[J.Name]));
    };
    std::atomic<unsigned> NumSubmitted{0};
    Gate All;
    Plugin.OnSubmit = [&](const FakePlugin::Job &) {
      if (++NumSubmitted == 4)
        All.open();
      return DTLTO_OK;
    };
    auto Run = Plugin.OnRun;
    Plugin.OnRun = [&, Run](const FakePlugin::Job &J) {
      All.wait();
      Run(J);
    };
    TestLink::Result Have = TheLink.withPlugin(Plugin.entry());
    Plugin.waitForEnd();
    EXPECT_EQ(Have.Error, "");
    ASSERT_EQ(Plugin.submitted().size(), 4u);
    if (IsFirst) {
      Smallest = Plugin.submitted().back().Name;
      continue;
    }
    EXPECT_EQ(Plugin.submitted().front().Name, Smallest);
  }
}

TEST_F(SharingTest, MemoryIsBounded) {
  makeProgram(20);
  options().LocalJobs = 0;
  Plugin.setNeeds(DTLTO_PART_INPUTS);
  Slots = 100;
  // No two jobs have room.
  options().Memory = 1;
  std::atomic<unsigned> Now{0}, Most{0};
  Plugin.OnSubmit = [&](const FakePlugin::Job &) {
    unsigned N = ++Now;
    if (N > Most)
      Most = N;
    return DTLTO_OK;
  };
  Plugin.OnRun = [&](const FakePlugin::Job &J) {
    dtlto_result R = remote(J);
    --Now;
    Plugin.done(J.Id, R);
  };
  linkSame();
  EXPECT_EQ(Most, 1u);
}

} // namespace
