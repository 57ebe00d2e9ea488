//===- Timeline.cpp - The record of a link's jobs -------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report/Timeline.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace dtlto;

using plan::Action;
using plan::AttemptId;
using plan::Cause;
using PlanEvent = plan::Event;

std::string dtlto::localReason(Cause Why, StringRef What,
                               StringRef PluginFailure,
                               unsigned TimeoutSeconds) {
  switch (Why) {
  case Cause::Timeout:
    return "no result within " + std::to_string(TimeoutSeconds) +
           " s (--thinlto-dist-timeout)";
  case Cause::NotExpressible:
    return (What + " cannot be expressed on a remote compiler's command line")
        .str();
  case Cause::PluginFull:
    return "the plugin was full";
  case Cause::TakenBack:
    return "taken back, since it was only queued at the plugin";
  case Cause::PluginSilent:
    return "the plugin had returned no object";
  case Cause::Straggler:
    return "it took long at the plugin";
  case Cause::Overdue:
    return "it made no progress at the plugin";
  case Cause::PluginDropped:
    return PluginFailure.empty() ? "the plugin has failed"
                                 : PluginFailure.str();
  default:
    return What.str();
  }
}

Timeline::Timeline(const LinkFacts &Run, TimePoint Zero, TimePoint SetUp)
    : Zero(Zero), Date(std::chrono::system_clock::now()),
      ThinLink(since(Zero - SetUp)), Stages{{0, 0, NoTime}} {
  for (plan::JobId I = 0; I != Run.numJobs(); ++I) {
    const JobFacts &F = Run.facts(I);
    JobRecord &J = Jobs.emplace_back();
    J.Name = F.Title;
    J.Number = F.Number;
    J.Cost = F.Seconds;
    J.PrimaryBytes = F.Size;
  }
}

Timeline::Timeline(std::vector<JobRecord> Jobs, std::vector<LoadRecord> Loads,
                   double ThinLink, double End,
                   std::vector<PluginNumber> Numbers)
    : ThinLink(ThinLink), Jobs(std::move(Jobs)), Loads(std::move(Loads)),
      Numbers(std::move(Numbers)), Stages{{0, 0, End}} {}

ArrayRef<JobRecord> Timeline::jobsOf(size_t I) const {
  size_t End = I + 1 == Stages.size() ? Jobs.size() : Stages[I + 1].FirstJob;
  return jobs().slice(Stages[I].FirstJob, End - Stages[I].FirstJob);
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

void Timeline::onStep(const Step &S, const LinkFacts &Run,
                      unsigned TimeoutSeconds) {
  Now = since(S.Now);
  if (S.E)
    handleEvent(S, Run.workerName(S.E->Worker));
  for (const Action &A : S.Actions)
    handleAction(S, A, Run, TimeoutSeconds);
}

void Timeline::handleEvent(const Step &S, StringRef Worker) {
  const PlanEvent &E = *S.E;
  switch (E.What) {
  case PlanEvent::Opened:
    Opened = Now;
    return;
  case PlanEvent::LoadReported:
    return recordLoad(*S.Load);
  case PlanEvent::Prepared:
  case PlanEvent::NotExpressible:
  case PlanEvent::PrepareFailed:
  case PlanEvent::CacheHit:
    return recordPrepared(S);
  case PlanEvent::Accepted:
    // The answer of submit() may come after the attempt's end, if the plugin
    // gave up.
    if (AttemptRecord *A = attempt(E.Attempt); A && A->Done == NoTime)
      setAccepted(*A);
    return;
  case PlanEvent::Busy:
    return recordBusy(E.Attempt);
  case PlanEvent::StateChanged:
    return recordState(E.Attempt, S.State, Worker);
  case PlanEvent::Succeeded:
  case PlanEvent::Failed:
    return recordEnd(S, Worker);
  case PlanEvent::CompiledLocally:
  case PlanEvent::LocalCompileFailed:
    return recordLocalCompile(S);
  default:
    return;
  }
}

void Timeline::handleAction(const Step &S, const Action &A,
                            const LinkFacts &Run, unsigned TimeoutSeconds) {
  switch (A.What) {
  case Action::Offer:
    if (const BuiltJob *Built = Run.built(A.Attempt))
      recordOffer(A.Job, A.Attempt, A.AKind, *Built);
    return;
  case Action::Cancel:
    return recordLost(A.Attempt,
                      A.Why == Cause::Timeout         ? Outcome::Timeout
                      : A.Why == Cause::PluginDropped ? Outcome::PluginFailed
                                                      : Outcome::Cancelled,
                      A.Why == Cause::PluginDropped ? PluginFailure : "");
  case Action::StayLocal:
    if (std::string &Why = Jobs[A.Job].LocalReason; Why.empty())
      Why = localReason(A.Why, S.Why, PluginFailure, TimeoutSeconds);
    return;
  case Action::Won:
    if (A.AKind == Kind::Found)
      Jobs[A.Job].From = JobRecord::Source::RemoteCache;
    return;
  case Action::CompileLocally:
    if (A.AKind == Kind::Verify)
      VerifyAttempts.insert(A.Attempt);
    return;
  case Action::Deliver:
    Jobs[A.Job].Delivering = Now;
    Jobs[A.Job].ObjectBytes = Run.objectSize(A.Attempt);
    return;
  case Action::EndJob:
    Jobs[A.Job].Ended = Now;
    return;
  case Action::DropPlugin:
    PluginFailure = S.Why.str();
    return;
  default:
    return;
  }
}

void Timeline::recordLoad(const dtlto_load &LoadReport) {
  LoadRecord New{Now, LoadReport.slots, LoadReport.free, LoadReport.queued,
                 LoadReport.workers};
  if (Loads.empty() || !Loads.back().hasSameNumbers(New))
    Loads.push_back(New);
}

/// Records that the job is ready for the plugin, or was cached.
void Timeline::recordPrepared(const Step &S) {
  JobRecord &J = Jobs[S.Job];
  J.Prepared = since(S.Ended - Zero);
  J.Preparing = std::max(0.0, J.Prepared - S.Seconds);
  if (S.E->What == PlanEvent::CacheHit)
    J.From = JobRecord::Source::Cache;
}

void Timeline::recordOffer(plan::JobId Job, AttemptId Id, Kind K,
                           const BuiltJob &Built) {
  JobRecord &J = Jobs[Job];
  J.ShardBytes = Built.shard().size();
  J.ImportBytes = 0;
  for (const dtlto_input &Input : Built.Inputs) {
    if (Input.role == DTLTO_ROLE_PRIMARY)
      J.PrimaryBytes = Input.bytes.size;
    else if (Input.role == DTLTO_ROLE_IMPORT)
      J.ImportBytes += Input.bytes.size;
  }
  J.WholeImportBytes = Built.WholeImportBytes;
  Places[Id] = {Job, J.Attempts.size()};
  AttemptRecord &A = J.Attempts.emplace_back();
  A.TheKind = K;
  A.Id = Id;
  A.Offered = Now;
}

AttemptRecord *Timeline::attempt(AttemptId Id) {
  auto It = Places.find(Id);
  if (It == Places.end())
    return nullptr;
  return &Jobs[It->second.first].Attempts[It->second.second];
}

/// Called also for state reports, which may arrive before submit() returns.
void Timeline::setAccepted(AttemptRecord &A) const {
  if (A.Accepted == NoTime)
    A.Accepted = Now;
}

/// Removes the attempt, which never began.
void Timeline::recordBusy(AttemptId Id) {
  auto It = Places.find(Id);
  if (It == Places.end())
    return;
  auto [Job, Place] = It->second;
  JobRecord &J = Jobs[Job];
  ++J.NumBusy;
  J.Attempts.erase(J.Attempts.begin() + Place);
  Places.erase(It);
  for (size_t I = Place; I != J.Attempts.size(); ++I)
    if (J.Attempts[I].Id)
      Places[J.Attempts[I].Id].second = I;
}

/// The plugin restarts a job on its own: adds an attempt with the same id.
AttemptRecord &Timeline::addRetry(AttemptId Id) {
  auto &[Job, Place] = Places[Id];
  std::vector<AttemptRecord> &Attempts = Jobs[Job].Attempts;
  AttemptRecord &Old = Attempts[Place];
  Old.Done = Now;
  Old.TheOutcome = Outcome::Infrastructure;
  Old.Message = "the plugin retried the job; --verbose may show why";
  Place = Attempts.size();
  AttemptRecord &A = Attempts.emplace_back();
  A.TheKind = Kind::Retry;
  A.Id = Id;
  A.Offered = A.Accepted = Now;
  return A;
}

void Timeline::recordState(AttemptId Id, uint32_t State, StringRef Worker) {
  AttemptRecord *A = attempt(Id);
  if (!A || A->Done != NoTime)
    return;
  setAccepted(*A);
  bool HasBegun = A->Sending != NoTime || A->Running != NoTime;
  bool IsElsewhere = State == DTLTO_STATE_SENDING && !Worker.empty() &&
                     !A->Worker.empty() && Worker != A->Worker;
  if (HasBegun && (State == DTLTO_STATE_QUEUED || IsElsewhere))
    A = &addRetry(Id);
  if (!Worker.empty())
    A->Worker = Worker.str();
  if (State == DTLTO_STATE_QUEUED)
    return;
  double &Time = State == DTLTO_STATE_SENDING     ? A->Sending
                 : State == DTLTO_STATE_RECEIVING ? A->Receiving
                                                  : A->Running;
  if (Time == NoTime)
    Time = Now;
  A->RanLocally |= State == DTLTO_STATE_LOCAL;
}

static AttemptRecord::Outcome outcome(int32_t Status) {
  switch (Status) {
  case DTLTO_OK:
    return AttemptRecord::Outcome::Ok;
  case DTLTO_CANCELLED:
    return AttemptRecord::Outcome::Cancelled;
  case DTLTO_ERROR_CALLER:
    return AttemptRecord::Outcome::Refused;
  case DTLTO_ERROR_COMPILER:
    return AttemptRecord::Outcome::Compiler;
  default:
    return AttemptRecord::Outcome::Infrastructure;
  }
}

/// Records the end of an attempt at the plugin.
void Timeline::recordEnd(const Step &S, StringRef Worker) {
  const AttemptId Id = S.E->Attempt;
  const bool HasFailed = S.E->What == PlanEvent::Failed;
  if (HasFailed && S.E->Why == Cause::Refused)
    return recordLost(Id, Outcome::Refused);
  if (AttemptRecord *A = attempt(Id); A && A->Done == NoTime) {
    setAccepted(*A);
    A->Numbers = S.Numbers;
    A->Done = Now;
    A->TheOutcome = outcome(S.Status);
    A->RanLocally = S.E->RanLocally;
    if (!Worker.empty())
      A->Worker = Worker.str();
    A->Message = S.Output.str();
    if (S.Status == DTLTO_OK)
      Jobs[S.Job].From =
          A->RanLocally ? JobRecord::Source::Local : JobRecord::Source::Worker;
  }
  if (HasFailed && S.E->Why == Cause::BadResult)
    recordLost(Id, Outcome::Infrastructure, S.Why);
}

/// Records that the attempt has failed, even if its result seemed good, or
/// isn't needed any more.
void Timeline::recordLost(AttemptId Id, Outcome O, StringRef Why) {
  AttemptRecord *A = attempt(Id);
  if (!A || (A->Done != NoTime && A->TheOutcome != Outcome::Ok))
    return;
  if (A->Done == NoTime)
    A->Done = Now;
  else
    Jobs[Places[Id].first].From = JobRecord::Source::None;
  A->TheOutcome = O;
  A->Message = Why.str();
}

void Timeline::recordLocalCompile(const Step &S) {
  const bool Verifies = VerifyAttempts.contains(S.E->Attempt);
  JobRecord &J = Jobs[S.Job];
  AttemptRecord &A = J.Attempts.emplace_back();
  A.TheKind = Verifies ? Kind::Verify : Kind::Local;
  A.RanLocally = true;
  A.Done = since(S.Ended - Zero);
  A.Running = std::max(0.0, A.Done - S.Seconds);
  if (S.Status != DTLTO_OK) {
    // A compile that isn't needed any more is stopped.
    A.TheOutcome = J.From == JobRecord::Source::None ? Outcome::Compiler
                                                     : Outcome::Cancelled;
    if (A.TheOutcome == Outcome::Compiler)
      A.Message = S.Output.str();
    return;
  }
  // The plugin may have been faster.
  bool IsNeeded = Verifies || J.Ended == NoTime;
  if (J.From == JobRecord::Source::None)
    J.From = JobRecord::Source::Local;
  else if (!Verifies)
    IsNeeded = false;
  A.TheOutcome = IsNeeded ? Outcome::Ok : Outcome::Cancelled;
}

//===----------------------------------------------------------------------===//
// The end
//===----------------------------------------------------------------------===//

void Timeline::finish(const LinkFacts &Run) {
  Numbers = Run.pluginNumbers();
  HasFailed = Run.hasErrors();
  double End = since(std::chrono::steady_clock::now() - Zero);
  Stages.back().End = End;
  // A failing link doesn't wait for its remaining attempts.
  for (JobRecord &J : Jobs)
    for (AttemptRecord &A : J.Attempts)
      if (A.Done == NoTime)
        A.Done = End;
}

void Timeline::addEarlierStage(Timeline Earlier, double Offset) {
  auto Shift = [&](std::initializer_list<double *> Times) {
    for (double *Time : Times)
      if (*Time != NoTime)
        *Time += Offset;
  };
  for (JobRecord &J : Jobs) {
    Shift({&J.Preparing, &J.Prepared, &J.Delivering, &J.Ended});
    for (AttemptRecord &A : J.Attempts)
      Shift({&A.Offered, &A.Accepted, &A.Sending, &A.Running, &A.Receiving,
             &A.Done});
  }
  for (LoadRecord &LoadReport : Loads)
    LoadReport.Time += Offset;
  double End = this->end();
  Shift({&End});
  Earlier.Stages.push_back(
      {Earlier.Jobs.size(), std::max(Offset, Earlier.end()), End});
  llvm::move(Jobs, std::back_inserter(Earlier.Jobs));
  llvm::append_range(Earlier.Loads, Loads);
  Earlier.Numbers = std::move(Numbers);
  Earlier.HasFailed = HasFailed;
  if (!PluginFailure.empty())
    Earlier.PluginFailure = std::move(PluginFailure);
  *this = std::move(Earlier);
}
