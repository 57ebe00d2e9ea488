//===- Scenario.cpp - Draws simulated links -------------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Scenario.h"
#include "Random.h"
#include <algorithm>
#include <tuple>

using namespace dtlto::sim;
using namespace dtlto::plan;
using namespace std::chrono_literals;

static constexpr std::string_view Names[] = {
    "wrong-estimates", "cache",           "not-expressible", "side-files",
    "unequal-workers", "slow-helpers",    "shy-plugin",      "lost-results",
    "late-results",    "double-results",  "bad-results",     "failures",
    "cancels",         "refusals",        "never-begun",     "busy-storm",
    "silent-room",     "false-load",      "open-hangs",      "submit-hangs",
    "load-hangs",      "close-hangs",     "late-open",       "slow-workers",
    "dying-workers",   "failing-workers", "lying-workers",   "cancel-ignored",
    "gives-up",        "open-fails",      "late-states",     "late-answers",
    "stray-events",    "remote-errors",   "errors",          "prepare-fails",
    "deliver-fails",   "verify-fails",    "no-workers",      "only-talks",
    "few-tokens",      "little-memory",   "batches",         "remote-cache",
};
static_assert(std::size(Names) == NumFeatures);

std::string_view dtlto::sim::nameOf(Feature F) { return Names[unsigned(F)]; }

// The features of normal operation come before the faults.
static constexpr unsigned NumHarmless = unsigned(Feature::ShyPlugin) + 1;
static constexpr uint64_t Harmless = (uint64_t(1) << NumHarmless) - 1;

bool dtlto::sim::isFault(Feature F) { return unsigned(F) >= NumHarmless; }

static uint64_t bit(Feature F) { return uint64_t(1) << unsigned(F); }

// The purposes of random numbers.
enum Stream : uint64_t { OfFeatures = 1, OfOptions, OfJobs, OfFarm };

/// Most links have a few faults, so that each occurs alone and with others.
static uint64_t drawFeatures(uint64_t Seed) {
  Random R{Seed, OfFeatures};
  uint64_t Features = 0;
  if (R.chance(0.25))
    return 0;
  if (R.chance(0.1)) // only frozen hosts
    return bit(Feature::DyingWorkers) | (R.next() & bit(Feature::Cache));
  double FaultRate = R.pick({0.0, 0.15, 0.4});
  for (unsigned F = 0; F != NumHarmless; ++F)
    Features |= uint64_t(R.chance(FaultRate)) << F;
  uint64_t Faults = R.pick({0, 1, 1, 2, 3, 5, 8});
  for (uint64_t I = 0; I != Faults; ++I)
    Features |= uint64_t(1) << R.in(NumHarmless, NumFeatures - 1);
  return Features;
}

static void drawOptions(Scenario &S) {
  Random R{S.Seed, OfOptions};
  Options &Opts = S.Opts;
  Opts.Cores = static_cast<unsigned>(R.pick({1, 2, 4, 8, 16, 64}));
  if (uint64_t Draw = R.in(0, 5); Draw <= 2)
    Opts.LocalJobs = static_cast<unsigned>(Draw == 2 ? R.in(2, 20) : Draw);
  Opts.DuplicatePercent =
      static_cast<unsigned>(R.pick({0, 5, 25, 25, 25, 100}));
  Opts.VerifyPercent = static_cast<unsigned>(R.pick({0, 0, 0, 5, 37, 100}));
  Opts.Fallback = R.chance(0.8);
  bool IsPlain = R.chance(0.7); // links whose minimum time is known
  if (R.chance(0.05)) {
    // As in the linker: on one thread of this process, with or without the
    // plugin.
    Opts.KeepOrder = true;
    Opts.Cores = 1;
    Opts.LocalJobs.reset();
    S.IsThisMachine = R.chance(0.5);
  }
  Opts.OpenAtOnce =
      !S.has(Feature::Cache) && Random{S.Seed, OfOptions, 4}.chance(0.5);
  Opts.MaxBytesInFlight = R.pick<uint64_t>(
      {1, 1 << 20, 10 << 20, 100 << 20, uint64_t(1) << 40, UINT64_MAX});
  Opts.NeedsTokens =
      S.has(Feature::FewTokens) || Random{S.Seed, OfOptions, 2}.chance(0.2);
  if (S.has(Feature::LittleMemory))
    Opts.MaxLocalBytes =
        Random{S.Seed, OfOptions, 3}.pick<uint64_t>({1, 150, 400, 2000});
  Opts.JobTimeout = R.pick<Time>({500ms, 2s, 5s, 5s, 20s, 60s});
  if (R.chance(0.1)) {
    Opts.MaxTries = static_cast<unsigned>(R.in(1, 3));
    Opts.MaxOffers = static_cast<unsigned>(R.in(1, 4));
    Opts.MinPrepared = static_cast<unsigned>(R.in(1, 8));
    Opts.MaxPrepared = static_cast<unsigned>(R.in(8, 64));
  }
  if (R.chance(0.5))
    Opts.CallTimeout = 5s;
  Opts.VerifySeed = Random{S.Seed, OfOptions, 1}.next();
  if (S.isHonest() && IsPlain) {
    Opts.VerifyPercent = 0;
    Opts.KeepOrder = false;
    Opts.MaxBytesInFlight = UINT64_MAX;
    Opts.JobTimeout = 600s;
  }
}

/// The seconds of job \p I of \p N. \p U: a random number.
static double drawSeconds(uint64_t Shape, double Mean, unsigned I, unsigned N,
                          double U) {
  switch (Shape) {
  case 0: // equal
    return Mean;
  case 1: // linear
    return Mean * 2 * (I + 1) / N;
  case 2: // one giant
    return I == 0 ? Mean * std::min(N, 20u) : Mean * (0.5 + U);
  case 3: // heavy tail
    return std::min(Mean * 0.3 / (1 - U), Mean * 50);
  case 4: // many tiny
    return U < 0.9 ? Mean * 0.02 : Mean;
  default:
    return Mean * 2 * U;
  }
}

/// Draws one of few, some or many jobs or workers.
static unsigned drawCount(Random &R, double Few, unsigned MaxFew,
                          unsigned MaxSome, unsigned Max) {
  return static_cast<unsigned>(R.chance(Few)   ? R.in(1, MaxFew)
                               : R.chance(0.6) ? R.in(MaxFew + 1, MaxSome)
                                               : R.in(MaxSome + 1, Max));
}

static void drawJobs(Scenario &S, unsigned MaxJobs) {
  Random R{S.Seed, OfJobs};
  const unsigned N = drawCount(R, 0.3, 8, 50, 200);
  double Mean = R.pick({0.01, 0.1, 0.5, 2.0});
  uint64_t Shape = R.in(0, 5);
  double Unit = R.pick({1.0, 1.0, 0.1, 7.0}); // the estimates' unit
  if (S.isFrozen())
    Unit = 1; // only the estimates are known if all workers stop at once
  double Rare = R.pick({0.02, 0.2, 1.0});
  double MeanBytes = R.pick({1e3, 1e5, 3e6});
  double Found = Random{S.Seed, OfJobs, 0, 2}.pick({0.1, 0.9, 1.0});
  std::vector<std::pair<double, JobTruth>> Jobs(N);
  for (unsigned I = 0; I != N; ++I) {
    Random ItemRandom{S.Seed, OfJobs, I};
    auto &[Estimate, J] = Jobs[I];
    J.Seconds =
        std::max(drawSeconds(Shape, Mean, I, N, ItemRandom.unit()), 0.0001);
    J.Bytes = static_cast<uint64_t>(MeanBytes * (0.1 + 2 * ItemRandom.unit()));
    if (S.Features == 0) // a job's time is proportional to its module's size
      J.Bytes = static_cast<uint64_t>(10 * MeanBytes * J.Seconds);
    Estimate = J.Seconds * Unit;
    double Wrong = ItemRandom.unit(), By = ItemRandom.unit();
    if (S.has(Feature::WrongEstimates))
      Estimate *= Wrong < 0.1 ? 20 * By : Wrong < 0.2 ? 0 : 0.3 + 2 * By;
    auto Has = [&](Feature F, double FaultRate) {
      double Draw = ItemRandom.unit();
      return S.has(F) && Draw < FaultRate;
    };
    J.IsCached = Has(Feature::Cache, Rare);
    J.NotExpressible = Has(Feature::NotExpressible, Rare);
    if (S.Opts.KeepOrder)
      J.NotExpressible = !S.IsThisMachine;
    J.RemoteError = Has(Feature::RemoteErrors, Rare);
    J.Error = Has(Feature::Errors, 2.0 / N);
    J.PrepareFails = Has(Feature::PrepareFails, 2.0 / N);
    J.DeliverFails = Has(Feature::DeliverFails, 2.0 / N);
    J.VerifyFails = Has(Feature::VerifyFails, Rare);
    J.IsForeign = ItemRandom.chance(0.5);
    Random Lookup{S.Seed, OfJobs, I, 1};
    if (S.has(Feature::RemoteCache) && Lookup.chance(Found))
      J.FoundAt = Lookup.pick<Time>(
          {1us, 1ms, 50ms, fromSeconds(J.Seconds * Lookup.unit()), 10s});
  }
  // The linker sorts jobs by their estimated cost.
  std::sort(Jobs.begin(), Jobs.end(), [](const auto &A, const auto &B) {
    return std::tie(A.first, A.second.Seconds, A.second.Bytes) >
           std::tie(B.first, B.second.Seconds, B.second.Bytes);
  });
  if (S.Opts.KeepOrder)
    std::rotate(Jobs.begin(), Jobs.begin() + N / 2, Jobs.end());
  Jobs.resize(std::min(N, MaxJobs));
  bool SideFiles = S.has(Feature::SideFiles);
  for (const auto &[Estimate, J] : Jobs) {
    S.Infos.push_back({Estimate, SideFiles, 10 + J.Bytes % 190});
    S.Jobs.push_back(J);
  }
}

static void drawFarm(Scenario &S) {
  Random R{S.Seed, OfFarm};
  unsigned N = drawCount(R, 0.4, 3, 16, 64);
  S.IsThisMachine = S.IsThisMachine || R.chance(0.1);
  unsigned Slots = static_cast<unsigned>(R.pick({1, 2, 6, 16}));
  double Speed = R.pick({1.0, 1.0, 0.5, 2.0});
  S.Ahead = static_cast<unsigned>(R.pick({0, 1, 3, 1000}));
  S.FaultRate = R.pick({0.03, 0.3, 1.0});
  S.BytesPerSecond = R.pick({1e7, 1e8, 1e9});
  S.Latency = Time(R.pick<int64_t>({10000, 200000, 3000000}));
  if (S.Features == 0)
    S.BytesPerSecond = 1e9; // the link doesn't wait for the network
  bool NoStates = R.chance(0.6), NoLoad = R.chance(0.6),
       NoAnswers = R.chance(0.3);
  if (S.has(Feature::ShyPlugin)) {
    S.ReportsStates = !NoStates;
    S.KnowsLoad = !NoLoad;
    S.AnswersLoad = !NoAnswers;
  }
  if (S.IsThisMachine) {
    N = 1;
    Slots = S.Opts.Cores;
    Speed = 1;
  }
  uint64_t NumBad = R.pick({1, 2, 100}); // times 20 %; the first is always bad
  for (unsigned I = 0; I != N; ++I) {
    Random ItemRandom{S.Seed, OfFarm, I};
    Worker W;
    W.Slots = Slots;
    W.Speed = Speed;
    double Factor = ItemRandom.between(0.5, 1.5);
    if (S.has(Feature::UnequalWorkers))
      W.Speed *= Factor;
    auto Has = [&](Feature F) {
      bool IsBad = ItemRandom.in(0, 99) < NumBad * 20 || I == 0;
      return S.has(F) && IsBad;
    };
    double Slow = ItemRandom.pick({3.0, 10.0, 100.0});
    if (Has(Feature::SlowWorkers) && !S.IsThisMachine)
      W.Speed /= Slow;
    Time Dies = Time(static_cast<int64_t>(ItemRandom.between(0, 5e9)));
    W.DiesSilently = ItemRandom.chance(0.5);
    if (Has(Feature::DyingWorkers))
      W.DiesAt = Dies;
    W.FailsAtOnce = Has(Feature::FailingWorkers);
    W.Lies = Has(Feature::LyingWorkers) && !S.IsThisMachine;
    S.Workers.push_back(W);
  }
  if (S.has(Feature::NoWorkers) && !S.IsThisMachine)
    S.Workers.clear();
}

bool Scenario::isHonest() const {
  uint64_t Allowed =
      Harmless & ~bit(Feature::WrongEstimates) & ~bit(Feature::SlowHelpers);
  return (Features & ~Allowed) == 0;
}

bool Scenario::isFrozen() const {
  uint64_t Allowed = bit(Feature::Cache) | bit(Feature::DyingWorkers);
  return (Features & ~Allowed) == 0 && has(Feature::DyingWorkers);
}

Scenario dtlto::sim::drawScenario(uint64_t Seed, const Limits &Restrictions) {
  Scenario S;
  S.Seed = Seed;
  S.Features = drawFeatures(Seed) & ~Restrictions.Without;
  drawOptions(S);
  drawJobs(S, Restrictions.MaxJobs);
  drawFarm(S);
  return S;
}
