//===- LostPluginTest.cpp - Plugins that hang, fail or break the rules ----===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LinkRunTest.h"

using namespace llvm;
using namespace dtlto;
using namespace dtlto::test;
using namespace std::chrono_literals;

namespace {

//===----------------------------------------------------------------------===//
// Plugins that fail
//===----------------------------------------------------------------------===//

class LostPluginTest : public LinkRunTest,
                       public testing::WithParamInterface<Case> {};

TEST_P(LostPluginTest, TheRestIsCompiledHere) {
  makeProgram(10);
  runElsewhere();
  GetParam().SetUp(*this);
  linkSame();
  // One warning for all jobs, including those that the plugin holds.
  EXPECT_TRUE(warned({"plugin 'fake': ", GetParam().Parts[0],
                      "; compiling the remaining modules locally"}))
      << testing::PrintToString(TheLink.Msg.warnings());
  EXPECT_TRUE(warned({" of 10 modules were compiled locally instead"}));
  EXPECT_EQ(TheLink.Msg.warnings().size(), 2u);
  bool WasOpen = StringRef(GetParam().Name).starts_with("GivesUp");
  EXPECT_EQ(Plugin.isClosed(), WasOpen);
  if (!StringRef(GetParam().Name).ends_with("Middle")) {
    EXPECT_TRUE(Plugin.submitted().empty());
    EXPECT_TRUE(warned({"10 of 10 modules were compiled locally instead"}));
  }
}

const Case LostPluginCases[] = {
    {"OpenFails",
     [](LinkRunTest &T) {
       T.onOpen("no farm today", DTLTO_ERROR_INFRASTRUCTURE);
     },
     {"no farm today"}},
    {"OpenFailsWithoutAReason",
     [](LinkRunTest &T) { T.onOpen(nullptr, 4711); },
     {"open() failed without a reason (error 4711)"}},
    {"GivesUpWhileItOpens",
     [](LinkRunTest &T) {
       T.Plugin.OnOpen = [&T](const dtlto_session_params &) {
         std::thread([&] {
           T.Plugin.log(DTLTO_LOG_ERROR, "no farm today");
         }).join();
         return DTLTO_OK;
       };
     },
     {"no farm today"}},
    {"GivesUpInTheMiddle",
     [](LinkRunTest &T) {
       T.Plugin.OnRun = [&T](const FakePlugin::Job &J) {
         if (T.Plugin.numObjectsCreated() < 2)
           return T.Plugin.done(J.Id, T.remote(J));
         T.Plugin.log(DTLTO_LOG_ERROR, "no host is left");
         T.Plugin.done(J.Id,
                       T.Plugin.failure(DTLTO_ERROR_INFRASTRUCTURE, "no host"));
       };
     },
     {"no host is left"}}};
INSTANTIATE_TEST_SUITE_P(LinkRunTest, LostPluginTest,
                         testing::ValuesIn(LostPluginCases), nameOf);

class ViolationTest : public LinkRunTest,
                      public testing::WithParamInterface<Case> {};

TEST_P(ViolationTest, ThePluginIsDropped) {
  makeProgram(5);
  runElsewhere();
  GetParam().SetUp(*this);
  linkSame();
  std::vector<StringRef> Parts(GetParam().Parts.begin(),
                               GetParam().Parts.end());
  Parts.push_back("plugin 'fake'");
  EXPECT_TRUE(warned(Parts)) << testing::PrintToString(TheLink.Msg.warnings());
}

const Case ViolationCases[] = {
    {"TwoResults",
     [](LinkRunTest &T) {
       T.runM1([&T](const FakePlugin::Job &J) {
         T.Plugin.done(J.Id, T.remote(J));
         T.Plugin.doneTooOften(J.Id, T.remote(J));
       });
     },
     {"second result", "'m1.o'"}},
    {"ASecondResultWhileClosing",
     [](LinkRunTest &T) {
       T.Plugin.OnClose = [&T] {
         T.Plugin.doneTooOften(T.Plugin.submitted().back().Id,
                               T.Plugin.object("late"));
       };
     },
     {"second result"}},
    {"UnknownJobs",
     [](LinkRunTest &T) {
       T.runM1([&T](const FakePlugin::Job &J) {
         T.Plugin.doneTooOften(0x123456789, T.remote(J));
         T.Plugin.done(J.Id, T.remote(J));
       });
     },
     {"which it was never given"}},
    {"FromInsideOfSubmit",
     [](LinkRunTest &T) {
       T.Plugin.OnSubmit = [&T](const FakePlugin::Job &J) {
         T.Plugin.done(J.Id, T.remote(J));
         return DTLTO_OK;
       };
       T.Plugin.OnRun = [](const FakePlugin::Job &) {};
     },
     {"from inside of submit()"}},
    {"WithoutASize",
     [](LinkRunTest &T) {
       T.Plugin.OnRun = [&T](const FakePlugin::Job &J) {
         dtlto_result Result = {};
         T.Plugin.done(J.Id, Result);
       };
     },
     {"without a size"}},
    {"NoResultAtAll",
     [](LinkRunTest &T) {
       T.Plugin.OnRun = [&T](const FakePlugin::Job &J) {
         T.Plugin.host().job_done(T.Plugin.host().context, J.Id, nullptr);
       };
     },
     {}}};
INSTANTIATE_TEST_SUITE_P(LinkRunTest, ViolationTest,
                         testing::ValuesIn(ViolationCases), nameOf);

class HangingCallTest : public LinkRunTest,
                        public testing::WithParamInterface<Case> {};

TEST_P(HangingCallTest, IsLeftBehind) {
  makeProgram(4);
  limitTime();
  GetParam().SetUp(*this);
  linkSame();
  std::string Call = GetParam().Parts[0];
  EXPECT_TRUE(warned({"plugin 'fake'", Call + "() has not returned"}))
      << testing::PrintToString(TheLink.Msg.warnings());
  if (Call == "open")
    EXPECT_TRUE(warned({"4 of 4 modules were compiled locally instead"}));
  if (Call == "close")
    EXPECT_EQ(TheLink.Msg.warnings().size(), 1u);
}

/// After the link, the plugin still reads the memory lent to it.
TEST_F(LinkRunTest, APluginThatIsLeftBehindReadsOn) {
  makeProgram(4);
  limitTime();
  Plugin.setNeeds(DTLTO_JOB_INPUTS | DTLTO_JOB_DIGESTS);
  std::mutex Mutex;
  std::vector<std::pair<dtlto_span, std::string>> Lent;
  Plugin.OnRun = [&](const FakePlugin::Job &J) {
    for (const dtlto_input *In : ArrayRef(J.Raw->inputs, J.Raw->num_inputs)) {
      std::lock_guard<std::mutex> Lock(Mutex);
      if (In->role == DTLTO_ROLE_IMPORT)
        Lent.push_back({In->bytes,
                        {static_cast<const char *>(In->bytes.data),
                         static_cast<size_t>(In->bytes.size)}});
    }
    Plugin.done(J.Id, Plugin.codegen(J.Id));
  };
  bool Same = true;
  Plugin.OnClose = [&] {
    TheGate.wait();
    for (const auto &[Span, Was] : Lent)
      Same &= StringRef(static_cast<const char *>(Span.data), Span.size) == Was;
  };
  linkSame();
  EXPECT_TRUE(warned({"plugin 'fake'", "close() has not returned"}));
  EXPECT_FALSE(Lent.empty());
  TheGate.open();
  Plugin.waitForEnd();
  EXPECT_TRUE(Same);
}

const Case HangingCalls[] = {
    {"Open",
     [](LinkRunTest &T) {
       T.Plugin.OnOpen = [&T](const dtlto_session_params &) {
         T.TheGate.wait();
         return DTLTO_OK;
       };
     },
     {"open"}},
    {"Submit",
     [](LinkRunTest &T) {
       T.Plugin.OnSubmit = [&T](const FakePlugin::Job &J) {
         if (J.Name == "m1.o")
           T.TheGate.wait();
         return DTLTO_OK;
       };
     },
     {"submit"}},
    {"Load",
     [](LinkRunTest &T) {
       T.Plugin.OnLoad = [&T](dtlto_load &) {
         T.TheGate.wait();
         return DTLTO_OK;
       };
     },
     {"load"}},
    {"Close",
     [](LinkRunTest &T) { T.Plugin.OnClose = [&T] { T.TheGate.wait(); }; },
     {"close"}}};
INSTANTIATE_TEST_SUITE_P(LinkRunTest, HangingCallTest,
                         testing::ValuesIn(HangingCalls), nameOf);

/// The link ends long before the limit for a call.
TEST_F(LinkRunTest, SlowOpenDoesNotDelay) {
  makeProgram(4);
  options().LocalJobs.reset();
  Plugin.OnOpen = [&](const dtlto_session_params &) {
    TheGate.wait();
    return DTLTO_OK;
  };
  linkSame();
  EXPECT_TRUE(warned({"plugin 'fake': open() has not returned; continuing "
                      "without it"}));
  EXPECT_TRUE(warned({"; all were compiled locally"}));
  EXPECT_EQ(TheLink.Msg.warnings().size(), 2u);
  EXPECT_TRUE(Plugin.submitted().empty());
}

//===----------------------------------------------------------------------===//
// Time limits
//===----------------------------------------------------------------------===//

TEST_F(LinkRunTest, AJobThatIsLost) {
  makeProgram(4);
  limitTime();
  // The job returns when all objects are delivered.
  openGateAfter(4);
  std::atomic<bool> Late{false};
  runM1([&](const FakePlugin::Job &J) {
    Plugin.state(J.Id, DTLTO_STATE_RUNNING, "host:1");
    TheGate.wait();
    Late = true;
    Plugin.done(J.Id, remote(J));
  });
  linkSame();
  EXPECT_TRUE(warned({"plugin 'fake'", "'m1.o'", "no result within 600 s"}));
  Plugin.waitForEnd();
  EXPECT_TRUE(Late);
  // The host has cancelled the job.
  std::vector<uint64_t> Cancelled = Plugin.cancelled();
  bool Asked = false;
  for (const FakePlugin::Job &J : Plugin.submitted())
    Asked |= J.Name == "m1.o" && is_contained(Cancelled, J.Id);
  EXPECT_TRUE(Asked);
}

TEST_F(LinkRunTest, JobsThatRunHereHaveNoLimit) {
  // A slow local compile isn't the plugin's fault, nor are the jobs that wait
  // for it: the machine is the user's own.
  makeProgram(4);
  TheLink.Adjust = [](plan::Options &O) {
    O.JobTimeout = 130ms; // more than it takes to see that the job runs
    O.DeadlineStep = 5ms;
  };
  std::atomic<bool> Slow{false};
  TheLink.Configure = [&](lto::Config &Conf) {
    Conf.PreCodeGenModuleHook = [&](unsigned, const llvm::Module &) {
      if (!Slow.exchange(true))
        std::this_thread::sleep_for(200ms);
      return true;
    };
  };
  linkSame();
  EXPECT_TRUE(TheLink.Msg.warnings().empty())
      << testing::PrintToString(TheLink.Msg.warnings());
}

// Deadlines are also checked while the plan handles news of a local job; this
// check may end the link.
TEST_F(LinkRunTest, ALinkThatEndsWhereAJobHereIsAlive) {
  makeProgram(2);
  setFallback(FallbackKind::None);
  TheLink.Adjust = [](plan::Options &O) {
    O.JobTimeout = O.CallTimeout = 600ms;
    // Each check comes after the next sign of life.
    O.DeadlineStep = 150ms;
    O.ScanInterval = 1h;
  };
  TheLink.Configure = [&](lto::Config &Conf) {
    Conf.PreCodeGenModuleHook = [&](unsigned, const llvm::Module &) {
      TheGate.wait();
      return true;
    };
  };
  std::thread Thread;
  Plugin.OnRun = [&](const FakePlugin::Job &J) {
    if (Thread.joinable()) // the second job is silent from now on
      return Plugin.state(J.Id, DTLTO_STATE_RUNNING);
    Thread = std::thread([this, Id = J.Id] {
      dtlto_result Result = Plugin.codegen(Id);
      if (Result.object.release)
        Result.object.release(Result.object.owner, Result.object.data,
                              Result.object.size);
    });
  };
  Plugin.OnClose = [&] {
    TheGate.open();
    Thread.join();
  };
  link();
  EXPECT_NE(ActualResult.Error.find("no result within 600 s"),
            std::string::npos)
      << ActualResult.Error;
}

TEST_F(LinkRunTest, LocalCodegenOutlivesThePlugin) {
  // The plugin reports a result while its local code generation runs. The link
  // ends only after the code generation.
  makeProgram(4);
  limitTime();
  std::atomic<bool> Inside{false}, Ended{false};
  TheLink.Configure = [&](lto::Config &Conf) {
    Conf.PreCodeGenModuleHook = [&](unsigned, const llvm::Module &) {
      if (!Inside.exchange(true)) {
        TheGate.wait();
        Ended = true;
      }
      return true;
    };
  };
  std::thread Thread;
  runM1([&](const FakePlugin::Job &J) {
    Thread = std::thread([this, Id = J.Id] {
      dtlto_result Result = Plugin.codegen(Id);
      if (Result.object.release)
        Result.object.release(Result.object.owner, Result.object.data,
                              Result.object.size);
    });
    while (!Inside)
      std::this_thread::yield();
    Plugin.done(J.Id, remote(J));
  });
  Plugin.OnClose = [&] { Thread.join(); };
  openGateAfter(4);
  linkSame();
  EXPECT_TRUE(Ended);
  EXPECT_TRUE(TheLink.Msg.warnings().empty());
}

} // namespace
