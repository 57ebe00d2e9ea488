//===- FailedJobsTest.cpp - Jobs of a link that fail ----------------------===//
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

TEST_F(LinkRunTest, ASecondTry) {
  makeProgram(5);
  runM1([&](const FakePlugin::Job &J) {
    // The object must be released although the status is an error.
    dtlto_result Result = remote(J);
    if (J.Attempt == 1)
      Result.status = DTLTO_ERROR_INFRASTRUCTURE;
    Plugin.done(J.Id, Result);
  });
  linkSame();
  EXPECT_EQ(Plugin.numSubmitted("m1.o"), 2u);
  EXPECT_EQ(Plugin.numObjectsCreated(), 6u);
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
       "no luck on host:1; compiling it locally"},
      // The worker's name is added unless the message has it.
      {DTLTO_ERROR_INFRASTRUCTURE, "host:1 is gone", "host:1", 2,
       "': host:1 is gone; compiling it locally"},
      {DTLTO_ERROR_INFRASTRUCTURE, "host:12 is gone", "host:1", 2,
       "': host:12 is gone on host:1; compiling it locally"},
      {DTLTO_ERROR_INFRASTRUCTURE, nullptr, nullptr, 2,
       "no reason given (error 17); compiling it locally"},
      {4711, "odd", nullptr, 2, "odd; compiling it locally"},
      {DTLTO_BUSY, "odd, too", nullptr, 2, "odd, too; compiling it locally"},
      {DTLTO_CANCELLED, nullptr, nullptr, 2,
       "the plugin cancelled the job without a request; compiling it locally"},
      {DTLTO_ERROR_CALLER, "what is this", nullptr, 1,
       "it refused the job: what is this; compiling it locally"},
      {DTLTO_ERROR_COMPILER, "clang: no\n  such thing\n\n", "host:1", 1,
       "the compiler failed on host:1, but compiling it locally worked; "
       "compiler output: "
       "clang: no\n  such thing"},
      {DTLTO_ERROR_COMPILER, "\n", nullptr, 1,
       "the compiler failed, but compiling it locally worked; compiler output: "
       "nothing"},
      {DTLTO_OK, nullptr, nullptr, 1, "it is empty"},
      {DTLTO_OK, nullptr, "host:1", 1, "invalid object from host:1: it is not",
       "garbage"},
      {DTLTO_OK, nullptr, nullptr, 1, "aarch64", ref(Other)},
      {DTLTO_OK, nullptr, nullptr, 1, "submit() refused the job with error 7"}};
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
  EXPECT_TRUE(warned({"14 of 15 modules were compiled locally instead"}));
  EXPECT_EQ(TheLink.Msg.warnings().size(), N + 1);
}

/// Without fallback, the job is retried on another worker, and the plugin is
/// told that the first result was wrong.
TEST_F(LinkRunTest, ACompileErrorThatIsRefuted) {
  makeProgram(5);
  setFallback(FallbackKind::None);
  std::mutex Mutex;
  bool HasReported = false;
  std::optional<FakePlugin::Job> M4; // held back to delay the end
  uint64_t Wrong = 0;
  Plugin.OnRun = [&](const FakePlugin::Job &J) {
    if (J.Name == "m1.o" && J.Attempt == 1) {
      Wrong = J.Id;
      return Plugin.done(J.Id, Plugin.failure(DTLTO_ERROR_COMPILER,
                                              "error: confused", "host:1"));
    }
    if (J.Name == "m1.o")
      EXPECT_STREQ(J.Raw->avoid, "host:1");
    std::lock_guard<std::mutex> Lock(Mutex);
    if (J.Name == "m4.o" && !HasReported)
      M4 = J;
    else
      Plugin.done(J.Id, remote(J));
  };
  Plugin.OnRefuted = [&](uint64_t Id, const char *Worker, int32_t Status) {
    EXPECT_EQ(Id, Wrong);
    EXPECT_STREQ(Worker, "host:1");
    EXPECT_EQ(Status, DTLTO_ERROR_COMPILER);
    std::lock_guard<std::mutex> Lock(Mutex);
    HasReported = true;
    if (M4)
      Plugin.done(M4->Id, remote(*M4));
  };
  linkSame();
  EXPECT_TRUE(HasReported);
  EXPECT_EQ(
      TheLink.Msg.warnings(),
      std::vector<std::string>{
          "plugin 'fake': module 'm1.o': the compiler failed on host:1, "
          "but compiling it again worked; compiler output: error: confused"});
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
    EXPECT_NE(ActualResult.Error.find(Part), std::string::npos)
        << Part.str() << " is not in: " << ActualResult.Error;
  EXPECT_EQ(StringRef(ActualResult.Error).count("plugin 'fake'"), 1u)
      << ActualResult.Error;
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
     {"'m1.o'", "submit() refused the job"}},
    {"OpenFails",
     [](LinkRunTest &T) {
       T.onOpen("no farm today", DTLTO_ERROR_INFRASTRUCTURE);
     },
     {"no farm today"}},
    // Fails even if fallback is allowed, because the user's arguments are
    // wrong. Jobs are still being prepared at that time.
    {"WrongArgument",
     [](LinkRunTest &T) {
       T.setFallback(FallbackKind::Local);
       T.Plugin.setNeeds(DTLTO_JOB_INPUTS | DTLTO_JOB_ARGS);
       T.onOpen("unknown argument 'x'", DTLTO_ERROR_CALLER);
     },
     {"unknown argument 'x'"}},
    {"ThePluginForbidsFallback",
     [](LinkRunTest &T) {
       T.setFallback(FallbackKind::Local);
       T.Plugin.setNoFallback("FARM_FALLBACK is 0");
       T.failM1(DTLTO_ERROR_INFRASTRUCTURE, "no host");
     },
     {"no host; not compiled locally, since FARM_FALLBACK is 0"}},
    {"ThePluginForbidsFallbackAndFailsToOpen",
     [](LinkRunTest &T) {
       T.setFallback(FallbackKind::Local);
       T.Plugin.setNoFallback("FARM_FALLBACK is 0");
       T.Plugin.OnOpen = [&T](const dtlto_session_params &) {
         T.Plugin.log(DTLTO_LOG_ERROR, "no farm today");
         return DTLTO_ERROR_INFRASTRUCTURE;
       };
     },
     {"no farm today; not compiled locally, since FARM_FALLBACK is 0"}},
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
       T.runM1([&T](const FakePlugin::Job &J) { T.HangingJob = J.Id; });
       T.Plugin.OnCancel = [&T](uint64_t Id) {
         if (Id == T.HangingJob)
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
  EXPECT_NE(ActualResult.Error.find("no space left"), std::string::npos)
      << ActualResult.Error;
  EXPECT_TRUE(TheLink.Msg.warnings().empty());
}

} // namespace
