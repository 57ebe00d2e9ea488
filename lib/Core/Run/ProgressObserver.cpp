//===- ProgressObserver.cpp - Steps move the progress line ----------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Run/ProgressObserver.h"
#include "Host/Session.h"
#include "Support/System.h"

using namespace llvm;
using namespace dtlto;

using plan::Action;
using plan::AttemptKind;
using plan::Cause;

static double allWork(const LinkFacts &Run) {
  double Sum = 0;
  for (plan::JobId J = 0; J != Run.numJobs(); ++J)
    Sum += Run.estimate(J);
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
  if (L.RunOfTwo != 0)
    Line.setRound(L.RunOfTwo, 2, L.BothStarted);
}

void ProgressObserver::started(plan::JobId J, StringRef Worker) {
  Line.started(Run.title(J), Worker, !IsShown[J]);
  IsShown.set(J);
}

void ProgressObserver::finished(plan::JobId J) {
  if (!IsFinished[J])
    Line.finished(Run.title(J), Run.workerName(Run.workerOf(Winner.lookup(J))),
                  Run.estimate(J), IsShown[J]);
  IsFinished.set(J);
}

void ProgressObserver::saw(const Step &S) {
  if (S.E && S.E->What == plan::Event::Verified)
    finished(S.E->Job);
  if (S.E && S.E->What == plan::Event::StateChanged &&
      S.E->State == plan::PluginState::Running &&
      Running.insert(S.E->Attempt).second)
    started(S.Job, Run.workerName(S.E->Worker));
  for (const Action &A : S.Actions) {
    if (A.What == Action::Prepare && A.IsSampled) {
      IsSampled.set(A.Job);
    } else if (A.What == Action::Won) {
      Winner[A.Job] = A.Attempt;
      if (Verifies && !IsSampled[A.Job])
        finished(A.Job);
    } else if (A.What == Action::CompileHere) {
      // One beside the plugin's is not told of: that one is.
      if (A.AKind != AttemptKind::Verify && A.Why != Cause::Straggler &&
          A.Why != Cause::PluginSilent && A.Why != Cause::Overdue)
        started(A.Job, ThisMachine);
    } else if (A.What == Action::EndJob) {
      finished(A.Job);
    }
  }
}
