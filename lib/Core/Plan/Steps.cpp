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

Action &Steps::addAction(Action::Kind What, JobId J, AttemptId A, Cause Why) {
  Action &New = Actions.emplace_back();
  New.What = What;
  New.Job = J;
  New.Attempt = A;
  New.Why = Why;
  if (const Attempt *Target = A ? Jobs.find(A) : nullptr)
    New.AKind = Target->Kind;
  return New;
}

//===----------------------------------------------------------------------===//
// A job begins
//===----------------------------------------------------------------------===//

void Steps::prepare(JobId J, bool ForPlugin, Cause Why) {
  const Attempt &A =
      Jobs.add(J, ForPlugin ? Kind::First : Kind::Local, State::Preparing, Why);
  if (!ForPlugin)
    addAction(Action::StayLocal, J, A.Id, Why);
  Action &P = addAction(Action::Prepare, J, A.Id);
  P.ForPlugin = ForPlugin && !Jobs[J].IsFound; // the plugin won't get it
  P.IsSampled = Jobs[J].IsSampled;
}

void Steps::prepareAgain(JobId J, Kind K, WorkerId Avoid) {
  const Attempt &A = Jobs.add(J, K, State::Preparing, Cause::None);
  Action &P = addAction(Action::Prepare, J, A.Id);
  P.ForPlugin = P.IsAgain = true;
  P.Avoid = Avoid;
}

const Attempt &Steps::queueLocally(JobId J, Cause Why, WorkerId Slow) {
  const Attempt &A = Jobs.add(J, Kind::Local, State::Queued, Why);
  addAction(Action::StayLocal, J, A.Id, Why).Avoid = Slow;
  return A;
}

void Steps::compile(const Attempt &A) {
  Jobs.markNotRemaining(A.Job);
  Jobs.move(A, State::Compiling);
  addAction(Action::CompileLocally, A.Job, A.Id, A.Why);
}

void Steps::fallBack(JobId J, AttemptId FailedAttempt, Cause Why) {
  if (!Plugin.mayFallBack())
    return failLink(J, FailedAttempt, Why);
  queueLocally(J, Why);
}

//===----------------------------------------------------------------------===//
// An attempt ends
//===----------------------------------------------------------------------===//

void Steps::cancel(const Attempt &A, Cause Why) {
  addAction(Action::Cancel, A.Job, A.Id, Why);
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
    addAction(Action::ReturnToken);
  }
  Jobs.remove(A);
}

void Steps::dropDuplicate(const Attempt &A) {
  --Jobs.notes(A.Job).Duplicates;
  cancel(A, Cause::Overtaken);
}

void Steps::win(const Attempt &A) {
  const JobId J = A.Job;
  addAction(Action::Won, J, A.Id, A.Why);
  for (auto [WrongAttempt, Why] : Jobs[J].Doubted)
    refute(J, WrongAttempt, Why);
  Jobs.notes(J).Decisive = A.Id;
  remove(A);
  auto AllAttempts = Jobs[J].Attempts;
  for (const Attempt *Other : AllAttempts)
    if (Other->Kind != Kind::Verify && !Other->IsOrphan) {
      Jobs.countWasted(*Other);
      cancel(*Other, Cause::Overtaken);
    }
  Jobs.markNotRemaining(J);
}

void Steps::compare(const Attempt &A) {
  HasCompared = true;
  const JobId J = A.Job;
  // If the job is already being compiled locally, compare that object.
  bool HasLocal = false;
  for (const Attempt *Other : Jobs[J].Attempts)
    if (Other != &A && !Other->isAtPlugin() && !Other->IsOrphan) {
      Jobs.setKind(*Other, Kind::Verify, /*IsRedundant=*/false);
      HasLocal = true;
    }
  win(A);
  if (!HasLocal)
    Jobs.add(J, Kind::Verify, State::Queued, Cause::None);
}

void Steps::useFound(JobId J) {
  Jobs.notes(J).IsCached = true;
  Jobs.notes(J).IsFound = false;
  const Attempt &A = Jobs.add(J, Kind::Found, State::Queued, Cause::None);
  if (Jobs[J].IsSampled)
    return compare(A);
  win(A);
  hold(J);
}

void Steps::refute(JobId J, AttemptId WrongAttempt, Cause Why) {
  if (!Plugin.IsDropped)
    addAction(Action::Refute, J, WrongAttempt, Why);
}

//===----------------------------------------------------------------------===//
// A job ends
//===----------------------------------------------------------------------===//

void Steps::verify(const Attempt &A) {
  const JobId J = A.Job;
  addAction(Action::Verify, J, A.Id);
  remove(A);
  Jobs.enter(J, Stage::Verifying);
}

void Steps::finishVerification(JobId J, bool IsEqual) {
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
  if (Opts.VerifyPercent == 0)
    deliver(J);
}

void Steps::deliver(JobId J) {
  Jobs.enter(J, Stage::Delivering);
  addAction(Action::Deliver, J, Jobs[J].Decisive).IsProven = Jobs[J].IsProven;
}

/// Compares one of the held objects if the whole sample was made locally.
/// Returns false if there is none to compare or to wait for.
bool Steps::compareHeldObject() {
  if (Opts.VerifyPercent == 0 || HasCompared || IsFailing || HasDifference)
    return false;
  bool MustWait = false;
  for (JobId J = JobId(Jobs.size()); J-- != 0;) {
    if (Jobs[J].At != Stage::Held || Jobs[J].IsProven)
      continue;
    // Wait for the end of a local compile that lost.
    if (Jobs[J].hasLocalAttempt()) {
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
      compareHeldObject())
    return;
  for (JobId J = 0; J != Jobs.size(); ++J) {
    if (Jobs[J].At != Stage::Held)
      continue;
    if (IsFailing || HasDifference)
      endJob(J, Cause::LinkFailed);
    else
      deliver(J);
  }
}

void Steps::endJob(JobId J, Cause Why) {
  cancelAll(J, Why == Cause::LinkFailed ? Why : Cause::Overtaken);
  Jobs.enter(J, Stage::Ended);
  Jobs.markNotRemaining(J);
  addAction(Action::EndJob, J, Jobs[J].Decisive, Why);
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

void Steps::failLink(JobId BlamedJob, AttemptId FailedAttempt, Cause Why) {
  IsFailing = true;
  addAction(Action::FailLink, BlamedJob, FailedAttempt, Why);
  for (JobId J = 0; J != Jobs.size(); ++J)
    if (Stage At = Jobs[J].At;
        At == Stage::Waiting || At == Stage::UnderWay || At == Stage::Held)
      endJob(J, Cause::LinkFailed);
}

void Steps::dropPlugin(Cause Why) {
  if (Plugin.IsDropped)
    return;
  Plugin.IsDropped = true;
  addAction(Action::DropPlugin, 0, 0, Why);
  if (IsFailing)
    return;
  if (!Plugin.mayFallBack())
    return failLink(0, 0, Why);
  for (State S : {State::Ready, State::Offered, State::Accepted}) {
    auto All = Jobs.in(S);
    for (const Attempt *A : All) {
      const JobId J = A->Job;
      cancel(*A, Cause::PluginDropped);
      if (Jobs[J].numLive() == 0)
        queueLocally(J, Cause::PluginDropped);
    }
  }
}
