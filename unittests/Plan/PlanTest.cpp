//===- PlanTest.cpp - The actions that events lead to ---------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "History.h"

using namespace dtlto::plan;
using namespace dtlto::test;
using namespace std::chrono_literals;

namespace {

/// No local compile of what the plugin can do, and no duplicates.
Options remoteOnly() {
  Options O;
  O.Cores = 4;
  O.LocalJobs = 0;
  O.DuplicatePercent = 0;
  return O;
}

/// One thread, and jobs in LLVM's order.
Options inOrder() {
  Options O = remoteOnly();
  O.KeepOrder = true;
  O.Cores = 1;
  return O;
}

std::vector<JobInfo> jobs(std::initializer_list<double> Seconds) {
  std::vector<JobInfo> Jobs;
  for (double S : Seconds)
    Jobs.push_back({S, false});
  return Jobs;
}

//===----------------------------------------------------------------------===//
// The life of a job
//===----------------------------------------------------------------------===//

TEST(PlanTest, OneJob) {
  History H(remoteOnly(), jobs({1}));
  H.play({{0, "start", "prepare 1"},
          {1, "prepared 1", "open"},
          {2, "opened", "load, offer 1"},
          {3, "load 1 1", ""},
          {4, "accepted 1", ""},
          {5, "running 1 w1", ""},
          {9, "good 1 w1", "won 1, deliver 1"},
          {10, "delivered j0", "end j0 done, close"}});
  EXPECT_TRUE(H.P.isDone());
}

TEST(PlanTest, NoJob) {
  History H(remoteOnly(), {});
  H.play({{0, "start", ""}});
  EXPECT_TRUE(H.P.isDone());
}

TEST(PlanTest, AResultMayOvertakeTheAnswerOfSubmit) {
  History H(remoteOnly(), jobs({1}));
  H.play({{0, "start", "prepare 1"},
          {1, "prepared 1", "open"},
          {2, "opened", "load, offer 1"},
          {3, "good 1", "won 1, deliver 1"},
          {4, "accepted 1", ""},
          {5, "delivered j0", "end j0 done, close"}});
}

TEST(PlanTest, LateNewsIsNoHarm) {
  History H(remoteOnly(), jobs({1}));
  H.play({{0, "start", "prepare 1"},
          {1, "prepared 1", "open"},
          {2, "opened", "load, offer 1"},
          {3, "accepted 1", ""},
          {4, "good 1", "won 1, deliver 1"},
          {5, "running 1 w1", ""},
          {6, "running 99 w1", ""}, // no such attempt
          {7, "room", ""},
          {8, "good 1", ""},
          {9, "delivered j0", "end j0 done, close"},
          {300, "room", ""}});
}

TEST(PlanTest, TheCacheHasAll) {
  // The plugin isn't opened if every job is in the cache.
  History H(remoteOnly(), jobs({2, 1}));
  H.play({{0, "start", "prepare 1, prepare 2"},
          {1, "hit 2", "end j1 cached"},
          {2, "hit 1", "end j0 cached"}});
  EXPECT_TRUE(H.P.isDone());
}

TEST(PlanTest, OpenedAtOnce) {
  // A plugin without a job can't be late.
  Options O = remoteOnly();
  O.OpenAtOnce = true;
  History H(O, jobs({2, 1}));
  H.play({{0, "start", "prepare 1, prepare 2, open"},
          {1, "opened", "load"},
          {2, "load 1 1", ""},
          {20, "prepared 1", "offer 1"},
          {20, "accepted 1", ""},
          {21, "prepared 2", "offer 2"},
          {21, "busy 2", ""},
          {22, "good 1", "won 1, deliver 1, offer 2"}});
}

TEST(PlanTest, CoresHereLeaveTheFirstJobsToThePlugin) {
  // The second job is ready before the first, which it must not overtake.
  Options O;
  O.Cores = 2;
  O.OpenAtOnce = true;
  History H(O, jobs({2, 1}));
  H.play({{0, "start", "prepare 1, prepare 2, open"},
          {1, "opened", "load"},
          {2, "load 1 1", ""},
          {3, "prepared 2", ""},
          {900, "tick", ""}});
}

TEST(PlanTest, OpenedAtOnceForNothing) {
  Options O = remoteOnly();
  O.OpenAtOnce = true;
  History H(O, jobs({1}));
  H.play({{0, "start", "prepare 1, open"},
          {1, "broken 1", "end j0 preparefailed, close"},
          {2, "opened", ""}});
  EXPECT_TRUE(H.P.isDone());
}

TEST(PlanTest, NoPluginToOpenAtOnce) {
  Options O = remoteOnly();
  O.OpenAtOnce = true;
  History H(O, {});
  H.play({{0, "start", ""}});
  EXPECT_TRUE(H.P.isDone());
}

TEST(PlanTest, OpeningIsOvertakenByTheCache) {
  History H(remoteOnly(), jobs({1}));
  H.play({{0, "start", "prepare 1"},
          {1, "prepared 1", "open"},
          {2, "openfailed",
           "drop openfailed, cancel 1 gone, stays 2 gone, "
           "compile 2"},
          {9, "compiled 2 1", "won 2, deliver 2"},
          {9, "delivered j0", "end j0 done, close"},
          {9, "opened", ""}});
}

TEST(PlanTest, PreparationFails) {
  History H(remoteOnly(), jobs({2, 1}));
  H.play({{0, "start", "prepare 1, prepare 2"},
          {1, "broken 1", "end j0 preparefailed"},
          {2, "prepared 2", "open"},
          {3, "opened", "load, offer 2"},
          {4, "good 2", "won 2, deliver 2"},
          {5, "undelivered j1", "end j1 deliverfailed, close"}});
}

TEST(PlanTest, WhatCannotBeExpressedIsCompiledHereWhateverTheUserWants) {
  Options O = remoteOnly();
  O.Fallback = false;
  History H(O, jobs({1}));
  H.play({{0, "start", "prepare 1"},
          {1, "inexpressible 1", "stays 2 inexpressible, compile 2"},
          {5, "compiled 2 1", "won 2, deliver 2"},
          {6, "delivered j0", "end j0 done"}});
}

//===----------------------------------------------------------------------===//
// Order, room and memory
//===----------------------------------------------------------------------===//

TEST(PlanTest, NoneOvertakesALongerJobThatIsBeingPrepared) {
  History H(remoteOnly(), jobs({3, 2, 1}));
  H.play({{0, "start", "prepare 1, prepare 2, prepare 3"},
          {1, "prepared 2", "open"},
          {2, "opened", "load"},
          {3, "prepared 3", ""},
          {4, "prepared 1", "offer 1, offer 2, offer 3"}});
}

TEST(PlanTest, ButWhereSlotsAreLeftForTheLongerOnes) {
  History H(remoteOnly(), jobs({4, 3, 2, 1}));
  H.play({{0, "start", "prepare 1, prepare 2, prepare 3, prepare 4"},
          {1, "prepared 2", "open"},
          {2, "opened", "load"},
          {3, "load 3 3", "offer 2"},
          {4, "prepared 4", ""}, // two slots, for the two longer jobs
          {5, "prepared 3", "offer 3"},
          {6, "prepared 1", "offer 1, offer 4"}});
}

TEST(PlanTest, OrIfTheLongerOnesAreNotLong) {
  History H(remoteOnly(), jobs({6, 2, 2, 1, 1, 1, 1}));
  H.play({{0, "start",
           "prepare 1, prepare 2, prepare 3, prepare 4, prepare 5, prepare 6, "
           "prepare 7"},
          {1, "prepared 7", "open"},
          {2, "opened", "load"},
          // Only the first job is long: it fills one of the two slots.
          {3, "load 2 2", "offer 7"},
          {4, "prepared 6", ""},
          {5, "prepared 1", "offer 1"}, // no free slot, so in order
          {6, "prepared 3", ""},
          {7, "prepared 2", "offer 2, offer 3"}});
}

TEST(PlanTest, AndMemory) {
  Options O = remoteOnly();
  O.MaxBytesInFlight = 100;
  History H(O, jobs({3, 2, 1}));
  H.play({{0, "start", "prepare 1, prepare 2, prepare 3"},
          {1, "prepared 2 60", "open"},
          {3, "opened", "load"},
          {4, "load 9 9", ""},
          {6, "prepared 3 20", ""},
          {7, "prepared 1 20", "offer 1, offer 2, offer 3"}});
}

TEST(PlanTest, NorIfTheLongerOneIsInTheCache) {
  History H(remoteOnly(), jobs({2, 1}));
  H.play({{0, "start", "prepare 1, prepare 2"},
          {1, "prepared 2", "open"},
          {2, "opened", "load"},
          {3, "hit 1", "end j0 cached, offer 2"}});
}

TEST(PlanTest, NoOfferWhileThePluginIsBusy) {
  History H(remoteOnly(), jobs({3, 2, 1}));
  H.play({{0, "start", "prepare 1, prepare 2, prepare 3"},
          {1, "prepared 1", "open"},
          {2, "opened", "load, offer 1"},
          {3, "accepted 1", ""},
          {4, "prepared 2", "offer 2"},
          {5, "busy 2", ""},
          {6, "prepared 3", ""},
          {300, "room", "load, offer 2"},
          {301, "busy 2 room", "offer 2"}, // room was reported since
          {303, "busy 2", ""},
          {304, "good 1", "won 1, deliver 1, offer 2"}});
}

TEST(PlanTest, AFullPluginIsNotAskedForEachJob) {
  History H(remoteOnly(), jobs({5, 4, 3, 2, 1}));
  H.play({{0, "start", "prepare 1, prepare 2, prepare 3, prepare 4, prepare 5"},
          {1, "prepared 1", "open"},
          {2, "opened", "load, offer 1"},
          {3, "accepted 1", ""},
          {4, "prepared 2", "offer 2"},
          {5, "busy 2", ""},
          {6, "prepared 3", ""},
          {7, "prepared 4", ""},
          {8, "prepared 5", ""},
          {10, "good 1", "won 1, deliver 1, offer 2"},
          {11, "accepted 2", ""},
          {12, "room", ""}, // the room that job 1 left
          {13, "delivered j0", "end j0 done"},
          {54, "tick", ""},
          {56, "tick", "offer 3"}, // the plugin may have more room
          {57, "busy 3", ""},
          {60, "room", "offer 3"}, // the plugin reports room
          {61, "accepted 3", "offer 4"},
          {62, "busy 4", ""}});
}

TEST(PlanTest, AFullPluginGetsAsManyAsHaveEnded) {
  History H(remoteOnly(), jobs({9, 8, 7, 6, 5, 4, 3, 2, 1}));
  std::vector<Row> Rows = {
      {0, "start",
       "prepare 1, prepare 2, prepare 3, prepare 4, prepare 5, prepare 6, "
       "prepare 7, prepare 8, prepare 9"},
      {1, "prepared 1", "open"},
      {2, "opened", "load, offer 1"},
      {3, "accepted 1", ""},
      {4, "prepared 2", "offer 2"},
      {5, "accepted 2", ""},
      {6, "prepared 3", "offer 3"},
      {7, "busy 3", ""}};
  for (const char *Prepared : {"prepared 4", "prepared 5", "prepared 6",
                               "prepared 7", "prepared 8", "prepared 9"})
    Rows.push_back({8, Prepared, ""});
  H.play(Rows);
  H.play({{10, "good 1", "won 1, deliver 1, offer 3"},
          {11, "accepted 3", ""},
          {12, "good 2", "won 2, deliver 2, offer 4"},
          {13, "accepted 4", ""},
          // Both offers are open at the same time.
          {14, "good 3", "won 3, deliver 3, offer 5"},
          {15, "good 4", "won 4, deliver 4, offer 6"},
          {16, "accepted 5", ""},
          {17, "accepted 6", ""},
          {18, "room", ""}, // the room of the ended jobs
          // One offer is enough to find out whether the plugin still is full.
          {58, "tick", "offer 7"},
          {59, "busy 7", ""},
          // It isn't known how much more room there is.
          {60, "room", "offer 7"},
          {61, "accepted 7", "offer 8"},
          {62, "busy 8", ""}});
}

TEST(PlanTest, NewsOfJobsHereCanWaitWhileNothingFollows) {
  History H(remoteOnly(), jobs({5, 4, 3, 2, 1}));
  auto Play = [&](Row R, bool News) {
    H.play({R});
    EXPECT_EQ(H.P.updatesCanWait(), News) << R.Ms << " " << R.Event;
  };
  Play({0, "start", "prepare 1, prepare 2, prepare 3, prepare 4, prepare 5"},
       false);
  Play({1, "prepared 1", "open"}, false);
  Play({2, "opened", "load, offer 1"}, false);
  Play({3, "load 2 0 1", ""}, false); // one slot is remote
  Play({4, "load 2 0 2", ""}, true);
  Play({5, "prepared 2", "offer 2"}, true);
  Play({6, "busy 2", ""}, true);
  Play({7, "good 1", "won 1, deliver 1, offer 2"}, true);
  Play({8, "prepared 3", ""}, true); // the plugin is full
  Play({9, "room", ""}, true);       // the room that job 1 left
  // The next offer waits for the answer to this one.
  Play({10, "room", ""}, false);
  Play({11, "accepted 2", "offer 3"}, true);
  Play({12, "prepared 4", ""}, false);
}

TEST(PlanTest, ResultsCanWaitWhileThePluginHasOthersHere) {
  History H(remoteOnly(), jobs({9, 8, 7, 6, 5, 4, 3, 2, 1}));
  auto Play = [&](Row R, size_t NumResults) {
    H.play({R});
    EXPECT_EQ(H.P.numDeferrableResults(), NumResults) << R.Ms << " " << R.Event;
  };
  Play({0, "start",
        "prepare 1, prepare 2, prepare 3, prepare 4, prepare 5, prepare 6, "
        "prepare 7, prepare 8, prepare 9"},
       0);
  Play({1, "prepared 1", "open"}, 0);
  Play({2, "opened", "load, offer 1"}, 0);
  Play({2, "load 1 0 1", ""}, 0);
  Play({2, "accepted 1", ""}, 0);
  Play({3, "prepared 2", "offer 2"}, 0);
  Play({3, "accepted 2", ""}, 0);
  Play({4, "prepared 3", "offer 3"}, 0);
  Play({4, "accepted 3", ""}, 0);
  Play({5, "prepared 4", "offer 4"}, 0);
  Play({5, "here 1", ""}, 0); // the plugin isn't full
  Play({6, "busy 4", ""}, 1); // two jobs wait for its slot
  Play({7, "good 1 own", "won 1, deliver 1, offer 4"}, 0); // no job is ready
  Play({8, "accepted 4", ""}, 0);
  Play({8, "here 2", ""}, 0);
  Play({9, "prepared 5", ""}, 1);
  Play({10, "load 4 0 4", ""}, 0); // some slots may be idle
  Play({10, "load 1 0 0", ""}, 0); // no local slot
  Play({11, "load 1 0 1", ""}, 1);
  // After a while, the plan asks whether the plugin still is full.
  Play({60, "tick", "offer 5"}, 0);
}

TEST(PlanTest, OffersAfterABusyGrowAsTheyAreAccepted) {
  History H(remoteOnly(), jobs({9, 8, 7, 6, 5, 4, 3, 2, 1}));
  std::vector<Row> Rows = {
      {0, "start",
       "prepare 1, prepare 2, prepare 3, prepare 4, prepare 5, prepare 6, "
       "prepare 7, prepare 8, prepare 9"},
      {1, "prepared 1", "open"}};
  for (const char *Prepared :
       {"prepared 2", "prepared 3", "prepared 4", "prepared 5", "prepared 6",
        "prepared 7", "prepared 8", "prepared 9"})
    Rows.push_back({1, Prepared, ""});
  // At first, the plugin's room is unknown.
  Rows.push_back({2, "opened",
                  "load, offer 1, offer 2, offer 3, offer 4, offer 5, offer 6, "
                  "offer 7, offer 8, offer 9"});
  for (const char *Busy : {"busy 1", "busy 2", "busy 3", "busy 4", "busy 5",
                           "busy 6", "busy 7", "busy 8", "busy 9"})
    Rows.push_back({3, Busy, ""});
  H.play(Rows);
  H.play({{4, "room", "offer 1"},
          {5, "accepted 1", "offer 2"},
          {6, "accepted 2", "offer 3, offer 4"},
          {7, "accepted 3", "offer 5, offer 6"},
          {7, "accepted 4", "offer 7, offer 8"},
          {8, "busy 5", ""},
          {8, "busy 6", ""},
          {8, "busy 7", ""},
          {8, "busy 8", ""},
          {9, "room", "offer 5"}});
}

TEST(PlanTest, ABusyPluginWithoutJobsIsAskedAgain) {
  History H(remoteOnly(), jobs({1}));
  H.play({{0, "start", "prepare 1"},
          {1, "prepared 1", "open"},
          {2, "opened", "load, offer 1"},
          {3, "busy 1", ""},
          {900, "tick", ""},
          {1002, "tick", "offer 1 insist"},
          {1003, "busy 1", ""},
          {2003, "tick", "offer 1 insist"}});
}

TEST(PlanTest, LoadIsNotAskedForAllTheTime) {
  History H(remoteOnly(), jobs({1}));
  H.play({{0, "start", "prepare 1"},
          {1, "prepared 1", "open"},
          {2, "opened", "load, offer 1"},
          {3, "room", ""},
          {252, "room", "load"},
          {253, "room", ""}});
}

TEST(PlanTest, FewJobsArePreparedAhead) {
  Options O = remoteOnly();
  O.MinPrepared = 2;
  O.MaxPrepared = 3;
  History H(O, jobs({5, 4, 3, 2, 1}));
  H.play({{0, "start", "prepare 1, prepare 2"},
          {1, "prepared 1", "open"},
          {2, "opened", "load, offer 1"},
          {3, "accepted 1", "prepare 3"},
          {4, "load 100 99", "prepare 4"}, // MaxPrepared is the limit
          {5, "prepared 2", "offer 2"},
          {6, "accepted 2", "prepare 5"}});
}

TEST(PlanTest, MemoryInFlightIsBounded) {
  Options O = remoteOnly();
  O.MaxBytesInFlight = 100;
  History H(O, jobs({3, 2, 1}));
  H.play({{0, "start", "prepare 1, prepare 2, prepare 3"},
          {1, "prepared 1 200", "open"},
          // One job may always be in flight, or it would never run.
          {2, "opened", "load, offer 1"},
          {3, "prepared 2 60", ""},
          {3, "prepared 3 60", ""},
          {4, "accepted 1", ""},
          {5, "good 1", "won 1, deliver 1, offer 2"},
          {6, "good 2", "won 2, deliver 2, offer 3"}});
}

TEST(PlanTest, APluginIsToldThatItHasAllJobs) {
  History H(remoteOnly(), jobs({3, 2, 1}));
  H.play({{0, "start", "prepare 1, prepare 2, prepare 3"},
          {1, "prepared 1", "open"},
          {2, "batching", "load, offer 1"},
          {3, "accepted 1", ""}, // other jobs are being prepared
          {4, "prepared 2", "offer 2"},
          {5, "accepted 2", ""},
          {6, "hit 3", "end j2 cached, complete"},
          {7, "running 1", ""}, // sent only once
          {8, "failed 2 infrastructure", "again 4 retry"},
          {9, "load 2 0 2", ""},
          {9, "prepared 4", "offer 4"}});
  EXPECT_FALSE(H.P.updatesCanWait()); // an action follows when all are accepted
  H.play({{10, "accepted 4", "complete"}});
}

TEST(PlanTest, AndWhenTheNextHasToWait) {
  Options O = remoteOnly();
  O.MaxBytesInFlight = 10;
  History H(O, jobs({3, 2, 1}));
  H.play({{0, "start", "prepare 1, prepare 2, prepare 3"},
          {1, "prepared 1 6", "open"},
          {2, "prepared 2 6", ""},
          {3, "prepared 3 1", ""},
          {4, "batching", "load, offer 1"},
          {5, "accepted 1", "complete"}, // no memory for the next
          {6, "good 1", "won 1, deliver 1, offer 2, offer 3"},
          {7, "accepted 2", ""},
          {8, "busy 3", "complete"}});
}

TEST(PlanTest, OneOfferAtATimeWhereTheOrderIsKept) {
  History H(inOrder(), jobs({1, 3, 2}));
  H.play({{0, "start", "prepare 1, prepare 2, prepare 3"},
          {1, "prepared 1", "open"},
          {1, "prepared 2", ""},
          {1, "prepared 3", ""},
          {2, "opened", "load, offer 1"},
          {3, "accepted 1", "offer 2"},
          {4, "busy 2", ""},
          {5, "good 1", "won 1, deliver 1, offer 2"}});
  EXPECT_GT(H.P.wakeUp(), 5ms);
}

TEST(PlanTest, WhatStaysHereIsInOrderWhereTheOrderIsKept) {
  History H(inOrder(), jobs({1, 3, 2}));
  H.play({{0, "start", "prepare 1, prepare 2, prepare 3"},
          {2, "inexpressible 2", "stays 4 inexpressible"},
          {4, "inexpressible 1", "stays 5 inexpressible, compile 5"},
          {5, "compiled 5 1", "won 5, deliver 5, compile 4"},
          {6, "inexpressible 3", "stays 6 inexpressible"},
          {7, "compiled 4 1", "won 4, deliver 4, compile 6"}});
}

TEST(PlanTest, AndWaitsForNoPluginThatIsGone) {
  History H(inOrder(), jobs({1, 3}));
  H.play({{0, "start", "prepare 1, prepare 2"},
          {1, "prepared 1", "open"},
          {2, "inexpressible 2", "stays 3 inexpressible"},
          {3, "openfailed",
           "drop openfailed, cancel 1 gone, stays 4 gone, compile 4"},
          {4, "compiled 4 1", "won 4, deliver 4, compile 3"}});
}

//===----------------------------------------------------------------------===//
// Attempts that fail
//===----------------------------------------------------------------------===//

/// The history up to the moment when the plugin accepts the only job.
std::vector<Row> accepted() {
  return {{0, "start", "prepare 1"},
          {1, "prepared 1", "open"},
          {2, "opened", "load, offer 1"},
          {3, "accepted 1", ""}};
}

struct FailureCase {
  const char *Name;
  const char *Event;
  const char *Actions;
  const char *WithoutFallback;
};

class FailureTest : public testing::TestWithParam<FailureCase> {};

TEST_P(FailureTest, WithFallback) {
  History H(remoteOnly(), jobs({1}));
  H.play(accepted());
  H.play({{4, GetParam().Event, GetParam().Actions}});
}

TEST_P(FailureTest, WithoutFallback) {
  Options O = remoteOnly();
  O.Fallback = false;
  History H(O, jobs({1}));
  H.play(accepted());
  H.play({{4, GetParam().Event, GetParam().WithoutFallback}});
}

const FailureCase Failures[] = {
    {"Infrastructure", "failed 1 infrastructure w1", "again 2 retry",
     "again 2 retry"},
    {"Cancelled", "failed 1 cancelled", "again 2 retry", "again 2 retry"},
    // Only another compiler can tell whether a plain link would fail as well.
    {"Compiler", "failed 1 compiler w1", "stays 2 compiler, compile 2",
     "again 2 retry avoid w1"},
    {"CompilerHere", "failed 1 compilerhere", "end j0 compilerhere, close",
     "end j0 compilerhere, close"},
    {"Caller", "failed 1 caller", "stays 2 caller, compile 2",
     "fail j0 caller, end j0 linkfailed, close"},
    {"Refused", "failed 1 refused", "stays 2 refused, compile 2",
     "fail j0 refused, end j0 linkfailed, close"},
    // Only another compiler can tell whether the object is right.
    {"BadResult", "failed 1 bad w1", "stays 2 bad, compile 2",
     "again 2 retry avoid w1"},
    {"PluginFailed", "pluginfailed",
     "drop pluginfailed, cancel 1 gone, stays 2 gone, compile 2",
     "drop pluginfailed, fail j0 pluginfailed, cancel 1 linkfailed, end j0 "
     "linkfailed, close"}};
INSTANTIATE_TEST_SUITE_P(PlanTest, FailureTest, testing::ValuesIn(Failures),
                         [](const auto &I) { return I.param.Name; });

//===----------------------------------------------------------------------===//
// Opinions of remote compilers
//===----------------------------------------------------------------------===//

struct OpinionCase {
  const char *Name;
  bool Fallback;
  std::vector<Row> Rows; // after the first worker's compiler has failed
};

class OpinionTest : public testing::TestWithParam<OpinionCase> {};

TEST_P(OpinionTest, Decides) {
  Options O = remoteOnly();
  O.Fallback = GetParam().Fallback;
  History H(O, jobs({1}));
  H.play(accepted());
  H.play({{4, "failed 1 compiler w1",
           O.Fallback ? "stays 2 compiler, compile 2"
                      : "again 2 retry avoid w1"}});
  if (!O.Fallback)
    H.play({{5, "prepared 2", "offer 2"}, {6, "accepted 2", ""}});
  H.play(GetParam().Rows);
}

const OpinionCase Opinions[] = {
    // The second opinion decides. It comes from the linker's compiler,
    {"HereGood",
     true,
     {{7, "compiled 2 1",
       "won 2, refute 1 compiler, "
       "deliver 2"}}},
    {"HereBad", true, {{7, "nocompile 2", "end j0 compilerhere, close"}}},
    // or from another worker, or from the same one if there is no other.
    {"OtherGood",
     false,
     {{7, "good 2 w2",
       "won 2, refute 1 compiler, "
       "deliver 2"}}},
    {"OtherBad",
     false,
     {{7, "failed 2 compiler w2", "end j0 compiler, close"}}},
    {"SameBad", false, {{7, "failed 2 compiler w1", "end j0 compiler, close"}}},
    // No opinion: the module isn't blamed.
    {"OtherBreaks",
     false,
     {{7, "failed 2 infrastructure w2",
       "fail j0 infrastructure, end j0 linkfailed, "
       "close"}}},
    {"OtherIsNoObject",
     false,
     {{7, "failed 2 bad w2", "fail j0 bad, end j0 linkfailed, close"}}},
    // A dropped plugin isn't told.
    {"Gone",
     true,
     {{7, "pluginfailed", "drop pluginfailed"},
      {8, "compiled 2 1", "won 2, deliver 2"}}}};
INSTANTIATE_TEST_SUITE_P(PlanTest, OpinionTest, testing::ValuesIn(Opinions),
                         [](const auto &I) { return I.param.Name; });

TEST(PlanTest, NoTriesAreLeftForASecondOpinion) {
  Options O = remoteOnly();
  O.Fallback = false;
  History H(O, jobs({1}));
  H.play(accepted());
  H.play({{4, "failed 1 infrastructure w1", "again 2 retry"},
          {5, "prepared 2", "offer 2"},
          {6, "accepted 2", ""},
          {7, "failed 2 compiler w2", "end j0 compiler, close"}});
}

//===----------------------------------------------------------------------===//
// Failures and their order
//===----------------------------------------------------------------------===//

TEST(PlanTest, TheInfrastructureFailsTwice) {
  History H(remoteOnly(), jobs({1}));
  H.play(accepted());
  H.play({{4, "failed 1 infrastructure", "again 2 retry"},
          {5, "prepared 2", "offer 2"},
          {6, "accepted 2", ""},
          {7, "good 1", ""}, // too late
          {8, "failed 2 infrastructure", "stays 3 infrastructure, compile 3"},
          {9, "nocompile 3", "end j0 compilerhere, close"}});
}

TEST(PlanTest, TheInfrastructureFailsTwiceWithoutFallback) {
  Options O = remoteOnly();
  O.Fallback = false;
  History H(O, jobs({1}));
  H.play(accepted());
  H.play({{4, "failed 1 infrastructure", "again 2 retry"},
          {5, "prepared 2", "offer 2"},
          {6, "accepted 2", ""},
          {7, "failed 2 infrastructure",
           "fail j0 infrastructure, end j0 linkfailed, close"}});
}

TEST(PlanTest, ARetryThatCannotBeBuilt) {
  History H(remoteOnly(), jobs({1}));
  H.play(accepted());
  H.play({{4, "failed 1 infrastructure", "again 2 retry"},
          {5, "inexpressible 2", "stays 3 inexpressible, compile 3"}});
}

TEST(PlanTest, NothingStartsAfterTheLinkHasFailed) {
  Options O = remoteOnly();
  O.Fallback = false;
  O.MinPrepared = 3;
  History H(O, jobs({5, 4, 3, 2, 1}));
  H.play({{0, "start", "prepare 1, prepare 2, prepare 3"},
          {1, "prepared 1", "open"},
          {2, "opened", "load, offer 1"},
          {3, "good 1", "won 1, deliver 1, prepare 4"},
          {4, "prepared 2", "offer 2"},
          {5, "failed 2 caller",
           "fail j1 caller, end j1 linkfailed, cancel 3 linkfailed, end j2 "
           "linkfailed, cancel 4 linkfailed, end j3 linkfailed, end j4 "
           "linkfailed"},
          {6, "prepared 3", ""},
          {7, "prepared 4", ""},
          {8, "delivered j0", "end j0 done, close"}});
  EXPECT_TRUE(H.P.isDone());
}

TEST(PlanTest, NoFailureCountsAfterTheFirst) {
  Options O = remoteOnly();
  O.Fallback = false;
  History H(O, jobs({2, 1}));
  H.play({{0, "start", "prepare 1, prepare 2"},
          {1, "prepared 1", "open"},
          {1, "prepared 2", ""},
          {2, "opened", "load, offer 1, offer 2"},
          {3, "accepted 1", ""},
          {4, "accepted 2", ""},
          {5, "failed 1 caller",
           "fail j0 caller, end j0 linkfailed, cancel 2 linkfailed, end j1 "
           "linkfailed, close"},
          {6, "failed 2 caller", ""}});
  EXPECT_TRUE(H.P.isDone());
}

TEST(PlanTest, AWrongArgumentFailsTheLinkWhateverTheFallbackIs) {
  History H(remoteOnly(), jobs({2, 1}));
  H.play({{0, "start", "prepare 1, prepare 2"},
          {1, "prepared 1", "open"},
          {2, "openfailed caller",
           "drop openfailed, fail j0 openfailed, cancel 1 linkfailed, end j0 "
           "linkfailed, cancel 2 linkfailed, end j1 linkfailed, close"},
          {3, "prepared 2", ""}}); // no message about local compiles
  EXPECT_TRUE(H.P.isDone());
}

TEST(PlanTest, OpenFailsWithoutFallback) {
  Options O = remoteOnly();
  O.Fallback = false;
  History H(O, jobs({1}));
  H.play({{0, "start", "prepare 1"},
          {1, "prepared 1", "open"},
          {3, "openfailed",
           "drop openfailed, fail j0 openfailed, cancel 1 linkfailed, end j0 "
           "linkfailed, close"}});
  EXPECT_TRUE(H.P.isDone());
}

TEST(PlanTest, GivingUpWhileItOpens) {
  History H(remoteOnly(), jobs({1}));
  H.play({{0, "start", "prepare 1"},
          {1, "prepared 1", "open"},
          {2, "pluginfailed",
           "drop pluginfailed, cancel 1 gone, stays 2 gone, compile 2"},
          {3, "opened", ""},
          {4, "compiled 2 1", "won 2, deliver 2"},
          {5, "delivered j0", "end j0 done, close"}});
}

TEST(PlanTest, GivingUpInTheMiddle) {
  Options O = remoteOnly();
  O.Cores = 2;
  O.LocalJobs = 2;
  O.MinPrepared = 3;
  History H(O, jobs({4, 3, 2, 1}));
  H.play({{0, "start", "prepare 1, prepare 2, prepare 3"},
          {1, "prepared 1", "open"},
          {2, "opened", "load, offer 1"},
          {3, "accepted 1", "prepare 4"},
          {4, "prepared 2", "offer 2"},
          {5, "pluginfailed",
           "drop pluginfailed, cancel 2 gone, stays 5 gone, cancel 1 gone, "
           "stays 6 gone, compile 6, compile 5"},
          {6, "prepared 3", "cancel 3 gone, stays 7 gone"},
          {7, "hit 4", "end j3 cached"},
          {8, "pluginfailed", ""},
          {9, "compiled 6 1", "won 6, deliver 6, compile 7"}});
}

TEST(PlanTest, GivingUpAfterTheLastJob) {
  History H(remoteOnly(), jobs({1}));
  H.play(accepted());
  H.play({{4, "good 1", "won 1, deliver 1"},
          {5, "delivered j0", "end j0 done, close"},
          {6, "pluginfailed", "drop pluginfailed"}});
}

TEST(PlanTest, GivingUpAfterTheLastJobWithoutFallback) {
  Options O = remoteOnly();
  O.Fallback = false;
  History H(O, jobs({1}));
  H.play(accepted());
  H.play({{4, "good 1", "won 1, deliver 1"},
          {5, "delivered j0", "end j0 done, close"},
          {6, "pluginfailed", "drop pluginfailed, fail j0 pluginfailed"}});
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

TEST(PlanTest, AnObjectIsVerified) {
  Options O = remoteOnly();
  O.VerifyPercent = 100;
  History H(O, jobs({2, 1}));
  H.play({{0, "start", "prepare 1, prepare 2"},
          {1, "prepared 1", "open"},
          {2, "opened", "load, offer 1"},
          {3, "prepared 2", "offer 2"},
          {4, "good 1", "won 1, compile 3"},
          // One local compile at a time, though two comparisons wait.
          {5, "good 2", "won 2"},
          {6, "compiled 3 1", "verify 3, compile 4"},
          {7, "verified j0", ""},
          {8, "compiled 4 1", "verify 4"},
          // Delivery waits for all comparisons.
          {9, "verified j1", "deliver 1, deliver 2"},
          {9, "delivered j0", "end j0 done"},
          {9, "delivered j1", "end j1 done, close"}});
}

TEST(PlanTest, NothingIsDeliveredIfThereIsADifference) {
  Options O = remoteOnly();
  O.VerifyPercent = 100;
  O.LocalJobs = 7;
  History H(O, jobs({3, 2, 1}));
  H.play({{0, "start", "prepare 1, prepare 2, prepare 3"},
          {1, "prepared 1", "open"},
          {2, "opened", "load, offer 1"},
          {3, "prepared 2", "offer 2"},
          {4, "good 1", "won 1, compile 4"},
          {5, "good 2", "won 2, compile 5"},
          {6, "compiled 4 1", "verify 4"},
          {7, "compiled 5 1", "verify 5"},
          {8, "differs j0", "refute 1 verifyfailed, end j0 verifyfailed"},
          {9, "verified j1", ""},
          // Objects compiled in the linker aren't delivered either.
          {10, "inexpressible 3", "stays 6 inexpressible, compile 6"},
          {11, "compiled 6 1",
           "won 6, end j1 linkfailed, end j2 linkfailed, close"}});
}

/// Returns a seed that chooses only job \p J of \p N.
uint64_t seedFor(Options O, size_t N, JobId J) {
  for (O.VerifyPercent = 1; O.VerifySeed != 1000; ++O.VerifySeed) {
    if (Plan(std::vector<JobInfo>(N), O).start({})[J].IsSampled)
      return O.VerifySeed;
  }
  ADD_FAILURE() << "no seed chooses job " << J;
  return 0;
}

TEST(PlanTest, NothingThatIsHeldIsDeliveredWhenTheLinkFails) {
  Options O = remoteOnly();
  O.VerifyPercent = 1;
  O.Fallback = false;
  O.VerifySeed = seedFor(O, 3, 2);
  History H(O, jobs({3, 2, 1}));
  H.play({{0, "start", "prepare 1, prepare 2, prepare 3"},
          {1, "prepared 1", "open"},
          {2, "opened", "load, offer 1"},
          {3, "prepared 2", "offer 2"},
          {4, "good 1", "won 1"},
          {5, "failed 2 caller",
           "fail j1 caller, end j0 linkfailed, end j1 linkfailed, "
           "cancel 3 linkfailed, end j2 linkfailed, close"}});
}

TEST(PlanTest, AnObjectThatIsOursIsProven) {
  Options O = remoteOnly();
  History H(O, jobs({3, 2, 1}));
  std::vector<bool> Proven;
  auto Tell = [&](Event::Kind What, AttemptId A, bool IsFromLinker) {
    Event E{What};
    E.Attempt = A;
    E.IsFromLinker = IsFromLinker;
    E.Why = What == Event::Failed ? Cause::BadResult : Cause::None;
    for (const Action &A : H.P.handle({}, E))
      if (A.What == Action::Deliver)
        Proven.push_back(A.IsProven);
  };
  H.P.start({});
  for (AttemptId A = 1; A != 4; ++A)
    Tell(Event::Prepared, A, false);
  Tell(Event::Opened, 0, false);
  Tell(Event::Succeeded, 1, false); // a remote object
  Tell(Event::Succeeded, 2, true);  // a local object of the plugin
  Tell(Event::Failed, 3, false);    // falls back
  Tell(Event::CompiledLocally, 4, false);
  EXPECT_EQ(Proven, std::vector<bool>({false, true, true}));
}

TEST(PlanTest, OrWasCompared) {
  Options O = remoteOnly();
  O.VerifyPercent = 100;
  History H(O, jobs({1}));
  H.play(accepted());
  H.play({{4, "good 1", "won 1, compile 2"}, {5, "compiled 2 1", "verify 2"}});
  std::vector<Action> Actions = H.P.handle(6ms, Event{Event::Verified});
  ASSERT_EQ(Actions.size(), 1u);
  EXPECT_EQ(Actions[0].What, Action::Deliver);
  EXPECT_TRUE(Actions[0].IsProven);
}

TEST(PlanTest, ACachedObjectOfAnotherMachineIsCompared) {
  Options O = remoteOnly();
  O.VerifyPercent = 100;
  History H(O, jobs({2, 1}));
  H.play({{0, "start", "prepare 1, prepare 2"},
          {1, "hit 1 other", "won 1, compile 3"},
          {2, "hit 2", "end j1 cached"},
          {3, "compiled 3 1", "verify 3"},
          {4, "verified j0", "deliver 1"},
          {5, "delivered j0", "end j0 done"}});
  EXPECT_TRUE(H.P.isDone());
}

/// The plugin isn't blamed for an object from the cache.
TEST(PlanTest, ACachedObjectThatDiffers) {
  Options O = remoteOnly();
  O.VerifyPercent = 100;
  History H(O, jobs({1}));
  H.play({{0, "start", "prepare 1"},
          {1, "hit 1 other", "won 1, compile 2"},
          {2, "compiled 2 1", "verify 2"},
          {3, "differs j0", "end j0 verifyfailed"}});
}

//===----------------------------------------------------------------------===//
// Objects from the remote cache
//===----------------------------------------------------------------------===//

TEST(PlanTest, AFoundObjectWins) {
  // Wherever the job is: being prepared, at the plugin, or done.
  History H(remoteOnly(), jobs({3, 2, 1}));
  H.play({{0, "start", "prepare 1, prepare 2, prepare 3"},
          {1, "found j1", ""},
          {2, "prepared 1", "open"},
          {3, "opened", "load, offer 1"},
          {4, "accepted 1", ""},
          {5, "prepared 3", ""}, // an earlier one is being prepared
          {6, "prepared 2", "cancel 2 overtaken, won 4, deliver 4, offer 3"},
          {7, "found j0", "won 5, cancel 1 overtaken, deliver 5"},
          {8, "good 3", "won 3, deliver 3"},
          {9, "found j2", ""},
          {10, "delivered j0", "end j0 done"},
          {11, "delivered j1", "end j1 done"},
          {12, "delivered j2", "end j2 done, close"},
          {13, "found j2", ""}});
  EXPECT_TRUE(H.P.isDone());
}

TEST(PlanTest, AFoundObjectStopsALocalCompile) {
  Options O = remoteOnly();
  History H(O, jobs({2}));
  H.play({{0, "start", "prepare 1"},
          {1, "inexpressible 1", "stays 2 inexpressible, compile 2"},
          {2, "found j0", "won 3, cancel 2 overtaken, deliver 3"},
          {3, "delivered j0", "end j0 done"}});
  EXPECT_FALSE(H.P.isDone());
  H.play({{4, "nocompile 2", ""}});
  EXPECT_TRUE(H.P.isDone());
}

TEST(PlanTest, LLVMsCacheComesFirst) {
  Options O = remoteOnly();
  O.MinPrepared = O.MaxPrepared = 1;
  History H(O, jobs({3, 2, 1}));
  H.play({{0, "start", "prepare 1"},
          {1, "found j1", ""}, // still waits
          {2, "found j0", ""},
          {3, "hit 1", "end j0 cached, prepare 2 here"},
          {4, "inexpressible 2", "won 3, deliver 3, prepare 4"},
          {5, "broken 4", "end j2 preparefailed"}});
}

TEST(PlanTest, SideFilesHaveOneWriter) {
  Options O = remoteOnly();
  std::vector<JobInfo> Jobs(1);
  Jobs[0] = {1, /*HasSideFiles=*/true};
  History H(O, Jobs);
  H.play({{0, "start", "prepare 1"},
          {1, "inexpressible 1", "stays 2 inexpressible, compile 2"},
          {2, "found j0", ""},
          {3, "compiled 2 1", "won 2, deliver 2"}});
  History Early(O, Jobs);
  Early.play({{0, "start", "prepare 1"},
              {1, "found j0", ""},
              {2, "prepared 1", "cancel 1 overtaken, won 2, deliver 2"}});
}

TEST(PlanTest, AFoundObjectIsCompared) {
  Options O = remoteOnly();
  O.VerifyPercent = 100;
  History H(O, jobs({2, 1}));
  H.play({{0, "start", "prepare 1, prepare 2"},
          {1, "found j0", ""},
          {2, "prepared 1", "cancel 1 overtaken, won 3, compile 4"},
          // The object that is being compiled already serves.
          {3, "inexpressible 2", "stays 5 inexpressible"},
          {4, "found j1", "won 6"},
          {5, "found j1", ""},
          {6, "compiled 4 1", "verify 4, compile 5"},
          {7, "verified j0", ""},
          {8, "compiled 5 1", "verify 5"},
          {9, "differs j1", "end j1 verifyfailed, end j0 linkfailed"}});
}

/// Side files of the plugin's objects are written when a job is delivered.
TEST(PlanTest, AFoundObjectWithSideFilesWins) {
  Options O = remoteOnly();
  std::vector<JobInfo> Jobs(1);
  Jobs[0] = {1, /*HasSideFiles=*/true};
  History H(O, Jobs);
  H.play(accepted());
  H.play({{4, "found j0", "won 2, cancel 1 overtaken, deliver 2"},
          {5, "failed 1 infrastructure", ""}});
}

TEST(PlanTest, AFoundJobIsNoRemainingWork) {
  Options O = remoteOnly();
  O.MinPrepared = O.MaxPrepared = 1;
  History H(O, jobs({4, 4}));
  H.play({{0, "start", "prepare 1"}});
  const double Before = H.P.longJobThreshold();
  H.play({{1, "found j1", ""}});
  EXPECT_EQ(H.P.longJobThreshold(), Before / 2);
}

TEST(PlanTest, NothingIsTakenAfterAFailure) {
  Options O = remoteOnly();
  O.Fallback = false;
  History H(O, jobs({2, 1}));
  H.play({{0, "start", "prepare 1, prepare 2"},
          {1, "prepared 1", "open"},
          {2, "openfailed",
           "drop openfailed, fail j0 openfailed, cancel 1 linkfailed, "
           "end j0 linkfailed, cancel 2 linkfailed, end j1 linkfailed, close"},
          {3, "found j1", ""}});
}

TEST(PlanTest, WhichAreVerified) {
  // 100 % means all jobs. Less means that share, but at least one.
  for (auto [Percent, Expected] :
       {std::pair(100u, 7), {50u, 4}, {34u, 3}, {1u, 1}, {0u, 0}}) {
    Options O = remoteOnly();
    O.VerifyPercent = Percent;
    O.LocalJobs = 7;
    History H(O, jobs({1, 1, 1, 1, 1, 1, 1}));
    H.P.start({});
    int NumVerified = 0;
    auto Tell = [&](Event::Kind What, AttemptId A) {
      Event E{What};
      E.Attempt = A;
      for (const Action &A : H.P.handle({}, E))
        NumVerified += A.What == Action::CompileLocally;
    };
    for (AttemptId A = 1; A != 8; ++A)
      Tell(Event::Prepared, A);
    Tell(Event::Opened, 0);
    for (AttemptId A = 1; A != 8; ++A)
      Tell(Event::Succeeded, A);
    EXPECT_EQ(NumVerified, Expected) << Percent;
  }
}

/// Returns the chosen jobs as text.
std::string sample(unsigned Percent, uint64_t Seed) {
  Options O = remoteOnly();
  O.VerifyPercent = Percent;
  O.VerifySeed = Seed;
  Plan P(std::vector<JobInfo>(20), O);
  std::string Chosen;
  for (const Action &A : P.start({}))
    Chosen += A.IsSampled ? '1' : '0';
  return Chosen;
}

TEST(PlanTest, SampleIsUnpredictable) {
  // All jobs are chosen about equally often.
  std::vector<unsigned> HowOften(20);
  std::set<std::string> Samples;
  for (uint64_t Seed = 0; Seed != 1000; ++Seed) {
    std::string Chosen = sample(10, Seed);
    ASSERT_EQ(std::count(Chosen.begin(), Chosen.end(), '1'), 2);
    Samples.insert(Chosen);
    for (size_t J = 0; J != 20; ++J)
      HowOften[J] += Chosen[J] == '1';
  }
  EXPECT_GT(Samples.size(), 170u); // of 190 possible pairs
  for (unsigned N : HowOften)
    EXPECT_NEAR(N, 100, 50);
  // The same seed chooses the same jobs.
  EXPECT_EQ(sample(10, 4711), sample(10, 4711));
}

TEST(PlanTest, TheLastObjectIsVerifiedIfNoneWas) {
  Options O = remoteOnly();
  O.VerifyPercent = 1;
  O.VerifySeed = seedFor(O, 3, 1); // the job that is compiled locally
  History H(O, jobs({3, 2, 1}));
  H.play({{0, "start", "prepare 1, prepare 2, prepare 3"},
          {1, "prepared 1", "open"},
          {2, "opened", "load, offer 1"},
          {3, "inexpressible 2", "stays 4 inexpressible, compile 4"},
          {3, "prepared 3", "offer 3"},
          {4, "good 3", "won 3"},
          {5, "compiled 4 1", "won 4"},
          {6, "good 1", "won 1, compile 5"},
          {7, "compiled 5 1", "verify 5"},
          {8, "verified j2", "deliver 1, deliver 4, deliver 3"}});
}

/// If the last jobs have no remote object, an earlier object is verified.
TEST(PlanTest, AnEarlierObjectIsVerifiedIfTheLastOnesFail) {
  Options O = remoteOnly();
  O.VerifyPercent = 1;
  O.VerifySeed = seedFor(O, 3, 1);
  History H(O, jobs({3, 2, 1}));
  H.play({{0, "start", "prepare 1, prepare 2, prepare 3"},
          {1, "prepared 1", "open"},
          {2, "opened", "load, offer 1"},
          {3, "inexpressible 2", "stays 4 inexpressible, compile 4"},
          {3, "prepared 3", "offer 3"},
          {4, "good 3", "won 3"},
          {5, "compiled 4 1", "won 4"},
          {6, "failed 1 bad", "stays 5 bad, compile 5"},
          {7, "compiled 5 1", "won 5, refute 1 bad, compile 6"},
          {8, "compiled 6 1", "verify 6"},
          {9, "verified j2", "deliver 5, deliver 4, deliver 3"}});
}

/// Objects that this process compiled for the plugin aren't compared.
TEST(PlanTest, OwnObjectsAreNotCompared) {
  Options O = remoteOnly();
  O.VerifyPercent = 1;
  O.VerifySeed = seedFor(O, 2, 0);
  History H(O, jobs({2, 1}));
  H.play({{0, "start", "prepare 1, prepare 2"},
          {1, "prepared 1", "open"},
          {2, "opened", "load, offer 1"},
          {3, "prepared 2", "offer 2"},
          {4, "good 1 own", "won 1"},
          {5, "good 2", "won 2, compile 3"},
          {6, "compiled 3 1", "verify 3"},
          {7, "verified j1", "deliver 1, deliver 2"}});
}

TEST(PlanTest, AFallbackIsNotVerified) {
  Options O = remoteOnly();
  O.VerifyPercent = 100;
  History H(O, jobs({1}));
  H.play(accepted());
  H.play({{4, "failed 1 bad", "stays 2 bad, compile 2"},
          {5, "compiled 2 1", "won 2, refute 1 bad, deliver 2"}});
}

/// If the linker or another worker makes the same object as the refused one, no
/// worker is blamed.
TEST(PlanTest, ARefusedObjectIsConfirmed) {
  for (bool Fallback : {true, false}) {
    Options O = remoteOnly();
    O.Fallback = Fallback;
    History H(O, jobs({1}));
    H.play(accepted());
    H.play({{4, "failed 1 bad w1",
             Fallback ? "stays 2 bad, compile 2" : "again 2 retry avoid w1"}});
    if (!Fallback)
      H.play({{5, "prepared 2", "offer 2"}, {6, "accepted 2", ""}});
    H.play({{7, "confirmed j0 1", ""},
            {8, Fallback ? "compiled 2 1" : "good 2 w2", "won 2, deliver 2"}});
  }
}

/// The other object differs from the refused one.
TEST(PlanTest, ARefusedObjectIsNotConfirmed) {
  Options O = remoteOnly();
  O.Fallback = false;
  O.MaxTries = 3;
  History H(O, jobs({1}));
  H.play(accepted());
  H.play({{4, "failed 1 bad w1", "again 2 retry avoid w1"},
          {5, "prepared 2", "offer 2"},
          {6, "accepted 2", ""},
          {7, "failed 2 infrastructure w2", "again 3 retry"},
          {8, "prepared 3", "offer 3"},
          {9, "accepted 3", ""},
          {10, "confirmed j0 7", ""}, // no such attempt
          {11, "good 3 w3", "won 3, refute 1 bad, deliver 3"}});
}

//===----------------------------------------------------------------------===//
// Deadlines
//===----------------------------------------------------------------------===//

Options oneSecond() {
  Options O = remoteOnly();
  O.JobTimeout = 1s;
  O.LoadInterval = 1h; // no load queries
  return O;
}

TEST(DeadlineTest, AJobWithoutASignOfLife) {
  History H(oneSecond(), jobs({1}));
  H.play(accepted());
  H.play({{4, "running 1 w1", ""},
          {900, "tick", ""},
          {1004, "tick", ""}, // checked four times per limit
          {1300, "tick", "cancel 1 timeout, stays 2 timeout, compile 2"},
          {1301, "good 1", ""}});
}

TEST(DeadlineTest, SignsOfLife) {
  History H(oneSecond(), jobs({1}));
  H.play(accepted());
  H.play({{800, "running 1 w1", ""},
          {1600, "alive 1", ""},
          {2400, "receiving 1", ""},
          {3300, "tick", ""},
          {3700, "tick", "cancel 1 timeout, stays 2 timeout, compile 2"}});
}

// The linker was suspended (by Ctrl-Z, for example). Events of that time are
// handled before deadlines.
TEST(DeadlineTest, ALinkerThatWasStopped) {
  History H(oneSecond(), jobs({2, 1}));
  H.play({{0, "start", "prepare 1, prepare 2"},
          {1, "prepared 1", "open"},
          {2, "opened", "load, offer 1"},
          {3, "prepared 2", "offer 2"},
          {4, "accepted 1", ""},
          {4, "accepted 2", ""},
          {5, "running 1 w1", ""},
          {5, "running 2 w2", ""},
          {9000, "good 1", "won 1, deliver 1"},
          {9001, "alive 2", ""},
          {9002, "delivered j0", "end j0 done"},
          {10300, "tick", "cancel 2 timeout, stays 3 timeout, compile 3"}});
}

// An earlier job takes long to prepare, and the plugin has no slot for others.
// The plan has nothing to do until the job is ready.
TEST(PlanTest, AFullPluginAndAnEarlierJobInPreparation) {
  Options O = remoteOnly();
  O.Fallback = false;
  History H(O, jobs({2, 1}));
  H.play({{0, "start", "prepare 1, prepare 2"},
          {1, "prepared 2", "open"},
          {2, "opened", "load"},
          {3, "load 4 4", "offer 2"},
          {4, "busy 2", ""},
          {5, "load 0 0", ""},
          {1500, "tick", ""}});
  EXPECT_GT(H.P.wakeUp(), 1501ms);
}

// The suspension doesn't count as time of a call of the plugin.
TEST(DeadlineTest, ALinkerThatWasStoppedInACall) {
  Options O = oneSecond();
  O.CallTimeout = 1000ms;
  History H(O, jobs({1}));
  H.play({{0, "start", "prepare 1"},
          {1, "prepared 1", "open"},
          {300, "tick 1", ""},
          {600, "tick 1", ""},
          {9600, "room", ""},   // events of that time come first
          {9600, "tick 1", ""}, // the call's clock went on
          {9700, "tick 1", ""},
          {10300, "tick 1",
           "drop hangs, cancel 1 gone, stays 2 gone, compile 2"}});
}

// A call that begins after the suspension isn't affected by it.
TEST(DeadlineTest, ACallAfterTheLinkerWasStopped) {
  Options O = oneSecond();
  O.CallTimeout = 1000ms;
  History H(O, jobs({1}));
  H.play({{0, "start", "prepare 1"},
          {1, "prepared 1", "open"},
          {300, "tick 1", ""},
          {9300, "tick 1", ""},
          {9400, "tick 9350", ""},
          {9900, "tick 9350", ""},
          {10450, "tick 9350",
           "drop hangs, cancel 1 gone, stays 2 gone, compile 2"}});
}

TEST(DeadlineTest, AQueuedJobLivesWithItsPlugin) {
  History H(oneSecond(), jobs({2, 1}));
  H.play({{0, "start", "prepare 1, prepare 2"},
          {1, "prepared 1", "open"},
          {2, "opened", "load, offer 1"},
          {3, "prepared 2", "offer 2"},
          {4, "accepted 1", ""},
          {4, "accepted 2", ""},
          {800, "running 1 w1", ""},
          {1500, "room", ""},
          {1600, "tick", ""},
          {2000, "tick", "cancel 1 timeout, stays 3 timeout, compile 3"},
          {2700, "tick", "cancel 2 timeout, stays 4 timeout"}});
}

// All slots hang: further jobs would hang as well.
TEST(DeadlineTest, AsManyTimeoutsAsSlots) {
  History H(oneSecond(), jobs({3, 2, 1}));
  H.play({{0, "start", "prepare 1, prepare 2, prepare 3"},
          {1, "prepared 1", "open"},
          {2, "opened", "load, offer 1"},
          {3, "load 2 2", ""},
          {3, "prepared 2", "offer 2"},
          {3, "prepared 3", "offer 3"},
          {4, "accepted 1", ""},
          {4, "accepted 2", ""},
          {5, "busy 3", ""},
          {6, "running 1 w1", ""},
          {6, "running 2 w2", ""},
          {1300, "tick",
           "cancel 1 timeout, stays 4 timeout, cancel 2 timeout, stays 5 "
           "timeout, drop timeout, cancel 3 gone, stays 6 gone, compile 4"}});
}

TEST(DeadlineTest, APluginThatOnlyTalks) {
  History H(oneSecond(), jobs({2}));
  H.play({{0, "start", "prepare 1"},
          {1, "prepared 1", "open"},
          {2, "opened", "load, offer 1"},
          {4, "accepted 1", ""},
          {900, "room", ""},
          {1800, "queued 1", ""},
          {2700, "room", ""},
          {3600, "queued 1", ""},
          {3900, "tick", ""},
          {4400, "tick", "cancel 1 timeout, stays 2 timeout, compile 2"}});
}

TEST(DeadlineTest, APluginThatIsBusyAndReportsRoom) {
  Options O = oneSecond();
  O.Fallback = false;
  History H(O, jobs({1}));
  H.play({{0, "start", "prepare 1"},
          {1, "prepared 1", "open"},
          {2, "opened", "load, offer 1"}});
  for (int At = 3; At != 103; ++At)
    H.play({{At, "room", ""}, {At, "busy 1 room", "offer 1"}});
  H.play({{103, "room", ""},
          {103, "busy 1 room", ""},
          {1103, "tick", "offer 1 insist"},
          {1103, "room", ""},
          {1103, "busy 1 room", ""},
          {2000, "room", "offer 1"},
          {2000, "busy 1 room", ""},
          {2900, "room", "offer 1"},
          {2900, "busy 1 room", ""},
          {3800, "room", "offer 1"},
          {3800, "busy 1 room", ""},
          {4400, "tick",
           "drop alwaysbusy, fail j0 alwaysbusy, cancel 1 linkfailed, end j0 "
           "linkfailed, close"}});
}

TEST(DeadlineTest, WithoutFallback) {
  Options O = oneSecond();
  O.Fallback = false;
  History H(O, jobs({1}));
  H.play(accepted());
  H.play({{1300, "tick",
           "cancel 1 timeout, fail j0 timeout, end j0 linkfailed, close"}});
}

TEST(DeadlineTest, ACallThatHangs) {
  for (const char *Event : {"tick 2", "tick 1"}) {
    History H(oneSecond(), jobs({1}));
    H.play(
        {{0, "start", "prepare 1"},
         {1, "prepared 1", "open"},
         {900, Event, ""},
         {1300, Event, "drop hangs, cancel 1 gone, stays 2 gone, compile 2"}});
  }
}

TEST(DeadlineTest, ACallThatHangsWithoutFallback) {
  Options O = oneSecond();
  O.Fallback = false;
  History H(O, jobs({1}));
  H.play({{0, "start", "prepare 1"},
          {1, "prepared 1", "open"},
          {1300, "tick 1",
           "drop hangs, fail j0 hangs, cancel 1 linkfailed, end j0 linkfailed, "
           "close"}});
}

TEST(DeadlineTest, ACallHasAMinuteAtMost) {
  Options O = oneSecond();
  O.JobTimeout = 600s;
  History H(O, jobs({1}));
  H.play(accepted());
  H.play({{60000, "tick 1000", ""},
          {61501, "tick 1000",
           "drop hangs, cancel 1 gone, stays 2 gone, compile 2"}});
}

TEST(DeadlineTest, AlwaysBusy) {
  Options O = oneSecond();
  History H(O, jobs({1}));
  H.play({{0, "start", "prepare 1"},
          {1, "prepared 1", "open"},
          {2, "opened", "load, offer 1"},
          {3, "busy 1", ""},
          {1003, "tick",
           "drop alwaysbusy, cancel 1 gone, stays 2 gone, compile 2"}});
}

TEST(DeadlineTest, AlwaysBusyWithoutFallback) {
  Options O = oneSecond();
  O.Fallback = false;
  History H(O, jobs({1}));
  H.play({{0, "start", "prepare 1"},
          {1, "prepared 1", "open"},
          {2, "opened", "load, offer 1"},
          {3, "busy 1", ""},
          {1003, "tick",
           "drop alwaysbusy, fail j0 alwaysbusy, cancel 1 linkfailed, end j0 "
           "linkfailed, close"}});
}

TEST(DeadlineTest, ThereIsAWakeUpForEachWait) {
  History H(oneSecond(), jobs({1}));
  H.play({{0, "start", "prepare 1"}});
  EXPECT_EQ(H.P.wakeUp(), Never); // preparing ends with an event
  H.play({{1, "prepared 1", "open"}});
  EXPECT_LE(H.P.wakeUp(), 260ms);
  H.play({{2, "opened", "load, offer 1"}, {3, "busy 1", ""}});
  EXPECT_LE(H.P.wakeUp(), 260ms);
  EXPECT_GT(H.P.wakeUp(), 3ms);
}

} // namespace
