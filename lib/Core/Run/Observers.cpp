//===- Observers.cpp - Observers of a link's steps ------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Run/Observers.h"
#include "Host/Session.h"
#include "Report/Report.h"
#include "Support/System.h"

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

ProgressObserver::ProgressObserver(const LinkFacts &Run, const RunContext &L)
    : Run(Run),
      Line(L.opts().StatusFormat, Run.numJobs(), allWork(Run),
           sys::path::filename(L.opts().OutputFile),
           Progress::Screen{[&L](StringRef Text) { L.msg().progress(Text); },
                            [&L] { return L.msg().columns(); }, Clock::now,
                            terminalIsShared}),
      Verifies(L.opts().VerifyPercent != 0), IsShown(Run.numJobs()),
      IsFinished(Run.numJobs()), IsSampled(Run.numJobs()) {
  L.setShare(Line);
}

void ProgressObserver::started(plan::JobId J, StringRef Worker) {
  Line.started(Run.facts(J).Title, Worker, !IsShown[J]);
  IsShown.set(J);
}

void ProgressObserver::finished(plan::JobId J) {
  if (!IsFinished[J])
    Line.finished(Run.facts(J).Title,
                  Run.workerName(Run.workerOf(Winner.lookup(J))),
                  Run.facts(J).Seconds, IsShown[J]);
  IsFinished.set(J);
}

void ProgressObserver::saw(const Step &S) {
  if (S.E && S.E->What == PlanEvent::Verified)
    finished(S.E->Job);
  if (S.E && S.E->What == PlanEvent::StateChanged &&
      S.E->State == PluginState::Running && Running.insert(S.E->Attempt).second)
    started(S.Job, Run.workerName(S.E->Worker));
  for (const Action &A : S.Actions) {
    if (A.What == Action::Prepare && A.IsSampled) {
      IsSampled.set(A.Job);
    } else if (A.What == Action::Won) {
      Winner[A.Job] = A.Attempt;
      if (Verifies && !IsSampled[A.Job])
        finished(A.Job);
    } else if (A.What == Action::CompileHere) {
      // Of a local attempt and the plugin's, show only the plugin's.
      if (A.AKind != AttemptKind::Verify && A.Why != Cause::Straggler &&
          A.Why != Cause::PluginSilent && A.Why != Cause::Overdue)
        started(A.Job, ThisMachine);
    } else if (A.What == Action::EndJob) {
      finished(A.Job);
    }
  }
}

//===----------------------------------------------------------------------===//
// Reports
//===----------------------------------------------------------------------===//

void TimelineObserver::finish() {
  Record.finish(Run);
  if (!L.isLast() && !Run.hasErrors()) {
    L.First->Record = std::move(Record);
    return;
  }
  if (L.First && L.isLast())
    Record.addEarlierStage(
        std::move(L.First->Record),
        std::chrono::duration<double>(L.Started - L.BothStarted).count());
  if (const std::string &Path = L.opts().Report; !Path.empty()) {
    const dtlto_plugin &Plugin = *L.Host.Plugin;
    ReportFacts Facts{L.opts().OutputFile, Plugin.name,
                      Plugin.version ? Plugin.version : "", L.Host.Parallelism};
    if (Error E = writeReport(Path, Record, Facts))
      L.msg().warning(toString(std::move(E)));
  }
  if (L.Timelines)
    L.Timelines->push_back(std::move(Record));
}

//===----------------------------------------------------------------------===//
// Costs
//===----------------------------------------------------------------------===//

void CostObserver::saw(const Step &S) {
  if (!S.E)
    return;
  double Took = S.E->Seconds;
  switch (S.E->What) {
  case PlanEvent::StateChanged: {
    Times &T = Seen[S.E->Attempt];
    auto &When = S.E->State == PluginState::Receiving ? T.Receiving : T.Running;
    if (S.E->State >= PluginState::Running && !When)
      When = S.Now;
    return;
  }
  case PlanEvent::CompiledHere:
    break;
  case PlanEvent::Succeeded:
    if (!S.E->RanHere) {
      Times T = Seen.lookup(S.E->Attempt);
      if (!T.Running)
        return;
      Took = std::chrono::duration<double>(T.Receiving.value_or(S.Now) -
                                           *T.Running)
                 .count();
    }
    break;
  default:
    return;
  }
  const JobFacts &F = Run.facts(S.Job);
  Costs.record(F.CostKey, F.Size, Took, S.E->Bytes);
}
