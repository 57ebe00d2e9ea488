//===- Scenario.h - What happens in a simulated link ------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Draws everything random in a simulated link from its seed: in Scenario.cpp,
// or, for a single attempt, from a hash of the seed with the attempt's job and
// number. Leaving a feature out changes nothing else, so that a failing link
// can be reduced.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_SIM_SCENARIO_H
#define DTLTO_SIM_SCENARIO_H

#include "Plan/Plan.h"
#include <string_view>

namespace dtlto::sim {

/// Faults and other features of a link.
enum class Feature : unsigned {
  WrongEstimates,
  Cache,          // has some of the objects
  NotExpressible, // some of the jobs
  SideFiles,
  UnequalWorkers, // speeds differ
  SlowHelpers,    // preparing, comparing and delivering takes long
  ShyPlugin,      // reports no states, or knows no load
  LostResults,
  LateResults,
  DoubleResults,
  BadResults, // empty ones, objects of another kind
  Failures,   // of the infrastructure
  Cancels,    // by the plugin
  Refusals,   // by submit(), or of the job's kind
  NeverBegun,
  BusyStorm,
  SilentRoom, // the plugin doesn't report that it has room again
  FalseLoad,
  OpenHangs,
  SubmitHangs,
  LoadHangs,
  CloseHangs,
  LateOpen,
  SlowWorkers,
  DyingWorkers,
  FailingWorkers, // fail at once, and so are always idle
  LyingWorkers,   // fail at once with a compile error
  CancelIgnored,
  GivesUp,
  OpenFails,
  LateStates,
  LateAnswers,  // results come before the answer of submit()
  StrayEvents,  // events of attempts that have ended, or never existed
  RemoteErrors, // only the remote compiler fails
  Errors,       // both compilers fail
  PrepareFails,
  DeliverFails,
  VerifyFails,
  NoWorkers,
  OnlyTalks, // the plugin reports room endlessly
  FewTokens, // other processes of the build hold most, and may keep them
  LittleMemory,
  Batches,    // the plugin begins jobs only when it has all
  RemoteCache // has some of the objects, early, late or never
};
constexpr unsigned NumFeatures =
    static_cast<unsigned>(Feature::RemoteCache) + 1;
std::string_view nameOf(Feature F);

/// The true properties of a job.
struct JobTruth {
  double Seconds = 0; // on a core of speed 1, like the local ones
  uint64_t Bytes = 0;
  bool IsCached = false, NotExpressible = false;
  bool IsForeign = false;           // another machine made the cached object
  plan::Time FoundAt = plan::Never; // in the remote cache
  bool RemoteError = false, Error = false;
  bool PrepareFails = false, DeliverFails = false, VerifyFails = false;
};

struct Worker {
  unsigned Slots = 1;
  double Speed = 1;
  plan::Time DiesAt = plan::Never;
  bool DiesSilently = false; // and still gets jobs afterwards
  bool FailsAtOnce = false;
  bool Lies = false; // fails at once with a compile error
  bool endsAtOnce() const { return FailsAtOnce || Lies; }
};

/// A slot that is taken before the link begins.
struct BusySlot {
  size_t Worker = 0;   // its index
  plan::Time For = {}; // Never: for the whole link
};

struct Scenario {
  uint64_t Seed = 0;
  uint64_t Features = 0; // bits
  plan::Options Opts;
  std::vector<plan::JobInfo> Infos;
  std::vector<JobTruth> Jobs;
  std::vector<Worker> Workers;
  std::vector<BusySlot> Busy;
  bool IsThisMachine = false; // the plugin compiles in the linker
  unsigned Ahead = 0;         // jobs that each worker takes in addition
  bool ReportsStates = true, KnowsLoad = true, AnswersLoad = true;
  double FaultRate = 0; // how often a fault of an attempt happens
  double BytesPerSecond = 1e8;
  plan::Time Latency = {}; // an event's

  bool has(Feature F) const { return Features >> unsigned(F) & 1; }
  /// Whether there is no fault, so that the link's time has a bound.
  bool isHonest() const;
  /// Whether the only fault is that some or all machines stop.
  bool isFrozen() const;
};

struct Limits {
  uint64_t Without = 0; // features
  unsigned MaxJobs = UINT32_MAX;
};

Scenario drawScenario(uint64_t Seed, const Limits &Restrictions);

/// Whether \p F is a fault, not a feature of normal operation.
bool isFault(Feature F);

} // namespace dtlto::sim

#endif // DTLTO_SIM_SCENARIO_H
