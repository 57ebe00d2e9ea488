//===- Observers.cpp - Observers of a link's steps ------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Run/Observers.h"
#include "Host/Session.h"
#include "Report/Report.h"
#include "Report/Statistics.h"
#include "Support/FileTask.h"
#include "Support/System.h"
#include "Support/Text.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace dtlto;

using plan::Action;
using plan::AttemptKind;
using plan::Cause;
using plan::PluginState;
using PlanEvent = plan::Event;

//===----------------------------------------------------------------------===//
// Progress
//===----------------------------------------------------------------------===//

static double allWork(const LinkFacts &Run) {
  double Sum = 0;
  for (plan::JobId J = 0; J != Run.numJobs(); ++J)
    Sum += Run.facts(J).Seconds;
  return Sum;
}

ProgressObserver::ProgressObserver(const LinkFacts &Run, const RunContext &Ctx)
    : Run(Run), Line(Ctx.opts().StatusFormat, Run.numJobs(), allWork(Run),
                     sys::path::filename(Ctx.opts().OutputFile),
                     Progress::Screen{
                         [&Ctx](StringRef Text) { Ctx.msg().progress(Text); },
                         [&Ctx] { return Ctx.msg().columns(); }, Clock::now,
                         isTerminalShared}),
      Verifies(Ctx.opts().VerifyPercent != 0), IsShown(Run.numJobs()),
      IsFinished(Run.numJobs()), IsSampled(Run.numJobs()) {
  Ctx.setShare(Line);
}

void ProgressObserver::jobStarted(plan::JobId J, StringRef Worker) {
  Line.jobStarted(Run.facts(J).Title, Worker, !IsShown[J]);
  IsShown.set(J);
}

void ProgressObserver::jobFinished(plan::JobId J) {
  if (!IsFinished[J])
    Line.jobFinished(Run.facts(J).Title,
                     Run.workerName(Run.workerOf(Winner.lookup(J))),
                     Run.facts(J).Seconds, IsShown[J]);
  IsFinished.set(J);
}

void ProgressObserver::onStep(const Step &S) {
  if (S.E && S.E->What == PlanEvent::Verified)
    jobFinished(S.E->Job);
  if (S.E && S.E->What == PlanEvent::StateChanged &&
      S.E->State == PluginState::Running && Running.insert(S.E->Attempt).second)
    jobStarted(S.Job, Run.workerName(S.E->Worker));
  for (const Action &A : S.Actions) {
    if (A.What == Action::Prepare && A.IsSampled) {
      IsSampled.set(A.Job);
    } else if (A.What == Action::Won) {
      Winner[A.Job] = A.Attempt;
      if (Verifies && !IsSampled[A.Job])
        jobFinished(A.Job);
    } else if (A.What == Action::CompileLocally) {
      // Of a local attempt and the plugin's, show only the plugin's.
      if (A.AKind != AttemptKind::Verify && A.Why != Cause::Straggler &&
          A.Why != Cause::PluginSilent && A.Why != Cause::Overdue)
        jobStarted(A.Job, ThisMachine);
    } else if (A.What == Action::EndJob) {
      jobFinished(A.Job);
    }
  }
}

//===----------------------------------------------------------------------===//
// Reports
//===----------------------------------------------------------------------===//

// How long a link waits for another one that adds its numbers.
static constexpr std::chrono::milliseconds MaxStatsWait(10);

/// Adds the link to the user's statistics, if their file can be used.
static void countLink(const RunContext &Ctx,
                      std::shared_ptr<const Timeline> Record) {
  const std::string &Path = Ctx.opts().StatsFile;
  if (Error E = tryFileTask(sys::path::parent_path(Path),
                            [Record, Path, Output = Ctx.opts().OutputFile,
                             Plugin = std::string(Ctx.Host.Plugin->name)] {
                              return updateStatistics(
                                  Path, MaxStatsWait, [&](Statistics &S) {
                                    addLink(S, *Record, Output, Plugin);
                                  });
                            }))
    Ctx.msg().debug("statistics '" + printable(Path) +
                    "': " + toString(std::move(E)));
}

void TimelineObserver::finish() {
  Record.finish(Run);
  if (!Ctx.isLast() && !Run.hasErrors()) {
    Ctx.First->Record = std::move(Record);
    return;
  }
  Ctx.addEarlierStage(Record);
  auto Whole = std::make_shared<const Timeline>(std::move(Record));
  if (const std::string &Path = Ctx.opts().Report; !Path.empty()) {
    const dtlto_plugin &Plugin = *Ctx.Host.Plugin;
    ReportFacts Facts{Ctx.opts().OutputFile, Plugin.name,
                      Plugin.version ? Plugin.version : "",
                      Ctx.Host.Parallelism};
    if (Error E = writeReport(Path, *Whole, Facts))
      Ctx.msg().warning(toString(std::move(E)));
  }
  if (!Ctx.opts().StatsFile.empty())
    countLink(Ctx, Whole);
  if (Ctx.Timelines)
    Ctx.Timelines->push_back(*Whole);
}

//===----------------------------------------------------------------------===//
// Costs
//===----------------------------------------------------------------------===//

void CostObserver::onStep(const Step &S) {
  if (!S.E)
    return;
  double Elapsed = S.E->Seconds;
  switch (S.E->What) {
  case PlanEvent::StateChanged: {
    Times &T = AttemptTimes[S.E->Attempt];
    auto &When = S.E->State == PluginState::Receiving ? T.Receiving : T.Running;
    if (S.E->State >= PluginState::Running && !When)
      When = S.Now;
    return;
  }
  case PlanEvent::CompiledLocally:
    break;
  case PlanEvent::Succeeded:
    if (!S.E->RanLocally) {
      Times T = AttemptTimes.lookup(S.E->Attempt);
      if (!T.Running)
        return;
      Elapsed = plan::seconds(T.Receiving.value_or(S.Now) - *T.Running);
    }
    break;
  default:
    return;
  }
  const JobFacts &F = Run.facts(S.Job);
  Costs.record(F.CostKey, F.Size, Elapsed, S.E->Bytes);
}
