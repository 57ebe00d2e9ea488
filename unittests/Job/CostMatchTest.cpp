//===- CostMatchTest.cpp - How well estimates matched ---------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Job/CostMatch.h"
#include "gtest/gtest.h"
#include <cmath>
#include <limits>

using namespace dtlto;

static CostMatch match(std::initializer_list<std::pair<double, double>> Pairs) {
  CostMatch M;
  for (auto [Estimate, Actual] : Pairs)
    M.add(Estimate, Actual);
  return M;
}

TEST(CostMatch, Nothing) {
  CostMatch M;
  EXPECT_EQ(M.size(), 0u);
  EXPECT_FALSE(M.rankCorrelation() || M.factor() || M.medianError());
  EXPECT_EQ(M.text(), "");
}

TEST(CostMatch, TheSameOrder) {
  CostMatch M = match({{1, 10}, {3, 11}, {2, 10.5}, {100, 5000}});
  EXPECT_NEAR(*M.rankCorrelation(), 1, 1e-12);
}

TEST(CostMatch, TheOtherOrder) {
  CostMatch M = match({{1, 9}, {2, 8}, {3, 1}, {4, 0.5}});
  EXPECT_NEAR(*M.rankCorrelation(), -1, 1e-12);
}

TEST(CostMatch, SomeOrder) {
  // 1 - 6 * (1 + 1 + 0 + 1 + 1) / (5 * 24)
  CostMatch M = match({{1, 2}, {2, 1}, {3, 3}, {4, 5}, {5, 4}});
  EXPECT_NEAR(*M.rankCorrelation(), 0.8, 1e-12);
}

TEST(CostMatch, EqualOnesShareTheirRank) {
  // Ranks 0, 1.5, 1.5, 3 and 0, 1, 2, 3.
  CostMatch M = match({{1, 1}, {2, 2}, {2, 3}, {3, 4}});
  EXPECT_NEAR(*M.rankCorrelation(), 4.5 / std::sqrt(4.5 * 5), 1e-12);
  CostMatch Same = match({{1, 1}, {1, 2}, {1, 3}});
  EXPECT_FALSE(Same.rankCorrelation());
  EXPECT_FALSE(match({{1, 1}}).rankCorrelation());
}

TEST(CostMatch, TheSpeedOfTheMachineIsNoMistake) {
  CostMatch M = match({{1, 3}, {2, 6}, {10, 30}, {7, 21}});
  EXPECT_NEAR(*M.factor(), 3, 1e-12);
  EXPECT_NEAR(*M.medianError(), 0, 1e-12);
}

TEST(CostMatch, MedianError) {
  // Factor 1; off by 0, by half and by a fifth.
  CostMatch M = match({{4, 4}, {3, 2}, {4, 5}});
  EXPECT_NEAR(*M.factor(), 1, 1e-12);
  EXPECT_NEAR(*M.medianError(), 0.2, 1e-12);
}

TEST(CostMatch, LeavesOutWhatCantBeCompared) {
  using Limits = std::numeric_limits<double>;
  CostMatch M;
  for (double Bad : {0.0, -1.0, Limits::infinity(), -Limits::infinity(),
                     Limits::quiet_NaN()}) {
    M.add(Bad, 1);
    M.add(1, Bad);
  }
  EXPECT_EQ(M.size(), 0u);
  // Their ratio isn't finite.
  M.add(Limits::denorm_min(), Limits::max());
  M.add(Limits::max(), Limits::denorm_min());
  EXPECT_EQ(M.size(), 0u);
}

TEST(CostMatch, Text) {
  EXPECT_EQ(
      match({{4, 4}, {3, 2}, {4, 5}}).text(),
      "estimates of 3 jobs: rank correlation 0.87, median error 20% after "
      "a factor of 1");
  EXPECT_EQ(match({{2, 3}}).text(),
            "estimates of 1 jobs: median error 0% after a factor of 1.5");
}
