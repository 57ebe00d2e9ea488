//===- Driver.cpp - The simulated driver of a plan ------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bound.h"
#include "Simulation.h"

using namespace dtlto::sim;
using namespace dtlto::plan;
using namespace std::chrono_literals;

// Durations of a call into the plugin, and of a helper thread's work.
static constexpr Time CallTime = 20us;
static constexpr Time HelperTime = 200us;

Simulation::Attempt &Simulation::attempt(const Action &A) {
  if (A.Attempt >= Attempts.size())
    Attempts.resize(A.Attempt + 1);
  return Attempts[A.Attempt];
}

void Simulation::act(const Action &A) {
  const JobTruth &J = TheScenario.Jobs[A.Job];
  switch (A.What) {
  case Action::Open:
    return call({Call::Open});
  case Action::Prepare:
    return prepare(A);
  case Action::Offer:
    return call({Call::Submit, A.Attempt, attempt(A).Avoid});
  case Action::Cancel:
    return cancel(A);
  case Action::CompileLocally:
    return compileLocally(A);
  case Action::Won:
    attempt(A).Job = A.Job;
    attempt(A).IsOver = true;
    return;
  case Action::Verify:
    return onHelper(
        {J.VerifyFails ? Event::VerifyFailed : Event::Verified, A.Job});
  case Action::Deliver:
    return onHelper(
        {J.DeliverFails ? Event::DeliverFailed : Event::Delivered, A.Job});
  case Action::Refute:
    return call({Call::Refute, A.Attempt});
  case Action::QueryLoad:
    return call({Call::Load});
  case Action::TakeToken: {
    Random R{TheScenario.Seed, OfTokens, ++NumTokens};
    Time Waits = TheScenario.has(Feature::FewTokens)
                     ? R.pick<Time>({50us, 20ms, 300ms, 2s, 24h})
                     : 50us;
    return post(Waits, {Event::TokenTaken});
  }
  case Action::DropPlugin:
    return drop();
  case Action::CompleteBatch:
    return call({Call::Complete});
  case Action::Close:
    return call({Call::Close});
  case Action::EndJob:
    Result.IsGood &= A.Why == Cause::Done || A.Why == Cause::Cached;
    return;
  case Action::FailLink:
    Result.IsGood = false;
    return;
  case Action::ReturnToken:
  case Action::StayLocal:
    return;
  }
}

void Simulation::cancel(const Action &A) {
  Attempt &At = attempt(A);
  At.IsOver = true;
  if (At.IsOnThread && Now < At.StopsUntil) {
    At.CompiledAt = Now + 1ms;
    return post(1ms, {Event::LocalCompileFailed, A.Job, A.Attempt});
  }
  // A call that has begun can't be withdrawn.
  for (size_t I = 1; I < Calls.size(); ++I)
    if (Calls[I].What == Call::Submit && Calls[I].Id == A.Attempt) {
      Calls.erase(Calls.begin() + static_cast<ptrdiff_t>(I));
      return;
    }
  if (At.IsAtPlugin)
    call({Call::Cancel, A.Attempt});
}

void Simulation::compileLocally(const Action &A) {
  ++Result.NumLocal;
  Attempt &At = attempt(A);
  At.Job = A.Job;
  At.IsOnThread = true;
  const JobTruth &J = TheScenario.Jobs[A.Job];
  Event E{J.Error ? Event::LocalCompileFailed : Event::CompiledLocally, A.Job,
          A.Attempt};
  E.Seconds = J.Seconds;
  At.CompiledAt = Now + fromSeconds(J.Seconds);
  At.StopsUntil = Now + fromSeconds(J.Seconds * StoppableShare);
  return post(At.CompiledAt - Now, E);
}

void Simulation::drop() {
  Result.IsDropped = true;
  for (size_t I = 1; I < Calls.size();)
    if (Calls[I].What == Call::Submit || Calls[I].What == Call::Load ||
        Calls[I].What == Call::Refute || Calls[I].What == Call::Complete)
      Calls.erase(Calls.begin() + static_cast<ptrdiff_t>(I));
    else
      ++I;
}

void Simulation::prepare(const Action &A) {
  Attempt &At = attempt(A);
  At.Job = A.Job;
  At.Number = NumAttempts[A.Job]++;
  Result.NumDuplicates += A.AKind == AttemptKind::Duplicate;
  At.Avoid = A.Avoid;
  At.IsOnThread = true;
  const JobTruth &J = TheScenario.Jobs[A.Job];
  Event E{Event::Prepared, 0, A.Attempt};
  E.Bytes = A.ForPlugin ? J.Bytes : 0;
  if (J.PrepareFails)
    E.What = Event::PrepareFailed;
  else if (J.IsCached && !A.IsAgain)
    E.What = Event::CacheHit;
  else if (J.NotExpressible && A.ForPlugin)
    E.What = Event::NotExpressible;
  E.MustCompare = E.What == Event::CacheHit && J.IsForeign && A.IsSampled;
  onHelper(E);
}

/// Lets a helper thread do the work that ends with \p E.
void Simulation::onHelper(Event E) {
  Random R{TheScenario.Seed, OfHelpers, E.Job, E.Attempt, E.What};
  double Takes = R.between(0.5, 1.5);
  Time Work = Time(static_cast<int64_t>(double(HelperTime.count()) * Takes));
  if (TheScenario.has(Feature::SlowHelpers) && R.chance(0.3))
    Work *= R.pick({10, 1000, 10000});
  Time &Idle = *std::min_element(HelperIdle.begin(), HelperIdle.end());
  Idle = std::max(Idle, Now) + Work;
  post(Idle - Now, E);
}

//===----------------------------------------------------------------------===//
// Calls into the plugin
//===----------------------------------------------------------------------===//

void Simulation::call(Call C) {
  Calls.push_back(C);
  if (Calls.size() == 1)
    beginCall();
}

void Simulation::beginCall() {
  CallSince = Now;
  RoomReportsBefore = TheFarm.numRoomReports();
  const Call C = Calls.front();
  Random R{TheScenario.Seed, OfCalls, C.What};
  unsigned When = static_cast<unsigned>(R.in(1, 10)); // which call hangs
  Time HangTime = R.pick<Time>({1s, 30s, 1h, 24h});
  auto Takes = [&](Feature F, unsigned Number) {
    return TheScenario.has(F) && Number == When ? HangTime : CallTime;
  };
  Time Time = CallTime;
  switch (C.What) {
  case Call::Open:
    Time = TheScenario.has(Feature::OpenHangs)  ? HangTime
           : TheScenario.has(Feature::LateOpen) ? HangTime / 60
                                                : 5ms;
    break;
  case Call::Submit: {
    const Attempt &A = Attempts[C.Id];
    Time = Takes(Feature::SubmitHangs, ++NumSubmits);
    TheAnswer = TheFarm.submit(Now, C.Id, A.Job, A.Number, C.Avoid);
    Attempts[C.Id].IsAtPlugin = TheAnswer == Farm::Answer::Accepted;
    break;
  }
  case Call::Load:
    Time = Takes(Feature::LoadHangs, ++NumLoads);
    break;
  case Call::Cancel:
    TheFarm.cancel(C.Id);
    break;
  case Call::Refute:
    break;
  case Call::Complete:
    TheFarm.completeBatch(Now);
    break;
  case Call::Close:
    Time = TheScenario.has(Feature::CloseHangs) ? HangTime : CallTime;
    break;
  }
  push({Due::CallEnd}, Time);
}

void Simulation::endCall() {
  Call C = Calls.front();
  Calls.pop_front();
  CallSince = Never;
  Event E;
  E.Attempt = C.Id;
  switch (C.What) {
  case Call::Open: {
    Random R{TheScenario.Seed, OfAnswers};
    E.What =
        TheScenario.has(Feature::OpenFails) ? Event::OpenFailed : Event::Opened;
    E.IsArgumentWrong = E.What == Event::OpenFailed && R.chance(0.3);
    E.WantsBatches = TheScenario.has(Feature::Batches);
    post(TheScenario.Latency, E);
    break;
  }
  case Call::Submit: {
    E.What = TheAnswer == Farm::Answer::Accepted ? Event::Accepted
             : TheAnswer == Farm::Answer::Busy   ? Event::Busy
                                                 : Event::Failed;
    E.HasRoomSince =
        E.What == Event::Busy && TheFarm.numRoomReports() != RoomReportsBefore;
    if (E.What == Event::Failed)
      E.Why = Cause::Refused;
    Random R{TheScenario.Seed, OfAnswers, C.Id};
    Time Delay = Time(1000);
    if (TheScenario.has(Feature::LateAnswers) && R.chance(0.5))
      Delay = fromSeconds(R.unit());
    post(Delay, E);
    // It was cancelled during submit().
    if (Attempts[C.Id].IsOver && TheAnswer == Farm::Answer::Accepted)
      call({Call::Cancel, C.Id});
    break;
  }
  case Call::Load:
    if (Result.IsDropped || !TheScenario.AnswersLoad)
      break;
    E.What = Event::LoadReported;
    E.ReportedLoad = TheFarm.load();
    post(1us, E);
    break;
  case Call::Cancel:
  case Call::Refute:
  case Call::Complete:
  case Call::Close:
    break;
  }
  if (!Calls.empty() && CallSince == Never)
    beginCall();
}

/// The plugin's actions of its own, a few times a second.
void Simulation::pollPlugin() {
  TheFarm.poll(Now);
  Random R{TheScenario.Seed, OfPlugin};
  bool AtOnce = R.chance(0.2), ByResults = R.chance(0.5);
  double When = R.unit() * R.unit();
  bool GoesOn = R.chance(0.5);
  if (TheScenario.has(Feature::GivesUp) && !HasGivenUp &&
      (AtOnce ||
       (ByResults ? TheFarm.numResults() >=
                        static_cast<size_t>((1 - When) *
                                            double(TheScenario.Jobs.size()))
                  : Now >= fromSeconds(10 * When)))) {
    HasGivenUp = true;
    if (!GoesOn)
      TheFarm.stop();
    post(TheScenario.Latency, {Event::PluginFailed});
  }
  if (TheScenario.has(Feature::OnlyTalks) && !Result.IsDropped)
    post(TheScenario.Latency, {Event::RoomChanged});
  // Nothing new begins later, but a storm may have to end.
  if (Now > 15s && !(TheScenario.has(Feature::BusyStorm) && Now < 10min) &&
      !TheScenario.has(Feature::OnlyTalks))
    return;
  push({Due::Poll}, Now < 15s ? 37ms : 1s);
}
