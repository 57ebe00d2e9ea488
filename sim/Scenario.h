//===- Scenario.h - What happens to a simulated link ------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All that is random in a simulated link is drawn from its seed, here or, where
// it belongs to one attempt, by hashing the seed with the attempt's job and
// number. A feature that is left out changes nothing else, so that a link that
// shows a fault can be made smaller.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_SIM_SCENARIO_H
#define DTLTO_SIM_SCENARIO_H

#include "Plan/Plan.h"
#include <string_view>

namespace dtlto::sim {

/// What may go wrong, or be out of the ordinary.
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
  SilentRoom, // the plugin doesn't tell when it has room again
  FalseLoad,
  OpenHangs,
  SubmitHangs,
  LoadHangs,
  CloseHangs,
  LateOpen,
  SlowWorkers,
  DyingWorkers,
  FailingWorkers, // that fail at once, and so are always idle
  LyingWorkers,   // that fail at once with a compile error
  CancelIgnored,
  GivesUp,
  OpenFails,
  LateStates,
  LateAnswers,  // results come before the answer of submit()
  StrayEvents,  // of attempts that have ended, or never were
  RemoteErrors, // only the remote compiler fails
  Errors,       // both compilers do
  PrepareFails,
  DeliverFails,
  VerifyFails,
  NoWorkers,
  OnlyTalks, // the plugin reports room without end
  FewTokens, // others of the build have most, and may keep them
  LittleMemory,
  Batches, // the plugin begins nothing before it has all jobs
  Store    // jobs that are being prepared ask for the plugin to be opened
};
constexpr unsigned NumFeatures = static_cast<unsigned>(Feature::Store) + 1;
std::string_view nameOf(Feature F);

/// What a job is in truth.
struct JobTruth {
  double Seconds = 0; // on a core of speed 1, as those here
  uint64_t Bytes = 0;
  bool IsCached = false, NotExpressible = false;
  bool IsOfOthers = false; // what is cached was made by another machine
  bool RemoteError = false, Error = false;
  bool PrepareFails = false, DeliverFails = false, VerifyFails = false;
};

struct Worker {
  unsigned Slots = 1;
  double Speed = 1;
  plan::Time DiesAt = plan::Never;
  bool DiesSilently = false; // and is given jobs even then
  bool FailsAtOnce = false;
  bool Lies = false; // fails at once with a compile error
  bool endsAtOnce() const { return FailsAtOnce || Lies; }
};

/// A slot that is taken before the link begins.
struct BusySlot {
  size_t Worker = 0;   // its index
  plan::Time For = {}; // Never: it stays so
};

struct Scenario {
  uint64_t Seed = 0;
  uint64_t Features = 0; // bits
  plan::Options O;
  std::vector<plan::JobInfo> Infos;
  std::vector<JobTruth> Jobs;
  std::vector<Worker> Workers;
  std::vector<BusySlot> Busy;
  bool IsThisMachine = false; // the plugin compiles in the linker
  unsigned Ahead = 0;         // jobs that each worker takes in addition
  bool TellsStates = true, KnowsLoad = true, AnswersLoad = true;
  double Often = 0; // how often a fault of an attempt happens
  double BytesPerSecond = 1e8;
  plan::Time Latency = {}; // of an event

  bool has(Feature F) const { return Features >> unsigned(F) & 1; }
  /// Nothing is wrong, so that the link's time has a bound.
  bool isHonest() const;
  /// Nothing is wrong but that some machines or all stop.
  bool isFrozen() const;
};

struct Limits {
  uint64_t Without = 0; // features
  unsigned MaxJobs = UINT32_MAX;
};

Scenario drawScenario(uint64_t Seed, const Limits &L);

/// The features that may be drawn for a fault: all but those of everyday life.
bool isFault(Feature F);

} // namespace dtlto::sim

#endif // DTLTO_SIM_SCENARIO_H
