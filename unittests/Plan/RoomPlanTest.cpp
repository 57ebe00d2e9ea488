//===- RoomPlanTest.cpp - Memory and tokens for local jobs ----------------===//
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

Options fourCores() {
  Options O;
  O.Cores = 4;
  O.LoadInterval = 1h;
  return O;
}

std::vector<JobInfo> jobs(const std::vector<uint64_t> &Bytes) {
  std::vector<JobInfo> Jobs;
  for (uint64_t B : Bytes)
    Jobs.push_back({1, false, B});
  return Jobs;
}

/// Three jobs that only the linker can compile. The second one leads to \p
/// Then, and the test continues with the third.
History here(const Options &O, const std::vector<uint64_t> &Bytes,
             const char *Then) {
  History H(O, jobs(Bytes));
  H.play({{0, "start", "prepare 1, prepare 2, prepare 3"},
          {1, "inexpressible 1", "stays 4 inexpressible, compile 4"},
          {2, "inexpressible 2", Then}});
  return H;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

TEST(RoomPlanTest, MemoryBoundsWhatRunsHere) {
  Options O = fourCores();
  O.MaxLocalBytes = 10;
  History H = here(O, {6, 4, 1}, "stays 5 inexpressible, compile 5");
  H.play({{3, "inexpressible 3", "stays 6 inexpressible"},
          {4, "compiled 4 1", "won 4, deliver 4, compile 6"}});
}

TEST(RoomPlanTest, OneJobAlwaysMayRun) {
  Options O = fourCores();
  O.MaxLocalBytes = 1;
  History H = here(O, {6, 4, 1}, "stays 5 inexpressible");
  // The small job doesn't overtake, or larger ones might wait until the end.
  H.play({{3, "inexpressible 3", "stays 6 inexpressible"},
          {4, "compiled 4 1", "won 4, deliver 4, compile 5"},
          {5, "compiled 5 1", "won 5, deliver 5, compile 6"}});
}

TEST(RoomPlanTest, AJobThatDoesNotFitIsNotTakenFromThePlugin) {
  Options O = fourCores();
  O.MaxLocalBytes = 10;
  History H(O, jobs({8, 8, 8}));
  H.play({{0, "start", "prepare 1, prepare 2, prepare 3"},
          {1, "prepared 1", "open"},
          {2, "opened", "load, offer 1"},
          {3, "accepted 1", ""},
          {4, "running 1 w1", ""},
          {5, "prepared 2", "offer 2"},
          {6, "busy 2", ""},
          {7, "prepared 3", ""},
          {8, "load 1 0", "cancel 3 full, stays 4 full, compile 4"},
          {9, "compiled 4 0.001",
           "won 4, deliver 4, cancel 2 full, stays 5 full, compile 5"}});
}

TEST(RoomPlanTest, WhatThePluginRunsHereTakesMemory) {
  Options O = fourCores();
  O.MaxLocalBytes = 10;
  History H(O, jobs({8, 8}));
  H.play({{0, "start", "prepare 1, prepare 2"},
          {1, "prepared 1", "open"},
          {2, "opened", "load, offer 1"},
          {3, "accepted 1", ""},
          {4, "here 1", ""},
          {5, "inexpressible 2", "stays 3 inexpressible"},
          {6, "good 1 own", "won 1, deliver 1, compile 3"}});
}

TEST(RoomPlanTest, WhatWaitsForItsTurnHereIsNoStraggler) {
  Options O = fourCores();
  O.MinMeasured = 1;
  O.ScanInterval = 1ms;
  History H(O, jobs({1, 1, 1}));
  H.play({{0, "start", "prepare 1, prepare 2, prepare 3"},
          {1, "prepared 1", "open"},
          {2, "opened", "load, offer 1"},
          {3, "prepared 2", "offer 2"},
          {3, "prepared 3", "offer 3"},
          {4, "accepted 1", ""},
          {4, "accepted 2", ""},
          {4, "accepted 3", ""},
          {5, "load 4 2 4", ""},
          {5, "here 1", ""},
          {5, "waits 2", ""},
          {105, "good 1 own", "won 1, deliver 1"},
          {106, "here 3 w2", ""},
          {9000, "tick", "again 4 duplicate avoid w2"}});
}

TEST(RoomPlanTest, WhatMustBeCompiledHereGoesFirst) {
  Options O = fourCores();
  O.MaxLocalBytes = 10;
  History H(O, jobs({8, 8, 1, 1}));
  H.play({{0, "start", "prepare 1, prepare 2, prepare 3, prepare 4"},
          {1, "inexpressible 1", "stays 5 inexpressible, compile 5"},
          {2, "inexpressible 2", "stays 6 inexpressible"},
          {3, "prepared 3", "open"},
          {4, "opened", "load, offer 3"},
          {5, "accepted 3", ""},
          {6, "running 3 w1", ""},
          {7, "prepared 4", "offer 4"},
          {8, "busy 4", ""},
          // The small job would fit, but then the large one would wait for it.
          {9, "load 1 0", ""},
          {10, "compiled 5 0.001",
           "won 5, deliver 5, compile 6, cancel 4 full, stays 7 full, compile "
           "7"}});
}

//===----------------------------------------------------------------------===//
// Tokens
//===----------------------------------------------------------------------===//

TEST(RoomPlanTest, EachFurtherJobNeedsAToken) {
  Options O = fourCores();
  O.NeedsTokens = true;
  History H = here(O, {1, 1, 1}, "stays 5 inexpressible, take");
  H.play({{3, "inexpressible 3", "stays 6 inexpressible"},
          {4, "token", "compile 5, take"},
          {5, "token", "compile 6"},
          // Each job that ends returns a token.
          {6, "compiled 5 1", "won 5, return, deliver 5"},
          {7, "compiled 4 1", "won 4, return, deliver 4"},
          {8, "compiled 6 1", "won 6, deliver 6"}});
}

TEST(RoomPlanTest, MissingTokenStopsNoJob) {
  Options O = fourCores();
  O.NeedsTokens = true;
  History H = here(O, {1, 1, 1}, "stays 5 inexpressible, take");
  H.play({{3, "inexpressible 3", "stays 6 inexpressible"},
          {4, "compiled 4 1", "won 4, deliver 4, compile 5"},
          {5, "compiled 5 1", "won 5, deliver 5, compile 6"},
          {6, "compiled 6 1", "won 6, deliver 6"}});
}

TEST(RoomPlanTest, ATokenThatComesTooLateIsGivenBack) {
  Options O = fourCores();
  O.NeedsTokens = true;
  History H = here(O, {1, 1, 1}, "stays 5 inexpressible, take");
  H.play({{3, "compiled 4 1", "won 4, deliver 4, compile 5"},
          {4, "token", "return"},
          {5, "inexpressible 3", "stays 6 inexpressible, take"},
          {6, "nocompile 5", "end j1 compilerhere, compile 6"},
          {7, "token", "return"}});
}

TEST(RoomPlanTest, NoTokenIsTakenForWhatHasNoMemory) {
  Options O = fourCores();
  O.NeedsTokens = true;
  O.MaxLocalBytes = 10;
  History H = here(O, {6, 6, 1}, "stays 5 inexpressible");
  H.play({{3, "compiled 4 1", "won 4, deliver 4, compile 5"}});
}

TEST(RoomPlanTest, TheFarmNeedsNoTokens) {
  Options O = fourCores();
  O.NeedsTokens = true;
  History H(O, jobs({1, 1}));
  H.play({{0, "start", "prepare 1, prepare 2"},
          {1, "prepared 1", "open"},
          {2, "opened", "load, offer 1"},
          {3, "prepared 2", "offer 2"}});
}

TEST(RoomPlanTest, AStragglerWaitsForItsToken) {
  Options O = fourCores();
  O.NeedsTokens = true;
  O.MinMeasured = 0;
  History H(O, jobs({1, 1}));
  H.play(
      {{0, "start", "prepare 1, prepare 2"},
       {1, "prepared 1", "open"},
       {2, "opened", "load, offer 1"},
       {3, "accepted 1", ""},
       {4, "running 1 w9", ""},
       {5, "inexpressible 2", "stays 3 inexpressible, compile 3"},
       {6, "load 1 0", ""},
       {2100, "tick", "take"},
       {2101, "token", "stays 4 straggler avoid w9, compile 4"},
       {2102, "compiled 4 1", "won 4, return, cancel 1 overtaken, deliver 4"}});
}

TEST(RoomPlanTest, WhatPaysHereWaitsForItsTokenAtThePlugin) {
  Options O = fourCores();
  O.NeedsTokens = true;
  History H(O, jobs({1, 1, 1}));
  H.play({{0, "start", "prepare 1, prepare 2, prepare 3"},
          {1, "prepared 1", "open"},
          {2, "opened", "load, offer 1"},
          {3, "accepted 1", ""},
          {4, "running 1 w1", ""},
          {5, "prepared 2", "offer 2"},
          {6, "busy 2", ""},
          {7, "prepared 3", ""},
          {8, "load 1 0", "cancel 3 full, stays 4 full, compile 4, take"},
          {9, "token", "cancel 2 full, stays 5 full, compile 5"},
          {10, "compiled 4 0.001", "won 4, return, deliver 4"}});
}

} // namespace
