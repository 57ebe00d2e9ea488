//===- Steps.cpp - The steps of a job -------------------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Plan/Steps.h"

using namespace dtlto::plan;

using Kind = AttemptKind;
using State = AttemptState;

Action &Steps::act(Action::Kind What, JobId J, AttemptId A, Cause Why) {
  Action &New = Actions.emplace_back();
  New.What = What;
  New.Job = J;
  New.Attempt = A;
  New.Why = Why;
  if (const Attempt *Of = A ? Jobs.find(A) : nullptr)
    New.AKind = Of->Kind;
  return New;
}

//===----------------------------------------------------------------------===//
// A job begins
//===----------------------------------------------------------------------===//

void Steps::prepare(JobId J, bool ForPlugin, Cause Why) {
  const Attempt &A =
      Jobs.add(J, ForPlugin ? Kind::First : Kind::Here, State::Preparing, Why);
  if (!ForPlugin)
    act(Action::StaysHere, J, A.Id, Why);
  Action &P = act(Action::Prepare, J, A.Id);
  P.ForPlugin = ForPlugin;
  P.IsSampled = Jobs[J].IsSampled;
}

void Steps::prepareAgain(JobId J, Kind K, WorkerId Avoid) {
  const Attempt &A = Jobs.add(J, K, State::Preparing, Cause::None);
  Action &P = act(Action::Prepare, J, A.Id);
  P.ForPlugin = P.IsAgain = true;
  P.Avoid = Avoid;
}

const Attempt &Steps::compileHere(JobId J, Cause Why, WorkerId Slow) {
  const Attempt &A = Jobs.add(J, Kind::Here, State::Queued, Why);
  act(Action::StaysHere, J, A.Id, Why).Avoid = Slow;
  return A;
}

void Steps::compile(const Attempt &A) {
  Jobs.take(A.Job);
  Jobs.move(A, State::Compiling);
  act(Action::CompileHere, A.Job, A.Id, A.Why);
}

void Steps::fallBack(JobId J, AttemptId Failed, Cause Why) {
  if (!Plugin.mayFallBack())
    return failLink(J, Failed, Why);
  compileHere(J, Why);
}

//===----------------------------------------------------------------------===//
// An attempt ends
//===----------------------------------------------------------------------===//

void Steps::cancel(const Attempt &A, Cause Why) {
  act(Action::Cancel, A.Job, A.Id, Why);
  if (A.isOnThread())
    Jobs.orphan(A);
  else
    remove(A);
}

void Steps::cancelAll(JobId J, Cause Why) {
  auto All = Jobs[J].Attempts;
  for (const Attempt *A : All)
    if (!A->IsOrphan)
      cancel(*A, Why);
}

void Steps::remove(const Attempt &A) {
  // Another process of the build may get the next token sooner.
  if (A.State == State::Compiling && Local.numTokens() != 0) {
    Local.returnToken();
    act(Action::ReturnToken);
  }
  Jobs.remove(A);
}

void Steps::dropDuplicate(const Attempt &A) {
  --Jobs.notes(A.Job).Duplicates;
  cancel(A, Cause::Overtaken);
}

void Steps::win(const Attempt &A) {
  const JobId J = A.Job;
  act(Action::Won, J, A.Id, A.Why);
  for (auto [Wrong, Why] : Jobs[J].Doubted)
    refute(J, Wrong, Why);
  Jobs.notes(J).Decisive = A.Id;
  remove(A);
  auto Others = Jobs[J].Attempts;
  for (const Attempt *Other : Others)
    if (Other->Kind != Kind::Verify && !Other->IsOrphan) {
      Jobs.noteInVain(*Other);
      cancel(*Other, Cause::Overtaken);
    }
  Jobs.take(J);
}

void Steps::compare(const Attempt &A) {
  HasCompared = true;
  const JobId J = A.Job;
  // If the job is already being compiled locally, compare that object.
  bool IsHere = false;
  for (const Attempt *Other : Jobs[J].Attempts)
    if (Other != &A && !Other->isAtPlugin()) {
      Jobs.retag(*Other, Kind::Verify, /*IsTwice=*/false);
      IsHere = true;
    }
  win(A);
  if (!IsHere)
    Jobs.add(J, Kind::Verify, State::Queued, Cause::None);
}

void Steps::refute(JobId J, AttemptId Wrong, Cause Why) {
  if (!Plugin.IsDropped)
    act(Action::Refute, J, Wrong, Why);
}

//===----------------------------------------------------------------------===//
// A job ends
//===----------------------------------------------------------------------===//

void Steps::verify(const Attempt &A) {
  const JobId J = A.Job;
  act(Action::Verify, J, A.Id);
  remove(A);
  Jobs.enter(J, Stage::Verifying);
}

void Steps::verified(JobId J, bool IsEqual) {
  if (IsEqual) {
    Jobs.notes(J).IsProven = true;
    return hold(J);
  }
  HasDifference = true;
  // A cached object isn't the plugin's result.
  if (!Jobs[J].IsCached)
    refute(J, Jobs[J].Decisive, Cause::VerifyFailed);
  endJob(J, Cause::VerifyFailed);
}

void Steps::hold(JobId J) {
  Jobs.enter(J, Stage::Held);
  if (O.VerifyPercent == 0)
    deliver(J);
}

void Steps::deliver(JobId J) {
  Jobs.enter(J, Stage::Delivering);
  act(Action::Deliver, J, Jobs[J].Decisive).IsProven = Jobs[J].IsProven;
}

/// Compares one of the held objects if the whole sample was made locally.
/// Returns false if there is none to compare or to wait for.
bool Steps::compareAHeldOne() {
  if (O.VerifyPercent == 0 || HasCompared || Failing || HasDifference)
    return false;
  bool MustWait = false;
  for (JobId J = JobId(Jobs.size()); J-- != 0;) {
    if (Jobs[J].At != Stage::Held || Jobs[J].IsProven)
      continue;
    // Wait for the end of a local compile that lost.
    if (Jobs[J].hasHere()) {
      MustWait = true;
      continue;
    }
    HasCompared = true;
    Jobs.add(J, Kind::Verify, State::Queued, Cause::None);
    return true;
  }
  return MustWait;
}

void Steps::deliverHeld() {
  const JobSums &S = Jobs.sums();
  if (S.NumHeld == 0 || S.NumEnded + S.NumHeld != Jobs.size() ||
      compareAHeldOne())
    return;
  for (JobId J = 0; J != Jobs.size(); ++J) {
    if (Jobs[J].At != Stage::Held)
      continue;
    if (Failing || HasDifference)
      endJob(J, Cause::LinkFailed);
    else
      deliver(J);
  }
}

void Steps::endJob(JobId J, Cause Why) {
  cancelAll(J, Why == Cause::LinkFailed ? Why : Cause::Overtaken);
  Jobs.enter(J, Stage::Ended);
  Jobs.take(J);
  act(Action::EndJob, J, Jobs[J].Decisive, Why);
}

void Steps::endWith(const Attempt &A, Cause Why) {
  const JobId J = A.Job;
  Jobs.notes(J).Decisive = A.Id;
  remove(A);
  endJob(J, Why);
}

//===----------------------------------------------------------------------===//
// The link ends
//===----------------------------------------------------------------------===//

void Steps::failLink(JobId Blamed, AttemptId Failed, Cause Why) {
  Failing = true;
  act(Action::FailLink, Blamed, Failed, Why);
  for (JobId J = 0; J != Jobs.size(); ++J)
    if (Stage At = Jobs[J].At;
        At == Stage::Waiting || At == Stage::UnderWay || At == Stage::Held)
      endJob(J, Cause::LinkFailed);
}

void Steps::dropPlugin(Cause Why) {
  if (Plugin.IsDropped)
    return;
  Plugin.IsDropped = true;
  act(Action::DropPlugin, 0, 0, Why);
  if (Failing)
    return;
  if (!Plugin.mayFallBack())
    return failLink(0, 0, Why);
  for (State S : {State::Ready, State::Offered, State::Accepted}) {
    auto All = Jobs.in(S);
    for (const Attempt *A : All) {
      const JobId J = A->Job;
      cancel(*A, Cause::PluginGone);
      if (Jobs[J].numLive() == 0)
        compileHere(J, Cause::PluginGone);
    }
  }
}
