//===- Bound.cpp - How long a simulated link may take ---------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bound.h"
#include <algorithm>
#include <queue>

using namespace dtlto::sim;
using namespace dtlto::plan;

static double seconds(Time T) {
  return std::chrono::duration<double>(T).count();
}

unsigned dtlto::sim::numHelpers(const Options &O) {
  return std::min(O.Cores, 4u);
}

/// Of a link without faults: 1.3 times the least, where the longest jobs are
/// the plugin's. The least is that of the longest job on a worker, of all jobs
/// on all cores, and of two of the longest on one core if there are more jobs
/// than cores. 0 where it is the user's options that a link waits for.
static double honest(const Scenario &S) {
  const Options &O = S.O;
  uint64_t Bytes = 0;
  for (const JobTruth &J : S.Jobs)
    Bytes += J.Bytes;
  if (O.MaxBytesInFlight < Bytes)
    return 0;
  // By default, the linker itself has a part of this machine.
  unsigned Default =
      O.Fallback ? O.Cores - std::min(O.Cores, 1 + O.Cores / 8) : 0;
  unsigned Here = S.IsThisMachine ? 0 : O.LocalJobs.value_or(Default);
  double Speed = S.Workers.front().Speed; // of all workers
  double Slots = S.numSlots();
  // What takes a slot there: the inputs have to be sent, too.
  double WorkThere = 0, Work = 0;
  std::vector<double> Least; // of each job
  for (const JobTruth &J : S.Jobs) {
    if (J.IsCached)
      continue;
    double Sending = S.IsThisMachine ? 0 : double(J.Bytes) / S.BytesPerSecond;
    // The slot is idle until the next job comes, if none waits there.
    double There =
        J.Seconds / Speed + Sending + seconds(S.Latency) * (S.Ahead ? 1 : 3);
    WorkThere += There;
    Work += J.Seconds;
    Least.push_back(Here ? std::max(There, J.Seconds) : There);
    if (2 * There > seconds(O.JobTimeout))
      return 0;
  }
  if (Least.empty())
    return 0;
  std::sort(Least.rbegin(), Least.rend());
  size_t NumSlots = S.numSlots();
  // Of so many jobs, one slot at least has K; this machine takes the cheapest.
  double Least1 = 0;
  for (size_t K = 1; (K - 1) * NumSlots < Least.size(); ++K)
    Least1 = std::max(Least1, double(K) * Least[(K - 1) * NumSlots]);
  // Each side takes the share that is due to its speed.
  double PerSecond = Slots / WorkThere + (Here ? Here / Work : 0);
  Least1 = std::max(Least1, 1 / PerSecond);
  // A farm, and a plugin that takes no more jobs than it can begin soon. A few
  // slots beside many cores here, and jobs that have to be taken back one by
  // one, cost more.
  bool IsFarm = Speed == 1 && Slots >= 2 * Here && S.Ahead <= 3;
  return Least1 * (IsFarm ? 1.3 : 2.5);
}

/// Of a link that no plugin takes part in: its jobs in their order, each on the
/// core that is idle first.
static double alone(const Scenario &S) {
  std::priority_queue<double, std::vector<double>, std::greater<double>> Idle;
  for (unsigned I = 0; I != S.O.Cores; ++I)
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

/// Seconds of a link that no core works in: the plugin is opened, jobs are
/// prepared and go to and fro.
static double overhead(const Scenario &S) {
  double Jobs = double(S.Jobs.size());
  return 0.01 + seconds(2 * S.O.LookInterval + S.O.LoadInterval) +
         6 * seconds(S.Latency) + Jobs * 0.0003 / numHelpers(S.O) +
         Jobs * 0.0001;
}

std::optional<Bound> dtlto::sim::boundOf(const Scenario &S) {
  const Options &O = S.O;
  if (O.KeepOrder || O.VerifyPercent != 0)
    return std::nullopt;
  // A machine that is slower than this one has its time, too.
  double Lost = 0;
  double Late =
      S.Workers.empty()
          ? 0
          : 2 * alone(S) / std::min(1.0, S.Workers[0].Speed) + 3 + overhead(S);
  // What must be alone has its time after each machine that has lost it.
  for (const Worker &W : S.Workers)
    if (O.DuplicatePercent == 0 && !W.DiesSilently && W.DiesAt != Never)
      Lost = std::max(Lost, seconds(W.DiesAt));
  Late += Lost;
  if (S.isHonest()) {
    double Most = honest(S);
    if (Most == 0)
      return std::nullopt;
    Most += overhead(S);
    // Nothing may be done twice, and the first job takes far longer than was
    // expected: that looks like a machine that is frozen.
    if (O.DuplicatePercent == 0)
      Most = std::max(Most, Late);
    return Bound{Most, "nothing is wrong, and the link takes too long"};
  }
  if (S.isFrozen() && O.Fallback && !O.LocalJobs && !S.IsThisMachine)
    return Bound{Late,
                 "the link takes more than twice what it takes without a farm"};
  return std::nullopt;
}
