//===- EventLogTest.cpp - The history of a plan, as text ------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LogReader.h"
#include "Plan/Plan.h"
#include <gtest/gtest.h>

using namespace dtlto::plan;
using namespace std::chrono_literals;

/// A log of a plan in which one job is offered to the plugin and delivered.
static EventLog recorded() {
  EventLog L;
  L.O.Cores = 4;
  L.Jobs = {{1.25, false}, {0.1, false, 500}};
  Plan P(L.Jobs, L.O);
  Time Now = 0s;
  auto Step = [&](Event E) {
    Now += 1ms;
    dtlto::plan::Step &S = L.Steps.emplace_back();
    S.Now = Now;
    S.Cause = E;
    S.Actions = P.handle(Now, E);
  };
  L.Steps.emplace_back();
  L.Steps.back().Actions = P.start(Now);
  auto Of = [](Event::Kind What, AttemptId A) {
    Event E{What};
    E.Attempt = A;
    return E;
  };
  Event Prepared = Of(Event::Prepared, 1);
  Prepared.Bytes = 4096;
  Step(Prepared);
  Step(Of(Event::CacheHit, 2));
  Step({Event::Opened});
  Step(Of(Event::Accepted, 1));
  Event Runs = Of(Event::StateChanged, 1);
  Runs.State = PluginState::Running;
  Runs.Worker = 3;
  Step(Runs);
  Event Load{Event::LoadReported};
  Load.ReportedLoad.Slots = 12;
  Load.ReportedLoad.Local = 2;
  Step(Load);
  Event Tick{Event::Tick};
  Tick.CallSince = 5ms;
  Step(Tick);
  Event Good = Of(Event::Succeeded, 1);
  Good.Seconds = 0.1;
  Good.RanLocally = true;
  Step(Good);
  Event Delivered{Event::Delivered};
  Step(Delivered);
  EXPECT_TRUE(P.isDone());
  return L;
}

static std::string errorOf(const std::string &Text) {
  EventLog L;
  std::string Error;
  EXPECT_FALSE(parse(Text, L, Error)) << Text;
  return Error;
}

static std::string replaced(std::string Text, const std::string &What,
                            const std::string &By) {
  size_t At = Text.find(What);
  EXPECT_NE(At, Text.npos) << What;
  return At == Text.npos ? Text : Text.replace(At, What.size(), By);
}

TEST(EventLog, LooksLikeThis) {
  std::string Text = print(recorded());
  EXPECT_EQ(Text.substr(0, Text.find("\njob")),
            "dtlto-event-log 7\n"
            "option cores 4\n"
            "option local-jobs auto\n"
            "option duplicate-percent 25\n"
            "option verify-percent 0\n"
            "option verify-seed 0\n"
            "option fallback yes\n"
            "option keep-order no\n"
            "option open-at-once no\n"
            "option max-bytes-in-flight 18446744073709551615\n"
            "option max-bytes-here 18446744073709551615\n"
            "option needs-tokens no\n"
            "option job-timeout 600.000000000\n"
            "option talk-factor 4\n"
            "option max-tries 2\n"
            "option max-offers 16\n"
            "option min-prepared 32\n"
            "option max-prepared 4096\n"
            "option prepared-per-slot 4\n"
            "option busy-retry 1.000000000\n"
            "option busy-is-news 0.050000000\n"
            "option call-timeout 60.000000000\n"
            "option deadline-step 0.500000000\n"
            "option load-interval 0.250000000\n"
            "option look-interval 0.050000000\n"
            "option slow-factor 2\n"
            "option slow-extra 0.500000000\n"
            "option slow-worker-jobs 2\n"
            "option min-measured 3\n"
            "option max-wait 1.000000000\n"
            "option long-wait-factor 4\n"
            "option patience 0.500000000\n"
            "option silent-patience 0.100000000\n"
            "option dead-after 1.000000000\n"
            "option late-factor 2\n"
            "option late-extra 2.000000000");
  EXPECT_EQ(Text.substr(Text.find("job 1.25")),
            "job 1.25 0\n"
            "job 0.1 500\n"
            "0.000000000 Start\n"
            "  Prepare job=0 attempt=1 for-plugin\n"
            "  Prepare job=1 attempt=2 for-plugin\n"
            "0.001000000 Prepared attempt=1 bytes=4096\n"
            "  Open\n"
            "0.002000000 CacheHit attempt=2\n"
            "  EndJob job=1 attempt=2 why=Cached\n"
            "0.003000000 Opened\n"
            "  QueryLoad\n"
            "  Offer job=0 attempt=1\n"
            "0.004000000 Accepted attempt=1\n"
            "0.005000000 StateChanged attempt=1 worker=3 state=Running\n"
            "0.006000000 LoadKnown slots=12 local=2\n"
            "0.007000000 Tick call-since=0.005000000\n"
            "0.008000000 Succeeded attempt=1 ran-here seconds=0.1\n"
            "  Won job=0 attempt=1\n"
            "  Deliver job=0 attempt=1\n"
            "0.009000000 Delivered job=0\n"
            "  EndJob job=0 attempt=1 why=Done\n"
            "  Close\n");
}

TEST(EventLog, IsReadAsItWasWritten) {
  EventLog L = recorded();
  L.O.LocalJobs = 3;
  L.O.Fallback = false;
  L.Jobs[1].HasSideFiles = true;
  L.Jobs[0].Estimate = 0.1 + 0.2; // needs all its digits
  std::string Text = print(L), Error;
  EventLog Again;
  ASSERT_TRUE(parse(Text, Again, Error)) << Error;
  EXPECT_EQ(print(Again), Text);
  EXPECT_EQ(Again.Jobs[0].Estimate, 0.1 + 0.2);
  EXPECT_EQ(Again.O.LocalJobs, 3u);
  ASSERT_EQ(Again.Steps.size(), L.Steps.size());
  EXPECT_EQ(Again.Steps[7].Cause->CallSince, 5ms);
}

TEST(EventLog, HasComments) {
  std::string Text = print(recorded()), Error;
  EventLog L;
  EXPECT_TRUE(parse(replaced("# one\n" + Text, "job 1.25 0\n",
                             "# job 0 is a.o\njob 1.25 0\n"),
                    L, Error))
      << Error;
  EXPECT_EQ(print(L), Text);
}

TEST(EventLog, AnEnumeratorHasOneName) {
  EventLog L = recorded();
  for (size_t I = 0; I != NumEventKinds; ++I) {
    Event E{static_cast<Event::Kind>(I)};
    L.Steps.push_back({L.Steps.back().Now, E, {}, 0});
  }
  for (size_t I = 0; I != NumActionKinds; ++I)
    L.Steps.back().Actions.push_back({static_cast<Action::Kind>(I)});
  for (size_t I = 0; I <= size_t(Cause::LinkFailed); ++I) {
    Action A{Action::EndJob};
    A.Why = static_cast<Cause>(I);
    L.Steps.back().Actions.push_back(A);
  }
  std::string Text = print(L), Error;
  EventLog Again;
  ASSERT_TRUE(parse(Text, Again, Error)) << Error;
  EXPECT_EQ(print(Again), Text);
  for (size_t I = 0; I != L.Steps.size(); ++I) {
    if (L.Steps[I].Cause) {
      EXPECT_EQ(Again.Steps[I].Cause->What, L.Steps[I].Cause->What);
    }
  }
}

TEST(EventLog, SaysWhatIsWrong) {
  std::string Text = print(recorded());
  struct {
    const char *What, *By, *Error;
  } Cases[] = {
      {"dtlto-event-log", "a log", "line 1: it is not 'dtlto-event-log 7'"},
      {"log 7", "log 6",
       "line 1: it is not 'dtlto-event-log 7', but the log of another version "
       "of dtlto"},
      {"cores 4", "cores -4",
       "line 2: it is not 'option cores' with a value that this option can "
       "have"},
      {"option cores 4\n", "",
       "line 2: it is not 'option cores' with a value that this option can "
       "have"},
      {"fallback yes", "fallback maybe",
       "line 7: it is not 'option fallback' with a value that this option can "
       "have"},
      {"job-timeout 600.000000000", "job-timeout 600.0",
       "line 13: it is not 'option job-timeout' with a value that this option "
       "can have"},
      {"job 1.25", "job nan",
       "line 37: the job's estimate is no number of "
       "seconds"},
      {"job 1.25 0", "job 1.25",
       "line 37: the job's memory is no number of "
       "bytes"},
      {"job 1.25 0", "job 1.25 0 files",
       "line 37: it is not 'side-files' that "
       "follows"},
      {"0.000000000 Start\n", "", "line 39: an action before the first step"},
      {"0.001000000 Prepared", "0.001 Prepared", "line 42: '0.001' is no time"},
      {"0.003000000", "0.001500000", "line 46: time goes back"},
      {"CacheHit", "CacheMiss", "line 44: 'CacheMiss' is no event"},
      {"CacheHit", "Start", "line 44: the first step, and no other, is Start"},
      {"  Close", "  Shut", "line 58: 'Shut' is no action"},
      {"bytes=4096", "bytes=4096 bytes=4096",
       "line 42: 'bytes=4096' is no field, has no value that it can have, or "
       "was there before"},
      {"bytes=4096", "bytes=0x10",
       "line 42: 'bytes=0x10' is no field, has no value that it can have, or "
       "was there before"},
      {"Delivered job=0", "Delivered job=2", "line 56: there is no job 2"},
      {"0.009000000 Delivered", "job 3 0\n0.009000000 Delivered",
       "line 56: a job after the first step"},
      {"  Close\n", "  Close", "line 58: it is cut off"},
  };
  for (const auto &C : Cases)
    EXPECT_EQ(errorOf(replaced(Text, C.What, C.By)), C.Error) << C.What;
  EXPECT_EQ(errorOf(""), "line 1: the log ends here");
}

TEST(EventLog, IsReplayed) {
  EventLog L = recorded();
  EXPECT_EQ(replay(L), "");
  // A log that was cut after a step is valid.
  L.Steps.pop_back();
  EXPECT_EQ(replay(L), "");
}

TEST(EventLog, AReplayFindsTheFirstDifference) {
  std::string Text = print(recorded()), Error;
  EventLog L;
  ASSERT_TRUE(parse(replaced(Text, "  Won job=0 attempt=1\n", ""), L, Error));
  EXPECT_EQ(replay(L), "line 53, Succeeded at 0.008000000 s: action 1 was "
                       "'Deliver job=0 attempt=1', and is now 'Won job=0 "
                       "attempt=1'");
  ASSERT_TRUE(parse(replaced(Text, "  Close\n", ""), L, Error));
  EXPECT_EQ(replay(L), "line 56, Delivered at 0.009000000 s: action 2 was "
                       "nothing, and is now 'Close'");
}
