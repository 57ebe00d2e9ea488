//===- Speeds.h - How fast jobs run -----------------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Estimates are only good for comparisons. The link measures what they mean in
// seconds, at the plugin and locally.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_CORE_PLAN_SPEEDS_H
#define DTLTO_CORE_PLAN_SPEEDS_H

#include "Plan/JobTable.h"
#include <algorithm>
#include <map>

namespace dtlto::plan {

/// The factor from estimated to real seconds: the median of all jobs so far, so
/// that a slow machine among many makes no difference.
class Rate {
public:
  void add(double Estimate, double Actual) {
    if (Estimate > 0 && Actual > 0)
      Ratios.push_back(Actual / Estimate);
  }

  /// The number of measured jobs.
  size_t count() const { return Ratios.size(); }

  /// 1 before the first job. Cheap: the median isn't recomputed for each job.
  double value() const {
    if (Ratios.empty())
      return 1;
    if (CountOfMedian == 0 ||
        Ratios.size() > CountOfMedian + CountOfMedian / 8) {
      std::vector<double> Sorted = Ratios;
      auto Middle = Sorted.begin() + static_cast<ptrdiff_t>(Sorted.size() / 2);
      std::nth_element(Sorted.begin(), Middle, Sorted.end());
      Median = *Middle;
      CountOfMedian = Ratios.size();
    }
    return Median;
  }

private:
  std::vector<double> Ratios;
  mutable double Median = 1;
  mutable size_t CountOfMedian = 0;
};

/// Measured rates, and the expectations derived from them.
class Speeds {
public:
  explicit Speeds(const Options &Opts) : Opts(Opts) {}

  /// A side without measurements counts as fast as the other.
  double remote() const {
    return Remote.count() ? Remote.value() : Local.value();
  }
  double local() const {
    return Local.count() ? Local.value() : Remote.value();
  }
  bool hasLocal() const { return Local.count() != 0; }
  /// Whether expectations are reliable enough to call a job slow.
  bool areReliable() const {
    return std::max(Remote.count(), Local.count()) >= Opts.MinMeasured;
  }

  /// The expected seconds of a job at the plugin.
  double expected(const Job &J) const { return J.Info.Estimate * remote(); }
  /// The seconds after its beginning at which a job with \p Estimate is slow.
  double slowThreshold(double Estimate) const {
    double Expected = Estimate * remote();
    return std::max(Opts.SlowFactor * Expected,
                    Expected + seconds(Opts.SlowExtra));
  }
  /// The seconds after which a waiting job at the plugin counts as stuck.
  double longWait() const {
    return std::max(seconds(Opts.MaxWait), Opts.LongWaitFactor * Waits.value());
  }

  /// Records how long a job at the plugin waited for its slot.
  void recordWait(Time Waited) { Waits.add(1, seconds(Waited)); }
  /// Records that a job with \p Estimate took \p Seconds on this machine.
  void recordLocal(double Estimate, double Seconds) {
    Local.add(Estimate, Seconds);
  }
  /// Records that \p A had a good result at the plugin.
  void recordRemote(const Attempt &A, const Job &J, Time Now) {
    Time End = A.Receiving.value_or(Now);
    double Took = seconds(End - A.Running.value_or(A.Since));
    // Its worker is not slow, or not any more.
    if (A.Running && Took < Opts.SlowFactor * expected(J))
      NumSlowOn.erase(A.Worker);
    Remote.add(J.Info.Estimate, Took);
  }

  /// Whether \p A, after \p Took seconds, takes longer than \p Limit, or its
  /// worker has other jobs that do.
  bool isSlow(const Attempt &A, double Took, double Limit) {
    if (Took > Limit) {
      if (Slow.insert(A.Id).second && A.Worker)
        ++NumSlowOn[A.Worker];
      return true;
    }
    auto It = NumSlowOn.find(A.Worker);
    return Took >= seconds(Opts.SlowExtra) && A.Worker &&
           It != NumSlowOn.end() && It->second >= Opts.SlowWorkerJobs;
  }

private:
  const Options &Opts;
  Rate Remote, Local;                     // from estimates to seconds
  Rate Waits;                             // seconds from acceptance to running
  std::map<WorkerId, unsigned> NumSlowOn; // number of slow jobs
  std::set<AttemptId> Slow;               // those in NumSlowOn
};

} // namespace dtlto::plan

#endif // DTLTO_CORE_PLAN_SPEEDS_H
