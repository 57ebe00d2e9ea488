//===- TimelineSummaryTest.cpp - Summaries of a link's timeline -----------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report/TimelineSummary.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace dtlto;
using Kind = AttemptRecord::Kind;
using Outcome = AttemptRecord::Outcome;
using Source = JobRecord::Source;

namespace {

/// A job that was prepared from 0 to 1, offered at once, ran on \p Worker from
/// \p Begin to \p End, and was delivered at once.
JobRecord job(StringRef Worker, double Begin, double End) {
  JobRecord J;
  J.From = Source::Worker;
  J.Preparing = 0;
  J.Prepared = 1;
  J.Delivering = J.Ended = End;
  AttemptRecord A;
  A.TheOutcome = Outcome::Ok;
  A.Id = 1;
  A.Offered = A.Accepted = 1;
  A.Running = Begin;
  A.Done = End;
  A.Worker = Worker.str();
  J.Attempts.push_back(A);
  return J;
}

Summary summaryOf(std::vector<JobRecord> Jobs, double End,
                  std::vector<LoadRecord> Loads = {}, double ThinLink = 2) {
  return summarize(Timeline(std::move(Jobs), std::move(Loads), ThinLink, End));
}

std::string show(ArrayRef<Span> Spans) {
  std::string Text;
  raw_string_ostream OS(Text);
  for (const Span &S : Spans)
    OS << name(S.What) << ' ' << S.Begin << '-' << S.End << ' ';
  return Text;
}

/// Returns the waits as phase:job, and checks that there are no gaps.
std::string show(ArrayRef<WaitSummary> Waits, double From, double To) {
  std::string Text;
  for (const WaitSummary &W : Waits) {
    EXPECT_EQ(W.Begin, From);
    EXPECT_LT(W.Begin, W.End);
    From = W.End;
    Text += name(W.What).str() +
            (W.Job == ~size_t(0) ? "" : ":" + std::to_string(W.Job)) + " ";
  }
  EXPECT_EQ(From, To);
  return Text;
}

//===----------------------------------------------------------------------===//
// Phases
//===----------------------------------------------------------------------===//

TEST(TimelineSummary, PhasesFollowEachOther) {
  AttemptRecord A;
  A.TheOutcome = Outcome::Ok;
  A.Offered = 1;
  A.Accepted = 2;
  A.Sending = 3;
  A.Running = 5;
  A.Receiving = 8;
  A.Done = 9;
  EXPECT_EQ(show(spans(A)), "queue 2.000000e+00-3.000000e+00 "
                            "send 3.000000e+00-5.000000e+00 "
                            "run 5.000000e+00-8.000000e+00 "
                            "receive 8.000000e+00-9.000000e+00 ");
  EXPECT_EQ(runSeconds(A), 3);
}

TEST(TimelineSummary, WithoutStatesItRunsFromItsAcceptance) {
  AttemptRecord A;
  A.TheOutcome = Outcome::Ok;
  A.Offered = A.Accepted = 2;
  A.Done = 9;
  EXPECT_EQ(runSeconds(A), 7);
  // An attempt that was taken back only waited.
  A.TheOutcome = Outcome::Cancelled;
  EXPECT_EQ(runSeconds(A), 0);
  ASSERT_EQ(spans(A).size(), 1u);
  EXPECT_EQ(spans(A)[0].What, Phase::Queue);
}

TEST(TimelineSummary, StatesInAnotherOrderMakeNoNegativeTimes) {
  AttemptRecord A;
  A.TheOutcome = Outcome::Ok;
  A.Accepted = 4; // the answer of submit() came late
  A.Sending = 3;
  A.Running = 12; // after the end
  A.Receiving = 8;
  A.Done = 9;
  double Last = 0;
  for (const Span &S : spans(A)) {
    EXPECT_GE(S.Begin, Last);
    EXPECT_GT(S.End, S.Begin);
    EXPECT_LE(S.End, 9);
    Last = S.End;
  }
}

TEST(TimelineSummary, AnAttemptThatHasNotEndedHasNoPhases) {
  AttemptRecord A;
  A.Offered = A.Accepted = A.Running = 1;
  EXPECT_TRUE(spans(A).empty());
}

//===----------------------------------------------------------------------===//
// Hosts and lanes
//===----------------------------------------------------------------------===//

TEST(TimelineSummary, ALaneHoldsOneAtATime) {
  Summary S = summaryOf({job("b", 1, 4), job("b", 2, 3), job("b", 3, 5),
                         job("a", 1, 5), job("b", 4, 6)},
                        6);
  ASSERT_EQ(S.Hosts.size(), 3u); // and the linker's own threads
  EXPECT_EQ(S.Hosts[0].Name, "a");
  EXPECT_EQ(S.Hosts[0].Lanes, 1u);
  EXPECT_EQ(S.Hosts[1].Name, "b");
  EXPECT_EQ(S.Hosts[1].Lanes, 2u);
  EXPECT_EQ(S.Hosts[1].Jobs, 4u);
  EXPECT_EQ(S.Hosts[1].Busy, 3 + 1 + 2 + 2);
  EXPECT_EQ(S.Hosts[2].TheKind, HostSummary::Kind::Linker);
  auto Lane = [&](size_t Job) { return S.Places[Job].Attempts[0].Lane; };
  EXPECT_EQ(Lane(0), 0u);
  EXPECT_EQ(Lane(1), 1u);
  EXPECT_EQ(Lane(2), 1u);
  EXPECT_EQ(Lane(4), 0u);
}

TEST(TimelineSummary, TheNextGetsTheSlotThatBecameFreeLast) {
  Summary S = summaryOf({job("a", 1, 2), job("a", 1, 3), job("a", 1, 4),
                         job("a", 3, 5), job("a", 3.5, 5)},
                        6);
  auto Lane = [&](size_t Job) { return S.Places[Job].Attempts[0].Lane; };
  EXPECT_EQ(Lane(3), Lane(1));
  EXPECT_EQ(Lane(4), Lane(0));
  EXPECT_EQ(S.Hosts[0].Lanes, 3u);
}

TEST(TimelineSummary, ASlotIsFreeWhenItsObjectIsOnTheWayBack) {
  std::vector<JobRecord> Jobs = {job("a", 1, 4), job("a", 3.5, 6)};
  Jobs[0].Attempts[0].Receiving = 3;
  Summary S = summaryOf(Jobs, 6);
  EXPECT_EQ(S.Hosts[0].Lanes, 1u);
  EXPECT_EQ(S.Slots, 1u);
  EXPECT_EQ(show(S.Waits, -2, 6), "thin link prepare:0 run:0 queue:1 run:1 ");
  EXPECT_EQ(summarize(Timeline(Jobs, {}, 2, 6), LaneRule::Spans).Hosts[0].Lanes,
            2u);
}

TEST(TimelineSummary, WhatOnlyWaitedHasNoLane) {
  JobRecord J = job("a", 1, 5);
  J.Attempts[0].Running = NoTime;
  J.Attempts[0].TheOutcome = Outcome::Cancelled;
  Summary S = summaryOf({J}, 6);
  EXPECT_EQ(S.Places[0].Attempts[0].Host, Place::None);
}

TEST(TimelineSummary, NoJobs) {
  Summary S = summaryOf({}, 1);
  EXPECT_TRUE(S.Hosts.empty());
  EXPECT_EQ(show(S.Waits, -2, 1), "thin link wait ");
  EXPECT_EQ(S.Bound, 2);
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

TEST(TimelineSummary, Sums) {
  std::vector<JobRecord> Jobs = {job("a", 1, 4), job("a", 2, 3),
                                 job("a", 1, 2)};
  for (JobRecord &J : Jobs) {
    J.PrimaryBytes = 100;
    J.ImportBytes = 10;
    J.WholeImportBytes = 40;
    J.ShardBytes = 1;
    J.ObjectBytes = 5;
  }
  // One job failed once, one had a duplicate that was faster, and one came from
  // the cache.
  AttemptRecord Good = Jobs[0].Attempts[0], Bad = Good;
  Bad.TheOutcome = Outcome::Infrastructure;
  Good.TheKind = Kind::Retry;
  Jobs[0].Attempts = {Bad, Good};
  Good.TheKind = Kind::Duplicate;
  Bad.TheOutcome = Outcome::Cancelled;
  Jobs[1].Attempts = {Bad, Good};
  Jobs[2].Attempts.clear();
  Jobs[2].From = Source::Cache;
  Summary S = summaryOf(Jobs, 5);
  EXPECT_EQ(S.from(JobRecord::Source::Worker), 2u);
  EXPECT_EQ(S.from(JobRecord::Source::Cache), 1u);
  EXPECT_EQ(S.from(JobRecord::Source::Local), 0u);
  EXPECT_EQ(S.Retries, 1u);
  EXPECT_EQ(S.FailedAttempts, 1u);
  EXPECT_EQ(S.Duplicates, 1u);
  EXPECT_EQ(S.DuplicatesWon, 1u);
  EXPECT_EQ(S.BytesOut, 4 * 111u);
  EXPECT_EQ(S.ImportBytes, 40u);
  EXPECT_EQ(S.WholeImportBytes, 160u);
  EXPECT_EQ(S.BytesBack, 10u);
  EXPECT_EQ(S.Work, 6);
  EXPECT_EQ(S.Waste, 6);
}

TEST(TimelineSummary, TheBoundIsTheLongestJobOrAllWork) {
  std::vector<JobRecord> Jobs = {job("a", 1, 4), job("a", 1, 2),
                                 job("a", 2, 3)};
  EXPECT_EQ(summaryOf(Jobs, 5, {{0, 8, 8, 0, 1}}).Bound, 2 + 3);
  // The larger of the reported and the observed number of slots counts.
  EXPECT_EQ(summaryOf(Jobs, 5, {{0, 1, 1, 0, 1}}).Slots, 2u);
  EXPECT_EQ(summaryOf(Jobs, 5).Slots, 2u);
  Jobs.push_back(job("a", 4, 9));
  Jobs.push_back(job("a", 3, 9));
  Summary S = summaryOf(Jobs, 9);
  EXPECT_EQ(S.Bound, 2 + 16.0 / 2);
  EXPECT_EQ(S.LongestRun, 6);
  EXPECT_EQ(S.LongestJob, 4u);
}

TEST(TimelineSummary, SlotsOfThisMachineCountBesideThePlugins) {
  JobRecord Local = job("", 1, 4);
  Local.From = Source::Local;
  Local.Attempts[0].TheKind = Kind::Local;
  Local.Attempts[0].RanLocally = true;
  Summary S = summaryOf({Local, job("a", 1, 3)}, 5, {{0, 4, 4, 0, 1}});
  EXPECT_EQ(S.Slots, 5u);
}

//===----------------------------------------------------------------------===//
// What the link waited for
//===----------------------------------------------------------------------===//

TEST(TimelineSummary, TheWayOfOneJob) {
  JobRecord J = job("a", 3, 7);
  J.Preparing = 0.5;
  J.Attempts[0].Offered = J.Attempts[0].Accepted = 1.5;
  J.Attempts[0].Sending = 2;
  J.Attempts[0].Receiving = 6;
  J.Delivering = 7.5;
  J.Ended = 8;
  Summary S = summaryOf({J}, 9);
  EXPECT_EQ(show(S.Waits, -2, 9),
            "thin link wait:0 prepare:0 ready:0 queue:0 send:0 run:0 "
            "receive:0 deliver:0 close ");
}

TEST(TimelineSummary, AJobThatWaitedForASlot) {
  // Jobs 2 and 0 had the slot that job 1 waited for. Job 3 ran on another host.
  Summary S = summaryOf(
      {job("a", 3, 6), job("a", 6.5, 9), job("a", 1, 3), job("b", 1, 8)}, 9);
  EXPECT_EQ(show(S.Waits, -2, 9),
            "thin link prepare:2 run:2 run:0 queue:1 run:1 ");
}

TEST(TimelineSummary, ASlotOfTheSameHostWillDo) {
  // The end of job 0 was reported just after the begin of job 2, so job 2 has
  // its own lane.
  std::vector<JobRecord> Jobs = {job("a", 1, 4.01), job("a", 1, 8),
                                 job("a", 4, 9), job("a", 1, 3.99)};
  Summary S = summaryOf(Jobs, 9);
  EXPECT_EQ(show(S.Waits, -2, 9), "thin link prepare:3 run:3 queue:2 run:2 ");
  Jobs[0].Attempts[0].Done = 4.001;
  S = summaryOf(Jobs, 9);
  EXPECT_EQ(S.Hosts[0].Lanes, 3u);
  EXPECT_EQ(show(S.Waits, -2, 9), "thin link prepare:0 run:0 run:2 ");
}

TEST(TimelineSummary, AJobThatWasReadyLaterThanItsSlot) {
  JobRecord Late = job("a", 6, 9);
  Late.Preparing = 3;
  Late.Prepared = 5;
  Late.Attempts[0].Offered = Late.Attempts[0].Accepted = 5.5;
  Summary S = summaryOf({Late, job("a", 1, 4)}, 9);
  EXPECT_EQ(show(S.Waits, -2, 9),
            "thin link wait:0 prepare:0 ready:0 queue:0 run:0 ");
}

TEST(TimelineSummary, ARetryComesAfterTheFirst) {
  JobRecord J = job("a", 1, 4);
  J.Attempts[0].TheOutcome = Outcome::Infrastructure;
  AttemptRecord Again = J.Attempts[0];
  Again.TheKind = Kind::Retry;
  Again.TheOutcome = Outcome::Ok;
  Again.Worker = "b";
  Again.Offered = Again.Accepted = 4;
  Again.Running = 5;
  Again.Done = 9;
  J.Attempts.push_back(Again);
  J.Delivering = J.Ended = 9;
  Summary S = summaryOf({J}, 9);
  EXPECT_EQ(show(S.Waits, -2, 9), "thin link prepare:0 run:0 queue:0 run:0 ");
  ASSERT_EQ(S.Waits.size(), 5u);
  EXPECT_EQ(S.Waits[2].Attempt, 0u);
  EXPECT_EQ(S.Waits[3].Attempt, 1u);
}

TEST(TimelineSummary, ASecondStartWaitedForTheFirst) {
  JobRecord J = job("slow", 1, 9);
  J.Attempts[0].TheOutcome = Outcome::Cancelled;
  AttemptRecord Duplicate = J.Attempts[0];
  Duplicate.TheKind = Kind::Duplicate;
  Duplicate.TheOutcome = Outcome::Ok;
  Duplicate.Worker = "b";
  Duplicate.Offered = Duplicate.Accepted = 6;
  Duplicate.Running = 7;
  J.Attempts.push_back(Duplicate);
  Summary S = summaryOf({J}, 9);
  EXPECT_EQ(show(S.Waits, -2, 9), "thin link prepare:0 run:0 queue:0 run:0 ");
}

TEST(TimelineSummary, AnObjectOfTheCache) {
  JobRecord J;
  J.From = Source::Cache;
  J.Preparing = 1;
  J.Prepared = J.Ended = 3;
  EXPECT_EQ(show(summaryOf({J}, 3).Waits, -2, 3),
            "thin link wait:0 prepare:0 ");
}

TEST(TimelineSummary, AJobThatWasNeverPrepared) {
  JobRecord J;
  J.Ended = 3;
  EXPECT_EQ(show(summaryOf({J}, 3).Waits, -2, 3), "thin link wait ");
  EXPECT_EQ(show(summaryOf({J}, 3, {}, /*ThinLink=*/0.5).Waits, -0.5, 3),
            "thin link wait ");
}

TEST(TimelineSummary, TheWayEndsWhateverTheTimesAre) {
  // Many equal times, so that ends form a cycle.
  std::vector<JobRecord> Jobs;
  for (unsigned I = 0; I != 50; ++I)
    Jobs.push_back(job("a", I % 3, I % 7));
  Jobs.push_back(JobRecord());
  Summary S = summaryOf(Jobs, 6);
  EXPECT_FALSE(show(S.Waits, -2, 6).empty());
}

} // namespace

//===----------------------------------------------------------------------===//
// Two rounds
//===----------------------------------------------------------------------===//

TEST(TimelineSummary, TwoRounds) {
  // The first round ends at 8, and the second begins at 9.
  Timeline First({job("a", 1, 4), job("a", 4, 7)}, {}, /*ThinLink=*/2, 8);
  Timeline Both({job("a", 1, 3), job("b", 2, 6)}, {{1, 2, 2, 0, 2}},
                /*ThinLink=*/0, 7);
  Both.addEarlierStage(std::move(First), 9);
  ASSERT_EQ(Both.jobs().size(), 4u);
  ASSERT_EQ(Both.stages().size(), 2u);
  EXPECT_EQ(Both.jobsOf(0).size(), 2u);
  EXPECT_EQ(Both.jobsOf(1).size(), 2u);
  EXPECT_EQ(Both.jobs()[1].Ended, 7);
  EXPECT_EQ(Both.jobs()[3].Ended, 15);
  EXPECT_EQ(Both.jobs()[3].Attempts[0].Running, 11);
  EXPECT_EQ(Both.jobs()[3].Attempts[0].Sending, NoTime);
  EXPECT_EQ(Both.loads()[0].Time, 10);
  EXPECT_EQ(Both.stages()[0].End, 8);
  EXPECT_EQ(Both.stages()[1].Begin, 9);
  EXPECT_EQ(Both.thinLink(), 2);
  EXPECT_EQ(Both.end(), 16);

  Summary S = summarize(Both);
  // No job of the second round waited for a slot of the first.
  EXPECT_EQ(show(S.Waits, -2, 16),
            "thin link prepare:0 run:0 run:1 close merge prepare:3 queue:3 "
            "run:3 close ");
  // 6 s of work on two slots in both rounds; the longest jobs take 3 s and 4 s.
  EXPECT_EQ(S.Slots, 2u);
  EXPECT_EQ(S.Bound, 2 + 3 + 4);
}
