//===- TimelineObserver.cpp - Steps become a record -----------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Run/TimelineObserver.h"
#include "Report/Report.h"
#include "Run/Notices.h"

using namespace llvm;
using namespace dtlto;

using plan::Action;
using plan::AttemptKind;
using plan::Cause;
using Outcome = AttemptRecord::Outcome;
using PlanEvent = plan::Event;

TimelineObserver::TimelineObserver(const LinkFacts &Run, const RunContext &L)
    : Run(Run), L(L) {
  Record.start(L.Started, L.SetUp);
  for (plan::JobId J = 0; J != Run.numJobs(); ++J)
    Record.addJob(Run.title(J), Run.number(J), Run.estimate(J),
                  Run.bitcodeSize(J));
}

void TimelineObserver::saw(const Step &S) {
  if (S.E)
    sawEvent(S);
  for (const Action &A : S.Actions)
    sawAction(S, A);
}

void TimelineObserver::sawEvent(const Step &S) {
  const PlanEvent &E = *S.E;
  StringRef Worker = Run.workerName(E.Worker);
  switch (E.What) {
  case PlanEvent::Opened:
    return Record.opened();
  case PlanEvent::LoadKnown:
    return Record.loaded(*S.Load);
  case PlanEvent::Prepared:
  case PlanEvent::NotExpressible:
  case PlanEvent::PrepareFailed:
  case PlanEvent::CacheHit:
    return Record.prepared(S.Job, S.Ended, S.Seconds,
                           /*IsCached=*/E.What == PlanEvent::CacheHit);
  case PlanEvent::Accepted:
    return Record.accepted(E.Attempt);
  case PlanEvent::Busy:
    return Record.busy(E.Attempt);
  case PlanEvent::StateChanged:
    return Record.state(E.Attempt, S.State, Worker);
  case PlanEvent::Succeeded:
    Record.numbers(E.Attempt, S.Numbers);
    return Record.done(E.Attempt, S.Status, Worker, S.Said, E.RanHere);
  case PlanEvent::Failed:
    if (E.Why == Cause::Refused)
      return Record.lost(E.Attempt, Outcome::Refused);
    Record.numbers(E.Attempt, S.Numbers);
    Record.done(E.Attempt, S.Status, Worker, S.Said, E.RanHere);
    if (E.Why == Cause::BadResult)
      Record.lost(E.Attempt, Outcome::Infrastructure, S.Why);
    return;
  case PlanEvent::CompiledHere:
  case PlanEvent::CompileHereFailed:
    return Record.ranHere(S.Job, S.Ended, S.Seconds, S.Status == DTLTO_OK,
                          S.Said, IsVerify.contains(E.Attempt));
  default:
    return;
  }
}

void TimelineObserver::sawAction(const Step &S, const Action &A) {
  switch (A.What) {
  case Action::Offer:
    if (const BuiltJob *Built = Run.built(A.Attempt))
      Record.offered(A.Job, A.Attempt, *Built,
                     A.AKind == AttemptKind::Duplicate);
    return;
  case Action::Cancel:
    return Record.lost(A.Attempt,
                       A.Why == Cause::Timeout      ? Outcome::Timeout
                       : A.Why == Cause::PluginGone ? Outcome::PluginFailed
                                                    : Outcome::Cancelled,
                       A.Why == Cause::PluginGone ? PluginFailure : "");
  case Action::StaysHere:
    return Record.staysHere(
        A.Job, whyHere(A.Why, S.Why, PluginFailure, L.opts().TimeoutSeconds));
  case Action::CompileHere:
    if (A.AKind == AttemptKind::Verify)
      IsVerify.insert(A.Attempt);
    return;
  case Action::Deliver:
    return Record.delivering(A.Job, Run.objectSize(A.Attempt));
  case Action::EndJob:
    return Record.ended(A.Job);
  case Action::DropPlugin:
    PluginFailure = S.Why.str();
    return Record.pluginFailed(PluginFailure);
  default:
    return;
  }
}

void TimelineObserver::finish() {
  Record.sessionNumbers(Run.pluginNumbers());
  Record.finish(Run.hasErrors());
  // The link goes on with the second round.
  if (L.RunOfTwo == 1 && !Run.hasErrors()) {
    *L.FirstRecord = std::move(Record);
    return;
  }
  if (L.RunOfTwo == 2)
    Record.addFirstRound(
        std::move(*L.FirstRecord),
        std::chrono::duration<double>(L.Started - L.BothStarted).count());
  if (!L.opts().Report.empty()) {
    const std::string &Path = L.opts().Report;
    const dtlto_plugin &Plugin = *L.Host.Plugin;
    ReportFacts Facts{L.opts().OutputFile, Plugin.name,
                      Plugin.version ? Plugin.version : "", L.Host.Parallelism};
    if (Error E = writeReport(Path, Record, Facts))
      L.msg().warning(toString(std::move(E)));
  }
  if (L.Timelines)
    L.Timelines->push_back(std::move(Record));
}
