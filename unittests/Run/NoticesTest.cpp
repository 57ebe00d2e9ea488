//===- NoticesTest.cpp - Messages to the user about a link ----------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Run/Notices.h"
#include "Steps.h"
#include "TestLink.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace dtlto;
using namespace dtlto::test;

using plan::Action;
using plan::AttemptKind;
using plan::Cause;
using PlanEvent = plan::Event;
using Texts = std::vector<std::string>;

namespace {

class NoticesTest : public testing::Test {
protected:
  NoticesTest() {
    Plugin.name = "fake";
    TheLinker.Plugin = &Plugin;
    TheLinker.Msg = &Msg;
    TheLinker.Opts.TimeoutSeconds = 7;
    TheTestLink.emplace(TheLinker, Conf, Index, Defined, nullptr, FileCache());
    TheTestLink->Run.StartTime = Clock::now();
    use(30);
  }

  /// Starts a link with \p N jobs.
  void use(unsigned N) {
    Run.emplace(N);
    TheNotices = std::make_unique<Notices>(*Run, TheTestLink->Run);
  }

  /// Passes an event and the actions that follow from it. \p Why, \p Output and
  /// \p Errors are the driver's information.
  void step(PlanEvent E, std::vector<Action> Actions, StringRef Why = "",
            StringRef Output = "", ArrayRef<std::string> Errors = {}) {
    Step S;
    S.E = &E;
    S.Job = E.Job;
    S.Actions = Actions;
    S.Why = Why;
    S.Output = Output;
    S.Errors = Errors;
    TheNotices->onStep(S);
  }
  PlanEvent event(PlanEvent::Kind What, plan::JobId J = 0,
                  Cause Why = Cause::None) {
    PlanEvent E{What};
    E.Job = J;
    E.Why = Why;
    return E;
  }

  /// The plugin's attempt at job \p J fails; the linker's has number 100 + J.
  void fallBack(plan::JobId J, Cause Failure, StringRef Why,
                StringRef Output = "") {
    step(event(PlanEvent::Failed, J, Failure),
         {action(Action::StayLocal, J, 100 + J, Failure)}, Why, Output);
  }
  void stayLocal(plan::JobId J, Cause Why, StringRef What = "") {
    step(event(PlanEvent::Tick), {action(Action::StayLocal, J, 100 + J, Why)},
         What);
  }
  /// The local compile of job \p J succeeds.
  void compileLocally(plan::JobId J) {
    step(
        event(PlanEvent::CompiledLocally, J),
        {action(Action::Won, J, 100 + J), action(Action::Deliver, J, 100 + J)});
  }
  /// The plugin's attempt at job \p J succeeds. It has the number of the job.
  void succeed(plan::JobId J, StringRef Output = "",
               AttemptKind Kind = AttemptKind::First) {
    Action Won = action(Action::Won, J, J);
    Won.AKind = Kind;
    step(event(PlanEvent::Succeeded, J), {Won}, "", Output);
  }
  /// The plugin's failure of job \p J fails the link.
  void failLink(plan::JobId J, Cause Failure, StringRef Why) {
    Run->HasFailed = true;
    step(event(PlanEvent::Failed, J, Failure),
         {action(Action::FailLink, J, J, Failure),
          action(Action::EndJob, J, 0, Cause::LinkFailed)},
         Why);
  }
  void again(plan::JobId J, AttemptKind Kind, StringRef Why,
             plan::WorkerId Avoid = 0) {
    Action Prepare = action(Action::Prepare, J, 200 + J);
    Prepare.AKind = Kind;
    Prepare.Avoid = Avoid;
    step(event(Kind == AttemptKind::Retry ? PlanEvent::Failed : PlanEvent::Tick,
               J, Cause::Infrastructure),
         {Prepare}, Why);
  }

  void summarize() { TheNotices->summarize({}, {}); }
  std::string error() { return toString(TheNotices->takeError()); }
  Texts notes() { return Msg.all(MessageLevel::Note); }
  bool hasDebugMessage(StringRef Text) {
    return Msg.has(MessageLevel::Debug, {Text});
  }
  bool hasWarning(StringRef Text) {
    return Msg.has(MessageLevel::Warning, {Text});
  }

  RecordingMessages Msg;
  dtlto_plugin Plugin = {};
  Linker TheLinker;
  lto::Config Conf;
  ModuleSummaryIndex Index{/*HaveGVs=*/false};
  DefinedSummaries Defined;
  std::optional<Link> TheTestLink;
  std::optional<FakeLink> Run;
  std::unique_ptr<Notices> TheNotices;
};

//===----------------------------------------------------------------------===//
// Jobs that fail
//===----------------------------------------------------------------------===//

TEST_F(NoticesTest, NothingToTell) {
  succeed(0);
  summarize();
  EXPECT_EQ(Msg.warnings(), Texts());
  EXPECT_EQ(notes(), Texts());
  EXPECT_FALSE(TheNotices->hasErrors());
  EXPECT_TRUE(hasDebugMessage("30 jobs, "));
}

/// The worker of a refused object is blamed if another compile leads to another
/// object, but not if it leads to the same one.
TEST_F(NoticesTest, ARefusedObject) {
  for (bool IsConfirmed : {false, true}) {
    Msg.clear();
    use(5);
    fallBack(1, Cause::BadResult, "invalid object from host:1: it is empty");
    EXPECT_EQ(Msg.warnings(), Texts());
    if (IsConfirmed)
      step(event(PlanEvent::Confirmed, 1), {});
    compileLocally(1);
    summarize();
    EXPECT_EQ(Msg.warnings(),
              IsConfirmed
                  ? Texts()
                  : Texts({"plugin 'fake': module 'm1.o': invalid object from "
                           "host:1: it is empty; compiled locally instead",
                           "plugin 'fake': 1 of 5 modules were compiled "
                           "locally instead"}));
    EXPECT_FALSE(TheNotices->hasErrors());
  }
}

TEST_F(NoticesTest, AFallback) {
  for (Cause Failure : {Cause::Infrastructure, Cause::Cancelled, Cause::Caller,
                        Cause::Refused}) {
    Msg.clear();
    use(5);
    fallBack(1, Failure, "no luck on host:1");
    compileLocally(1);
    summarize();
    EXPECT_EQ(Msg.warnings(),
              Texts({"plugin 'fake': module 'm1.o': no luck on host:1; "
                     "compiling it locally",
                     "plugin 'fake': 1 of 5 modules were compiled "
                     "locally instead"}));
    EXPECT_FALSE(TheNotices->hasErrors());
  }
}

TEST_F(NoticesTest, WithoutFallback) {
  for (Cause Failure : {Cause::Infrastructure, Cause::Cancelled, Cause::Caller,
                        Cause::Refused, Cause::BadResult}) {
    use(5);
    failLink(1, Failure, "no luck on host:1");
    EXPECT_EQ(error(),
              "dtlto: plugin 'fake': module 'm1.o': no luck on host:1");
  }
  EXPECT_EQ(Msg.warnings(), Texts());
}

TEST_F(NoticesTest, OnlyTheFailureThatFailsTheLinkIsTold) {
  failLink(1, Cause::Caller, "no luck");
  for (plan::JobId J = 2; J != 5; ++J)
    step(event(PlanEvent::Failed, J, Cause::Caller), {}, "no luck");
  EXPECT_EQ(error(), "dtlto: plugin 'fake': module 'm1.o': no luck");
  EXPECT_EQ(Msg.warnings(), Texts());
}

TEST_F(NoticesTest, TheSettingThatForbidsFallbackIsNamed) {
  TheTestLink->Host.Config.NoFallback = "FARM_FALLBACK is 0";
  failLink(1, Cause::Infrastructure, "no host");
  EXPECT_EQ(error(), "dtlto: plugin 'fake': module 'm1.o': no host; not "
                     "compiled locally, since FARM_FALLBACK is 0");
}

TEST_F(NoticesTest, OneLineReportsSecondTries) {
  use(3);
  again(1, AttemptKind::Retry, "no luck on node3");
  EXPECT_TRUE(hasDebugMessage("'m1.o': no luck on node3; trying again"));
  succeed(1);
  succeed(0);
  summarize();
  EXPECT_EQ(Msg.warnings(), Texts());
  EXPECT_EQ(
      notes(),
      Texts({"plugin 'fake': 1 of 3 jobs failed, but succeeded when "
             "retried; the last one was module 'm1.o': no luck on node3"}));
}

TEST_F(NoticesTest, NoneOfSecondTriesThatFail) {
  again(1, AttemptKind::Retry, "no luck");
  fallBack(1, Cause::Infrastructure, "no luck again");
  compileLocally(1);
  summarize();
  EXPECT_EQ(notes(), Texts());
  EXPECT_TRUE(
      hasWarning("'m1.o': no luck again; before that: no luck; compiling"));
}

TEST_F(NoticesTest, SecondTriesThatFailAlikeAreToldOnce) {
  again(1, AttemptKind::Retry, "no answer within 4 s");
  fallBack(1, Cause::Infrastructure, "no answer within 5 s");
  compileLocally(1);
  EXPECT_EQ(Msg.warnings(),
            Texts({"plugin 'fake': module 'm1.o': no answer within 5 s; "
                   "compiling it locally"}));
}

TEST_F(NoticesTest, SecondTriesThatFailWithoutFallback) {
  again(1, AttemptKind::Retry, "killed by signal 9");
  failLink(1, Cause::Infrastructure, "no answer");
  EXPECT_EQ(error(), "dtlto: plugin 'fake': module 'm1.o': no answer; before "
                     "that: killed by signal 9");
}

/// If the linker is faster than the second try, the failure is still reported.
TEST_F(NoticesTest, SecondTriesThatDoNotEnd) {
  for (Cause Why : {Cause::PluginSilent, Cause::TakenBack, Cause::Straggler,
                    Cause::Overdue}) {
    Msg.clear();
    use(5);
    again(1, AttemptKind::Retry, "killed by signal 9");
    EXPECT_EQ(Msg.warnings(), Texts());
    stayLocal(1, Why);
    compileLocally(1);
    EXPECT_EQ(Msg.warnings(),
              Texts({"plugin 'fake': module 'm1.o': killed by signal 9; "
                     "compiled locally before a second try ended"}));
  }
}

TEST_F(NoticesTest, SecondTriesOfAPluginThatIsLost) {
  again(1, AttemptKind::Retry, "the connection broke");
  stayLocal(1, Cause::PluginDropped);
  compileLocally(1);
  EXPECT_EQ(Msg.warnings(), Texts()); // the loss itself has a warning
}

TEST_F(NoticesTest, CompilerErrorsAreJudgedHere) {
  use(5);
  fallBack(1, Cause::Compiler, "the compiler failed on host:1",
           "clang: no\n  such thing\n\n");
  // The cause isn't known yet.
  EXPECT_EQ(Msg.warnings(), Texts());
  compileLocally(1);
  summarize();
  EXPECT_EQ(
      Msg.warnings(),
      Texts({"plugin 'fake': module 'm1.o': the compiler failed on host:1, but "
             "compiling it locally worked; compiler output: clang: no\n  such "
             "thing",
             "plugin 'fake': 1 of 5 modules were compiled locally instead"}));
}

TEST_F(NoticesTest, CompilerErrorsWithoutAWord) {
  fallBack(1, Cause::Compiler, "the compiler failed", "\n");
  compileLocally(1);
  EXPECT_TRUE(
      hasWarning("the compiler failed, but compiling it locally worked; "
                 "compiler output: nothing"));
}

/// Without fallback, another worker compiles the module again.
TEST_F(NoticesTest, CompilerErrorsAreJudgedElsewhere) {
  use(5);
  Action Again = action(Action::Prepare, 1, 201);
  Again.AKind = AttemptKind::Retry;
  auto Fail = [&] {
    step(event(PlanEvent::Failed, 1, Cause::Compiler), {Again},
         "the compiler failed on host:1", "no such thing\n");
  };
  Fail();
  EXPECT_TRUE(hasDebugMessage(
      "'m1.o': the compiler failed on host:1; compiler output: no such "
      "thing; trying again"));
  EXPECT_EQ(Msg.warnings(), Texts());
  succeed(1);
  summarize();
  EXPECT_EQ(
      Msg.warnings(),
      Texts({"plugin 'fake': module 'm1.o': the compiler failed on "
             "host:1, but compiling it again worked; compiler output: no such "
             "thing"}));
  EXPECT_EQ(notes(), Texts());

  use(5);
  Fail();
  failLink(1, Cause::Infrastructure, "no answer");
  EXPECT_EQ(error(),
            "dtlto: plugin 'fake': module 'm1.o': no answer; before that: the "
            "compiler failed on host:1: no such thing");
}

TEST_F(NoticesTest, CompilerErrorsWithoutFallback) {
  step(event(PlanEvent::Failed, 1, Cause::Compiler),
       {action(Action::EndJob, 1, 1, Cause::Compiler)},
       "the compiler failed on host:1", "clang: no such thing\n");
  EXPECT_EQ(error(), "dtlto: plugin 'fake': module 'm1.o' failed to compile on "
                     "host:1: clang: no such thing");
  EXPECT_EQ(Msg.warnings(), Texts());
}

TEST_F(NoticesTest, CompilerErrorsHere) {
  // With and without the plugin, only the compiler's errors are shown.
  step(event(PlanEvent::Failed, 1, Cause::LocalCompiler),
       {action(Action::EndJob, 1, 1, Cause::LocalCompiler)},
       "the compiler failed", "all words", Texts({"undefined opcode"}));
  step(event(PlanEvent::LocalCompileFailed, 2),
       {action(Action::EndJob, 2, 102, Cause::LocalCompiler)}, "", "all words",
       Texts({"unknown directive", "and another"}));
  std::string Text = error();
  for (StringRef Part :
       {"undefined opcode", "m1.o", "unknown directive\nand another", "m2.o"})
    EXPECT_NE(Text.find(Part), std::string::npos) << Text;
  EXPECT_EQ(Text.find("plugin"), std::string::npos) << Text;
  EXPECT_EQ(Msg.warnings(), Texts());
}

TEST_F(NoticesTest, ErrorsOfLLVMAreInItsOwnWords) {
  for (Cause Why : {Cause::PrepareFailed, Cause::DeliverFailed}) {
    use(3);
    step(event(PlanEvent::PrepareFailed, 1),
         {action(Action::EndJob, 1, 1, Why)}, "can't write file");
    EXPECT_EQ(error(), "can't write file");
  }
}

TEST_F(NoticesTest, TimeLimits) {
  // Only time passes.
  stayLocal(1, Cause::Timeout);
  compileLocally(1);
  summarize();
  EXPECT_TRUE(hasWarning("plugin 'fake': module 'm1.o': no result within 7 s "
                         "(--thinlto-dist-timeout); compiling it locally"));
  EXPECT_TRUE(hasWarning("1 of 30 modules were compiled locally instead"));

  step(event(PlanEvent::Tick),
       {action(Action::FailLink, 2, 2, Cause::Timeout)});
  EXPECT_EQ(error(), "dtlto: plugin 'fake': module 'm2.o': no result within 7 "
                     "s (--thinlto-dist-timeout)");
}

TEST_F(NoticesTest, MessagesOfTheCompilerAreShownOfTheResultThatIsUsed) {
  Step S;
  PlanEvent E = event(PlanEvent::Succeeded, 1);
  std::vector<CompilerMessage> Messages = {
      {MessageLevel::Diagnostic, "mind the gap"},
      {MessageLevel::Remark, "not vectorized"},
      {MessageLevel::Diagnostic, "mind the gap"}};
  S.E = &E;
  S.Job = 1;
  S.Messages = Messages;
  TheNotices->onStep(S); // the result isn't used
  EXPECT_EQ(Msg.all(MessageLevel::Diagnostic), Texts());
  std::vector<Action> Won = {action(Action::Won, 1, 1)};
  S.Actions = Won;
  TheNotices->onStep(S);
  EXPECT_EQ(Msg.all(MessageLevel::Diagnostic),
            Texts({"mind the gap", "mind the gap"}));
  EXPECT_EQ(Msg.all(MessageLevel::Remark), Texts({"not vectorized"}));
  EXPECT_EQ(Msg.warnings(), Texts());
}

TEST_F(NoticesTest, WordsOfJobsThatAreNotKnown) {
  TheNotices->showCompilerOutput(
      "warning: large [-Wframe-larger-than=]\nno machine\n"
      "error: no good\n1 warning and 1 error generated.\n");
  EXPECT_EQ(Msg.all(MessageLevel::Diagnostic), Texts({"large"}));
  EXPECT_EQ(notes(), Texts({"fake: no machine"}));
}

TEST_F(NoticesTest, WhatElsewhereCannotBeTold) {
  for (auto [J, What] : {std::pair(0u, "verification"),
                         {1u, "a plugin"},
                         {2u, "verification"}}) {
    stayLocal(J, Cause::NotExpressible, What);
    compileLocally(J);
  }
  summarize();
  EXPECT_EQ(
      notes(),
      Texts({"plugin 'fake': 3 of 30 modules were compiled locally, since "
             "a plugin, verification cannot be expressed on a remote "
             "compiler's command line"}));
  EXPECT_EQ(Msg.warnings(), Texts());
}

/// In two rounds, the second reports only what is new.
TEST_F(NoticesTest, WhatElsewhereCannotBeToldInTwoRounds) {
  RunContext::RoundNotes First;
  auto Round = [&](unsigned Number, ArrayRef<StringRef> Reasons) {
    use(30);
    TheTestLink->Run.Round = Number;
    TheTestLink->Run.First = &First;
    for (plan::JobId J = 0; J != Reasons.size(); ++J) {
      stayLocal(J, Cause::NotExpressible, Reasons[J]);
      compileLocally(J);
    }
    Msg.clear();
    summarize();
    return notes().size();
  };
  EXPECT_EQ(Round(1, {"a plugin"}), 1u);
  EXPECT_EQ(Round(2, {"a plugin"}), 0u);
  First.LocalReasons.clear();
  EXPECT_EQ(Round(1, {}), 0u);
  EXPECT_EQ(Round(2, {"assembly"}), 1u);
  First.LocalReasons.clear();
  EXPECT_EQ(Round(1, {"a plugin"}), 1u);
  EXPECT_EQ(Round(2, {"a plugin", "assembly"}), 1u);
}

//===----------------------------------------------------------------------===//
// Many failures
//===----------------------------------------------------------------------===//

TEST_F(NoticesTest, RepeatedMessages) {
  for (plan::JobId J = 0; J != 30; ++J)
    fallBack(J, Cause::Infrastructure, "no luck"), compileLocally(J);
  summarize();
  EXPECT_TRUE(hasWarning("plugin 'fake': 27 more modules failed in the same "
                         "way (use --verbose to list them)"));
  EXPECT_TRUE(hasWarning("30 of 30 modules were compiled locally instead"));
  EXPECT_EQ(Msg.warnings().size(), 5u);
}

TEST_F(NoticesTest, AllIsToldToWhoWantsToKnow) {
  Msg.Verbose = true;
  for (plan::JobId J = 0; J != 30; ++J)
    fallBack(J, Cause::Infrastructure, "no luck"), compileLocally(J);
  summarize();
  EXPECT_FALSE(hasWarning("more modules failed in the same way"));
  EXPECT_EQ(Msg.warnings().size(), 31u);
}

TEST_F(NoticesTest, ReasonsThatDifferInNumbersAreOne) {
  for (plan::JobId J = 0; J != 30; ++J)
    fallBack(J, Cause::Caller, "no answer from port " + std::to_string(J * J));
  summarize();
  EXPECT_TRUE(hasWarning("27 more modules failed in the same way"));
  EXPECT_EQ(Msg.warnings().size(), 4u);
}

TEST_F(NoticesTest, OtherReasonsAreToldUpToALimit) {
  for (plan::JobId J = 0; J != 30; ++J)
    fallBack(J, Cause::Caller, std::string(1 + J, 'a'));
  summarize();
  EXPECT_TRUE(hasWarning("20 more modules failed in the same way"));
  EXPECT_EQ(Msg.warnings().size(), 11u);
}

TEST_F(NoticesTest, WhatCompilersSaidIsWhatTheyHaveInCommon) {
  // All have the same reason, but different messages of the compiler.
  for (plan::JobId J = 0; J != 5; ++J) {
    fallBack(J, Cause::Compiler, "the compiler failed",
             std::string(1 + J, 'a'));
    compileLocally(J);
  }
  EXPECT_EQ(Msg.warnings().size(), 5u);
}

//===----------------------------------------------------------------------===//
// A plugin that fails
//===----------------------------------------------------------------------===//

TEST_F(NoticesTest, TheRestIsCompiledHere) {
  for (plan::JobId J = 0; J != 28; ++J)
    succeed(J);
  for (plan::JobId J : {28, 29})
    stayLocal(J, Cause::PluginDropped);
  step(event(PlanEvent::PluginFailed),
       {action(Action::DropPlugin, 0, 0, Cause::PluginFailed)},
       "no host is left");
  for (plan::JobId J : {28, 29})
    compileLocally(J);
  summarize();
  // One warning for all jobs, including those that the plugin holds.
  EXPECT_EQ(Msg.warnings(),
            Texts({"plugin 'fake': no host is left; compiling the remaining "
                   "modules locally",
                   "plugin 'fake': 2 of 30 modules were compiled "
                   "locally instead"}));
}

TEST_F(NoticesTest, OrTheLinkFails) {
  Run->HasFailed = true;
  step(event(PlanEvent::OpenFailed),
       {action(Action::DropPlugin, 0, 0, Cause::OpenFailed),
        action(Action::FailLink, 0, 0, Cause::OpenFailed),
        action(Action::EndJob, 0, 0, Cause::LinkFailed)},
       "no farm today");
  EXPECT_EQ(error(), "dtlto: plugin 'fake': no farm today");
  EXPECT_EQ(Msg.warnings(), Texts());
}

TEST_F(NoticesTest, OrTheLinkFailsSinceTheSettingsSaySo) {
  TheTestLink->Host.Config.NoFallback = "FARM_FALLBACK is 0";
  Run->HasFailed = true;
  step(event(PlanEvent::OpenFailed),
       {action(Action::DropPlugin, 0, 0, Cause::OpenFailed)}, "no farm today");
  EXPECT_EQ(error(), "dtlto: plugin 'fake': no farm today; not compiled "
                     "locally, since FARM_FALLBACK is 0");
}

TEST_F(NoticesTest, NothingRemainsOfJobsThatHaveObjectsOrFailed) {
  use(3);
  step(event(PlanEvent::CacheHit, 0),
       {action(Action::EndJob, 0, 0, Cause::Cached)});
  step(event(PlanEvent::PrepareFailed, 1),
       {action(Action::EndJob, 1, 1, Cause::PrepareFailed)}, "no file");
  succeed(2); // not delivered yet
  step(event(PlanEvent::PluginFailed),
       {action(Action::DropPlugin, 0, 0, Cause::PluginFailed)},
       "a second result");
  EXPECT_EQ(Msg.warnings(), Texts({"plugin 'fake': a second result"}));
  EXPECT_EQ(error(), "no file");
}

TEST_F(NoticesTest, APluginThatIsAlwaysBusy) {
  step(event(PlanEvent::Tick),
       {action(Action::DropPlugin, 0, 0, Cause::AlwaysBusy)});
  EXPECT_EQ(Msg.warnings(),
            Texts({"plugin 'fake': it is busy, but has not taken a job for 7 s "
                   "(--thinlto-dist-timeout); compiling the remaining modules "
                   "locally"}));
  Run->HasFailed = true;
  step(event(PlanEvent::Tick),
       {action(Action::DropPlugin, 0, 0, Cause::AlwaysBusy)});
  EXPECT_EQ(error(), "dtlto: plugin 'fake': it is busy, but has not taken a "
                     "job for 7 s (--thinlto-dist-timeout)");
}

TEST_F(NoticesTest, APluginWhoseJobsTimeOut) {
  step(event(PlanEvent::Tick),
       {action(Action::DropPlugin, 0, 0, Cause::Timeout)});
  EXPECT_EQ(Msg.warnings(),
            Texts({"plugin 'fake': its last jobs had no result within 7 s "
                   "(--thinlto-dist-timeout); compiling the remaining modules "
                   "locally"}));
}

TEST_F(NoticesTest, ALinkThatWouldWaitForEver) {
  TheNotices->internalError("job 3 has no attempt");
  EXPECT_EQ(error(), "dtlto: internal error: jobs are left, but no thread "
                     "is working on them: job 3 has no attempt");
  use(1);
  TheNotices->internalError("");
  EXPECT_EQ(error(), "dtlto: internal error: jobs are left, but no thread "
                     "is working on them");
}

//===----------------------------------------------------------------------===//
// Duplicates
//===----------------------------------------------------------------------===//

TEST_F(NoticesTest, Duplicates) {
  again(1, AttemptKind::Duplicate, "", /*Avoid=*/2);
  EXPECT_TRUE(
      hasDebugMessage("plugin 'fake': module 'm1.o' takes long on two.example; "
                      "starting a duplicate attempt"));
  again(2, AttemptKind::Duplicate, "");
  EXPECT_TRUE(hasDebugMessage(
      "module 'm2.o' takes long; starting a duplicate attempt"));
  succeed(1, "", AttemptKind::Duplicate);
  succeed(2);
  summarize();
  EXPECT_TRUE(
      hasDebugMessage("plugin 'fake': duplicate attempts for slow jobs: 2 "
                      "started, 1 finished first"));
  EXPECT_EQ(Msg.warnings(), Texts());
  EXPECT_EQ(notes(), Texts());
}

TEST_F(NoticesTest, StragglersThatAreCompiledHere) {
  Action StayAction = action(Action::StayLocal, 1, 101, Cause::Straggler);
  StayAction.Avoid = 1;
  step(event(PlanEvent::Tick), {StayAction});
  EXPECT_TRUE(hasDebugMessage(
      "'m1.o' takes long on one.example; starting a duplicate attempt"));
  compileLocally(1);
  summarize();
  EXPECT_TRUE(hasDebugMessage(
      "duplicate attempts for slow jobs: 1 started, 1 finished first"));
  EXPECT_EQ(Msg.warnings(), Texts());
}

TEST_F(NoticesTest, AFailureIsNoneWhileAnotherAttemptRuns) {
  step(event(PlanEvent::Failed, 1, Cause::Compiler), {}, "the compiler failed",
       "no memory");
  EXPECT_TRUE(hasDebugMessage(
      "'m1.o': the compiler failed; another attempt is still running"));
  EXPECT_EQ(Msg.warnings(), Texts());
  EXPECT_FALSE(TheNotices->hasErrors());
}

TEST_F(NoticesTest, VerifiedObjects) {
  for (plan::JobId J = 0; J != 3; ++J)
    step(event(PlanEvent::CompiledLocally, J), {action(Action::Verify, J, J)});
  summarize();
  EXPECT_TRUE(hasDebugMessage("plugin 'fake': 3 of 30 objects verified"));
}

TEST_F(NoticesTest, NoObjectIsVerified) {
  TheLinker.Opts.VerifyPercent = 5;
  step(event(PlanEvent::CacheHit, 0),
       {action(Action::EndJob, 0, 0, Cause::Cached)});
  Action ProvenDelivery = action(Action::Deliver, 1, 1);
  ProvenDelivery.IsProven = true;
  step(event(PlanEvent::CompiledLocally, 1), {ProvenDelivery});
  succeed(2);
  summarize();
  EXPECT_EQ(Msg.warnings(),
            Texts({"plugin 'fake': none of the 30 objects was verified "
                   "(--thinlto-dist-verify): 1 came from the cache, 1 were "
                   "compiled locally"}));
  // Not next to an error, nor in a link without jobs.
  Msg.clear();
  TheNotices->internalError("");
  summarize();
  use(0);
  summarize();
  EXPECT_EQ(Msg.warnings(), Texts());
}

TEST_F(NoticesTest, ACachedObjectThatIsVerified) {
  TheLinker.Opts.VerifyPercent = 5;
  step(event(PlanEvent::CacheHit, 1), {action(Action::Won, 1, 1)});
  step(event(PlanEvent::CompiledLocally, 1), {action(Action::Verify, 1, 2)});
  summarize();
  EXPECT_TRUE(hasDebugMessage("plugin 'fake': 1 of 30 objects verified"));
  EXPECT_EQ(Msg.warnings(), Texts());
}

TEST_F(NoticesTest, VerificationFindsAnotherObject) {
  step(event(PlanEvent::VerifyFailed, 1),
       {action(Action::EndJob, 1, 1, Cause::VerifyFailed)},
       "the object of module 'm1.o' differs");
  EXPECT_EQ(error(),
            "dtlto: plugin 'fake': the object of module 'm1.o' differs");
}

//===----------------------------------------------------------------------===//
// Local compiles, and the farm
//===----------------------------------------------------------------------===//

TEST_F(NoticesTest, ThisMachinesShare) {
  Cause Reasons[] = {Cause::PluginFull, Cause::TakenBack, Cause::PluginSilent,
                     Cause::Overdue};
  for (plan::JobId J = 0; J != 29; ++J)
    stayLocal(J, Reasons[J % 4]), compileLocally(J);
  summarize();
  EXPECT_TRUE(
      hasDebugMessage("plugin 'fake': 29 of 30 modules were compiled locally"));
  EXPECT_EQ(Msg.warnings(), Texts());
}

TEST_F(NoticesTest, ThePluginTookNone) {
  for (plan::JobId J = 0; J != 30; ++J)
    stayLocal(J, Cause::PluginFull), compileLocally(J);
  // This is normal in so short a link.
  TheTestLink->Run.StartTime = Clock::now() + std::chrono::hours(1);
  summarize();
  EXPECT_EQ(Msg.warnings(), Texts());
  EXPECT_TRUE(hasDebugMessage("; all were compiled locally"));

  TheTestLink->Run.StartTime = Clock::now() - std::chrono::seconds(2);
  summarize();
  EXPECT_EQ(Msg.warnings(),
            Texts({"plugin 'fake': it was not open after 0.0 s; all were "
                   "compiled locally; --thinlto-dist-status shows the farm"}));
}

/// The warning describes what the plugin did.
TEST_F(NoticesTest, WhyThePluginMadeNothing) {
  auto At = [&](double Seconds, PlanEvent E, StringRef Why = "") {
    Step S;
    S.Now = std::chrono::duration_cast<plan::Time>(
        std::chrono::duration<double>(Seconds));
    S.E = &E;
    S.Job = E.Job;
    S.Why = Why;
    TheNotices->onStep(S);
  };
  auto Summary = [&] {
    for (plan::JobId J = 0; J != 4; ++J)
      stayLocal(J, Cause::PluginSilent), compileLocally(J);
    At(3, event(PlanEvent::Tick));
    Msg.clear();
    TheTestLink->Run.StartTime = Clock::now() - std::chrono::seconds(3);
    summarize();
    EXPECT_EQ(Msg.warnings().size(), 1u);
    const std::string Warning = Msg.warnings()[0];
    StringRef Text = Warning;
    EXPECT_TRUE(Text.consume_front("plugin 'fake': it "));
    EXPECT_TRUE(Text.consume_back("; all were compiled locally; "
                                  "--thinlto-dist-status shows the farm"));
    use(4);
    return Text.str();
  };
  use(4);
  EXPECT_EQ(Summary(), "was not open after 3.0 s");

  At(1, event(PlanEvent::Opened));
  EXPECT_EQ(Summary(), "accepted none of the 4 jobs within 3.0 s");

  At(1, event(PlanEvent::Opened));
  At(1, event(PlanEvent::Busy, 0));
  EXPECT_EQ(Summary(), "was full, and accepted none of the 4 jobs");

  At(1, event(PlanEvent::Opened));
  for (plan::JobId J = 0; J != 4; ++J)
    At(1, event(PlanEvent::Accepted, J));
  EXPECT_EQ(Summary(), "accepted the 4 jobs, but started none within 2.0 s");

  At(1, event(PlanEvent::Opened));
  PlanEvent Running = event(PlanEvent::StateChanged, 1);
  Running.State = plan::PluginState::Running;
  At(1, event(PlanEvent::Accepted, 1));
  At(1.5, Running);
  At(2, event(PlanEvent::Failed, 1, Cause::Infrastructure), "no workers");
  EXPECT_EQ(Summary(),
            "accepted 1 of 4 jobs, started 1, but returned no result "
            "within 2.0 s; the last failure: no workers");
}

/// On a terminal, the last line has the numbers.
TEST_F(NoticesTest, CountsOnATerminal) {
  TheLinker.Opts.Progress = ProgressKind::Auto;

  succeed(0);
  summarize();
  EXPECT_EQ(notes(), Texts()) << "not a terminal";

  Msg.Columns = 80;
  use(4);

  succeed(0);
  succeed(1);
  stayLocal(2, Cause::PluginFull), compileLocally(2);
  step(event(PlanEvent::CacheHit, 3), {action(Action::Won, 3, 3)});
  summarize();
  EXPECT_EQ(notes(),
            Texts({"4 modules: 1 from the cache, 2 remotely, 1 locally"}));

  Msg.clear();
  TheLinker.Opts.Progress = ProgressKind::Never;
  summarize();
  EXPECT_EQ(notes(), Texts());
}

TEST_F(NoticesTest, LoadIsToldWhenItIsNews) {
  dtlto_load Load = {};
  Load.workers = 2;
  Load.slots = 8;
  Load.free = 8;
  Load.queued = UINT32_MAX;
  auto Tell = [&] {
    Step S;
    PlanEvent E{PlanEvent::LoadReported};
    S.E = &E;
    S.Load = &Load;
    TheNotices->onStep(S);
  };
  Tell();
  Load.free = 1;
  Tell();
  EXPECT_EQ(
      Msg.all(MessageLevel::Debug),
      Texts({"plugin 'fake': 2 workers, 8 slots, 8 free, ? jobs queued"}));
  Load.slots = 9;
  Tell();
  EXPECT_TRUE(hasDebugMessage("2 workers, 9 slots, 1 free, ? jobs queued"));
}

} // namespace
