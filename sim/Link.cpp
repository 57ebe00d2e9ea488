//===- Link.cpp - A link that is only arithmetic --------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Link.h"
#include "Bound.h"
#include "Farm.h"
#include "LogReader.h"
#include "Rules.h"
#include <algorithm>
#include <queue>

using namespace dtlto::sim;
using namespace dtlto::plan;
using namespace std::chrono_literals;

enum Stream : uint64_t {
  OfDriver = 200,
  OfHelpers,
  OfCalls,
  OfAnswers,
  OfPlugin,
  OfStrays
};

// Of a call into the plugin, and of what a helper thread does.
static constexpr Time CallTime = 20us;
static constexpr Time HelperTime = 200us;
// Of a compile here: the share of it that ends at once if nobody needs it. The
// rest is code generation, which can't be stopped.
static constexpr double StoppableShare = 0.6;

static Time fromSeconds(double S) {
  return Time(static_cast<int64_t>(S * 1e9));
}

namespace {
class Simulation {
public:
  Simulation(const Scenario &S, bool WantsLog);
  LinkResult run();

private:
  /// What is due at a time; of two at one time, the one that was asked for
  /// first.
  struct Due {
    enum Kind {
      OfPlan,  // E
      OfFarm,  // Stage, Id
      CallEnd, // of the session's thread
      Look     // something of the plugin as such
    };
    Time At;
    uint64_t Order;
    Kind What;
    Farm::Stage Stage;
    AttemptId Id;
    Event E;
    bool operator<(const Due &O) const { // the earliest is on top
      return At != O.At ? At > O.At : Order > O.Order;
    }
  };
  /// A call into the plugin; there is one at a time.
  struct Call {
    enum Kind { Open, Submit, Load, Cancel, Refute, Close } What;
    AttemptId Id = 0;
    WorkerId Avoid = 0;
  };
  struct Attempt {
    JobId Job = 0;
    unsigned Number = 0; // how many there were of this job before
    WorkerId Avoid = 0;
    bool OnThread = false;
    Time CompiledAt = {}; // unless it is stopped before StopsUntil
    Time StopsUntil = {};
    bool IsOver = false; // the plan has no more to do with it
    bool AtPlugin = false;
  };

  void push(Due D, Time Delay) {
    D.At = Now + std::max(Delay, Time(1));
    D.Order = ++LastOrder;
    Queue.push(D);
  }
  void tell(Time Delay, const Event &E) {
    Due D{};
    D.What = Due::OfPlan;
    D.E = E;
    push(D, Delay);
  }

  void step(const Event *E);
  void act(const Action &A);
  void prepare(const Action &A);
  void onHelper(Event E);
  void call(Call C);
  void beginCall();
  void endCall();
  void lookAtPlugin();
  void addStray();
  Attempt &attempt(const Action &A);
  void fail(std::string Why) {
    if (Result.Violation.empty())
      Result.Violation = std::move(Why);
  }
  Time timeLimit() const;

  const Scenario &S;
  const bool WantsLog;
  Plan P;
  Rules TheRules;
  Farm TheFarm;
  Time Now = {};
  std::priority_queue<Due> Queue;
  uint64_t LastOrder = 0;
  std::vector<Attempt> Attempts = std::vector<Attempt>(1);
  std::vector<unsigned> NumAttempts; // of each job
  std::vector<AttemptId> Winner;     // likewise
  std::vector<Time> HelperIdle;      // since, or from then on

  std::deque<Call> Calls; // the first is under way
  Time CallSince = Never;
  size_t RoomToldBefore = 0;   // the call
  Farm::Answer TheAnswer = {}; // of the call that is under way
  unsigned NumSubmits = 0, NumLoads = 0;
  bool Dropped = false, GaveUp = false, ToldForbidden = false;
  uint64_t NumSteps = 0;
  Random Strays;
  std::vector<Action> Actions;
  LinkResult Result;
};
} // namespace

Simulation::Simulation(const Scenario &S, bool WantsLog)
    : S(S), WantsLog(WantsLog), P(S.Infos, S.O), TheRules(S.Infos, S.O),
      TheFarm(S, {[this](Time Delay, const Event &E) { tell(Delay, E); },
                  [this](Time Delay, Farm::Stage Stage, AttemptId Id) {
                    Due D{};
                    D.What = Due::OfFarm;
                    D.Stage = Stage;
                    D.Id = Id;
                    push(D, Delay);
                  }}),
      NumAttempts(S.Jobs.size()), Winner(S.Jobs.size()),
      HelperIdle(numHelpers(S.O)), Strays{S.Seed, OfStrays} {
  Result.NumJobs = S.Jobs.size();
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

LinkResult Simulation::run() {
  if (WantsLog)
    Result.Log = printHeader(S.O, S.Infos);
  Time Limit = timeLimit();
  uint64_t MaxSteps = 100000 + 2000 * S.Jobs.size();
  Due D{};
  D.What = Due::Look;
  push(D, 1us);
  step(nullptr);
  while (Result.Violation.empty() && !P.isDone()) {
    Time Wake = P.wakeUp();
    if (Queue.empty() && Wake == Never) {
      fail("nothing is under way, and jobs are left");
      break;
    }
    if (Queue.empty() || Wake < Queue.top().At) {
      Now = Wake;
      Event Tick{Event::Tick};
      Tick.CallSince = CallSince;
      step(&Tick);
    } else {
      Due Next = Queue.top();
      Queue.pop();
      Now = Next.At;
      switch (Next.What) {
      case Due::OfPlan:
        // One that was stopped doesn't end once more.
        if ((Next.E.What == Event::CompiledHere ||
             Next.E.What == Event::CompileHereFailed) &&
            Next.E.Attempt < Attempts.size() &&
            Attempts[Next.E.Attempt].CompiledAt != Time() &&
            Attempts[Next.E.Attempt].CompiledAt < Now)
          break;
        step(&Next.E);
        break;
      case Due::OfFarm:
        TheFarm.advance(Now, Next.Stage, Next.Id);
        break;
      case Due::CallEnd:
        endCall();
        break;
      case Due::Look:
        lookAtPlugin();
        break;
      }
    }
    if (Now > Limit || NumSteps > MaxSteps)
      fail("the link doesn't end");
  }
  Result.End = Now;
  if (Result.Violation.empty())
    fail(TheRules.atEnd());
  // The last words of the plugin change nothing but the verdict on it.
  for (int I = 0; I != 20 && Result.Violation.empty() && !Queue.empty(); ++I) {
    Due Next = Queue.top();
    Queue.pop();
    if (Next.What != Due::OfPlan)
      continue;
    Now = Next.At;
    Actions.clear();
    P.handle(Now, Next.E, Actions);
    for (const Action &A : Actions)
      if (A.What != Action::DropPlugin && A.What != Action::FailLink)
        fail("an action after the end: " + print(A).substr(2));
  }
  if (std::optional<Bound> Most = boundOf(S)) {
    Result.Limit = fromSeconds(Most->Seconds);
    if (Result.End > Result.Limit)
      fail(Most->Rule);
  }
  Result.NumSteps = NumSteps;
  return std::move(Result);
}

void Simulation::step(const Event *E) {
  ++NumSteps;
  Actions.clear();
  if (E) {
    if (Attempt *A =
            E->Attempt < Attempts.size() ? &Attempts[E->Attempt] : nullptr) {
      if (E->What >= Event::Prepared && E->What <= Event::NotExpressible)
        A->OnThread = false;
      if (E->What == Event::CompiledHere || E->What == Event::CompileHereFailed)
        A->OnThread = false;
    }
    P.handle(Now, *E, Actions);
  } else {
    P.start(Now, Actions);
  }
  if (WantsLog)
    Result.Log += printStep(Now, E, Actions);
  for (const Action &A : Actions) {
    for (uint64_t V :
         {uint64_t(Now.count()), uint64_t(A.What), uint64_t(A.Job), A.Attempt,
          uint64_t(A.AKind), uint64_t(A.Why), uint64_t(A.Avoid),
          uint64_t(A.IsProven * 16 + A.IsSampled * 8 + A.ForPlugin * 4 +
                   A.IsAgain * 2 + A.Insist)})
      Result.Digest = mix(Result.Digest ^ V);
    // What can't be done is a rule that is broken, and found as such.
    if (A.Job < S.Jobs.size())
      act(A);
  }
  fail(TheRules.saw(Now, E, Actions));
  fail(P.check());
  if (P.wakeUp() <= Now)
    fail("the time to wake up is in the past");
  if (S.has(Feature::StrayEvents) && Strays.chance(0.1))
    addStray();
}

/// In simulated time: each job, one after the other, as badly as can be.
Time Simulation::timeLimit() const {
  Time Limit = 10min + S.O.CallTimeout;
  for (const JobTruth &J : S.Jobs)
    Limit += fromSeconds(20 * J.Seconds) +
             (S.O.MaxTries + 2) *
                 ((S.has(Feature::OnlyTalks) ? 5 : 1) * S.O.JobTimeout +
                  2 * S.O.DeadlineStep + S.O.BusyRetry + 5s);
  return Limit;
}

//===----------------------------------------------------------------------===//
// The driver
//===----------------------------------------------------------------------===//

Simulation::Attempt &Simulation::attempt(const Action &A) {
  if (A.Attempt >= Attempts.size())
    Attempts.resize(A.Attempt + 1);
  return Attempts[A.Attempt];
}

void Simulation::act(const Action &A) {
  Event E;
  E.Job = A.Job;
  E.Attempt = A.Attempt;
  switch (A.What) {
  case Action::Open:
    return call({Call::Open});
  case Action::Prepare:
    return prepare(A);
  case Action::Offer:
    return call({Call::Submit, A.Attempt, attempt(A).Avoid});
  case Action::Cancel: {
    Attempt &At = attempt(A);
    At.IsOver = true;
    if (At.OnThread && Now < At.StopsUntil) {
      At.CompiledAt = Now + 1ms;
      E.What = Event::CompileHereFailed;
      return tell(1ms, E);
    }
    // A call that is under way can't be taken back.
    for (size_t I = 1; I < Calls.size(); ++I)
      if (Calls[I].What == Call::Submit && Calls[I].Id == A.Attempt) {
        Calls.erase(Calls.begin() + static_cast<ptrdiff_t>(I));
        return;
      }
    if (At.AtPlugin)
      call({Call::Cancel, A.Attempt});
    return;
  }
  case Action::CompileHere: {
    Attempt &At = attempt(A);
    At.Job = A.Job;
    At.OnThread = true;
    const JobTruth &J = S.Jobs[A.Job];
    E.What = J.Error ? Event::CompileHereFailed : Event::CompiledHere;
    E.Seconds = J.Seconds;
    At.CompiledAt = Now + fromSeconds(J.Seconds);
    At.StopsUntil = Now + fromSeconds(J.Seconds * StoppableShare);
    return tell(At.CompiledAt - Now, E);
  }
  case Action::Won:
    Winner[A.Job] = A.Attempt;
    attempt(A).IsOver = true;
    return;
  case Action::Verify:
    E.What = S.Jobs[A.Job].VerifyFails ? Event::VerifyFailed : Event::Verified;
    E.Attempt = 0;
    return onHelper(E);
  case Action::Deliver:
    E.What =
        S.Jobs[A.Job].DeliverFails ? Event::DeliverFailed : Event::Delivered;
    E.Attempt = 0;
    return onHelper(E);
  case Action::Refute:
    return call({Call::Refute, A.Attempt});
  case Action::QueryLoad:
    return call({Call::Load});
  case Action::DropPlugin: {
    Dropped = true;
    for (size_t I = 1; I < Calls.size();)
      if (Calls[I].What == Call::Submit || Calls[I].What == Call::Load ||
          Calls[I].What == Call::Refute)
        Calls.erase(Calls.begin() + static_cast<ptrdiff_t>(I));
      else
        ++I;
    return;
  }
  case Action::Close:
    return call({Call::Close});
  case Action::StaysHere:
  case Action::EndJob:
  case Action::FailLink:
    return;
  }
}

void Simulation::prepare(const Action &A) {
  Attempt &At = attempt(A);
  At.Job = A.Job;
  At.Number = NumAttempts[A.Job]++;
  At.Avoid = A.Avoid;
  At.OnThread = true;
  const JobTruth &J = S.Jobs[A.Job];
  Event E;
  E.What = Event::Prepared;
  E.Attempt = A.Attempt;
  E.Bytes = A.ForPlugin ? J.Bytes : 0;
  if (J.PrepareFails)
    E.What = Event::PrepareFailed;
  else if (J.IsCached && !A.IsAgain)
    E.What = Event::CacheHit;
  else if (J.NotExpressible && A.ForPlugin)
    E.What = Event::NotExpressible;
  E.Flag = E.What == Event::CacheHit && J.IsOfOthers && A.IsSampled;
  onHelper(E);
}

/// A helper thread does what ends with \p E.
void Simulation::onHelper(Event E) {
  Random R{S.Seed, OfHelpers, E.Job, E.Attempt, E.What};
  double Takes = R.between(0.5, 1.5);
  Time Work = Time(static_cast<int64_t>(double(HelperTime.count()) * Takes));
  if (S.has(Feature::SlowHelpers) && R.chance(0.3))
    Work *= R.of({10, 1000, 10000});
  Time &Idle = *std::min_element(HelperIdle.begin(), HelperIdle.end());
  Idle = std::max(Idle, Now) + Work;
  tell(Idle - Now, E);
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
  RoomToldBefore = TheFarm.numRoomTold();
  const Call C = Calls.front();
  Random R{S.Seed, OfCalls, C.What};
  unsigned When = static_cast<unsigned>(R.in(1, 10)); // its so-many-th call
  Time Hangs = R.of<Time>({1s, 30s, 1h, 24h});
  auto Takes = [&](Feature F, unsigned Number) {
    return S.has(F) && Number == When ? Hangs : CallTime;
  };
  Time Time = CallTime;
  switch (C.What) {
  case Call::Open:
    Time = S.has(Feature::OpenHangs)  ? Hangs
           : S.has(Feature::LateOpen) ? Hangs / 60
                                      : 5ms;
    break;
  case Call::Submit: {
    const Attempt &A = Attempts[C.Id];
    Time = Takes(Feature::SubmitHangs, ++NumSubmits);
    TheAnswer = TheFarm.submit(Now, C.Id, A.Job, A.Number, C.Avoid);
    Attempts[C.Id].AtPlugin = TheAnswer == Farm::Answer::Accepted;
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
  case Call::Close:
    Time = S.has(Feature::CloseHangs) ? Hangs : CallTime;
    break;
  }
  Due D{};
  D.What = Due::CallEnd;
  push(D, Time);
}

void Simulation::endCall() {
  Call C = Calls.front();
  Calls.pop_front();
  CallSince = Never;
  Event E;
  E.Attempt = C.Id;
  switch (C.What) {
  case Call::Open: {
    Random R{S.Seed, OfAnswers};
    E.What = S.has(Feature::OpenFails) ? Event::OpenFailed : Event::Opened;
    E.Flag = R.chance(0.3);
    tell(S.Latency, E);
    break;
  }
  case Call::Submit: {
    E.What = TheAnswer == Farm::Answer::Accepted ? Event::Accepted
             : TheAnswer == Farm::Answer::Busy   ? Event::Busy
                                                 : Event::Failed;
    E.Flag = E.What == Event::Busy && TheFarm.numRoomTold() != RoomToldBefore;
    if (E.What == Event::Failed)
      E.Why = Cause::Refused;
    Random R{S.Seed, OfAnswers, C.Id};
    Time Delay = Time(1000);
    if (S.has(Feature::LateAnswers) && R.chance(0.5))
      Delay = fromSeconds(R.unit());
    tell(Delay, E);
    // It was cancelled while it was submitted.
    if (Attempts[C.Id].IsOver && TheAnswer == Farm::Answer::Accepted)
      call({Call::Cancel, C.Id});
    break;
  }
  case Call::Load:
    if (Dropped || !S.AnswersLoad)
      break;
    E.What = Event::LoadKnown;
    E.TheLoad = TheFarm.load();
    tell(1us, E);
    break;
  case Call::Cancel:
  case Call::Refute:
  case Call::Close:
    break;
  }
  if (!Calls.empty() && CallSince == Never)
    beginCall();
}

/// What the plugin does on its own, a few times a second.
void Simulation::lookAtPlugin() {
  TheFarm.look(Now);
  Random R{S.Seed, OfPlugin};
  bool AtOnce = R.chance(0.2), ByResults = R.chance(0.5);
  double When = R.unit() * R.unit();
  bool GoesOn = R.chance(0.5);
  if (S.has(Feature::GivesUp) && !GaveUp &&
      (AtOnce ||
       (ByResults ? TheFarm.numResults() >=
                        static_cast<size_t>((1 - When) * double(S.Jobs.size()))
                  : Now >= fromSeconds(10 * When)))) {
    GaveUp = true;
    if (!GoesOn)
      TheFarm.stop();
    tell(S.Latency, {Event::PluginFailed});
  }
  if (S.has(Feature::ForbidsFallback) && !ToldForbidden &&
      (AtOnce || Now >= fromSeconds(10 * When))) {
    ToldForbidden = true;
    tell(S.Latency, {Event::FallbackForbidden});
  }
  if (S.has(Feature::OnlyTalks) && !Dropped)
    tell(S.Latency, {Event::RoomChanged});
  // Nothing begins later; but a storm may have to end.
  if (Now > 15s && !(S.has(Feature::BusyStorm) && Now < 10min) &&
      !S.has(Feature::OnlyTalks))
    return;
  Due D{};
  D.What = Due::Look;
  push(D, Now < 15s ? 37ms : 1s);
}

/// An event of an attempt that the plan has nothing to do with any more, or
/// never had.
void Simulation::addStray() {
  Event E;
  E.What = static_cast<Event::Kind>(
      Strays.in(Event::Prepared, Event::CompileHereFailed));
  E.Attempt = Strays.in(0, Attempts.size() + 2);
  E.State = static_cast<PluginState>(Strays.in(0, 3));
  E.Why = Strays.of({Cause::Infrastructure, Cause::Compiler, Cause::Cancelled});
  E.Worker = static_cast<WorkerId>(Strays.in(0, 5));
  E.Bytes = Strays.in(0, 1000000);
  if (E.Attempt < Attempts.size() &&
      (!Attempts[E.Attempt].IsOver || Attempts[E.Attempt].OnThread))
    return;
  // Ids that are still to come are not strays.
  if (E.Attempt >= Attempts.size())
    E.Attempt += 1000000;
  tell(Time(static_cast<int64_t>(Strays.in(0, 1000000))), E);
}

LinkResult dtlto::sim::simulate(const Scenario &S, bool WantsLog) {
  return Simulation(S, WantsLog).run();
}
