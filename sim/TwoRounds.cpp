//===- TwoRounds.cpp - Links with two rounds ------------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Link.h"
#include "Random.h"
#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <numeric>

using namespace dtlto::sim;
using namespace dtlto::plan;

// The purposes of random numbers.
enum Stream : uint64_t { OfRounds = 300, OfSecondJobs };

static uint64_t bit(Feature F) { return uint64_t(1) << unsigned(F); }

/// Returns \p L without the faults of the other round.
static Limits limitsOf(unsigned Round, uint64_t Seed, Limits L) {
  for (unsigned F = 0; F != NumFeatures; ++F) {
    uint64_t OnlyIn = Random{Seed, OfRounds, F}.in(0, 2); // 0: in both
    if (isFault(Feature(F)) && OnlyIn != 0 && OnlyIn != Round)
      L.Without |= bit(Feature(F));
  }
  return L;
}

/// Shortens each job to a share of its first time: it only generates code.
static void shorten(Scenario &S) {
  std::vector<size_t> Order(S.Jobs.size());
  std::iota(Order.begin(), Order.end(), 0);
  for (size_t I = 0; I != S.Jobs.size(); ++I) {
    Random ItemRandom{S.Seed, OfSecondJobs, I};
    double Share = ItemRandom.between(0.2, 1);
    S.Jobs[I].Seconds = std::max(S.Jobs[I].Seconds * Share, 0.0001);
    S.Infos[I].Estimate *= Share;
    if (S.has(Feature::Cache) && ItemRandom.chance(0.5))
      S.Jobs[I].IsCached = !S.Jobs[I].IsCached;
  }
  if (S.Opts.KeepOrder)
    return;
  std::stable_sort(Order.begin(), Order.end(), [&](size_t A, size_t B) {
    return S.Infos[A].Estimate > S.Infos[B].Estimate;
  });
  Scenario Sorted = S;
  for (size_t I = 0; I != Order.size(); ++I) {
    Sorted.Jobs[I] = S.Jobs[Order[I]];
    Sorted.Infos[I] = S.Infos[Order[I]];
  }
  S = std::move(Sorted);
}

/// Applies the state in which \p First left the farm to \p Second.
static void inherit(Scenario &Second, const Scenario &First,
                    const LinkResult &R, bool DieInSecond) {
  for (size_t I = 0; I != Second.Workers.size() && I != First.Workers.size();
       ++I) {
    const Worker &Before = First.Workers[I];
    if (Before.DiesAt <= R.End) {
      Second.Workers[I].DiesAt = Time();
      Second.Workers[I].DiesSilently = Before.DiesSilently;
    } else if (!DieInSecond) {
      Second.Workers[I].DiesAt = Never;
    }
  }
  for (const BusySlot &B : R.Busy)
    if (B.Worker < Second.Workers.size() &&
        Second.Workers[B.Worker].DiesAt != Time())
      Second.Busy.push_back(B);
}

TwoRounds dtlto::sim::simulateTwice(uint64_t Seed, const Limits &L,
                                    bool WantsLog) {
  Scenario First = drawScenario(Seed, limitsOf(1, Seed, L));
  // The first round writes no side files: its objects are discarded.
  First.Features &= ~bit(Feature::SideFiles);
  for (JobInfo &Info : First.Infos)
    Info.HasSideFiles = false;
  TwoRounds Link;
  Link.First = simulate(First, WantsLog);
  if (!Link.First.Violation.empty() || !Link.First.IsGood)
    return Link;
  Limits L2 = limitsOf(2, Seed, L);
  const uint64_t Dying = bit(Feature::DyingWorkers);
  const bool DieInSecond = !(L2.Without & Dying);
  if (First.has(Feature::DyingWorkers)) // they stay dead
    L2.Without &= ~Dying;
  Scenario Second = drawScenario(Seed, L2);
  Second.Seed = mix(Seed ^ OfRounds); // so that other attempts fail
  shorten(Second);
  inherit(Second, First, Link.First, DieInSecond);
  Link.Second = simulate(Second, WantsLog);
  return Link;
}

std::string TwoRounds::violation() const {
  if (!First.Violation.empty())
    return "round 1: " + First.Violation;
  if (Second && !Second->Violation.empty())
    return "round 2: " + Second->Violation;
  return {};
}

static void printRound(int Number, const std::vector<const LinkResult *> &Links,
                       size_t NumBusy) {
  auto Sum = [&](auto Field) {
    size_t N = 0;
    for (const LinkResult *R : Links)
      N += R->*Field;
    return N;
  };
  std::printf("round %d: %zu links, %zu without an error; the plugin was "
              "dropped in %zu, %zu attempts failed there, %zu duplicates, "
              "%zu compiled here; %zu began with slots that were taken\n",
              Number, Links.size(), Sum(&LinkResult::IsGood),
              Sum(&LinkResult::IsDropped), Sum(&LinkResult::NumFailed),
              Sum(&LinkResult::NumDuplicates), Sum(&LinkResult::NumLocal),
              NumBusy);
}

void dtlto::sim::printRounds(const std::vector<TwoRounds> &Links) {
  std::vector<const LinkResult *> First, Second;
  size_t NumBusy = 0, NumBetween = 0;
  for (const TwoRounds &L : Links) {
    First.push_back(&L.First);
    if (!L.Second)
      continue;
    Second.push_back(&*L.Second);
    NumBusy += !L.First.Busy.empty();
    NumBetween += !L.First.IsDropped && L.Second->IsDropped;
  }
  printRound(1, First, 0);
  printRound(2, Second, NumBusy);
  std::printf("the plugin was good in the first round and dropped in the "
              "second: %zu links\n",
              NumBetween);
}
