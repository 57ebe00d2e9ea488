//===- LinkRunTest.cpp - Links through a plugin, with threads -------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The driver: that what the plan decides happens, and what happens reaches the
// plan. Decisions are tested in unittests/Plan, messages in NoticesTest.cpp,
// what jobs are made of in BackendTest.cpp.
//
// Plugins here wait for events. How long anything takes is never tested, only
// that it comes to an end, and to which. Where a limit has to pass, it is a
// short one.
//
//===----------------------------------------------------------------------===//

#include "Bundle/JobOutputs.h"
#include "PluginLinkTest.h"
#include "TempFolder.h"
#include "llvm/Support/Path.h"
#include <algorithm>
#include <atomic>

using namespace llvm;
using namespace dtlto;
using namespace dtlto::test;
using namespace std::chrono_literals;

namespace {

// Its members are for the tables of cases, too.
class LinkRunTest : public PluginLinkTest {
public:
  using PluginLinkTest::Plugin;
  using PluginLinkTest::remote;
  using PluginLinkTest::setFallback;
  using PluginLinkTest::TheGate;
  using PluginLinkTest::TheLink;

  Options &options() { return TheLink.TheLinker.Opts; }
  bool said(StringRef Text) {
    return TheLink.Msg.has(MessageLevel::Debug, {Text});
  }

  /// All jobs are compiled elsewhere, but for what becomes of m1.o.
  void runM1(std::function<void(const FakePlugin::Job &)> Run) {
    Plugin.OnRun = [this, Run](const FakePlugin::Job &J) {
      if (J.Name == "m1.o")
        Run(J);
      else
        Plugin.done(J.Id, remote(J));
    };
  }
  void failM1(int32_t Status, const char *Message,
              const char *Worker = nullptr) {
    runM1([=](const FakePlugin::Job &J) {
      Plugin.done(J.Id, Plugin.failure(Status, Message, Worker));
    });
  }
  void runElsewhere() {
    Plugin.OnRun = [this](const FakePlugin::Job &J) {
      Plugin.done(J.Id, remote(J));
    };
  }
  void onOpen(const char *Error, int32_t Status) {
    Plugin.OnOpen = [=](const dtlto_session_params &) {
      if (Error)
        Plugin.log(DTLTO_LOG_ERROR, Error);
      return Status;
    };
  }

  /// A call, and a job, may take 0.2 seconds.
  void limitTime() {
    TheLink.Adjust = [](plan::Options &O) {
      O.JobTimeout = O.CallTimeout = 200ms;
      O.DeadlineStep = 20ms;
    };
  }
  /// Opens the gate when \p N objects are there.
  void openGateAfter(unsigned N) {
    TheLink.OnObject = [this, N](StringRef) {
      if (++NumObjects == N)
        TheGate.open();
    };
  }

  std::string Alien;             // an object of another machine
  std::atomic<uint64_t> Lost{0}; // a job
  std::atomic<unsigned> NumObjects{0};
};

/// A name and what is done before the link, in tests with a table.
struct Case {
  const char *Name;
  void (*SetUp)(LinkRunTest &T);
  std::vector<const char *> Parts; // of the warning or error
};
std::string nameOf(const testing::TestParamInfo<Case> &I) {
  return I.param.Name;
}
void PrintTo(const Case &C, std::ostream *OS) { *OS << C.Name; }

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
    // Late news is no harm.
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
  // The program isn't in that order by itself.
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
  EXPECT_EQ(Lines[0].substr(0, 14), "[0/3] codegen "); // it began
  EXPECT_EQ(Lines.back(), "");                         // taken away
}

class InputOrderTest : public LinkRunTest,
                       public testing::WithParamInterface<bool> {};

TEST_P(InputOrderTest, IsKept) {
  makeProgram(12);
  // As the user wishes; or since one thread runs what is compiled in this
  // process as a plain link runs it.
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
  TestLink::Result Want = TheLink.inProcess();
  TempFolder Folder;
  TheLink.TheLinker.Opts.Costs = Folder.path("costs");
  // The first link learns that the smallest takes longest.
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
      Plugin.done(J.Id, Plugin.object(Want.Objects[J.Name]));
    };
    TestLink::Result Have = TheLink.withPlugin(Plugin.entry());
    Plugin.waitForEnd();
    EXPECT_EQ(Have.Error, "");
    ASSERT_EQ(Plugin.submitted().size(), 4u);
    if (IsFirst)
      Smallest = Plugin.submitted().back().Name;
    else
      EXPECT_EQ(Plugin.submitted().front().Name, Smallest);
  }
}

/// When load_changed() is called.
enum class Told { Never, AfterTheEnd, BeforeTheAnswer, NeverWithoutJobs };
class RoomTest : public LinkRunTest,
                 public testing::WithParamInterface<Told> {};

TEST_P(RoomTest, IsUsed) {
  // Of several jobs, the end of another would be room enough.
  bool IsOneJob = GetParam() >= Told::BeforeTheAnswer;
  makeProgram(IsOneJob ? 1 : 10);
  // A busy plugin is not asked again by itself, but for the limit, unless it
  // would never be.
  options().TimeoutSeconds = 5;
  TheLink.Adjust = [](plan::Options &O) {
    O.BusyRetry = 1h;
    if (GetParam() == Told::NeverWithoutJobs)
      O.BusyRetry = 20ms;
  };
  std::atomic<bool> Occupied{false};
  std::atomic<unsigned> NumBusy{0};
  Plugin.OnSubmit = [&](const FakePlugin::Job &J) {
    if (IsOneJob) {
      if (J.Attempt > 1)
        return DTLTO_OK;
      // load_changed() is [any-thread] and never wrong to call: also before
      // submit() has returned the BUSY that it is about.
      if (GetParam() == Told::BeforeTheAnswer)
        Plugin.loadChanged();
    } else if (!Occupied.exchange(true)) {
      return DTLTO_OK;
    }
    ++NumBusy;
    TheGate.open();
    return DTLTO_BUSY;
  };
  Plugin.OnRun = [&](const FakePlugin::Job &J) {
    TheGate.wait(); // for the first that there is no room for
    if (GetParam() == Told::AfterTheEnd) {
      Plugin.done(J.Id, remote(J));
      Occupied = false;
      return Plugin.loadChanged();
    }
    // An ended job is room enough.
    Occupied = false;
    Plugin.done(J.Id, remote(J));
  };
  linkSame();
  EXPECT_TRUE(TheLink.Msg.warnings().empty())
      << testing::PrintToString(TheLink.Msg.warnings());
  EXPECT_GT(NumBusy, 0u);
  // At most one for each job that made room, and the first.
  if (GetParam() == Told::Never)
    EXPECT_LE(NumBusy, 11u);
}
INSTANTIATE_TEST_SUITE_P(LinkRunTest, RoomTest,
                         testing::Values(Told::Never, Told::AfterTheEnd,
                                         Told::BeforeTheAnswer,
                                         Told::NeverWithoutJobs));

TEST_F(LinkRunTest, MemoryIsBounded) {
  makeProgram(10);
  Plugin.setNeeds(DTLTO_PART_INPUTS);
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

TEST_F(LinkRunTest, OpenAsksForMore) {
  // Those that are prepared by then are completed; names and numbers stay.
  makeProgram(8);
  TheLink.Adjust = [](plan::Options &O) { O.MinPrepared = 4; };
  const uint32_t Parts = DTLTO_PART_INPUTS | DTLTO_PART_DIGESTS;
  Plugin.OnOpen = [&](const dtlto_session_params &) {
    const dtlto_host &Host = Plugin.host();
    static_cast<const dtlto_needs *>(
        Host.extension(Host.context, DTLTO_EXT_NEEDS))
        ->set(Host.context, Parts);
    return DTLTO_OK;
  };
  Plugin.OnSubmit = [&](const FakePlugin::Job &J) {
    EXPECT_EQ(J.Raw->parts & Parts, Parts);
    EXPECT_GT(J.Raw->num_inputs, 1u);
    return DTLTO_OK;
  };
  runElsewhere();
  linkSame();
  EXPECT_EQ(Plugin.submitted().size(), 8u);
  EXPECT_TRUE(TheLink.Msg.warnings().empty());
}

//===----------------------------------------------------------------------===//
// Jobs that fail
//===----------------------------------------------------------------------===//

TEST_F(LinkRunTest, ASecondTry) {
  makeProgram(5);
  runM1([&](const FakePlugin::Job &J) {
    // An object with an error is released as well.
    dtlto_result Result = remote(J);
    if (J.Attempt == 1)
      Result.status = DTLTO_ERROR_INFRASTRUCTURE;
    Plugin.done(J.Id, Result);
  });
  linkSame();
  EXPECT_EQ(Plugin.numSubmitted("m1.o"), 2u);
  EXPECT_EQ(Plugin.numObjectsMade(), 6u);
  EXPECT_TRUE(TheLink.Msg.warnings().empty());
  EXPECT_TRUE(TheLink.Msg.has(MessageLevel::Note, {"1 of 5 jobs", "'m1.o'"}));
  EXPECT_TRUE(TheLink.Msg.progressLines().empty());
  std::set<uint64_t> Ids;
  for (const FakePlugin::Job &J : Plugin.submitted())
    Ids.insert(J.Id);
  EXPECT_EQ(Ids.size(), 6u);
}

TEST_F(LinkRunTest, Fallback) {
  Bytes Other = compileObject("define i32 @f() {\n  ret i32 0\n}\n",
                              "aarch64-unknown-linux-gnu");
  struct Failure {
    int32_t Status;
    const char *Message, *Worker;
    unsigned Attempts;
    StringRef Warning;
    StringRef Object = {};
  };
  const Failure Failures[] = {
      {DTLTO_ERROR_INFRASTRUCTURE, "no luck", "host:1", 2,
       "no luck on host:1; compiling it here"},
      // The worker is named once; another's name isn't its.
      {DTLTO_ERROR_INFRASTRUCTURE, "host:1 is gone", "host:1", 2,
       "': host:1 is gone; compiling it here"},
      {DTLTO_ERROR_INFRASTRUCTURE, "host:12 is gone", "host:1", 2,
       "': host:12 is gone on host:1; compiling it here"},
      {DTLTO_ERROR_INFRASTRUCTURE, nullptr, nullptr, 2,
       "no reason given; compiling it here"},
      {4711, "odd", nullptr, 2, "odd; compiling it here"},
      {DTLTO_BUSY, "odd, too", nullptr, 2, "odd, too; compiling it here"},
      {DTLTO_CANCELLED, nullptr, nullptr, 2,
       "cancelled without having been asked to; compiling it here"},
      {DTLTO_ERROR_CALLER, "what is this", nullptr, 1,
       "it doesn't accept the job: what is this; compiling it here"},
      {DTLTO_ERROR_COMPILER, "clang: no\n  such thing\n\n", "host:1", 1,
       "the compiler failed on host:1, but compiling it here worked; it said: "
       "clang: no\n  such thing"},
      {DTLTO_ERROR_COMPILER, "\n", nullptr, 1,
       "the compiler failed, but compiling it here worked; it said: nothing"},
      {DTLTO_OK, nullptr, nullptr, 1, "it is empty"},
      {DTLTO_OK, nullptr, "host:1", 1, "the object on host:1 is no good",
       "garbage"},
      {DTLTO_OK, nullptr, nullptr, 1, "aarch64", ref(Other)},
      {DTLTO_OK, nullptr, nullptr, 1, "submit() refused it with error 7"}};
  const size_t N = std::size(Failures);
  makeProgram(N + 1);
  TheLink.Msg.Verbose = true; // all warnings
  auto IndexOf = [](const FakePlugin::Job &J) {
    return static_cast<size_t>(std::stoul(J.Name.substr(1)));
  };
  Plugin.OnSubmit = [&](const FakePlugin::Job &J) {
    return IndexOf(J) == N - 1 ? 7 : DTLTO_OK;
  };
  Plugin.OnRun = [&](const FakePlugin::Job &J) {
    size_t I = IndexOf(J);
    if (I == N)
      return Plugin.done(J.Id, remote(J));
    const Failure &F = Failures[I];
    dtlto_result R = F.Object.empty() ? Plugin.failure(F.Status, F.Message)
                                      : Plugin.object(F.Object);
    R.worker = F.Worker;
    Plugin.done(J.Id, R);
  };
  linkSame();
  for (size_t I = 0; I != N; ++I) {
    std::string Name = "m" + std::to_string(I) + ".o";
    EXPECT_TRUE(
        warned({"plugin 'fake': module '" + Name + "': ", Failures[I].Warning}))
        << Name << testing::PrintToString(TheLink.Msg.warnings());
    EXPECT_EQ(Plugin.numSubmitted(Name), Failures[I].Attempts) << Name;
  }
  EXPECT_TRUE(warned({"14 of 15 modules were compiled here instead"}));
  EXPECT_EQ(TheLink.Msg.warnings().size(), N + 1);
}

class FailingTest : public LinkRunTest,
                    public testing::WithParamInterface<Case> {};

TEST_P(FailingTest, EndsWithAnError) {
  Bytes Object = compileObject("define i32 @f() {\n  ret i32 0\n}\n",
                               "aarch64-unknown-linux-gnu");
  Alien = ref(Object).str();
  makeProgram(5);
  setFallback(FallbackKind::None);
  runElsewhere();
  GetParam().SetUp(*this);
  link();
  for (StringRef Part : GetParam().Parts)
    EXPECT_NE(Have.Error.find(Part), std::string::npos)
        << Part.str() << " is not in: " << Have.Error;
  EXPECT_EQ(StringRef(Have.Error).count("plugin 'fake'"), 1u) << Have.Error;
  EXPECT_TRUE(TheLink.Msg.warnings().empty())
      << testing::PrintToString(TheLink.Msg.warnings());
}

const Case FailingCases[] = {
    {"Infrastructure",
     [](LinkRunTest &T) { T.failM1(DTLTO_ERROR_INFRASTRUCTURE, "no luck"); },
     {"dtlto: plugin 'fake'", "'m1.o'", "no luck"}},
    {"Caller",
     [](LinkRunTest &T) { T.failM1(DTLTO_ERROR_CALLER, "what is this"); },
     {"'m1.o'", "what is this"}},
    {"Compiler",
     [](LinkRunTest &T) {
       T.failM1(DTLTO_ERROR_COMPILER, "clang: no such thing", "host:1");
     },
     {"'m1.o'", "host:1", "clang: no such thing"}},
    {"ObjectOfAnotherMachine",
     [](LinkRunTest &T) {
       T.runM1([&T](const FakePlugin::Job &J) {
         T.Plugin.done(J.Id, T.Plugin.object(T.Alien));
       });
     },
     {"'m1.o'", "aarch64"}},
    {"SubmitRefuses",
     [](LinkRunTest &T) {
       T.Plugin.OnSubmit = [](const FakePlugin::Job &J) {
         return J.Name == "m1.o" ? DTLTO_ERROR_CALLER : DTLTO_OK;
       };
     },
     {"'m1.o'", "submit() refused it"}},
    {"OpenFails",
     [](LinkRunTest &T) {
       T.onOpen("no farm today", DTLTO_ERROR_INFRASTRUCTURE);
     },
     {"no farm today"}},
    // Also where the user allows to fall back: the arguments are the user's.
    // Modules are still being prepared then.
    {"WrongArgument",
     [](LinkRunTest &T) {
       T.setFallback(FallbackKind::Local);
       T.Plugin.setNeeds(DTLTO_PART_INPUTS | DTLTO_PART_ARGS);
       T.onOpen("unknown argument 'x'", DTLTO_ERROR_CALLER);
     },
     {"unknown argument 'x'"}},
    {"ThePluginForbidsFallback",
     [](LinkRunTest &T) {
       T.setFallback(FallbackKind::Local);
       T.Plugin.OnOpen = [&T](const dtlto_session_params &) {
         T.Plugin.forbidFallback("FARM_FALLBACK is 0");
         return DTLTO_OK;
       };
       T.failM1(DTLTO_ERROR_INFRASTRUCTURE, "no host");
     },
     {"no host; not compiled here, since FARM_FALLBACK is 0"}},
    {"ThePluginForbidsFallbackAndFailsToOpen",
     [](LinkRunTest &T) {
       T.setFallback(FallbackKind::Local);
       T.Plugin.OnOpen = [&T](const dtlto_session_params &) {
         T.Plugin.forbidFallback("FARM_FALLBACK is 0");
         T.Plugin.log(DTLTO_LOG_ERROR, "no farm today");
         return DTLTO_ERROR_INFRASTRUCTURE;
       };
     },
     {"no farm today; not compiled here, since FARM_FALLBACK is 0"}},
    {"GivesUpWhileItOpens",
     [](LinkRunTest &T) { T.onOpen("no farm today", DTLTO_OK); },
     {"no farm today"}},
    {"GivesUpInTheMiddle",
     [](LinkRunTest &T) {
       T.runM1([&T](const FakePlugin::Job &J) {
         T.Plugin.log(DTLTO_LOG_ERROR, "no host is left");
         T.Plugin.done(J.Id, T.Plugin.failure(DTLTO_ERROR_CALLER, "no host"));
       });
     },
     {"no host is left"}},
    {"TwoResults",
     [](LinkRunTest &T) {
       T.runM1([&T](const FakePlugin::Job &J) {
         T.Plugin.done(J.Id, T.remote(J));
         T.Plugin.doneTooOften(J.Id, T.remote(J));
       });
     },
     {"second result", "'m1.o'"}},
    {"NoResult",
     [](LinkRunTest &T) {
       T.limitTime();
       T.runM1([&T](const FakePlugin::Job &J) { T.Lost = J.Id; });
       T.Plugin.OnCancel = [&T](uint64_t Id) {
         if (Id == T.Lost)
           T.Plugin.done(Id, T.Plugin.failure(DTLTO_CANCELLED));
       };
     },
     {"no result within 600 s"}},
};
INSTANTIATE_TEST_SUITE_P(LinkRunTest, FailingTest,
                         testing::ValuesIn(FailingCases), nameOf);

TEST_F(LinkRunTest, AnObjectThatCannotBeDelivered) {
  makeProgram(5);
  MemoryCache Cache;
  Cache.IsFull = true;
  TheLink.Cache = &Cache;
  runElsewhere();
  link();
  EXPECT_NE(Have.Error.find("no space left"), std::string::npos) << Have.Error;
  EXPECT_TRUE(TheLink.Msg.warnings().empty());
}

//===----------------------------------------------------------------------===//
// A plugin that is lost
//===----------------------------------------------------------------------===//

class LostPluginTest : public LinkRunTest,
                       public testing::WithParamInterface<Case> {};

TEST_P(LostPluginTest, TheRestIsCompiledHere) {
  makeProgram(10);
  runElsewhere();
  GetParam().SetUp(*this);
  linkSame();
  // One warning for all jobs, those in the plugin's hands included.
  EXPECT_TRUE(warned({"plugin 'fake': ", GetParam().Parts[0],
                      "; compiling the remaining modules here"}))
      << testing::PrintToString(TheLink.Msg.warnings());
  EXPECT_TRUE(warned({" of 10 modules were compiled here instead"}));
  EXPECT_EQ(TheLink.Msg.warnings().size(), 2u);
  bool WasOpen = StringRef(GetParam().Name).starts_with("GivesUp");
  EXPECT_EQ(Plugin.isClosed(), WasOpen);
  if (!StringRef(GetParam().Name).ends_with("Middle")) {
    EXPECT_TRUE(Plugin.submitted().empty());
    EXPECT_TRUE(warned({"10 of 10 modules were compiled here instead"}));
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
     {"open() failed without a reason"}},
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
         if (T.Plugin.numObjectsMade() < 2)
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
    EXPECT_TRUE(warned({"4 of 4 modules were compiled here instead"}));
  if (Call == "close")
    EXPECT_EQ(TheLink.Msg.warnings().size(), 1u);
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

//===----------------------------------------------------------------------===//
// Time limits
//===----------------------------------------------------------------------===//

TEST_F(LinkRunTest, AJobThatIsLost) {
  makeProgram(4);
  limitTime();
  // When all objects are there, it comes back.
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
  // The host has no use for it any more, and has said so.
  std::vector<uint64_t> Cancelled = Plugin.cancelled();
  bool Asked = false;
  for (const FakePlugin::Job &J : Plugin.submitted())
    Asked |= J.Name == "m1.o" && is_contained(Cancelled, J.Id);
  EXPECT_TRUE(Asked);
}

TEST_F(LinkRunTest, JobsThatRunHereHaveNoLimit) {
  // Code generation that takes longer than the limit is no fault of the
  // plugin's: it is the user's own machine. Nor is it that other jobs wait.
  makeProgram(4);
  TheLink.Adjust = [](plan::Options &O) {
    O.JobTimeout = 130ms; // more than it takes to see that it runs
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

TEST_F(LinkRunTest, LocalCodegenOutlivesThePlugin) {
  // The plugin reports that it is done with a job in its local code generation,
  // and the link ends only when that has.
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

//===----------------------------------------------------------------------===//
// This machine's share
//===----------------------------------------------------------------------===//

class SharingTest : public LinkRunTest {
protected:
  SharingTest() {
    options().LocalJobs.reset();
    TheLink.Msg.Verbose = true;
    TheLink.Adjust = [](plan::Options &O) {
      O.Patience = O.SilentPatience = O.LookInterval = 5ms;
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
  // The plugin takes one job, which stays away until all others are through.
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
  EXPECT_TRUE(said("11 of 12 modules were compiled here beside its own"));
  for (const FakePlugin::Job &J : Plugin.submitted())
    EXPECT_LE(J.Cost, Cost);
}

TEST_F(SharingTest, JobsThatWaitAtThePluginsAreTakenBack) {
  makeProgram(6);
  Slots = 1;
  // It takes all of them, and runs one.
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
  EXPECT_TRUE(said("5 of 6 modules were compiled here beside its own"));
}

TEST_F(SharingTest, APluginThatBeginsNoJob) {
  makeProgram(6);
  Slots = Free = 100;
  // It gives them back once all objects were made here.
  openGateAfter(6);
  Plugin.OnRun = [&](const FakePlugin::Job &J) {
    TheGate.wait();
    Plugin.done(J.Id, Plugin.failure(DTLTO_ERROR_INFRASTRUCTURE, "no host"));
  };
  linkSame();
  // A warning only if the link took its time.
  StringRef Text = "it took none of the 6 jobs";
  EXPECT_TRUE(said(Text) || warned({Text}));
  EXPECT_FALSE(warned({"no host"}));
}

//===----------------------------------------------------------------------===//
// Jobs that are done twice
//===----------------------------------------------------------------------===//

/// The last of five jobs never ends, and another attempt at once.
class StragglerTest : public SharingTest {
protected:
  StragglerTest() {
    options().LocalJobs = 0;
    options().DuplicatePercent = 5;
    Free = 1;
    TheLink.Adjust = [](plan::Options &O) {
      O.SlowExtra = 50ms;
      O.LookInterval = 5ms;
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
    EXPECT_TRUE(said("duplicate attempts for slow jobs: "));
    EXPECT_EQ(TheLink.Msg.warnings(), std::vector<std::string>());
  }

  unsigned NumRun = 0;
  std::atomic<uint64_t> Stuck{0};
  std::string Name;
  std::map<std::string, std::string> Avoid; // by job
};

TEST_F(StragglerTest, TheDuplicateIsCached) {
  MemoryCache Cache;
  TheLink.Cache = &Cache;
  linkWithADuplicate();
  EXPECT_EQ(Cache.NumMisses, 5u);
  EXPECT_EQ(Cache.Objects.size(), 5u);
}

TEST_F(StragglerTest, TheDuplicateIsVerified) {
  options().VerifyPercent = 100;
  linkWithADuplicate();
  EXPECT_TRUE(said("5 of 5 objects verified"));
}

TEST_F(LinkRunTest, VerificationFindsAnotherObject) {
  TempFolder Folder; // both objects are saved beside the output
  options().OutputFile = Folder.path("app");
  options().VerifyPercent = 100;
  makeProgram(5);
  // Of the right kind, so nothing else can tell.
  runM1([&](const FakePlugin::Job &J) {
    FakePlugin::Job Other = J;
    Other.Name = "m2.o";
    dtlto_result Result = remote(Other);
    Result.worker = "host:1";
    Plugin.done(J.Id, Result);
  });
  link();
  EXPECT_NE(Have.Error.find("plugin 'fake': the object of module 'm1.o' "
                            "differs from the one compiled here"),
            std::string::npos)
      << Have.Error;
  EXPECT_NE(Have.Error.find("compiled on host:1"), std::string::npos)
      << Have.Error;
  EXPECT_EQ(Folder.read("app.dtlto-verify/m.m1-o.remote.o"),
            Want.Objects["m2.o"]);
  EXPECT_EQ(Folder.read("app.dtlto-verify/m.m1-o.local.o"),
            Want.Objects["m1.o"]);
}

//===----------------------------------------------------------------------===//
// Files beside the objects
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
  for (const auto &[Module, Object] : Want.Objects) {
    Remarks[Module] = Folder.read(FileOf(Module));
    EXPECT_NE(Remarks[Module].find("--- "), std::string::npos) << Module;
    sys::fs::remove(Folder.path(FileOf(Module)));
  }
  Plugin.setNeeds(DTLTO_PART_INPUTS | DTLTO_PART_CONFIG);
  Plugin.OnRun = [&](const FakePlugin::Job &J) {
    JobOutputs Outputs;
    Outputs.Object = Want.Objects[J.Name];
    // The object alone isn't all that was asked for.
    if (J.Name != "m1.o")
      Outputs.Remarks = Remarks[J.Name];
    Plugin.done(J.Id, Plugin.object(ref(packOutputs(Outputs))));
  };
  linkSame();
  EXPECT_TRUE(warned({"'m1.o'", "the result is no good"}))
      << testing::PrintToString(TheLink.Msg.warnings());
  EXPECT_EQ(TheLink.Msg.warnings().size(), 2u);
  for (const auto &[Module, Object] : Want.Objects)
    EXPECT_EQ(Folder.read(FileOf(Module)), Remarks[Module]);
}

} // namespace
