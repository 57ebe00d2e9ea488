//===- Bound.cpp - The time limit of a simulated link ---------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bound.h"
#include <algorithm>
#include <cmath>
#include <map>
#include <queue>
#include <vector>

using namespace dtlto::sim;
using namespace dtlto::plan;

unsigned dtlto::sim::numHelpers(const Options &Opts) {
  return std::min(Opts.Cores, 4u);
}

namespace {
/// A list schedule: whatever is idle takes the longest remaining job, slots
/// before cores, and fast slots first. The first job of a local core is one of
/// the cheapest. The schedule doesn't need to know how long a job takes.
class ListSchedule {
public:
  explicit ListSchedule(const Scenario &S);

  double End = 0;
  double FirstFromFarm = HUGE_VAL;           // the time of its first result
  double LongestLocal = 0;                   // of all jobs
  bool LacksMemory = false;                  // a slot had to wait for memory
  double LongestRemote = 0, LongestSent = 0; // of the farm's jobs

private:
  void compileLocally(const JobTruth &J, size_t Core);
  double offer(const JobTruth &J) const;

  struct Slot {
    double Speed;
    double Idle = 0; // since when
  };
  const Scenario &S;
  std::vector<Slot> Slots;                  // the fastest first
  std::vector<double> Cores;                // since when each is idle, sorted
  std::multimap<double, uint64_t> InFlight; // each one's end, and its bytes
  uint64_t Bytes = 0;
  double LastOffer = 0;
};
} // namespace

/// How many jobs are compiled locally while the plugin has jobs.
static size_t localShare(const Scenario &S) {
  const Options &Opts = S.Opts;
  // A plugin that doesn't report its load may compile on this machine. Its jobs
  // aren't taken back if it may have begun them, or be about to.
  bool IsShy = (!S.AnswersLoad && !Opts.LocalJobs) ||
               ((!S.ReportsStates || !S.KnowsLoad) && S.Ahead);
  if (S.IsThisMachine || IsShy)
    return 0;
  // By default, the linker keeps some of this machine's cores for itself.
  return Opts.LocalJobs.value_or(
      Opts.Fallback ? Opts.Cores - std::min(Opts.Cores, 1 + Opts.Cores / 8)
                    : 0);
}

void ListSchedule::compileLocally(const JobTruth &J, size_t Core) {
  End = std::max(End, Cores[Core] += J.Seconds);
  std::sort(Cores.begin(), Cores.end());
}

/// When \p J can be offered: in order, and when there is memory for it.
double ListSchedule::offer(const JobTruth &J) const {
  double Offer = LastOffer;
  uint64_t Left = Bytes;
  for (auto [Ends, JobBytes] : InFlight) {
    if (Ends > Offer && Left + J.Bytes <= S.Opts.MaxBytesInFlight)
      break;
    Offer = std::max(Offer, Ends);
    Left -= JobBytes;
  }
  return Offer;
}

ListSchedule::ListSchedule(const Scenario &S)
    : S(S),
      Cores(S.Opts.LocalJobs ? std::max(1u, *S.Opts.LocalJobs) : S.Opts.Cores) {
  for (const Worker &W : S.Workers)
    Slots.insert(Slots.end(), W.Slots, {W.Speed});
  std::stable_sort(
      Slots.begin(), Slots.end(),
      [](const Slot &A, const Slot &B) { return A.Speed > B.Speed; });
  std::vector<const JobTruth *> Jobs; // not cached, and not yet assigned
  for (const JobTruth &J : S.Jobs) {
    if (J.IsCached)
      continue;
    LongestLocal = std::max(LongestLocal, J.Seconds);
    // Jobs that can't be compiled remotely are compiled locally from the start.
    if (J.NotExpressible)
      compileLocally(J, 0);
    else
      Jobs.push_back(&J);
  }
  size_t Share = localShare(S), AtOnce = 0;
  for (uint64_t Sum = 0; AtOnce != std::min(Jobs.size(), Slots.size());
       ++AtOnce) {
    Sum += Jobs[AtOnce]->Bytes;
    if (AtOnce != 0 && Sum > S.Opts.MaxBytesInFlight)
      break;
  }
  for (size_t I = 0; I != Share && Jobs.size() > AtOnce; ++I) {
    compileLocally(*Jobs.back(), Cores.size() - Share);
    Jobs.pop_back();
  }
  for (const JobTruth *Next : Jobs) {
    const JobTruth &J = *Next;
    auto Best = std::min_element(
        Slots.begin(), Slots.end(),
        [](const Slot &A, const Slot &B) { return A.Idle < B.Idle; });
    double Start = std::max(Best->Idle, offer(J));
    LacksMemory |= Start > Best->Idle;
    // As long as fewer cores than the share are busy.
    if (Share != 0 && Cores[Cores.size() - Share] < Start) {
      compileLocally(J, Cores.size() - Share);
      continue;
    }
    // The inputs must be sent as well. If no job waits at the slot, it is idle
    // until the next one arrives.
    double Sent = S.IsThisMachine ? 0 : double(J.Bytes) / S.BytesPerSecond;
    double Takes =
        Sent + J.Seconds / Best->Speed + seconds(S.Latency) * (S.Ahead ? 1 : 3);
    while (!InFlight.empty() && InFlight.begin()->first <= Start) {
      Bytes -= InFlight.begin()->second;
      InFlight.erase(InFlight.begin());
    }
    Best->Idle = Start + Takes;
    InFlight.insert({Best->Idle, J.Bytes});
    Bytes += J.Bytes;
    LastOffer = Start;
    End = std::max(End, Best->Idle);
    FirstFromFarm = std::min(FirstFromFarm, Best->Idle);
    LongestRemote = std::max(LongestRemote, Takes);
    LongestSent = std::max(LongestSent, Sent);
  }
}

/// Whether the farm may look frozen. Without duplicates, its jobs are then
/// restarted locally.
static bool looksFrozen(const Scenario &S, const ListSchedule &List) {
  const Options &Opts = S.Opts;
  // Estimates do not include the time to send a job.
  if (List.LongestSent > seconds(Opts.SlowExtra))
    return true;
  // Until there is a result, a slow worker looks stuck.
  for (const Worker &W : S.Workers)
    if (W.Speed * Opts.SlowFactor < 1.01)
      return true;
  // Until then, the link's time is the estimate, or what was measured locally.
  double Work = 0, Longest = 0, Estimates = 0, LongestEstimate = 0;
  for (size_t I = 0; I != S.Jobs.size(); ++I) {
    if (S.Jobs[I].IsCached)
      continue;
    Work += S.Jobs[I].Seconds;
    Longest = std::max(Longest, S.Jobs[I].Seconds);
    Estimates += S.Infos[I].Estimate;
    LongestEstimate = std::max(LongestEstimate, S.Infos[I].Estimate);
  }
  double Alone = std::min(std::max(Longest, Work / Opts.Cores),
                          std::max(LongestEstimate, Estimates / Opts.Cores));
  return List.FirstFromFarm >
         seconds(Opts.LateExtra) + (Opts.LateFactor - 1) * Alone;
}

/// The earliest time in seconds at which the first result is overdue, by the
/// jobs' estimates.
static double firstDue(const Scenario &S) {
  double Shortest = HUGE_VAL;
  for (size_t I = 0; I != S.Jobs.size(); ++I)
    if (!S.Jobs[I].IsCached)
      Shortest = std::min(Shortest, S.Infos[I].Estimate);
  return std::max(S.Opts.SlowFactor * Shortest,
                  Shortest + seconds(S.Opts.SlowExtra));
}

/// The seconds of a link without a plugin: jobs start in order, each on the
/// core that is idle first.
static double alone(const Scenario &S) {
  std::priority_queue<double, std::vector<double>, std::greater<double>> Idle;
  for (unsigned I = 0; I != S.Opts.Cores; ++I)
    Idle.push(0);
  double End = 0;
  for (const JobTruth &J : S.Jobs) {
    if (J.IsCached)
      continue;
    double Ends = Idle.top() + J.Seconds;
    Idle.pop();
    Idle.push(Ends);
    End = std::max(End, Ends);
  }
  return End;
}

/// The seconds of a link in which no core works: opening the plugin, preparing
/// jobs, and sending messages.
static double overhead(const Scenario &S) {
  double Jobs = double(S.Jobs.size());
  return 0.01 + seconds(2 * S.Opts.ScanInterval + S.Opts.LoadInterval) +
         6 * seconds(S.Latency) + Jobs * 0.0003 / numHelpers(S.Opts) +
         Jobs * 0.0001;
}

std::optional<Bound> dtlto::sim::boundOf(const Scenario &S) {
  const Options &Opts = S.Opts;
  // A machine slower than this one needs its time as well.
  double LostSeconds = 0;
  double FrozenLimit =
      S.Workers.empty()
          ? 0
          : 2 * alone(S) / std::min(1.0, S.Workers[0].Speed) + 3 + overhead(S);
  // Only preparing a job shows whether it is cached, and few are prepared in
  // advance. Until then, a link without a farm seems to need that much longer.
  for (size_t I = Opts.MinPrepared; I < S.Jobs.size(); ++I)
    if (S.Jobs[I].IsCached)
      FrozenLimit += S.Jobs[I].Seconds / Opts.Cores;
  // A job without duplicates restarts after each machine that lost it.
  for (const Worker &W : S.Workers)
    if (Opts.DuplicatePercent == 0 && !W.DiesSilently && W.DiesAt != Never)
      LostSeconds = std::max(LostSeconds, seconds(W.DiesAt));
  FrozenLimit += LostSeconds;
  if (S.isHonest() && Opts.VerifyPercent == 0) {
    ListSchedule List(S);
    // A job that exceeds its time limit fails.
    if (List.LongestRemote > seconds(Opts.JobTimeout) && !S.IsThisMachine)
      return std::nullopt;
    // The number of jobs that fit in memory changes from job to job. The plan
    // only knows the current one.
    double MaxSeconds = (List.LacksMemory ? 1.5 : 1.3) * List.End + overhead(S);
    if ((Opts.DuplicatePercent == 0 || S.has(Feature::SideFiles)) &&
        looksFrozen(S, List))
      MaxSeconds = std::max(MaxSeconds, FrozenLimit);
    // When a job turns out to need a local compile, the cores may already have
    // other jobs.
    if (S.has(Feature::NotExpressible))
      MaxSeconds += List.LongestLocal;
    // Without states, a farm looks dead until its first result; with states,
    // once that result is overdue. Local compiles that were started in vain
    // delay the end.
    if (List.FirstFromFarm >
        seconds(Opts.SilentPatience) + (S.ReportsStates ? firstDue(S) : 0))
      MaxSeconds += (1 - StoppableShare) * List.LongestLocal;
    return Bound{MaxSeconds, "nothing is wrong, and the link takes too long"};
  }
  if (S.isFrozen() && !Opts.KeepOrder && Opts.VerifyPercent == 0 &&
      Opts.Fallback && !Opts.LocalJobs && !S.IsThisMachine)
    return Bound{FrozenLimit,
                 "the link takes more than twice what it takes without a farm"};
  return std::nullopt;
}
