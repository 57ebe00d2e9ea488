//===- SharingPlanTest.cpp - Local jobs, stragglers and late links --------===//
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

/// Four cores, and as many local jobs as pay off. Load queries are too rare to
/// appear in the histories.
Options shared() {
  Options O;
  O.Cores = 4;
  O.LoadInterval = 1h;
  return O;
}

std::vector<JobInfo> jobs(size_t N, double Seconds, bool HasSideFiles = false) {
  return std::vector<JobInfo>(N, {Seconds, HasSideFiles});
}

//===----------------------------------------------------------------------===//
// A plugin that is full
//===----------------------------------------------------------------------===//

/// Three jobs, of which the plugin runs the first and has no room for more.
History full(const Options &O) {
  History H(O, {{3, false}, {2, false}, {1, false}});
  H.play({{0, "start", "prepare 1, prepare 2, prepare 3"},
          {1, "prepared 1", "open"},
          {2, "opened", "load, offer 1"},
          {3, "accepted 1", ""},
          {4, "running 1 w1", ""},
          {5, "prepared 2", "offer 2"},
          {6, "prepared 3", "offer 3"},
          {7, "busy 2", ""}});
  return H;
}

TEST(SharingPlanTest, TheCheapestIsCompiledHere) {
  History H = full(shared());
  // One second locally is less than five at the plugin.
  H.play({{8, "busy 3", ""},
          {9, "load 1 0",
           "cancel 3 full, stays 4 full, compile 4, cancel 2 full, stays 5 "
           "full, compile 5"}});
}

TEST(SharingPlanTest, NoneWhereTheUserWantsNone) {
  Options O = shared();
  O.LocalJobs = 0;
  History H = full(O);
  H.play({{8, "busy 3", ""}, {9, "load 1 0", ""}});
}

TEST(SharingPlanTest, NoneWithoutFallback) {
  Options O = shared();
  O.Fallback = false;
  History H = full(O);
  H.play({{8, "busy 3", ""}, {9, "load 1 0", ""}});
}

TEST(SharingPlanTest, NoneNextToAPluginThatIsThisMachine) {
  History H = full(shared());
  H.play({{8, "busy 3", ""}, {9, "load 1 0 4", ""}});
}

// If the plugin's local slots are unknown, its slots don't count as local.
TEST(SharingPlanTest, NextToAPluginThatDoesNotKnowItsLocalJobs) {
  History H = full(shared());
  H.play({{8, "busy 3", ""},
          {9, "load 1 0 4294967295",
           "cancel 3 full, stays 4 full, compile 4, cancel 2 full, stays 5 "
           "full, compile 5"}});
}

TEST(SharingPlanTest, NoneWhileTheLoadIsNotKnown) {
  History H = full(shared());
  H.play({{8, "busy 3", ""}});
}

TEST(SharingPlanTest, AsManyAsTheUserAllows) {
  Options O = shared();
  O.LocalJobs = 1;
  History H(O, {{3, false}, {2, false}, {1, false}});
  H.play({{0, "start", "prepare 1, prepare 2, prepare 3"},
          {1, "prepared 1", "open"},
          {2, "opened", "load, offer 1"},
          {3, "prepared 2", "offer 2"},
          {4, "prepared 3", "offer 3"},
          {5, "accepted 1", ""},
          {6, "busy 3", "cancel 3 full, stays 4 full, compile 4"},
          {7, "busy 2", ""},
          {8, "compiled 4 2",
           "won 4, deliver 4, cancel 2 full, stays 5 full, compile 5"}});
}

TEST(SharingPlanTest, CoresOfThePluginAndOfTheLinkerAreTakenOff) {
  // Four cores, minus the plugin's two, minus one for the linker's own work.
  History H = full(shared());
  H.play({{8, "busy 3", ""},
          {9, "load 4 0 2", "cancel 3 full, stays 4 full, compile 4"}});
}

TEST(SharingPlanTest, JobsThatWaitForTheirTurn) {
  // The cheapest first. They are prepared for the linker.
  Options O = shared();
  O.MinPrepared = O.MaxPrepared = 1;
  History H(O, {{4, false}, {3, false}, {2, false}, {1, false}});
  H.play({{0, "start", "prepare 1"},
          {1, "prepared 1", "open"},
          {2, "opened", "load, offer 1"},
          {3, "accepted 1", "prepare 2"},
          {4, "running 1 w1", ""},
          {5, "load 1 0",
           "stays 3 full, prepare 3 here, stays 4 full, prepare "
           "4 here"},
          {6, "prepared 3", "compile 3"},
          {7, "hit 4", "end j2 cached"}});
}

TEST(SharingPlanTest, WhatIsBegunHereMakesRoomForTheNext) {
  // Immediately: the next event may be far away.
  Options O = shared();
  O.MinPrepared = O.MaxPrepared = 1;
  History H(O, jobs(3, 1));
  H.play(
      {{0, "start", "prepare 1"},
       {1, "inexpressible 1", "stays 2 inexpressible, compile 2, prepare 3"},
       {2, "inexpressible 3", "stays 4 inexpressible, compile 4, prepare 5"}});
}

TEST(SharingPlanTest, AJobThatWouldTakeLongerHereIsLeft) {
  // Locally: 10 s. At the plugin: 11 s of work for two slots.
  Options O = shared();
  History H(O, {{10, false}, {1, false}});
  H.play({{0, "start", "prepare 1, prepare 2"},
          {1, "prepared 1", "open"},
          {2, "opened", "load, offer 1"},
          {3, "busy 1", ""},
          {4, "prepared 2", ""},
          {5, "load 2 0",
           "cancel 2 full, stays 3 full, compile 3, cancel 1 full, stays 4 "
           "full, compile 4"}}); // the plugin has no job at all
  History H2(O, {{10, false}, {10, false}, {10, false}});
  H2.play({{0, "start", "prepare 1, prepare 2, prepare 3"},
           {1, "prepared 1", "open"},
           {2, "opened", "load, offer 1"},
           {3, "accepted 1", ""},
           {4, "running 1 w1", ""},
           {5, "prepared 2", "offer 2"},
           {6, "prepared 3", "offer 3"},
           {7, "busy 2", ""},
           {8, "busy 3", ""},
           {9, "load 4 0", ""}});
  EXPECT_LE(H2.P.wakeUp(), 60ms); // checked again soon
}

TEST(SharingPlanTest, APluginWithoutAResultForLongIsNotWaitedFor) {
  Options O = shared();
  History H(O, jobs(3, 0.4));
  H.play({{0, "start", "prepare 1, prepare 2, prepare 3"},
          {1, "prepared 1", "open"},
          {2, "opened", "load, offer 1"},
          {3, "accepted 1", ""},
          {4, "running 1 w1", ""},
          {5, "prepared 2", "offer 2"},
          {6, "busy 2", ""},
          {7, "prepared 3", ""},
          {8, "load 8 0", ""},
          {501, "tick", ""},
          {503, "tick",
           "cancel 3 full, stays 4 full, compile 4, cancel 2 full, "
           "stays 5 full, compile 5"}});
}

/// A local core compiles the cheapest of \p Jobs. The plugin runs the first,
/// and has no room for the others.
History cheapestHere(std::vector<JobInfo> Jobs) {
  Options O = shared();
  O.Cores = 2;
  History H(O, std::move(Jobs));
  H.play({{0, "start", "prepare 1, prepare 2, prepare 3, prepare 4"},
          {1, "prepared 1", "open"},
          {2, "opened", "load, offer 1"},
          {3, "accepted 1", ""},
          {4, "running 1 w1", ""},
          {5, "prepared 2", "offer 2"},
          {5, "prepared 3", "offer 3"},
          {5, "prepared 4", "offer 4"},
          {6, "busy 2", ""},
          {6, "busy 3", ""},
          {6, "busy 4", ""},
          {7, "load 1 0", "cancel 4 full, stays 5 full, compile 5"}});
  return H;
}

TEST(SharingPlanTest, TheLongestThatThePluginWouldEndAfterAllTheRest) {
  // 12 s of work for two machines take 6 s. At the plugin alone, the second job
  // would end after 9 s.
  History H = cheapestHere({{5, false}, {4, false}, {3, false}, {1, false}});
  H.play({{1007, "compiled 5 1",
           "won 5, deliver 5, cancel 2 full, stays 6 full, compile 6"}});
}

TEST(SharingPlanTest, WhatThePluginDoesInTimeIsLeft) {
  // 6.2 s of work take 3.1 s. At the plugin alone, the second job would end
  // after 3 s, the third after 6.2 s.
  History H = cheapestHere({{1, false}, {2, false}, {3.2, false}, {1, false}});
  H.play({{1007, "compiled 5 1",
           "won 5, deliver 5, cancel 3 full, stays 6 full, compile 6"}});
}

TEST(SharingPlanTest, AJobThatThePluginWouldEndSoonerIsLeft) {
  // This machine took five seconds for one second of work. Locally, the job
  // would take 20 s, at the plugin 8 s.
  Options O = shared();
  O.Cores = 2;
  History H(O, {{4, false}, {4, false}, {4, false}, {1, false}});
  H.play({{0, "start", "prepare 1, prepare 2, prepare 3, prepare 4"},
          {1, "prepared 1", "open"},
          {2, "opened", "load, offer 1"},
          {3, "accepted 1", ""},
          {4, "running 1 w1", ""},
          {5, "prepared 2", "offer 2"},
          {6, "busy 2", ""},
          {7, "prepared 3", ""},
          {7, "prepared 4", ""},
          {8, "load 1 0", "cancel 4 full, stays 5 full, compile 5"},
          {4004, "good 1 w1", "won 1, deliver 1, offer 2"},
          {4005, "accepted 2", "offer 3"},
          {4005, "busy 3", ""},
          {4006, "running 2 w1", ""},
          {5008, "compiled 5 5", "won 5, deliver 5"}});
}

TEST(SharingPlanTest, APluginIsFullIfThereIsNoMemoryForMore) {
  // Idle slots that get no job don't count: the plugin needs two seconds.
  Options O = shared();
  O.MaxBytesInFlight = 10;
  History H(O, jobs(3, 1));
  H.play({{0, "start", "prepare 1, prepare 2, prepare 3"},
          {1, "prepared 1 8", "open"},
          {2, "opened", "load, offer 1"},
          {3, "prepared 2 8", ""},
          {4, "prepared 3 8", ""},
          {5, "accepted 1", ""},
          {6, "running 1 w1", ""},
          {7, "load 9 8",
           "cancel 3 full, stays 4 full, compile 4, cancel 2 full, stays 5 "
           "full, compile 5"}});
}

//===----------------------------------------------------------------------===//
// Jobs that only wait at the plugin
//===----------------------------------------------------------------------===//

/// Three jobs of a second. The plugin accepts all, and runs one.
History givenOut(const Options &O) {
  History H(O, jobs(3, 1));
  H.play({{0, "start", "prepare 1, prepare 2, prepare 3"},
          {1, "prepared 1", "open"},
          {2, "opened", "load, offer 1"},
          {3, "prepared 2", "offer 2"},
          {4, "prepared 3", "offer 3"},
          {5, "accepted 1", ""},
          {6, "accepted 2", ""},
          {7, "accepted 3", ""},
          {8, "running 1 w1", ""}});
  return H;
}

TEST(SharingPlanTest, JobsThatWaitAtThePluginsAreTakenBack) {
  History H = givenOut(shared());
  H.play({{70, "load 1 0",
           "cancel 3 takenback, stays 4 takenback, compile 4, cancel 2 "
           "takenback, stays 5 takenback, compile 5"}});
}

TEST(SharingPlanTest, NotWhileSlotsAreFree) {
  History H = givenOut(shared());
  H.play({{70, "load 3 2", ""},
          {1000, "tick", ""},
          // But for at most a second.
          {1100, "tick",
           "cancel 3 takenback, stays 4 takenback, compile 4, "
           "cancel 2 takenback, stays 5 takenback, compile 5"}});
}

TEST(SharingPlanTest, SlotsThatHaveBegunAJobSinceTheLoadAreNotFree) {
  History H = givenOut(shared());
  H.play({{70, "load 1 1",
           "cancel 3 takenback, stays 4 takenback, compile 4, cancel 2 "
           "takenback, stays 5 takenback, compile 5"}});
}

TEST(SharingPlanTest, ACoreThatBecomesIdleTakesTheNextAtOnce) {
  Options O = shared();
  O.LocalJobs = 1;
  History H = givenOut(O);
  H.play({{70, "load 1 0", "cancel 3 takenback, stays 4 takenback, compile 4"},
          {71, "compiled 4 0.001",
           "won 4, deliver 4, cancel 2 takenback, stays 5 takenback, compile "
           "5"}});
}

TEST(SharingPlanTest, TheLongestThatWaitsIsTakenBackOnceThisMachineIsMeasured) {
  // 9 s of work for two machines take 4.5 s. At the plugin alone, the second
  // job would end after 6 s. It doesn't matter that others weren't accepted.
  Options O = shared();
  O.Cores = 2;
  History H(O, {{3, false}, {3, false}, {3, false}, {1, false}});
  H.play({{0, "start", "prepare 1, prepare 2, prepare 3, prepare 4"},
          {1, "prepared 1", "open"},
          {2, "opened", "load, offer 1"},
          {3, "prepared 2", "offer 2"},
          {4, "prepared 3", "offer 3"},
          {4, "prepared 4", "offer 4"},
          {5, "accepted 1", ""},
          {6, "accepted 2", ""},
          {7, "busy 3", ""},
          {7, "busy 4", ""},
          {8, "running 1 w1", ""},
          {70, "load 1 0", "cancel 4 full, stays 5 full, compile 5"},
          {1070, "compiled 5 1",
           "won 5, deliver 5, cancel 2 takenback, stays 6 takenback, compile "
           "6"}});
}

TEST(SharingPlanTest, NotWithoutNewsOfJobs) {
  History H(shared(), jobs(2, 1));
  H.play({{0, "start", "prepare 1, prepare 2"},
          {1, "prepared 1", "open"},
          {2, "opened", "load, offer 1"},
          {3, "prepared 2", "offer 2"},
          {4, "accepted 1", ""},
          {5, "accepted 2", ""},
          {6, "sending 1 w1", ""},
          {70, "load 1 0", ""},
          {1100, "tick", ""}});
}

//===----------------------------------------------------------------------===//
// A plugin that begins no job
//===----------------------------------------------------------------------===//

History silent(const Options &O, bool HasSideFiles = false) {
  History H(O, jobs(2, 1, HasSideFiles));
  H.play({{0, "start", "prepare 1, prepare 2"},
          {1, "prepared 1", "open"},
          {2, "opened", "load, offer 1"},
          {3, "prepared 2", "offer 2"},
          {4, "accepted 1", ""},
          {5, "accepted 2", ""},
          {6, "load 9 7", ""}});
  return H;
}

TEST(SharingPlanTest, JobsOfASilentPluginAreCompiledHereAsWell) {
  History H = silent(shared());
  H.play({{99, "tick", ""},
          // The patience is half a second, less than the job takes.
          {503, "tick", "stays 3 silent, compile 3, stays 4 silent, compile 4"},
          {504, "compiled 3 0.5", "won 3, cancel 2 overtaken, deliver 3"},
          {505, "good 1 w1", "won 1, cancel 4 overtaken, deliver 1"},
          {506, "compiled 4 0.5", ""},
          {507, "delivered j0", "end j0 done"},
          {508, "delivered j1", "end j1 done, close"}});
  EXPECT_TRUE(H.P.isDone());
}

TEST(SharingPlanTest, ThatJobsWaitIsNoBeginning) {
  History H = silent(shared());
  H.play(
      {{50, "queued 1", ""},
       {51, "queued 2", ""},
       {503, "tick", "stays 3 silent, compile 3, stays 4 silent, compile 4"}});
}

TEST(SharingPlanTest, ASilentPluginThatTakesOnlySome) {
  History H(shared(), jobs(3, 1));
  H.play({{0, "start", "prepare 1, prepare 2, prepare 3"},
          {1, "prepared 1", "open"},
          {2, "opened", "load, offer 1"},
          {3, "prepared 2", "offer 2"},
          {4, "prepared 3", "offer 3"},
          {5, "accepted 1", ""},
          {6, "busy 2", ""},
          {7, "busy 3", ""},
          {9, "load 9 8", ""},
          // First the jobs that the plugin hasn't accepted, then the other.
          {503, "tick",
           "cancel 3 full, stays 4 full, compile 4, cancel 2 full, stays 5 "
           "full, compile 5, stays 6 silent, compile 6"}});
}

TEST(SharingPlanTest, ASilentPluginAndMoreThanFitsInMemory) {
  Options O = shared();
  O.MaxBytesInFlight = 1;
  History H(O, jobs(2, 1));
  H.play({{0, "start", "prepare 1, prepare 2"},
          {1, "prepared 1 8", "open"},
          {2, "opened", "load, offer 1"},
          {3, "prepared 2 8", ""},
          {4, "accepted 1", ""},
          {5, "load 9 8", ""},
          // As far as the plan knows, the plugin isn't full.
          {503, "tick", ""},
          {1003, "tick",
           "stays 3 silent, compile 3, cancel 2 full, stays 4 full, compile "
           "4"}});
}

TEST(SharingPlanTest, NotThoseThatWriteFilesNextToTheObject) {
  History H = silent(shared(), /*HasSideFiles=*/true);
  H.play({{503, "tick", ""}, {2000, "tick", ""}});
}

TEST(SharingPlanTest, APluginThatHasBegunAJobHasTimeForIt) {
  History H = silent(shared());
  H.play(
      {{50, "sending 1 w1", ""},
       {503, "tick", ""},
       {2050, "tick", ""},
       {2560, "tick", "stays 3 silent, compile 3, stays 4 silent, compile 4"},
       {2700, "good 1 w1", "won 1, cancel 4 overtaken, deliver 1"}});
}

/// Duplicates are off.
TEST(SharingPlanTest, OverdueJobsOfASilentPluginMayHaveToBeAlone) {
  Options O = shared();
  O.DuplicatePercent = 0;
  History H = silent(O);
  H.play({{50, "sending 1 w1", ""}, {2560, "tick", ""}});
}

TEST(SharingPlanTest, NotWhereTheUserWantsNoneBegun) {
  Options O = shared();
  O.LocalJobs = 0;
  History H = silent(O);
  H.play({{503, "tick", ""}, {2000, "tick", ""}});
}

TEST(SharingPlanTest, ErrorsOfASilentPluginAreNoMatter) {
  History H = silent(shared());
  H.play({{503, "tick", "stays 3 silent, compile 3, stays 4 silent, compile 4"},
          {504, "failed 1 infrastructure", ""},
          {505, "pluginfailed", "drop pluginfailed, cancel 2 gone"},
          {506, "compiled 3 0.5", "won 3, deliver 3"},
          {507, "compiled 4 0.5", "won 4, deliver 4"}});
}

TEST(SharingPlanTest, FromADeadPluginTheLongestFirst) {
  Options O = shared();
  O.Cores = 1;
  O.MinPrepared = O.MaxPrepared = 1;
  History H(O, {{400, false}, {300, false}, {200, false}});
  H.play({{0, "start", "prepare 1"},
          {1, "prepared 1", "open"},
          {2, "opened", "load, offer 1"},
          {3, "accepted 1", "prepare 2"},
          {4, "load 8 7", ""},
          {1003, "tick", "stays 3 silent, compile 3"}});
}

/// Three jobs, the third not prepared yet, and open() doesn't return.
History opening(Options O) {
  O.Cores = 2;
  O.MinPrepared = O.MaxPrepared = 2;
  History H(O, jobs(3, 1));
  H.play({{0, "start", "prepare 1, prepare 2"},
          {100, "prepared 1", "open"},
          {101, "prepared 2", ""},
          {1099, "tick", ""}});
  return H;
}

TEST(SharingPlanTest, SlowOpenDoesNotDelay) {
  History H = opening(shared());
  H.play({{1600, "tick",
           "cancel 1 silent, stays 3 silent, compile 3, cancel 2 silent, "
           "stays 4 silent, compile 4, prepare 5"},
          {2600, "compiled 3 1", "won 3, deliver 3"},
          {2601, "compiled 4 1", "won 4, deliver 4"},
          {2602, "delivered j0", "end j0 done"},
          {2603, "delivered j1", "end j1 done"},
          {2604, "prepared 5", "cancel 5 silent, stays 6 silent, compile 6"},
          {2605, "compiled 6 1", "won 6, deliver 6"},
          {2606, "delivered j2", "end j2 done, close"}});
  EXPECT_TRUE(H.P.isDone());
}

TEST(SharingPlanTest, APluginThatOpensAfterAllGetsTheRest) {
  History H = opening(shared());
  H.play({{1600, "tick",
           "cancel 1 silent, stays 3 silent, compile 3, cancel 2 silent, "
           "stays 4 silent, compile 4, prepare 5"},
          {1700, "prepared 5", ""},
          {1800, "opened", "load, offer 5"}});
}

TEST(SharingPlanTest, NotWithoutFallbackOrWhereTheUserWantsNone) {
  Options O = shared();
  O.Fallback = false;
  opening(O).play({{1600, "tick", ""}});
  O = shared();
  O.LocalJobs = 0;
  opening(O).play({{1600, "tick", ""}});
}

//===----------------------------------------------------------------------===//
// Stragglers
//===----------------------------------------------------------------------===//

/// Five jobs of a second. Four end after one second, and the last continues.
History straggling(Options O, bool HasSideFiles = false) {
  History H(O, jobs(5, 1, HasSideFiles));
  H.play({{0, "start", "prepare 1, prepare 2, prepare 3, prepare 4, prepare 5"},
          {1, "prepared 1", "open"},
          {1, "prepared 2", ""},
          {1, "prepared 3", ""},
          {1, "prepared 4", ""},
          {1, "prepared 5", ""},
          {2, "opened", "load, offer 1, offer 2, offer 3, offer 4, offer 5"},
          {3, "load 6 1", ""},
          {4, "accepted 1", ""},
          {4, "accepted 2", ""},
          {4, "accepted 3", ""},
          {4, "accepted 4", ""},
          {4, "accepted 5", ""},
          {5, "running 1 w1", ""},
          {5, "running 2 w1", ""},
          {5, "running 3 w2", ""},
          {5, "running 4 w2", ""},
          {5, "running 5 w9", ""},
          {1005, "good 1 w1", "won 1, deliver 1"},
          {1005, "good 2 w1", "won 2, deliver 2"},
          {1005, "good 3 w2", "won 3, deliver 3"},
          {1005, "good 4 w2", "won 4, deliver 4"},
          {1100, "delivered j0", "end j0 done"},
          {1100, "delivered j1", "end j1 done"},
          {1100, "delivered j2", "end j2 done"},
          {1100, "delivered j3", "end j3 done"},
          {2000, "tick", ""}});
  return H;
}

/// No local jobs.
Options remoteOnly() {
  Options O = shared();
  O.LocalJobs = 0;
  return O;
}

TEST(SharingPlanTest, AStragglerGetsADuplicate) {
  History H = straggling(remoteOnly());
  H.play({{2060, "tick", "again 6 duplicate avoid w9"},
          {2061, "prepared 6", "offer 6"},
          {2062, "accepted 6", ""},
          {2063, "good 6 w1", "won 6, cancel 5 overtaken, deliver 6"},
          {2064, "good 5 w9", ""},
          {2065, "delivered j4", "end j4 done, close"}});
}

TEST(SharingPlanTest, TheFirstIsFasterAfterAll) {
  History H = straggling(remoteOnly());
  H.play({{2060, "tick", "again 6 duplicate avoid w9"},
          {2061, "prepared 6", "offer 6"},
          {2063, "good 5 w9", "won 5, cancel 6 overtaken, deliver 5"},
          {2064, "accepted 6", ""},
          {2064, "good 6", ""}});
}

TEST(SharingPlanTest, OrWhileTheDuplicateIsStillPrepared) {
  History H = straggling(remoteOnly());
  H.play({{2060, "tick", "again 6 duplicate avoid w9"},
          {2063, "good 5 w9", "won 5, cancel 6 overtaken, deliver 5"},
          {2064, "delivered j4", "end j4 done, close"},
          {2065, "prepared 6", ""}});
  EXPECT_TRUE(H.P.isDone());
}

TEST(SharingPlanTest, TheDuplicateIsVerifiedWhenItHasWon) {
  Options O = remoteOnly();
  O.VerifyPercent = 100;
  O.MinMeasured = 0;
  History H(O, jobs(1, 1));
  H.play({{0, "start", "prepare 1"},
          {1, "prepared 1", "open"},
          {2, "opened", "load, offer 1"},
          {3, "accepted 1", ""},
          {4, "running 1 w1", ""},
          {5, "load 2 1", ""},
          {2100, "tick", "again 2 duplicate avoid w1"},
          {2101, "prepared 2", "offer 2"},
          {2102, "accepted 2", ""},
          {2103, "good 2", "won 2, cancel 1 overtaken, compile 3"},
          {2104, "compiled 3 1", "verify 3"},
          {2105, "verified j0", "deliver 2"},
          {2106, "delivered j0", "end j0 done, close"}});
}

TEST(SharingPlanTest, TheDuplicateFails) {
  // The plugin is told once the module has compiled.
  for (auto [Event, Told, Won] :
       {std::tuple("failed 6 compiler w1", "",
                   "won 5, refute 6 compiler, deliver 5"),
        std::tuple("failed 6 bad w1", "", "won 5, refute 6 bad, deliver 5")}) {
    History H = straggling(remoteOnly());
    H.play({{2060, "tick", "again 6 duplicate avoid w9"},
            {2061, "prepared 6", "offer 6"},
            {2062, "accepted 6", ""},
            {2063, Event, Told},
            {2064, "good 5 w9", Won}});
  }
}

TEST(SharingPlanTest, BothFailToCompile) {
  Options O = remoteOnly();
  O.Fallback = false;
  History H = straggling(O);
  H.play({{2060, "tick", "again 6 duplicate avoid w9"},
          {2061, "prepared 6", "offer 6"},
          {2062, "accepted 6", ""},
          {2063, "failed 6 compiler w1", ""},
          {2064, "failed 5 compiler w9", "end j4 compiler, close"}});
}

TEST(SharingPlanTest, TheDuplicateWinsAfterTheFirstHasFailed) {
  History H = straggling(remoteOnly());
  H.play({{2060, "tick", "again 6 duplicate avoid w9"},
          {2061, "prepared 6", "offer 6"},
          {2062, "accepted 6", ""},
          {2063, "failed 5 infrastructure", ""},
          {2064, "good 6 w1", "won 6, deliver 6"}});
}

TEST(SharingPlanTest, TheFirstFailsAndTheDuplicateGoesOn) {
  History H = straggling(remoteOnly());
  H.play({{2060, "tick", "again 6 duplicate avoid w9"},
          {2061, "prepared 6", "offer 6"},
          {2062, "accepted 6", ""},
          {2062, "running 6 w1", ""},
          {2063, "failed 5 infrastructure", ""},
          // The duplicate is slow as well. The next one avoids its worker.
          {4200, "tick", "again 7 duplicate avoid w1"}});
}

TEST(SharingPlanTest, ADuplicateThatThePluginHasNoRoomFor) {
  History H = straggling(remoteOnly());
  H.play({{2060, "tick", "again 6 duplicate avoid w9"},
          {2061, "prepared 6", "offer 6"},
          {2062, "busy 6", "cancel 6 overtaken"},
          {2200, "tick", ""},
          {2201, "room", ""},
          {2260, "tick", "again 7 duplicate avoid w9"}});
}

TEST(SharingPlanTest, ADuplicateCountsAgainstTheMemory) {
  Options O = remoteOnly();
  O.MaxBytesInFlight = 10;
  O.MinMeasured = 0;
  History H(O, jobs(1, 1));
  H.play({{0, "start", "prepare 1"},
          {1, "prepared 1 8", "open"},
          {2, "opened", "load, offer 1"},
          {3, "accepted 1", ""},
          {4, "running 1 w1", ""},
          {5, "load 2 1", ""},
          // The duplicate would wait for the memory of the first attempt.
          {2100, "tick", ""},
          {2102, "failed 1 infrastructure", "again 2 retry"}});
}

TEST(SharingPlanTest, ADuplicateForWhichThereIsNoMemoryIsCompiledHere) {
  Options O = shared();
  O.MaxBytesInFlight = 10;
  O.MinMeasured = 0;
  History H(O, jobs(1, 1));
  H.play({{0, "start", "prepare 1"},
          {1, "prepared 1 8", "open"},
          {2, "opened", "load, offer 1"},
          {3, "accepted 1", ""},
          {4, "running 1 w1", ""},
          {5, "load 2 1", ""},
          {2100, "tick", "stays 2 straggler avoid w1, compile 2"}});
}

TEST(SharingPlanTest, AStragglerIsCompiledHereIfThePluginHasNoRoom) {
  Options O = shared();
  History H = straggling(O);
  H.play({{2001, "load 5 0", ""},
          {2060, "tick", "stays 6 straggler avoid w9, compile 6"},
          {3000, "compiled 6 0.9", "won 6, cancel 5 overtaken, deliver 6"}});
}

TEST(SharingPlanTest, TheOnlyOneThatThePluginTook) {
  // The expected time was measured locally.
  Options O = shared();
  O.LocalJobs = 2;
  History H(O, jobs(5, 1));
  H.play({{0, "start", "prepare 1, prepare 2, prepare 3, prepare 4, prepare 5"},
          {1, "prepared 1", "open"},
          {1, "prepared 2", ""},
          {1, "prepared 3", ""},
          {1, "prepared 4", ""},
          {1, "prepared 5", ""},
          {2, "opened", "load, offer 1, offer 2, offer 3, offer 4, offer 5"},
          {3, "load 1 0", ""},
          {4, "accepted 1", ""},
          {4, "running 1 w9", ""},
          {5, "busy 5", "cancel 5 full, stays 6 full, compile 6"},
          {5, "busy 4", "cancel 4 full, stays 7 full, compile 7"},
          {5, "busy 3", ""},
          {5, "busy 2", ""},
          {1000, "compiled 6 1",
           "won 6, deliver 6, cancel 2 full, stays 8 full, compile 8"},
          {1000, "compiled 7 1",
           "won 7, deliver 7, cancel 3 full, stays 9 full, compile 9"},
          {1900, "compiled 8 1", "won 8, deliver 8"},
          {1900, "compiled 9 1", "won 9, deliver 9"},
          {2000, "tick", ""},
          {2100, "tick", "stays 10 straggler avoid w9, compile 10"},
          {3000, "compiled 10 1", "won 10, cancel 1 overtaken, deliver 10"}});
}

TEST(SharingPlanTest, ButNotOneThatWritesFilesNextToItsObject) {
  History H = straggling(shared(), /*HasSideFiles=*/true);
  H.play({{2001, "load 5 0", ""}, {2060, "tick", ""}});
}

TEST(SharingPlanTest, NoDuplicatesWhereTheUserWantsNone) {
  Options O = remoteOnly();
  O.DuplicatePercent = 0;
  History H = straggling(O);
  H.play({{2060, "tick", ""}, {9000, "tick", ""}});
}

TEST(SharingPlanTest, NoDuplicatesWhereTheOrderIsKept) {
  Options O = shared();
  O.KeepOrder = true;
  O.MinMeasured = 0;
  History H(O, jobs(1, 1));
  H.play({{0, "start", "prepare 1"},
          {1, "prepared 1", "open"},
          {2, "opened", "load, offer 1"},
          {3, "accepted 1", ""},
          {4, "running 1 w1", ""},
          {5, "load 2 1", ""},
          {9000, "tick", ""}});
}

/// Four jobs end, and two are stuck.
History stuck(unsigned Percent, Options O = remoteOnly()) {
  O.DuplicatePercent = Percent;
  History H(O, jobs(6, 1));
  H.play({{0, "start",
           "prepare 1, prepare 2, prepare 3, prepare 4, prepare 5, prepare 6"},
          {1, "prepared 1", "open"},
          {1, "prepared 2", ""},
          {1, "prepared 3", ""},
          {1, "prepared 4", ""},
          {1, "prepared 5", ""},
          {1, "prepared 6", ""},
          {2, "opened",
           "load, offer 1, offer 2, offer 3, offer 4, offer 5, offer 6"},
          {3, "load 9 3", ""}});
  for (const char *Accepted : {"accepted 1", "accepted 2", "accepted 3",
                               "accepted 4", "accepted 5", "accepted 6"})
    H.play({{4, Accepted, ""}});
  for (const char *Running : {"running 1 w1", "running 2 w1", "running 3 w2",
                              "running 4 w2", "running 5 w9", "running 6 w9"})
    H.play({{5, Running, ""}});
  H.play({{1005, "good 1 w1", "won 1, deliver 1"},
          {1005, "good 2 w1", "won 2, deliver 2"},
          {1005, "good 3 w2", "won 3, deliver 3"},
          {1005, "good 4 w2", "won 4, deliver 4"}});
  return H;
}

TEST(SharingPlanTest, AllThatAreStuckAtOnceWithinTheLimit) {
  History H = stuck(100);
  H.play({{2100, "tick",
           "again 7 duplicate avoid w9, again 8 duplicate avoid w9"}});
}

TEST(SharingPlanTest, BeyondTheLimitOneAfterTheOther) {
  History H = stuck(1);
  H.play({{2100, "tick", "again 7 duplicate avoid w9"},
          {2101, "prepared 7", "offer 7"},
          {2102, "accepted 7", ""},
          {2200, "tick", ""},
          {2300, "good 7 w1",
           "won 7, cancel 5 overtaken, deliver 7, again 8 "
           "duplicate avoid w9"}});
}

TEST(SharingPlanTest, BeyondTheLimitIdleCoresTakeTheOthers) {
  History H = stuck(1, shared());
  H.play({{2100, "tick",
           "again 7 duplicate avoid w9, stays 8 overdue avoid w9, compile 8"},
          {2200, "compiled 8 0.1", "won 8, cancel 6 overtaken, deliver 8"}});
}

TEST(SharingPlanTest, WhatIsOverdueIsGivenUpWhereNothingMayBeDoneTwice) {
  History H = stuck(0, shared());
  H.play({{1900, "tick", ""},
          {2100, "tick",
           "cancel 5 overdue, stays 7 overdue avoid w9, compile 7, cancel 6 "
           "overdue, stays 8 overdue avoid w9, compile 8"}});
}

TEST(SharingPlanTest, ADuplicateThatIsStuckAsWell) {
  Options O = shared();
  O.LateExtra = 1h;
  History H = straggling(O);
  H.play({{2060, "tick", "again 6 duplicate avoid w9"},
          {2061, "prepared 6", "offer 6"},
          {2062, "accepted 6", ""},
          {2063, "running 6 w8", ""},
          {4000, "tick", ""},
          {4100, "tick", "stays 7 overdue avoid w8, compile 7"},
          {5000, "compiled 7 1",
           "won 7, cancel 5 overtaken, cancel 6 overtaken, deliver 7"}});
}

//===----------------------------------------------------------------------===//
// A link that is late
//===----------------------------------------------------------------------===//

/// Two jobs of a second, which this machine alone compiles in one. The plugin
/// has begun to send them, and does nothing more.
History late(Options O, bool HasSideFiles = false) {
  O.SlowFactor = 4; // or the plugin would count as silent before
  History H = silent(O, HasSideFiles);
  H.play({{20, "sending 1 w1", ""},
          {21, "sending 2 w2", ""},
          {2000, "tick", ""},
          {2600, "tick", ""}});
  return H;
}

TEST(SharingPlanTest, OfALateLinkAllIsCompiledHere) {
  History H = late(shared());
  H.play({{3100, "tick",
           "stays 3 overdue avoid w1, compile 3, stays 4 overdue avoid w2, "
           "compile 4"},
          {3200, "good 1 w1", "won 1, cancel 3 overtaken, deliver 1"},
          {4100, "compiled 4 1", "won 4, cancel 2 overtaken, deliver 4"}});
}

TEST(SharingPlanTest, ItsJobsAreGivenUpIfTheyMustBeAlone) {
  Options O = shared();
  O.DuplicatePercent = 0;
  const Row Tick = {
      3100, "tick",
      "cancel 1 overdue, stays 3 overdue avoid w1, compile 3, cancel 2 "
      "overdue, stays 4 overdue avoid w2, compile 4"};
  late(O).play({Tick});
  late(shared(), /*HasSideFiles=*/true).play({Tick});
}

TEST(SharingPlanTest, ButNotBeforeTheirTime) {
  Options O = shared();
  O.DuplicatePercent = 0;
  History H = late(O);
  // The plugin turns out to be slow, so job 2 gets more time.
  H.play({{2950, "running 2 w2", ""},
          {2960, "good 1 w1", "won 1, deliver 1"},
          {3100, "tick", ""},
          {6300, "tick", ""},
          {6500, "tick",
           "cancel 2 overdue, stays 3 overdue avoid w2, compile 3"}});
}

TEST(SharingPlanTest, AnotherMayBeLateWhereTheUserHasChosenWhoCompiles) {
  Options NoFallback = shared();
  NoFallback.Fallback = false;
  for (const Options &O : {remoteOnly(), NoFallback}) {
    History H = late(O);
    H.play({{3100, "tick", ""}, {9000, "tick", ""}});
  }
}

TEST(SharingPlanTest, OneThatIsLostEachTimeIsNotGivenOutForEver) {
  History H = straggling(remoteOnly());
  H.play({{2060, "tick", "again 6 duplicate avoid w9"},
          {2061, "prepared 6", "offer 6"},
          {2062, "accepted 6", ""},
          {2063, "failed 5 infrastructure", ""},
          {5000, "tick", "again 7 duplicate"},
          {5001, "prepared 7", "offer 7"},
          {5002, "accepted 7", ""},
          {5003, "failed 6 infrastructure", ""},
          {9000, "tick", ""},
          {9001, "failed 7 infrastructure", "again 8 retry"}});
}

TEST(SharingPlanTest, AJobThatDoesNotBeginWhileSlotsAreIdle) {
  Options O = remoteOnly();
  O.MinMeasured = 0;
  History H(O, jobs(2, 0.1));
  H.play({{0, "start", "prepare 1, prepare 2"},
          {1, "prepared 1", "open"},
          {2, "opened", "load, offer 1"},
          {3, "prepared 2", "offer 2"},
          {4, "accepted 1", ""},
          {5, "accepted 2", ""},
          {6, "running 1 w1", ""},
          {7, "load 2 1", ""},
          {106, "good 1 w1", "won 1, deliver 1"},
          {900, "tick", ""},
          {1100, "tick", "again 3 duplicate"}});
}

TEST(SharingPlanTest, AJobThatIsNeverSentToItsEnd) {
  // All slots are taken, one of them by the job itself. Only a queued job would
  // have to wait for a slot.
  Options O = shared();
  O.MinMeasured = 0;
  O.LateExtra = 1h;
  O.DuplicatePercent = 0;
  History H(O, jobs(2, 0.1));
  H.play({{0, "start", "prepare 1, prepare 2"},
          {1, "prepared 1", "open"},
          {2, "opened", "load, offer 1"},
          {3, "prepared 2", "offer 2"},
          {4, "accepted 1", ""},
          {5, "accepted 2", ""},
          {6, "running 1 w1", ""},
          {7, "sending 2 w2", ""},
          {8, "load 2 0", ""},
          {106, "good 1 w1", "won 1, deliver 1"},
          {900, "tick", ""},
          {1100, "tick",
           "cancel 2 overdue, stays 3 overdue avoid w2, compile 3"}});
}

TEST(SharingPlanTest, AllThatASlowWorkerHas) {
  // Two jobs of w9 have taken too long. A third has run for half a second.
  Options O = remoteOnly();
  O.DuplicatePercent = 100;
  O.MinMeasured = 1;
  History H(O, jobs(4, 1));
  H.play(
      {{0, "start", "prepare 1, prepare 2, prepare 3, prepare 4"},
       {1, "prepared 1", "open"},
       {1, "prepared 2", ""},
       {1, "prepared 3", ""},
       {1, "prepared 4", ""},
       {2, "opened", "load, offer 1, offer 2, offer 3, offer 4"},
       {3, "load 9 5", ""},
       {4, "accepted 1", ""},
       {4, "accepted 2", ""},
       {4, "accepted 3", ""},
       {4, "accepted 4", ""},
       {5, "running 1 w1", ""},
       {5, "running 2 w9", ""},
       {5, "running 3 w9", ""},
       {1005, "good 1 w1", "won 1, deliver 1"},
       {1700, "running 4 w9", ""},
       {2100, "tick", "again 5 duplicate avoid w9, again 6 duplicate avoid w9"},
       {2250, "tick", "again 7 duplicate avoid w9"}});
}

//===----------------------------------------------------------------------===//
// Idle slots
//===----------------------------------------------------------------------===//

TEST(SharingPlanTest, IdleSlotsAreGuessedUntilThePluginWasAsked) {
  History H(shared(), jobs(2, 1));
  EXPECT_TRUE(H.P.hasIdleSlots());
  H.play({{0, "start", "prepare 1, prepare 2"},
          {1, "prepared 1", "open"},
          {2, "opened", "load, offer 1"},
          {3, "accepted 1", ""}});
  EXPECT_TRUE(H.P.hasIdleSlots());
  H.play({{4, "load 2 2", ""}});
  EXPECT_TRUE(H.P.hasIdleSlots());
  H.play({{5, "prepared 2", "offer 2"}, {6, "accepted 2", ""}});
  EXPECT_FALSE(H.P.hasIdleSlots());
  H.play({{7, "load 3 1", ""}});
  EXPECT_TRUE(H.P.hasIdleSlots());
  H.play({{8, "load 4294967295 0", ""}});
  EXPECT_FALSE(H.P.hasIdleSlots());
}

TEST(SharingPlanTest, NoIdleSlotsWhereTheOrderIsKept) {
  Options O = shared();
  O.KeepOrder = true;
  History H(O, jobs(2, 1));
  EXPECT_FALSE(H.P.hasIdleSlots());
}

TEST(SharingPlanTest, LongIsHalfOfWhatASlotStillHasToDo) {
  Options O = shared();
  O.MinPrepared = 5;
  History H(O, jobs(3, 2));
  EXPECT_EQ(H.P.longJobThreshold(), 0.6);
  H.play({{0, "start", "prepare 1, prepare 2, prepare 3"},
          {1, "prepared 1", "open"},
          {2, "opened", "load, offer 1"},
          {3, "accepted 1", ""},
          {4, "load 2 2", ""}});
  EXPECT_EQ(H.P.longJobThreshold(), 0.5); // two slots, and four local cores
  H.play({{5, "good 1", "won 1, deliver 1"}});
  EXPECT_DOUBLE_EQ(H.P.longJobThreshold(), 4 / 12.0);
}

} // namespace
