//===- Link.cpp - Simulates one link --------------------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bound.h"
#include "LogReader.h"
#include "Simulation.h"

using namespace dtlto::sim;
using namespace dtlto::plan;
using namespace std::chrono_literals;

Simulation::Simulation(const Scenario &S, bool WantsLog)
    : S(S), WantsLog(WantsLog), P(S.Infos, S.O), TheRules(S.Infos, S.O),
      TheFarm(S, {[this](Time Delay, const Event &E) { tell(Delay, E); },
                  [this](Time Delay, Farm::Stage Stage, AttemptId Id) {
                    push({Due::OfFarm, {}, Stage, Id}, Delay);
                  }}),
      NumAttempts(S.Jobs.size()),
      HelperIdle(numHelpers(S.O)), Strays{S.Seed, OfStrays} {
  Result.NumJobs = S.Jobs.size();
}

LinkResult Simulation::run() {
  if (WantsLog)
    Result.Log = printHeader(S.O, S.Infos);
  Time Limit = timeLimit();
  uint64_t MaxSteps = 100000 + 2000 * S.Jobs.size();
  push({Due::Look}, 1us);
  TheFarm.begin();
  step(nullptr);
  while (Result.Violation.empty() && !P.isDone()) {
    Time Wake = P.wakeUp();
    if (Queue.empty() && Wake == Never) {
      fail("nothing is under way, and jobs are left");
    } else if (Queue.empty() || Wake < Queue.top().At) {
      Now = Wake;
      Event Tick{Event::Tick};
      Tick.CallSince = CallSince;
      step(&Tick);
    } else {
      handle(pop());
    }
    if (Now > Limit || NumSteps > MaxSteps)
      fail("the link doesn't end");
  }
  Result.End = Now;
  if (Result.Violation.empty())
    fail(TheRules.atEnd());
  Result.Busy = TheFarm.leftOver(Now);
  hearOut();
  if (std::optional<Bound> Most = boundOf(S))
    if (Result.End > fromSeconds(Most->Seconds))
      fail(Most->Rule);
  Result.NumSteps = NumSteps;
  return std::move(Result);
}

void Simulation::handle(const Due &Next) {
  switch (Next.What) {
  case Due::OfPlan:
    // A compile that was stopped doesn't end again.
    if ((Next.E.What == Event::CompiledHere ||
         Next.E.What == Event::CompileHereFailed) &&
        Next.E.Attempt < Attempts.size() &&
        Attempts[Next.E.Attempt].CompiledAt != Time() &&
        Attempts[Next.E.Attempt].CompiledAt < Now)
      return;
    confirm(Next.E);
    return step(&Next.E);
  case Due::OfFarm:
    return TheFarm.advance(Now, Next.Stage, Next.Id);
  case Due::CallEnd:
    return endCall();
  case Due::Look:
    return lookAtPlugin();
  }
}

/// Delivers the plugin's last events, which only change the verdict on it.
void Simulation::hearOut() {
  for (int I = 0; I != 20 && Result.Violation.empty() && !Queue.empty(); ++I) {
    if (Due Next = pop(); Next.What == Due::OfPlan)
      for (const Action &A : P.handle(Now, Next.E))
        if (A.What != Action::DropPlugin && A.What != Action::FailLink &&
            A.What != Action::ReturnToken)
          fail("an action after the end: " + print(A).substr(2));
  }
}

void Simulation::step(const Event *E) {
  ++NumSteps;
  if (E) {
    Result.NumFailed += E->What == Event::Failed;
    if (E->What == Event::Failed && E->Why == Cause::BadResult &&
        P.isLive(E->Attempt))
      WereRefused.emplace_back(Attempts[E->Attempt].Job, E->Attempt);
    bool IsOfThread =
        (E->What >= Event::Prepared && E->What <= Event::NotExpressible) ||
        E->What == Event::CompiledHere || E->What == Event::CompileHereFailed;
    if (IsOfThread && E->Attempt < Attempts.size())
      Attempts[E->Attempt].OnThread = false;
  }
  const std::vector<Action> Actions = E ? P.handle(Now, *E) : P.start(Now);
  if (WantsLog)
    Result.Log += printStep(Now, E, Actions);
  for (const Action &A : Actions) {
    for (uint64_t V :
         {uint64_t(Now.count()), uint64_t(A.What), uint64_t(A.Job), A.Attempt,
          uint64_t(A.AKind), uint64_t(A.Why), uint64_t(A.Avoid),
          uint64_t(A.IsProven * 16 + A.IsSampled * 8 + A.ForPlugin * 4 +
                   A.IsAgain * 2 + A.Insist)})
      Result.Digest = mix(Result.Digest ^ V);
    // The rules report an impossible action.
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

/// Before the good object \p E: reports that some refused objects of the job
/// have the same bytes.
void Simulation::confirm(const Event &E) {
  if ((E.What != Event::Succeeded && E.What != Event::CompiledHere) ||
      !P.isLive(E.Attempt))
    return;
  Event Same{Event::Confirmed};
  Same.Job = Attempts[E.Attempt].Job;
  for (auto [Job, Refused] : WereRefused)
    if (Random R{S.Seed, OfConfirmed, Refused};
        Job == Same.Job && R.chance(0.5)) {
      Same.Attempt = Refused;
      step(&Same);
    }
}

/// The limit of simulated time: all jobs one after the other, in the worst
/// case.
Time Simulation::timeLimit() const {
  Time Limit = 10min + S.O.CallTimeout;
  for (const JobTruth &J : S.Jobs)
    Limit += fromSeconds(20 * J.Seconds) +
             (S.O.MaxTries + 2) *
                 ((S.has(Feature::OnlyTalks) ? 5 : 1) * S.O.JobTimeout +
                  2 * S.O.DeadlineStep + S.O.BusyRetry + 5s);
  return Limit;
}

/// Adds an event of an attempt that has ended for the plan, or never existed.
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
  // Ids of future attempts are not strays.
  if (E.Attempt >= Attempts.size())
    E.Attempt += 1000000;
  tell(Time(static_cast<int64_t>(Strays.in(0, 1000000))), E);
}

LinkResult dtlto::sim::simulate(const Scenario &S, bool WantsLog) {
  return Simulation(S, WantsLog).run();
}
