//===- TimelineTest.cpp - The timeline of a link's jobs -------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report/Timeline.h"
#include "../Run/Steps.h"
#include "LTO/JobBuilder.h"
#include "PluginLinkTest.h"
#include "dtlto/ext/numbers.h"

using namespace llvm;
using namespace dtlto;
using namespace dtlto::test;
using plan::Action;
using PlanEvent = plan::Event;
using Kind = AttemptRecord::Kind;
using Outcome = AttemptRecord::Outcome;
using Source = JobRecord::Source;

namespace {

class TimelineTest : public PluginLinkTest {
protected:
  TimelineTest() {
    // Time traces make the linker keep the timeline.
    TheLink.Configure = [](lto::Config &C) { C.TimeTraceEnabled = true; };
    TheLink.TheLinker.Opts.LocalJobs = 0;
    setTimeout(60);
  }

  /// Links, and checks what every timeline must fulfill.
  void linkAndRecord() {
    link();
    ASSERT_EQ(TheLink.TheLinker.Timelines.size(), 1u);
    const Timeline &T = record();
    EXPECT_EQ(T.hasFailed(), ActualResult.Error != "");
    for (const JobRecord &J : T.jobs()) {
      EXPECT_GE(J.Cost, 0);
      EXPECT_GT(J.PrimaryBytes, 0u) << J.Name;
      if (ActualResult.Error == "") {
        EXPECT_NE(J.From, Source::None) << J.Name;
        EXPECT_LE(J.Ended, T.end()) << J.Name;
      }
      double Last = 0;
      for (double Time : {J.Preparing, J.Prepared, J.Delivering, J.Ended})
        if (Time != NoTime) {
          EXPECT_GE(Time, Last) << J.Name;
          Last = Time;
        }
      for (const AttemptRecord &A : J.Attempts) {
        Last = 0;
        for (double Time :
             {A.Offered, A.Accepted, A.Sending, A.Running, A.Receiving, A.Done})
          if (Time != NoTime) {
            EXPECT_GE(Time, Last) << J.Name;
            Last = Time;
          }
        EXPECT_NE(A.Done, NoTime) << J.Name;
        EXPECT_NE(A.TheOutcome, Outcome::Open) << J.Name;
      }
    }
  }

  const Timeline &record() { return TheLink.TheLinker.Timelines.back(); }
  const JobRecord &job(StringRef Name) {
    for (const JobRecord &J : record().jobs())
      if (J.Name == Name)
        return J;
    ADD_FAILURE() << "no job " << Name.str();
    return record().jobs().front();
  }
};

/// Numbers of a plugin are cleaned, limited, and stored with their attempt.
TEST_F(TimelineTest, NumbersOfThePlugin) {
  const dtlto_numbers *Numbers = nullptr;
  dtlto_host_context *Context = nullptr;
  Plugin.OnRun = [&](const FakePlugin::Job &J) {
    const dtlto_host &Host = Plugin.host();
    Context = Host.context;
    Numbers = static_cast<const dtlto_numbers *>(
        Host.extension(Context, DTLTO_EXT_NUMBERS));
    ASSERT_NE(Numbers, nullptr);
    EXPECT_EQ(Numbers->size, sizeof(dtlto_numbers));
    EXPECT_EQ(Numbers->reserved, 0u);
    Numbers->session(Context, "jobs", DTLTO_UNIT_COUNT, J.Id);
    Numbers->session(Context, "jobs", DTLTO_UNIT_COUNT, 1000);
    Numbers->job(Context, J.Id, "id", 77, J.Id);
    Numbers->job(Context, J.Id + 1000, "nobody's", DTLTO_UNIT_COUNT, 1);
    for (unsigned I = 0; I != 1000; ++I)
      Numbers->job(Context, J.Id, std::to_string(I).c_str(), DTLTO_UNIT_BYTES,
                   I);
    Plugin.done(J.Id, Plugin.codegen(J.Id));
    Numbers->job(Context, J.Id, "id", DTLTO_UNIT_COUNT, 0);
  };
  Plugin.OnClose = [&] {
    Numbers->session(Context, nullptr, DTLTO_UNIT_COUNT, 1);
    Numbers->session(Context, "", DTLTO_UNIT_COUNT, 1);
    Numbers->session(Context, "\x1b[31m\n\xff", DTLTO_UNIT_MICROSECONDS,
                     UINT64_MAX);
    for (unsigned I = 0; I != 1000; ++I)
      Numbers->session(Context,
                       (std::to_string(I) + std::string(1000, 'x')).c_str(),
                       DTLTO_UNIT_BYTES, I);
    Numbers->session(Context, "jobs", DTLTO_UNIT_COUNT, 4);
  };
  makeProgram(4);
  linkAndRecord();
  ArrayRef<PluginNumber> Told = record().sessionNumbers();
  ASSERT_EQ(Told.size(), PluginNumbers::MaxPerSession);
  EXPECT_EQ(Told[0].Name, "jobs");
  EXPECT_EQ(Told[0].Value, 4u);
  EXPECT_EQ(Told[1].Name, "\\x1b[31m \\xff");
  EXPECT_EQ(Told[1].Unit, uint32_t(DTLTO_UNIT_MICROSECONDS));
  for (const PluginNumber &N : Told)
    EXPECT_LE(N.Name.size(), 2 * PluginNumbers::MaxName);
  for (const JobRecord &J : record().jobs()) {
    ASSERT_EQ(J.Attempts.size(), 1u);
    const AttemptRecord &A = J.Attempts.front();
    ASSERT_EQ(A.Numbers.size(), PluginNumbers::MaxPerJob);
    EXPECT_EQ(A.Numbers[0].Name, "id");
    EXPECT_EQ(A.Numbers[0].Unit, uint32_t(DTLTO_UNIT_COUNT));
    EXPECT_EQ(A.Numbers[0].Value, A.Id);
    EXPECT_EQ(A.Numbers[3].Value, 2u);
  }
}

TEST_F(TimelineTest, KeepsNothingUnlessAsked) {
  TheLink.Configure = nullptr;
  makeProgram(3);
  linkSame();
  EXPECT_TRUE(TheLink.TheLinker.Timelines.empty());
}

TEST_F(TimelineTest, AJobOnAWorker) {
  makeProgram(3);
  TheLink.TheLinker.Opts.SlimThreshold = 0; // these modules are tiny
  Plugin.setNeeds(DTLTO_JOB_INPUTS);
  Plugin.OnRun = [this](const FakePlugin::Job &J) {
    Plugin.state(J.Id, DTLTO_STATE_SENDING, "node1");
    Plugin.state(J.Id, DTLTO_STATE_RUNNING, "node1");
    Plugin.state(J.Id, DTLTO_STATE_RECEIVING, "node1");
    dtlto_result Result = remote(J);
    Result.worker = "node1";
    Plugin.done(J.Id, Result);
  };
  linkAndRecord();
  expectSameObjects();
  ASSERT_EQ(record().jobs().size(), 3u);
  EXPECT_NE(record().openedAt(), NoTime);
  std::set<unsigned> Numbers;
  unsigned NumImporting = 0;
  for (const JobRecord &J : record().jobs()) {
    Numbers.insert(J.Number);
    EXPECT_EQ(J.From, Source::Worker);
    EXPECT_EQ(J.LocalReason, "");
    EXPECT_EQ(J.ObjectBytes, ExpectedResult.Objects[J.Name].size());
    EXPECT_GT(J.ShardBytes, 0u);
    // Slim imports are smaller. All modules but one import from the next.
    if (J.ImportBytes) {
      ++NumImporting;
      EXPECT_GT(J.WholeImportBytes, J.ImportBytes);
    }
    ASSERT_EQ(J.Attempts.size(), 1u);
    const AttemptRecord &A = J.Attempts[0];
    EXPECT_EQ(A.TheKind, Kind::First);
    EXPECT_EQ(A.TheOutcome, Outcome::Ok);
    EXPECT_EQ(A.Worker, "node1");
    EXPECT_EQ(A.Message, "");
    EXPECT_FALSE(A.RanLocally);
    EXPECT_NE(A.Id, 0u);
    for (double Time : {A.Offered, A.Accepted, A.Sending, A.Running,
                        A.Receiving, A.Done, J.Preparing, J.Delivering})
      EXPECT_NE(Time, NoTime);
  }
  EXPECT_EQ(Numbers.size(), 3u);
  EXPECT_GE(NumImporting, 2u);
}

TEST_F(TimelineTest, AJobThatThePluginRunsInTheLinker) {
  makeProgram(2);
  linkAndRecord();
  expectSameObjects();
  for (const JobRecord &J : record().jobs()) {
    EXPECT_EQ(J.From, Source::Local);
    ASSERT_EQ(J.Attempts.size(), 1u);
    EXPECT_TRUE(J.Attempts[0].RanLocally);
    EXPECT_NE(J.Attempts[0].Running, NoTime);
    EXPECT_NE(J.Attempts[0].Id, 0u);
  }
}

TEST_F(TimelineTest, ARetry) {
  makeProgram(2);
  Plugin.OnRun = [this](const FakePlugin::Job &J) {
    if (J.Name == "m0.o" && J.Attempt == 1)
      return Plugin.done(
          J.Id, Plugin.failure(DTLTO_ERROR_INFRASTRUCTURE, "no route", "n2"));
    Plugin.done(J.Id, remote(J));
  };
  linkAndRecord();
  expectSameObjects();
  const JobRecord &J = job("m0.o");
  EXPECT_EQ(J.From, Source::Worker);
  ASSERT_EQ(J.Attempts.size(), 2u);
  EXPECT_EQ(J.Attempts[0].TheKind, Kind::First);
  EXPECT_EQ(J.Attempts[0].TheOutcome, Outcome::Infrastructure);
  EXPECT_EQ(J.Attempts[0].Message, "no route");
  EXPECT_EQ(J.Attempts[0].Worker, "n2");
  EXPECT_EQ(J.Attempts[1].TheKind, Kind::Retry);
  EXPECT_EQ(J.Attempts[1].TheOutcome, Outcome::Ok);
  EXPECT_EQ(job("m1.o").Attempts.size(), 1u);
}

TEST_F(TimelineTest, APluginThatTriesAgainByItself) {
  makeProgram(2);
  Plugin.OnRun = [this](const FakePlugin::Job &J) {
    bool IsLast = J.Name == "m1.o";
    for (const char *Worker : {"n1", "n2", "n3"}) {
      Plugin.state(J.Id, DTLTO_STATE_SENDING, Worker);
      Plugin.state(J.Id, DTLTO_STATE_RUNNING, Worker);
      // The plugin may report the next try by a state, or just by a new worker.
      if (IsLast)
        break;
      if (Worker == StringRef("n1"))
        Plugin.state(J.Id, DTLTO_STATE_QUEUED, nullptr);
    }
    Plugin.done(J.Id, remote(J));
  };
  linkAndRecord();
  expectSameObjects();
  const JobRecord &J = job("m0.o");
  EXPECT_EQ(J.From, Source::Worker);
  ASSERT_EQ(J.Attempts.size(), 3u);
  for (unsigned I = 0; I != 3; ++I) {
    const AttemptRecord &A = J.Attempts[I];
    EXPECT_EQ(A.Worker, "n" + std::to_string(I + 1));
    EXPECT_EQ(A.TheKind, I == 0 ? Kind::First : Kind::Retry);
    EXPECT_EQ(A.TheOutcome, I == 2 ? Outcome::Ok : Outcome::Infrastructure);
    EXPECT_NE(A.Running, NoTime);
  }
  EXPECT_EQ(job("m1.o").Attempts.size(), 1u);
}

TEST_F(TimelineTest, AFallback) {
  makeProgram(2);
  Plugin.OnRun = [this](const FakePlugin::Job &J) {
    if (J.Name == "m0.o")
      return Plugin.done(J.Id, Plugin.failure(DTLTO_ERROR_CALLER, "too odd"));
    Plugin.done(J.Id, remote(J));
  };
  linkAndRecord();
  expectSameObjects();
  const JobRecord &J = job("m0.o");
  EXPECT_EQ(J.From, Source::Local);
  EXPECT_EQ(J.LocalReason, "it refused the job: too odd");
  ASSERT_EQ(J.Attempts.size(), 2u);
  EXPECT_EQ(J.Attempts[0].TheOutcome, Outcome::Refused);
  EXPECT_EQ(J.Attempts[1].TheKind, Kind::Local);
  EXPECT_EQ(J.Attempts[1].TheOutcome, Outcome::Ok);
  EXPECT_EQ(J.Attempts[1].Id, 0u);
}

TEST_F(TimelineTest, AnObjectThatIsNoGood) {
  makeProgram(2);
  Plugin.OnRun = [this](const FakePlugin::Job &J) {
    Plugin.done(J.Id, J.Name == "m0.o" ? Plugin.object("<html>") : remote(J));
  };
  linkAndRecord();
  expectSameObjects();
  const JobRecord &J = job("m0.o");
  EXPECT_EQ(J.From, Source::Local);
  ASSERT_EQ(J.Attempts.size(), 2u);
  EXPECT_EQ(J.Attempts[0].TheOutcome, Outcome::Infrastructure);
  EXPECT_NE(J.Attempts[0].Message.find("invalid object"), std::string::npos);
  EXPECT_EQ(J.Attempts[1].TheOutcome, Outcome::Ok);
}

TEST_F(TimelineTest, ACompilerErrorFailsTheLink) {
  makeProgram(2);
  setFallback(FallbackKind::None);
  Plugin.OnRun = [this](const FakePlugin::Job &J) {
    if (J.Name == "m0.o")
      return Plugin.done(J.Id, Plugin.failure(DTLTO_ERROR_COMPILER, "oops"));
    Plugin.done(J.Id, remote(J));
  };
  linkAndRecord();
  EXPECT_NE(ActualResult.Error, "");
  const JobRecord &J = job("m0.o");
  EXPECT_EQ(J.From, Source::None);
  // A second attempt confirmed the error.
  ASSERT_EQ(J.Attempts.size(), 2u);
  for (const auto &A : J.Attempts) {
    EXPECT_EQ(A.TheOutcome, Outcome::Compiler);
    EXPECT_EQ(A.Message, "oops");
  }
}

TEST_F(TimelineTest, BusyIsNoAttempt) {
  makeProgram(3);
  Plugin.OnSubmit = [this](const FakePlugin::Job &J) {
    if (J.Attempt > 1)
      return DTLTO_OK;
    Plugin.loadChanged();
    return DTLTO_BUSY;
  };
  Plugin.OnRun = [this](const FakePlugin::Job &J) {
    Plugin.done(J.Id, remote(J));
  };
  linkAndRecord();
  expectSameObjects();
  for (const JobRecord &J : record().jobs()) {
    EXPECT_EQ(J.NumBusy, 1u);
    ASSERT_EQ(J.Attempts.size(), 1u);
    EXPECT_EQ(J.Attempts[0].TheKind, Kind::First);
    EXPECT_EQ(J.Attempts[0].TheOutcome, Outcome::Ok);
  }
}

TEST_F(TimelineTest, APluginThatGivesUp) {
  makeProgram(3);
  Plugin.OnRun = [this](const FakePlugin::Job &) {
    Plugin.log(DTLTO_LOG_ERROR, "the farm is on fire");
  };
  linkAndRecord();
  expectSameObjects();
  EXPECT_EQ(record().pluginFailure(), "the farm is on fire");
  unsigned NumFailed = 0;
  for (const JobRecord &J : record().jobs()) {
    EXPECT_EQ(J.From, Source::Local);
    EXPECT_NE(J.LocalReason, "");
    for (const AttemptRecord &A : J.Attempts)
      NumFailed += A.TheOutcome == Outcome::PluginFailed;
  }
  EXPECT_GE(NumFailed, 1u);
}

TEST_F(TimelineTest, VerifiedObjectsAreTheWorkers) {
  makeProgram(2);
  TheLink.TheLinker.Opts.VerifyPercent = 100;
  Plugin.OnRun = [this](const FakePlugin::Job &J) {
    Plugin.done(J.Id, remote(J));
  };
  linkAndRecord();
  expectSameObjects();
  for (const JobRecord &J : record().jobs()) {
    EXPECT_EQ(J.From, Source::Worker);
    ASSERT_EQ(J.Attempts.size(), 2u);
    EXPECT_EQ(J.Attempts[1].TheKind, Kind::Verify);
  }
}

TEST_F(TimelineTest, ObjectsOfTheCache) {
  makeProgram(2);
  MemoryCache Cache;
  TheLink.Cache = &Cache;
  link();
  ASSERT_EQ(ActualResult.Error, "");
  TheLink.TheLinker.Timelines.clear();
  linkAndRecord();
  expectSameObjects();
  for (const JobRecord &J : record().jobs()) {
    EXPECT_EQ(J.From, Source::Cache);
    EXPECT_TRUE(J.Attempts.empty());
    EXPECT_NE(J.Prepared, NoTime);
  }
}

class StepsTest : public testing::Test {
protected:
  StepsTest() { Run.Built = &Built; }

  void step(PlanEvent E, std::vector<Action> Actions = {}, Step S = {}) {
    S.Now = Clock::now() - Start;
    S.Ended = Clock::now();
    S.E = &E;
    S.Job = E.Job;
    S.Actions = Actions;
    T.onStep(S, Run, 7);
  }
  void step(std::vector<Action> Actions) { step({}, std::move(Actions)); }
  void offer(plan::JobId J, plan::AttemptId A, Kind K = Kind::First) {
    Action Offer = action(Action::Offer, J, A);
    Offer.AKind = K;
    step({Offer});
  }
  /// Attempt \p A ends, at worker 2 or in the linker.
  void ends(PlanEvent::Kind What, plan::JobId J, plan::AttemptId A) {
    PlanEvent E{What};
    E.Job = J;
    E.Attempt = A;
    E.Worker = 2;
    step(E);
  }
  void cancel(plan::JobId J, plan::AttemptId A) {
    step({action(Action::Cancel, J, A)});
  }

  const Clock::time_point Start = Clock::now();
  BuiltJob Built;
  FakeLink Run{2};
  Timeline T{Run, Start, Start - std::chrono::seconds(3)};
};

TEST_F(StepsTest, LoadsAreKeptWhenTheyChange) {
  EXPECT_NEAR(T.thinLink(), 3, 1e-6);
  dtlto_load Load = {};
  Load.slots = 8;
  for (uint32_t Free : {0, 0, 1}) {
    Load.free = Free;
    Step S;
    S.Load = &Load;
    step(PlanEvent{PlanEvent::LoadReported}, {}, S);
  }
  ASSERT_EQ(T.loads().size(), 2u);
  EXPECT_EQ(T.loads()[1].Free, 1u);
  EXPECT_EQ(T.loads()[1].Slots, 8u);
}

TEST_F(StepsTest, WhatGoesOnEndsWithTheLink) {
  offer(0, 1);
  Run.HasFailed = true;
  T.finish(Run);
  EXPECT_TRUE(T.hasFailed());
  EXPECT_EQ(T.jobs()[0].Attempts[0].TheOutcome, Outcome::Open);
  EXPECT_EQ(T.jobs()[0].Attempts[0].Done, T.end());
}

// The slower attempt may be the plugin's or the linker's.
TEST_F(StepsTest, OfTwoAttemptsOneIsCancelled) {
  offer(0, 1);
  offer(0, 2, Kind::Duplicate);
  ends(PlanEvent::Succeeded, 0, 2);
  cancel(0, 1);
  ASSERT_EQ(T.jobs()[0].Attempts.size(), 2u);
  EXPECT_EQ(T.jobs()[0].Attempts[0].TheOutcome, Outcome::Cancelled);
  EXPECT_EQ(T.jobs()[0].Attempts[1].TheKind, Kind::Duplicate);
  EXPECT_EQ(T.jobs()[0].From, Source::Worker);
  step({action(Action::Deliver, 0, 2), action(Action::EndJob, 0)});
  ends(PlanEvent::CompiledLocally, 0, 4);
  EXPECT_EQ(T.jobs()[0].Attempts[2].TheOutcome, Outcome::Cancelled);
  EXPECT_EQ(T.jobs()[0].From, Source::Worker);

  offer(1, 3);
  ends(PlanEvent::CompiledLocally, 1, 5);
  cancel(1, 3);
  EXPECT_EQ(T.jobs()[1].From, Source::Local);
  EXPECT_EQ(T.jobs()[1].Attempts[0].TheOutcome, Outcome::Cancelled);
  EXPECT_EQ(T.jobs()[1].Attempts[1].TheOutcome, Outcome::Ok);
}

} // namespace
