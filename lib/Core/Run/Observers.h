//===- Observers.h - Observers of a link's steps ----------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The observers for progress, reports and costs. Notices.h has the messages,
// LogObserver.h the log.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_RUN_OBSERVERS_H
#define DTLTO_RUN_OBSERVERS_H

#include "Report/Observer.h"
#include "Run/CostHistory.h"
#include "Run/RunContext.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace dtlto {

/// Updates the progress line.
class ProgressObserver : public Observer {
public:
  ProgressObserver(const LinkFacts &Run, const RunContext &Ctx);

  void onStep(const Step &S) override;
  void finish() override { Line.clear(); }
  Clock::time_point due() const override { return Line.due(); }
  void tick() override { Line.showDue(); }

private:
  void jobStarted(plan::JobId J, llvm::StringRef Worker);
  void jobFinished(plan::JobId J);

  const LinkFacts &Run;
  Progress Line;
  const bool Verifies;     // jobs end together, after all comparisons
  llvm::BitVector IsShown; // jobs, as started
  llvm::BitVector IsFinished, IsSampled;
  llvm::DenseSet<plan::AttemptId> Running;
  llvm::DenseMap<plan::JobId, plan::AttemptId> Winner;
};

/// Records a link for reports, statistics and time traces. At the end of the
/// link, in its last run, writes what the user asked for.
class TimelineObserver : public Observer {
public:
  TimelineObserver(const LinkFacts &Run, const RunContext &Ctx)
      : Run(Run), Ctx(Ctx), Record(Run, Ctx.StartTime, Ctx.SetUp) {}

  void onStep(const Step &S) override {
    Record.onStep(S, Run, Ctx.opts().TimeoutSeconds);
  }
  void finish() override;

private:
  const LinkFacts &Run;
  const RunContext &Ctx;
  Timeline Record;
};

/// Records in the cost history how long each module with an object took. Skips
/// remote jobs whose beginning the plugin didn't report.
class CostObserver : public Observer {
public:
  CostObserver(const LinkFacts &Run, CostHistory &Costs)
      : Run(Run), Costs(Costs) {}

  void onStep(const Step &S) override;

private:
  struct Times {
    std::optional<plan::Time> Running, Receiving;
  };
  const LinkFacts &Run;
  CostHistory &Costs;
  llvm::DenseMap<plan::AttemptId, Times> AttemptTimes;
};

} // namespace dtlto

#endif // DTLTO_RUN_OBSERVERS_H
