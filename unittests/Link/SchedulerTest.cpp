//===- SchedulerTest.cpp - Which job runs where, and when -----------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What has to do with time limits is in DeadlineTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "PluginLinkTest.h"
#include "TempFolder.h"
#include <algorithm>
#include <atomic>

using namespace llvm;
using namespace dtlto;
using namespace dtlto::test;

namespace {
class SchedulerTest : public PluginLinkTest {
protected:
  /// Lets \p Result be what becomes of the first \p Times attempts of m1.o; all
  /// else is compiled elsewhere as it should.
  void failM1(unsigned Times, dtlto_result Result) {
    Plugin.OnRun = [=](const FakePlugin::Job &J) {
      Plugin.done(J.Id,
                  J.Name == "m1.o" && J.Attempt <= Times ? Result : remote(J));
    };
  }

  /// What \p Status without a result leads to: \p Attempts, and compiling m1.o
  /// here with a warning that contains \p Why.
  void expectFallback(dtlto_result Result, unsigned Attempts, StringRef Why) {
    makeProgram(5);
    failM1(100, Result);
    linkSame();
    EXPECT_EQ(Plugin.numSubmitted("m1.o"), Attempts);
    EXPECT_TRUE(warned({"plugin 'fake'", "'m1.o'", Why, "compiling it here"}))
        << testing::PrintToString(TheLink.Msg.warnings());
    EXPECT_TRUE(warned({"1 of 5 modules were compiled here instead"}));
    EXPECT_EQ(TheLink.Msg.warnings().size(), 2u);
  }

  /// The same with --thinlto-dist-fallback=none.
  void expectFailure(dtlto_result Result, unsigned Attempts,
                     ArrayRef<StringRef> Parts) {
    makeProgram(5);
    setFallback(FallbackKind::None);
    failM1(100, Result);
    link();
    for (StringRef Part : Parts)
      EXPECT_NE(Have.Error.find(Part), std::string::npos)
          << Part.str() << " is not in: " << Have.Error;
    EXPECT_EQ(Plugin.numSubmitted("m1.o"), Attempts);
    EXPECT_TRUE(TheLink.Msg.warnings().empty());
  }

  /// What a plugin that breaks the ABI's promises leads to.
  void expectGivenUp(ArrayRef<StringRef> Parts) {
    linkSame();
    EXPECT_TRUE(warned(Parts))
        << testing::PrintToString(TheLink.Msg.warnings());
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Order and room
//===----------------------------------------------------------------------===//

TEST_F(SchedulerTest, LargestFirst) {
  makeProgram(12);
  linkSame();
  std::vector<FakePlugin::Job> Jobs = Plugin.submitted();
  ASSERT_EQ(Jobs.size(), 12u);
  EXPECT_TRUE(std::is_sorted(
      Jobs.begin(), Jobs.end(),
      [](const auto &A, const auto &B) { return A.Cost > B.Cost; }));
  EXPECT_GT(Jobs.front().Cost, Jobs.back().Cost);
  // The program isn't in that order by itself.
  EXPECT_NE(Jobs.front().Name, "m0.o");
}

TEST_F(SchedulerTest, OneThreadKeepsTheOrderOfTheInputs) {
  // What runs in this process then runs as a plain link runs it.
  makeProgram(12);
  TheLink.Parallelism = 1;
  linkSame();
  std::vector<FakePlugin::Job> Jobs = Plugin.submitted();
  ASSERT_EQ(Jobs.size(), 12u);
  for (unsigned I = 0; I != 12; ++I)
    EXPECT_EQ(Jobs[I].Name, "m" + std::to_string(I) + ".o");
}

TEST_F(SchedulerTest, OneLineTellsOfSecondTries) {
  makeProgram(3);
  failM1(1, Plugin.failure(DTLTO_ERROR_INFRASTRUCTURE, "no luck", "node3"));
  linkSame();
  EXPECT_TRUE(TheLink.Msg.warnings().empty());
  ASSERT_EQ(TheLink.Msg.all(MessageLevel::Note).size(), 1u);
  EXPECT_TRUE(
      TheLink.Msg.has(MessageLevel::Note, {"1 of 3 jobs", "no luck", "node3"}));
}

TEST_F(SchedulerTest, IdsAreUnique) {
  makeProgram(5);
  failM1(1, Plugin.failure(DTLTO_ERROR_INFRASTRUCTURE, "no luck"));
  linkSame();
  std::vector<uint64_t> Ids;
  for (const FakePlugin::Job &J : Plugin.submitted())
    Ids.push_back(J.Id);
  EXPECT_EQ(Ids.size(), 6u);
  std::sort(Ids.begin(), Ids.end());
  EXPECT_EQ(std::unique(Ids.begin(), Ids.end()), Ids.end());
}

TEST_F(SchedulerTest, RoomForOneJobAtATime) {
  makeProgram(20);
  std::atomic<bool> Occupied{false};
  std::atomic<unsigned> NumBusy{0};
  Plugin.OnSubmit = [&](const FakePlugin::Job &) {
    if (!Occupied.exchange(true))
      return DTLTO_OK;
    ++NumBusy;
    return DTLTO_BUSY;
  };
  // Without load_changed(): an ended job is room enough.
  Plugin.OnRun = [&](const FakePlugin::Job &J) {
    Occupied = false;
    Plugin.done(J.Id, remote(J));
  };
  linkSame();
  EXPECT_TRUE(TheLink.Msg.warnings().empty());
  EXPECT_GT(NumBusy, 0u);
}

TEST_F(SchedulerTest, RoomIsTold) {
  makeProgram(20);
  std::atomic<bool> Occupied{false};
  Plugin.OnSubmit = [&](const FakePlugin::Job &) {
    return Occupied.exchange(true) ? DTLTO_BUSY : DTLTO_OK;
  };
  Plugin.OnRun = [&](const FakePlugin::Job &J) {
    Plugin.done(J.Id, remote(J));
    Occupied = false;
    Plugin.loadChanged();
  };
  linkSame();
  EXPECT_TRUE(TheLink.Msg.warnings().empty());
}

TEST_F(SchedulerTest, RoomIsToldBeforeTheAnswer) {
  // load_changed() is [any-thread] and never wrong to call: also before
  // submit() has returned the BUSY that it is about.
  makeProgram(4);
  setTimeout(1);
  Plugin.OnSubmit = [&](const FakePlugin::Job &J) {
    if (J.Attempt > 1)
      return DTLTO_OK;
    Plugin.loadChanged();
    return DTLTO_BUSY;
  };
  linkSame();
  EXPECT_TRUE(TheLink.Msg.warnings().empty())
      << testing::PrintToString(TheLink.Msg.warnings());
}

TEST_F(SchedulerTest, NoCallWhileThereIsNoRoom) {
  makeProgram(20);
  std::atomic<bool> Occupied{false};
  std::atomic<unsigned> NumBusy{0};
  Plugin.OnSubmit = [&](const FakePlugin::Job &) {
    if (!Occupied.exchange(true))
      return DTLTO_OK;
    ++NumBusy;
    return DTLTO_BUSY;
  };
  Plugin.OnRun = [&](const FakePlugin::Job &J) {
    Occupied = false;
    Plugin.done(J.Id, remote(J));
  };
  linkSame();
  // At most one BUSY for each job that made room, and the first.
  EXPECT_LE(NumBusy, 21u);
}

TEST_F(SchedulerTest, MemoryFollowsThePlugin) {
  // Preparing a job looks into the cache first, so that tells when it happens.
  TheLink.addProgram(100);
  linkInProcess();
  MemoryCache Cache;
  TheLink.Cache = &Cache;
  Plugin.setNeeds(DTLTO_PART_INPUTS);
  unsigned NumAccepted = 0;
  size_t MostAhead = 0;
  std::atomic<bool> Occupied{false};
  Plugin.OnSubmit = [&](const FakePlugin::Job &) {
    {
      std::lock_guard<std::mutex> Lock(Cache.Mutex);
      MostAhead = std::max<size_t>(MostAhead, Cache.NumMisses - NumAccepted);
    }
    if (Occupied.exchange(true))
      return DTLTO_BUSY;
    ++NumAccepted;
    return DTLTO_OK;
  };
  Plugin.OnRun = [&](const FakePlugin::Job &J) {
    Occupied = false;
    Plugin.done(J.Id, remote(J));
  };
  linkSame();
  EXPECT_EQ(NumAccepted, 100u);
  EXPECT_LE(MostAhead, 64u);
}

//===----------------------------------------------------------------------===//
// What becomes of a job that fails
//===----------------------------------------------------------------------===//

TEST_F(SchedulerTest, InfrastructureErrorsAreTriedAgain) {
  makeProgram(5);
  failM1(1, Plugin.failure(DTLTO_ERROR_INFRASTRUCTURE, "no luck"));
  linkSame();
  EXPECT_EQ(Plugin.numSubmitted("m1.o"), 2u);
  EXPECT_EQ(Plugin.submitted().size(), 6u);
  EXPECT_TRUE(TheLink.Msg.warnings().empty());
}

TEST_F(SchedulerTest, InfrastructureErrorsTwice) {
  expectFallback(
      Plugin.failure(DTLTO_ERROR_INFRASTRUCTURE, "no luck", "host:1"), 2,
      "no luck on host:1");
}

TEST_F(SchedulerTest, InfrastructureErrorsTwiceWithoutFallback) {
  expectFailure(Plugin.failure(DTLTO_ERROR_INFRASTRUCTURE, "no luck"), 2,
                {"dtlto: plugin 'fake'", "'m1.o'", "no luck"});
}

TEST_F(SchedulerTest, TheWorkerIsNamedOnce) {
  expectFallback(
      Plugin.failure(DTLTO_ERROR_INFRASTRUCTURE, "host:1 is gone", "host:1"), 2,
      "'m1.o': host:1 is gone; compiling it here");
}

TEST_F(SchedulerTest, AnotherWorkersNameIsNotIts) {
  expectFallback(
      Plugin.failure(DTLTO_ERROR_INFRASTRUCTURE, "host:12 is gone", "host:1"),
      2, "host:12 is gone on host:1");
}

TEST_F(SchedulerTest, ErrorsWithoutAMessage) {
  expectFallback(Plugin.failure(DTLTO_ERROR_INFRASTRUCTURE), 2,
                 "no reason given");
}

TEST_F(SchedulerTest, UnknownStatusIsAnInfrastructureError) {
  expectFallback(Plugin.failure(4711, "odd"), 2, "odd");
}

TEST_F(SchedulerTest, BusyIsNoResult) {
  expectFallback(Plugin.failure(DTLTO_BUSY, "odd"), 2, "odd");
}

TEST_F(SchedulerTest, CancelledWithoutHavingBeenAskedTo) {
  expectFallback(Plugin.failure(DTLTO_CANCELLED), 2, "cancelled");
}

TEST_F(SchedulerTest, CallerErrorsAreNotTriedAgain) {
  expectFallback(Plugin.failure(DTLTO_ERROR_CALLER, "what is this"), 1,
                 "what is this");
}

TEST_F(SchedulerTest, CallerErrorsWithoutFallback) {
  expectFailure(Plugin.failure(DTLTO_ERROR_CALLER, "what is this"), 1,
                {"plugin 'fake'", "'m1.o'", "what is this"});
}

TEST_F(SchedulerTest, CompilerErrorsAreJudgedHere) {
  expectFallback(
      Plugin.failure(DTLTO_ERROR_COMPILER, "clang: no\n  such thing\n\n",
                     "host:1"),
      1,
      "the compiler failed on host:1, but compiling it here worked; it said: "
      "clang: no\n  such thing");
  for (const std::string &Text : TheLink.Msg.warnings())
    EXPECT_NE(Text.back(), '\n') << Text;
}

TEST_F(SchedulerTest, CompilerErrorsWithoutAWord) {
  expectFallback(Plugin.failure(DTLTO_ERROR_COMPILER, "\n"), 1,
                 "the compiler failed, but compiling it here worked; it said: "
                 "nothing");
}

TEST_F(SchedulerTest, CompilerErrorsWithoutFallback) {
  expectFailure(
      Plugin.failure(DTLTO_ERROR_COMPILER, "clang: no such thing", "host:1"), 1,
      {"plugin 'fake'", "'m1.o'", "host:1", "clang: no such thing"});
}

TEST_F(SchedulerTest, SubmitRefuses) {
  makeProgram(5);
  Plugin.OnSubmit = [](const FakePlugin::Job &J) {
    return J.Name == "m1.o" ? DTLTO_ERROR_INFRASTRUCTURE : DTLTO_OK;
  };
  linkSame();
  EXPECT_EQ(Plugin.numSubmitted("m1.o"), 1u);
  EXPECT_TRUE(warned({"'m1.o'", "submit() refused it"}));
}

TEST_F(SchedulerTest, SubmitRefusesWithoutFallback) {
  makeProgram(5);
  setFallback(FallbackKind::None);
  Plugin.OnSubmit = [](const FakePlugin::Job &J) {
    return J.Name == "m1.o" ? DTLTO_ERROR_CALLER : DTLTO_OK;
  };
  link();
  EXPECT_NE(Have.Error.find("'m1.o'"), std::string::npos) << Have.Error;
  EXPECT_NE(Have.Error.find("submit()"), std::string::npos) << Have.Error;
}

TEST_F(SchedulerTest, EveryJobFails) {
  makeProgram(30);
  Plugin.OnRun = [&](const FakePlugin::Job &J) {
    Plugin.done(J.Id, Plugin.failure(DTLTO_ERROR_INFRASTRUCTURE, "no luck"));
  };
  linkSame();
  EXPECT_EQ(Plugin.submitted().size(), 60u);
  // The same over and over tells nobody more.
  EXPECT_TRUE(warned({"plugin 'fake': and 27 more modules failed likewise; "
                      "--verbose shows all"}));
  EXPECT_TRUE(warned({"30 of 30 modules were compiled here instead"}));
  EXPECT_EQ(TheLink.Msg.warnings().size(), 5u);
}

TEST_F(SchedulerTest, EveryJobFailsAndAllIsTold) {
  makeProgram(30);
  TheLink.Msg.Verbose = true;
  Plugin.OnRun = [&](const FakePlugin::Job &J) {
    Plugin.done(J.Id, Plugin.failure(DTLTO_ERROR_INFRASTRUCTURE, "no luck"));
  };
  linkSame();
  EXPECT_FALSE(warned({"more modules failed likewise"}));
  EXPECT_EQ(TheLink.Msg.warnings().size(), 31u);
}

TEST_F(SchedulerTest, ReasonsThatDifferInNumbersAreOne) {
  makeProgram(30);
  Plugin.OnRun = [&](const FakePlugin::Job &J) {
    std::string Why = "no answer from port " + std::to_string(J.Id);
    Plugin.done(J.Id, Plugin.failure(DTLTO_ERROR_CALLER, Why.c_str()));
  };
  linkSame();
  EXPECT_TRUE(warned({"and 27 more modules failed likewise"}));
  EXPECT_EQ(TheLink.Msg.warnings().size(), 5u);
}

TEST_F(SchedulerTest, OtherReasonsAreToldUpToALimit) {
  makeProgram(30);
  unsigned N = 0; // one worker thread
  Plugin.OnRun = [&](const FakePlugin::Job &J) {
    std::string Why(1 + N++, 'a');
    Plugin.done(J.Id, Plugin.failure(DTLTO_ERROR_CALLER, Why.c_str()));
  };
  linkSame();
  EXPECT_TRUE(warned({"and 20 more modules failed likewise"}));
  EXPECT_EQ(TheLink.Msg.warnings().size(), 12u);
}

TEST_F(SchedulerTest, EveryJobFailsWithoutFallback) {
  makeProgram(30);
  setFallback(FallbackKind::None);
  // Five at once: more fail than the one that fails the link.
  std::vector<uint64_t> Ids;
  Plugin.OnRun = [&](const FakePlugin::Job &J) {
    Ids.push_back(J.Id);
    if (Ids.size() < 5)
      return;
    for (uint64_t Id : std::exchange(Ids, std::vector<uint64_t>(4)))
      if (Id != 0)
        Plugin.done(Id, Plugin.failure(DTLTO_ERROR_CALLER, "no luck"));
  };
  link();
  EXPECT_EQ(StringRef(Have.Error).count("no luck"), 1u) << Have.Error;
  EXPECT_TRUE(TheLink.Msg.warnings().empty());
}

TEST_F(SchedulerTest, OpenFails) {
  makeProgram(5);
  Plugin.OnOpen = [&](const dtlto_session_params &) {
    Plugin.log(DTLTO_LOG_ERROR, "no farm today");
    return DTLTO_ERROR_INFRASTRUCTURE;
  };
  linkSame();
  EXPECT_TRUE(warned({"plugin 'fake': no farm today"}));
  EXPECT_TRUE(warned({"5 of 5 modules were compiled here instead"}));
  EXPECT_EQ(TheLink.Msg.warnings().size(), 2u);
  EXPECT_TRUE(Plugin.submitted().empty());
  EXPECT_FALSE(Plugin.isClosed());
}

TEST_F(SchedulerTest, GivesUpWhileItOpens) {
  makeProgram(5);
  Plugin.OnOpen = [&](const dtlto_session_params &) {
    std::thread([&] { Plugin.log(DTLTO_LOG_ERROR, "no farm today"); }).join();
    return DTLTO_OK;
  };
  linkSame();
  EXPECT_TRUE(warned({"plugin 'fake': no farm today; compiling the remaining "
                      "modules here"}));
  EXPECT_TRUE(warned({"5 of 5 modules were compiled here instead"}));
  EXPECT_EQ(TheLink.Msg.warnings().size(), 2u);
  EXPECT_TRUE(Plugin.submitted().empty());
  EXPECT_TRUE(Plugin.isClosed());
}

TEST_F(SchedulerTest, GivesUpWhileItOpensWithoutFallback) {
  makeProgram(5);
  setFallback(FallbackKind::None);
  Plugin.OnOpen = [&](const dtlto_session_params &) {
    Plugin.log(DTLTO_LOG_ERROR, "no farm today");
    return DTLTO_OK;
  };
  link();
  EXPECT_NE(Have.Error.find("plugin 'fake': no farm today"), std::string::npos)
      << Have.Error;
  EXPECT_TRUE(TheLink.Msg.warnings().empty());
  EXPECT_TRUE(Plugin.submitted().empty());
}

TEST_F(SchedulerTest, OpenFailsWithoutFallback) {
  makeProgram(5);
  setFallback(FallbackKind::None);
  Plugin.OnOpen = [&](const dtlto_session_params &) {
    Plugin.log(DTLTO_LOG_ERROR, "no farm today");
    return DTLTO_ERROR_INFRASTRUCTURE;
  };
  link();
  EXPECT_NE(Have.Error.find("plugin 'fake': no farm today"), std::string::npos)
      << Have.Error;
  EXPECT_TRUE(TheLink.Msg.warnings().empty());
}

TEST_F(SchedulerTest, GivesUpInTheMiddle) {
  makeProgram(30);
  std::atomic<unsigned> NumRun{0};
  Plugin.OnRun = [&](const FakePlugin::Job &J) {
    if (++NumRun == 3)
      Plugin.log(DTLTO_LOG_ERROR, "no host is left");
    if (NumRun < 3)
      Plugin.done(J.Id, remote(J));
    else
      Plugin.done(J.Id, Plugin.failure(DTLTO_ERROR_INFRASTRUCTURE, "no host"));
  };
  linkSame();
  // One warning for all jobs, those in the plugin's hands included.
  EXPECT_TRUE(warned({"plugin 'fake': no host is left; compiling the remaining "
                      "modules here"}));
  EXPECT_EQ(TheLink.Msg.warnings().size(), 2u);
  EXPECT_TRUE(Plugin.isClosed());
}

TEST_F(SchedulerTest, GivesUpInTheMiddleWithoutFallback) {
  makeProgram(10);
  setFallback(FallbackKind::None);
  Plugin.OnRun = [&](const FakePlugin::Job &J) {
    Plugin.log(DTLTO_LOG_ERROR, "no host is left");
    Plugin.done(J.Id, Plugin.failure(DTLTO_ERROR_INFRASTRUCTURE, "no host"));
  };
  link();
  EXPECT_NE(Have.Error.find("plugin 'fake': no host is left"),
            std::string::npos)
      << Have.Error;
}

TEST_F(SchedulerTest, ThePluginForbidsFallback) {
  makeProgram(5);
  Plugin.OnOpen = [&](const dtlto_session_params &) {
    Plugin.forbidFallback("FARM_FALLBACK is 0");
    return DTLTO_OK;
  };
  Plugin.OnRun = [&](const FakePlugin::Job &J) {
    Plugin.done(J.Id, Plugin.failure(DTLTO_ERROR_INFRASTRUCTURE, "no host"));
  };
  link();
  EXPECT_NE(Have.Error.find("no host; not compiled here, since FARM_FALLBACK "
                            "is 0"),
            std::string::npos)
      << Have.Error;
}

TEST_F(SchedulerTest, ThePluginForbidsFallbackAndFailsToOpen) {
  makeProgram(5);
  Plugin.OnOpen = [&](const dtlto_session_params &) {
    Plugin.forbidFallback("FARM_FALLBACK is 0");
    Plugin.log(DTLTO_LOG_ERROR, "no farm today");
    return DTLTO_ERROR_INFRASTRUCTURE;
  };
  link();
  EXPECT_NE(Have.Error.find("no farm today; not compiled here, since "
                            "FARM_FALLBACK is 0"),
            std::string::npos)
      << Have.Error;
}

TEST_F(SchedulerTest, OpenFailsWithoutAReason) {
  makeProgram(5);
  Plugin.OnOpen = [](const dtlto_session_params &) { return 4711; };
  linkSame();
  EXPECT_TRUE(warned({"plugin 'fake'", "open() failed"}));
}

TEST_F(SchedulerTest, WrongArgumentsFailTheLink) {
  // Also where the user allows to fall back: the arguments are the user's.
  makeProgram(5);
  Plugin.OnOpen = [&](const dtlto_session_params &) {
    Plugin.log(DTLTO_LOG_ERROR, "unknown argument 'x'");
    return DTLTO_ERROR_CALLER;
  };
  link();
  EXPECT_NE(Have.Error.find("plugin 'fake': unknown argument 'x'"),
            std::string::npos)
      << Have.Error;
  EXPECT_TRUE(Have.Objects.empty());
  EXPECT_TRUE(TheLink.Msg.warnings().empty());
}

TEST_F(SchedulerTest, NothingIsSaidToBeCompiledInALinkThatFails) {
  // Modules are still prepared as open() fails.
  makeProgram(30);
  Plugin.setNeeds(DTLTO_PART_INPUTS | DTLTO_PART_ARGS | DTLTO_PART_DIGESTS);
  Plugin.OnOpen = [&](const dtlto_session_params &) {
    Plugin.log(DTLTO_LOG_ERROR, "unknown argument 'x'");
    return DTLTO_ERROR_CALLER;
  };
  link();
  EXPECT_NE(Have.Error, "");
  EXPECT_TRUE(TheLink.Msg.warnings().empty())
      << testing::PrintToString(TheLink.Msg.warnings());
}

TEST_F(SchedulerTest, NothingStartsAfterTheLinkHasFailed) {
  makeProgram(40);
  setFallback(FallbackKind::None);
  std::atomic<bool> Occupied{false};
  std::atomic<unsigned> NumAccepted{0};
  Plugin.OnSubmit = [&](const FakePlugin::Job &) {
    if (Occupied.exchange(true))
      return DTLTO_BUSY;
    ++NumAccepted;
    return DTLTO_OK;
  };
  bool First = true;
  Plugin.OnRun = [&](const FakePlugin::Job &J) {
    Occupied = false;
    Plugin.done(J.Id, std::exchange(First, false)
                          ? Plugin.failure(DTLTO_ERROR_CALLER, "no")
                          : remote(J));
  };
  link();
  EXPECT_NE(Have.Error, "");
  EXPECT_LT(NumAccepted, 40u);
}

//===----------------------------------------------------------------------===//
// Objects
//===----------------------------------------------------------------------===//

TEST_F(SchedulerTest, EmptyObjects) {
  expectFallback(Plugin.failure(DTLTO_OK), 1, "it is empty");
}

TEST_F(SchedulerTest, GarbageAsObjects) {
  makeProgram(5);
  Plugin.OnRun = [&](const FakePlugin::Job &J) {
    Plugin.done(J.Id, J.Name == "m1.o" ? Plugin.object("garbage") : remote(J));
  };
  linkSame();
  EXPECT_TRUE(warned({"plugin 'fake'", "'m1.o'", "not an object file"}));
}

TEST_F(SchedulerTest, ObjectsOfAnotherMachine) {
  makeProgram(5);
  Bytes Other = compileObject("define i32 @f() {\n  ret i32 0\n}\n",
                              "aarch64-unknown-linux-gnu");
  Plugin.OnRun = [&](const FakePlugin::Job &J) {
    Plugin.done(J.Id, J.Name == "m1.o" ? Plugin.object(ref(Other)) : remote(J));
  };
  linkSame();
  EXPECT_TRUE(warned({"plugin 'fake'", "'m1.o'", "aarch64"}));
}

TEST_F(SchedulerTest, ObjectsOfAnotherMachineWithoutFallback) {
  makeProgram(5);
  setFallback(FallbackKind::None);
  Bytes Other = compileObject("define i32 @f() {\n  ret i32 0\n}\n",
                              "aarch64-unknown-linux-gnu");
  Plugin.OnRun = [&](const FakePlugin::Job &J) {
    Plugin.done(J.Id, J.Name == "m1.o" ? Plugin.object(ref(Other)) : remote(J));
  };
  link();
  EXPECT_NE(Have.Error.find("'m1.o'"), std::string::npos) << Have.Error;
  EXPECT_NE(Have.Error.find("aarch64"), std::string::npos) << Have.Error;
}

TEST_F(SchedulerTest, ObjectsWithErrorsAreReleased) {
  makeProgram(5);
  Plugin.OnRun = [&](const FakePlugin::Job &J) {
    dtlto_result Result = remote(J);
    if (J.Attempt == 1)
      Result.status = DTLTO_ERROR_INFRASTRUCTURE;
    Plugin.done(J.Id, Result);
  };
  linkSame();
  EXPECT_EQ(Plugin.numObjectsMade(), 10u);
}

TEST_F(SchedulerTest, WarningsOfTheCompilerAreShown) {
  makeProgram(5);
  Plugin.OnRun = [&](const FakePlugin::Job &J) {
    dtlto_result Result = remote(J);
    if (J.Name == "m1.o")
      Result.message = "clang: warning: mind the gap";
    Plugin.done(J.Id, Result);
  };
  linkSame();
  // Of the program, and not of the farm.
  EXPECT_TRUE(TheLink.Msg.warnings().empty());
  EXPECT_EQ(TheLink.Msg.all(MessageLevel::Diagnostic).size(), 1u);
  EXPECT_TRUE(TheLink.Msg.has(MessageLevel::Diagnostic,
                              {"m1.o", "clang: warning: mind the gap"}));
}

TEST_F(SchedulerTest, VerifiedObjects) {
  makeProgram(5);
  TheLink.TheLinker.Opts.VerifyPercent = 100;
  TheLink.Msg.Verbose = true;
  Plugin.OnRun = [&](const FakePlugin::Job &J) {
    Plugin.done(J.Id, remote(J));
  };
  linkSame();
  EXPECT_TRUE(TheLink.Msg.has(MessageLevel::Debug, {"5 of 5", "verified"}));
}

TEST_F(SchedulerTest, OneObjectAtLeastIsVerified) {
  makeProgram(3);
  TheLink.TheLinker.Opts.VerifyPercent = 1;
  TheLink.Msg.Verbose = true;
  Plugin.OnRun = [&](const FakePlugin::Job &J) {
    Plugin.done(J.Id, remote(J));
  };
  linkSame();
  EXPECT_TRUE(TheLink.Msg.has(MessageLevel::Debug, {"1 of 3", "verified"}));
}

TEST_F(SchedulerTest, AShareOfObjectsIsVerified) {
  makeProgram(10);
  TheLink.TheLinker.Opts.VerifyPercent = 30;
  TheLink.Msg.Verbose = true;
  linkSame();
  EXPECT_TRUE(TheLink.Msg.has(MessageLevel::Debug, {"3 of 10", "verified"}));
}

TEST_F(SchedulerTest, VerificationFindsAnotherObject) {
  TempFolder Folder; // both objects are kept beside the output
  TheLink.TheLinker.Opts.OutputFile = Folder.path("app");
  makeProgram(5);
  TheLink.TheLinker.Opts.VerifyPercent = 100;
  // Of the right kind, so nothing else can tell.
  Plugin.OnRun = [&](const FakePlugin::Job &J) {
    FakePlugin::Job Other = J;
    if (J.Name == "m1.o")
      Other.Name = "m2.o";
    Plugin.done(J.Id, remote(Other));
  };
  link();
  EXPECT_NE(Have.Error.find("plugin 'fake'"), std::string::npos) << Have.Error;
  EXPECT_NE(Have.Error.find("'m1.o' differs"), std::string::npos) << Have.Error;
}

//===----------------------------------------------------------------------===//
// Broken promises
//===----------------------------------------------------------------------===//

TEST_F(SchedulerTest, TwoResults) {
  makeProgram(5);
  Plugin.OnRun = [&](const FakePlugin::Job &J) {
    Plugin.done(J.Id, remote(J));
    if (J.Name == "m1.o")
      Plugin.doneTooOften(J.Id, remote(J));
  };
  expectGivenUp({"plugin 'fake'", "second result", "'m1.o'"});
}

TEST_F(SchedulerTest, TwoResultsWithoutFallback) {
  makeProgram(5);
  setFallback(FallbackKind::None);
  Plugin.OnRun = [&](const FakePlugin::Job &J) {
    Plugin.done(J.Id, remote(J));
    if (J.Name == "m1.o")
      Plugin.doneTooOften(J.Id, remote(J));
  };
  link();
  EXPECT_NE(Have.Error.find("second result"), std::string::npos) << Have.Error;
  EXPECT_NE(Have.Error.find("'m1.o'"), std::string::npos) << Have.Error;
}

TEST_F(SchedulerTest, ASecondResultWhileClosing) {
  makeProgram(5);
  uint64_t Last = 0;
  Plugin.OnRun = [&](const FakePlugin::Job &J) {
    Last = J.Id;
    Plugin.done(J.Id, remote(J));
  };
  Plugin.OnClose = [&] { Plugin.doneTooOften(Last, Plugin.object("late")); };
  expectGivenUp({"plugin 'fake'", "second result"});
}

TEST_F(SchedulerTest, UnknownJobs) {
  makeProgram(5);
  Plugin.OnRun = [&](const FakePlugin::Job &J) {
    Plugin.doneTooOften(0x123456789, remote(J));
    Plugin.done(J.Id, remote(J));
  };
  expectGivenUp({"plugin 'fake'", "which it was never given"});
}

TEST_F(SchedulerTest, ResultsFromInsideOfSubmit) {
  makeProgram(5);
  Plugin.OnSubmit = [&](const FakePlugin::Job &J) {
    Plugin.done(J.Id, remote(J));
    return DTLTO_OK;
  };
  Plugin.OnRun = [](const FakePlugin::Job &) {};
  expectGivenUp({"plugin 'fake'", "from inside of submit()"});
}

TEST_F(SchedulerTest, ResultsWithoutASize) {
  makeProgram(5);
  Plugin.OnRun = [&](const FakePlugin::Job &J) {
    dtlto_result Result = {};
    Plugin.done(J.Id, Result);
  };
  expectGivenUp({"plugin 'fake'", "without a size"});
}

TEST_F(SchedulerTest, NoResultAtAll) {
  makeProgram(5);
  Plugin.OnRun = [&](const FakePlugin::Job &J) {
    Plugin.host().job_done(Plugin.host().context, J.Id, nullptr);
  };
  expectGivenUp({"plugin 'fake'"});
}

TEST_F(SchedulerTest, LateNewsIsNoHarm) {
  makeProgram(5);
  Plugin.OnRun = [&](const FakePlugin::Job &J) {
    Plugin.done(J.Id, remote(J));
    Plugin.state(J.Id, DTLTO_STATE_RUNNING, "host:1");
    Plugin.state(0x123456789, DTLTO_STATE_RUNNING);
    Plugin.state(0, 4711);
    Plugin.loadChanged();
  };
  linkSame();
  EXPECT_TRUE(TheLink.Msg.warnings().empty());
}

//===----------------------------------------------------------------------===//
// Progress
//===----------------------------------------------------------------------===//

TEST_F(SchedulerTest, Progress) {
  makeProgram(3);
  TheLink.TheLinker.Opts.Progress = ProgressKind::Always;
  TheLink.TheLinker.Opts.StatusFormat = "[%f/%t of %s] ";
  linkSame();
  std::vector<std::string> Lines = TheLink.Msg.progressLines();
  ASSERT_EQ(Lines.size(), 3u);
  EXPECT_EQ(Lines[0].substr(0, 4), "[1/3");
  EXPECT_EQ(Lines[1].substr(0, 4), "[2/3");
  EXPECT_EQ(Lines[2].substr(0, 20), "[3/3 of 3] codegen m");
}

TEST_F(SchedulerTest, ProgressOnATerminal) {
  makeProgram(3);
  TheLink.TheLinker.Opts.Progress = ProgressKind::Auto;
  TheLink.TheLinker.Opts.StatusFormat = "[%f/%t] ";
  TheLink.Msg.Columns = 80;
  linkSame();
  std::vector<std::string> Lines = TheLink.Msg.progressLines();
  ASSERT_GE(Lines.size(), 2u);
  EXPECT_EQ(Lines[0].substr(0, 14), "[0/3] codegen "); // it began
  EXPECT_EQ(Lines.back(), "");                         // taken away
}

TEST_F(SchedulerTest, ProgressNamesTheWorker) {
  makeProgram(1);
  TheLink.TheLinker.Opts.Progress = ProgressKind::Always;
  Plugin.OnRun = [&](const FakePlugin::Job &J) {
    Plugin.state(J.Id, DTLTO_STATE_RUNNING, "node3");
    Plugin.done(J.Id, remote(J));
  };
  linkSame();
  std::vector<std::string> Lines = TheLink.Msg.progressLines();
  ASSERT_EQ(Lines.size(), 1u);
  EXPECT_EQ(StringRef(Lines[0]).take_back(9), " on node3");
}

TEST_F(SchedulerTest, NoProgress) {
  makeProgram(3);
  linkSame();
  EXPECT_TRUE(TheLink.Msg.progressLines().empty());
}
