//===- Timeline.cpp - What became of a link's jobs, and when --------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report/Timeline.h"
#include "Host/BuiltJob.h"
#include "dtlto/PluginAPI.h"

using namespace llvm;
using namespace dtlto;

void Timeline::start(TimePoint TheZero, TimePoint SetUp) {
  IsOn = true;
  Zero = TheZero;
  ThinLink = since(Zero - SetUp);
  Date = std::chrono::system_clock::now();
}

Timeline::Timeline(std::vector<JobRecord> Jobs, std::vector<LoadRecord> Loads,
                   double ThinLink, double End)
    : IsOn(true), ThinLink(ThinLink), End(End), Jobs(std::move(Jobs)),
      Loads(std::move(Loads)) {}

void Timeline::addJob(StringRef Name, unsigned Number, double Cost,
                      uint64_t Bytes) {
  if (!IsOn)
    return;
  JobRecord &J = Jobs.emplace_back();
  J.Name = Name.str();
  J.Number = Number;
  J.Cost = Cost;
  J.PrimaryBytes = Bytes;
}

void Timeline::opened() {
  if (IsOn)
    Opened = now();
}

void Timeline::loaded(const dtlto_load &L) {
  if (!IsOn)
    return;
  if (!Loads.empty()) {
    const LoadRecord &Last = Loads.back();
    if (Last.Slots == L.slots && Last.Free == L.free &&
        Last.Queued == L.queued && Last.Workers == L.workers)
      return;
  }
  Loads.push_back({now(), L.slots, L.free, L.queued, L.workers});
}

void Timeline::prepared(size_t Job, TimePoint Ended, double Took,
                        bool IsCached) {
  if (!IsOn)
    return;
  JobRecord &J = Jobs[Job];
  J.Prepared = since(Ended - Zero);
  J.Preparing = std::max(0.0, J.Prepared - Took);
  if (IsCached)
    J.From = JobRecord::Source::Cache;
}

void Timeline::offered(size_t Job, uint64_t Id, const BuiltJob &Built,
                       bool IsDuplicate) {
  if (!IsOn)
    return;
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

  // Not the first one's business if that one was busy, or ran here.
  bool HasFailed = any_of(J.Attempts, [](const AttemptRecord &A) {
    return A.TheKind != Kind::Here && A.TheKind != Kind::Verify;
  });
  Places[Id] = {Job, J.Attempts.size()};
  AttemptRecord &A = J.Attempts.emplace_back();
  A.TheKind = IsDuplicate ? Kind::Duplicate
              : HasFailed ? Kind::Retry
                          : Kind::First;
  A.Id = Id;
  A.Offered = now();
}

AttemptRecord *Timeline::attempt(uint64_t Id) {
  auto It = Places.find(Id);
  if (It == Places.end())
    return nullptr;
  return &Jobs[It->second.first].Attempts[It->second.second];
}

void Timeline::accepted(uint64_t Id) {
  if (!IsOn)
    return;
  // The answer of submit() may come after the end, when the plugin gave up.
  if (AttemptRecord *A = attempt(Id); A && A->Done == NoTime)
    wasAccepted(*A);
}

/// What the plugin tells of a job may overtake its return from submit().
void Timeline::wasAccepted(AttemptRecord &A) const {
  if (A.Accepted == NoTime)
    A.Accepted = now();
}

void Timeline::busy(uint64_t Id) {
  if (!IsOn)
    return;
  auto It = Places.find(Id);
  if (It == Places.end())
    return;
  JobRecord &J = Jobs[It->second.first];
  ++J.NumBusy;
  // It never began. Those after it stand one place earlier now.
  size_t Place = It->second.second;
  J.Attempts.erase(J.Attempts.begin() + Place);
  Places.erase(It);
  for (size_t I = Place; I != J.Attempts.size(); ++I)
    if (J.Attempts[I].Id)
      Places[J.Attempts[I].Id].second = I;
}

/// A plugin that has begun a job begins it anew by itself: an attempt of its
/// own, under the same id.
AttemptRecord &Timeline::triedAgain(uint64_t Id) {
  auto &[Job, Place] = Places[Id];
  std::vector<AttemptRecord> &Attempts = Jobs[Job].Attempts;
  AttemptRecord &Old = Attempts[Place];
  Old.Done = now();
  Old.TheOutcome = Outcome::Infrastructure;
  Old.Message = "the plugin tried it again; --verbose may say why";
  Place = Attempts.size();
  AttemptRecord &A = Attempts.emplace_back();
  A.TheKind = Kind::Retry;
  A.Id = Id;
  A.Offered = A.Accepted = now();
  return A;
}

void Timeline::state(uint64_t Id, uint32_t State, StringRef Worker) {
  if (!IsOn)
    return;
  AttemptRecord *A = attempt(Id);
  if (!A || A->Done != NoTime)
    return;
  wasAccepted(*A);
  bool HasBegun = A->Sending != NoTime || A->Running != NoTime;
  bool IsElsewhere = State == DTLTO_STATE_SENDING && !Worker.empty() &&
                     !A->Worker.empty() && Worker != A->Worker;
  if (HasBegun && (State == DTLTO_STATE_QUEUED || IsElsewhere))
    A = &triedAgain(Id);
  if (!Worker.empty())
    A->Worker = Worker.str();
  if (State == DTLTO_STATE_QUEUED)
    return;
  double *Time = State == DTLTO_STATE_SENDING     ? &A->Sending
                 : State == DTLTO_STATE_RECEIVING ? &A->Receiving
                                                  : &A->Running;
  if (*Time == NoTime)
    *Time = now();
  A->RanHere |= State == DTLTO_STATE_LOCAL;
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

void Timeline::done(uint64_t Id, int32_t Status, StringRef Worker,
                    StringRef Message, bool RanHere) {
  if (!IsOn)
    return;
  AttemptRecord *A = attempt(Id);
  if (!A || A->Done != NoTime)
    return;
  wasAccepted(*A);
  A->Done = now();
  A->TheOutcome = outcome(Status);
  A->RanHere = RanHere;
  if (!Worker.empty())
    A->Worker = Worker.str();
  A->Message = Message.str();
  if (Status == DTLTO_OK)
    Jobs[Places[Id].first].From =
        RanHere ? JobRecord::Source::Here : JobRecord::Source::Worker;
}

void Timeline::numbers(uint64_t Id, ArrayRef<PluginNumber> Told) {
  if (!IsOn)
    return;
  if (AttemptRecord *A = attempt(Id); A && A->Done == NoTime)
    A->Numbers = Told;
}

void Timeline::sessionNumbers(ArrayRef<PluginNumber> Told) {
  if (IsOn)
    Numbers = Told;
}

void Timeline::lost(uint64_t Id, Outcome O, const Twine &Why) {
  if (!IsOn)
    return;
  AttemptRecord *A = attempt(Id);
  if (!A || (A->Done != NoTime && A->TheOutcome != Outcome::Ok))
    return;
  if (A->Done == NoTime)
    A->Done = now();
  else
    Jobs[Places[Id].first].From = JobRecord::Source::None;
  A->TheOutcome = O;
  A->Message = Why.str();
}

void Timeline::staysHere(size_t Job, const Twine &Why) {
  if (IsOn && Jobs[Job].WhyHere.empty())
    Jobs[Job].WhyHere = Why.str();
}

void Timeline::ranHere(size_t Job, TimePoint Ended, double Took, bool IsOk,
                       StringRef Message, bool IsVerify) {
  if (!IsOn)
    return;
  JobRecord &J = Jobs[Job];
  AttemptRecord &A = J.Attempts.emplace_back();
  A.TheKind = IsVerify ? Kind::Verify : Kind::Here;
  A.RanHere = true;
  A.Done = since(Ended - Zero);
  A.Running = std::max(0.0, A.Done - Took);
  if (!IsOk) {
    A.TheOutcome = Outcome::Compiler;
    A.Message = Message.str();
    return;
  }
  // The plugin may have been faster.
  bool IsNeeded = IsVerify || J.Ended == NoTime;
  if (J.From == JobRecord::Source::None)
    J.From = JobRecord::Source::Here;
  else if (!IsVerify)
    IsNeeded = false;
  A.TheOutcome = IsNeeded ? Outcome::Ok : Outcome::Cancelled;
}

void Timeline::delivering(size_t Job, uint64_t Bytes) {
  if (!IsOn)
    return;
  Jobs[Job].Delivering = now();
  Jobs[Job].ObjectBytes = Bytes;
}

void Timeline::ended(size_t Job) {
  if (IsOn)
    Jobs[Job].Ended = now();
}

void Timeline::pluginFailed(const Twine &Why) {
  if (IsOn)
    PluginFailure = Why.str();
}

void Timeline::finish(bool LinkFailed) {
  if (!IsOn)
    return;
  HasFailed = LinkFailed;
  End = now();
  // A link that fails waits for nobody.
  for (JobRecord &J : Jobs)
    for (AttemptRecord &A : J.Attempts)
      if (A.Done == NoTime)
        A.Done = End;
}

void Timeline::addFirstRound(Timeline First, double Began) {
  if (!IsOn || !First.IsOn)
    return;
  auto Later = [&](double &Time) {
    if (Time != NoTime)
      Time += Began;
  };
  for (JobRecord &J : Jobs) {
    J.Round = 2;
    for (double *Time : {&J.Preparing, &J.Prepared, &J.Delivering, &J.Ended})
      Later(*Time);
    for (AttemptRecord &A : J.Attempts)
      for (double *Time : {&A.Offered, &A.Accepted, &A.Sending, &A.Running,
                           &A.Receiving, &A.Done})
        Later(*Time);
  }
  for (LoadRecord &L : Loads)
    L.Time += Began;
  for (JobRecord &J : First.Jobs)
    J.Round = 1;
  Later(End);
  FirstRoundEnd = First.End;
  SecondRoundBegin = std::max(Began, First.End);
  Zero = First.Zero;
  Date = First.Date;
  ThinLink = First.ThinLink;
  Opened = First.Opened;
  if (PluginFailure.empty())
    PluginFailure = std::move(First.PluginFailure);
  Places.clear();
  First.Jobs.insert(First.Jobs.end(), std::make_move_iterator(Jobs.begin()),
                    std::make_move_iterator(Jobs.end()));
  Jobs = std::move(First.Jobs);
  First.Loads.insert(First.Loads.end(), Loads.begin(), Loads.end());
  Loads = std::move(First.Loads);
}
