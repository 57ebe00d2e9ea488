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

Simulation::Simulation(const Scenario &TheScenario, bool WantsLog)
    : TheScenario(TheScenario), WantsLog(WantsLog),
      ThePlan(TheScenario.Infos, TheScenario.Opts),
      TheRules(TheScenario.Infos, TheScenario.Opts),
      TheFarm(TheScenario,
              {[this](Time Delay, const Event &E) { post(Delay, E); },
               [this](Time Delay, Farm::Stage Stage, AttemptId Id) {
                 push({Due::OfFarm, {}, Stage, Id}, Delay);
               }}),
      NumAttempts(TheScenario.Jobs.size()),
      HelperIdle(numHelpers(TheScenario.Opts)), Strays{TheScenario.Seed,
                                                       OfStrays} {
  Result.NumJobs = TheScenario.Jobs.size();
}

LinkResult Simulation::run() {
  if (WantsLog)
    Result.Log = printHeader(TheScenario.Opts, TheScenario.Infos);
  Time Limit = timeLimit();
  uint64_t MaxSteps = 100000 + 2000 * TheScenario.Jobs.size();
  push({Due::Poll}, 1us);
  TheFarm.begin();
  for (JobId J = 0; J != TheScenario.Jobs.size(); ++J)
    if (Time At = TheScenario.Jobs[J].FoundAt; At != Never)
      post(At, {Event::Found, J});
  step(nullptr);
  while (Result.Violation.empty() && !ThePlan.isDone()) {
    Time Wake = ThePlan.wakeUp();
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
    fail(TheRules.checkEnd());
  Result.Busy = TheFarm.busySlots(Now);
  drainEvents();
  if (std::optional<Bound> Most = boundOf(TheScenario))
    if (Result.End > fromSeconds(Most->Seconds))
      fail(Most->Rule);
  Result.NumSteps = NumSteps;
  return std::move(Result);
}

void Simulation::handle(const Due &Next) {
  switch (Next.What) {
  case Due::OfPlan:
    // A compile that was stopped doesn't end again.
    if ((Next.E.What == Event::CompiledLocally ||
         Next.E.What == Event::LocalCompileFailed) &&
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
  case Due::Poll:
    return pollPlugin();
  }
}

/// Delivers the plugin's last events, which only change the verdict on it.
void Simulation::drainEvents() {
  for (int I = 0; I != 20 && Result.Violation.empty() && !Queue.empty(); ++I) {
    if (Due Next = pop(); Next.What == Due::OfPlan)
      for (const Action &A : ThePlan.handle(Now, Next.E))
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
        ThePlan.isLive(E->Attempt))
      RefusedAttempts.emplace_back(Attempts[E->Attempt].Job, E->Attempt);
    bool IsOfThread =
        (E->What >= Event::Prepared && E->What <= Event::NotExpressible) ||
        E->What == Event::CompiledLocally ||
        E->What == Event::LocalCompileFailed;
    if (IsOfThread && E->Attempt < Attempts.size())
      Attempts[E->Attempt].IsOnThread = false;
  }
  const std::vector<Action> Actions =
      E ? ThePlan.handle(Now, *E) : ThePlan.start(Now);
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
    if (A.Job < TheScenario.Jobs.size())
      act(A);
  }
  fail(TheRules.onStep(Now, E, Actions));
  fail(ThePlan.check());
  if (ThePlan.wakeUp() <= Now)
    fail("the time to wake up is in the past");
  if (TheScenario.has(Feature::StrayEvents) && Strays.chance(0.1))
    addStray();
}

/// Before the good object \p E: reports that some refused objects of the job
/// have the same bytes.
void Simulation::confirm(const Event &E) {
  if ((E.What != Event::Succeeded && E.What != Event::CompiledLocally) ||
      !ThePlan.isLive(E.Attempt))
    return;
  Event Same{Event::Confirmed};
  Same.Job = Attempts[E.Attempt].Job;
  for (auto [Job, Refused] : RefusedAttempts)
    if (Random R{TheScenario.Seed, OfConfirmed, Refused};
        Job == Same.Job && R.chance(0.5)) {
      Same.Attempt = Refused;
      step(&Same);
    }
}

/// The limit of simulated time: all jobs one after the other, in the worst
/// case.
Time Simulation::timeLimit() const {
  Time Limit = 10min + TheScenario.Opts.CallTimeout;
  for (const JobTruth &J : TheScenario.Jobs)
    Limit += fromSeconds(20 * J.Seconds) +
             (TheScenario.Opts.MaxTries + 2) *
                 ((TheScenario.has(Feature::OnlyTalks) ? 5 : 1) *
                      TheScenario.Opts.JobTimeout +
                  2 * TheScenario.Opts.DeadlineStep +
                  TheScenario.Opts.BusyRetry + 5s);
  return Limit;
}

/// Adds an event of an attempt that has ended for the plan, or never existed.
void Simulation::addStray() {
  Event E;
  E.What = static_cast<Event::Kind>(
      Strays.in(Event::Prepared, Event::LocalCompileFailed));
  E.Attempt = Strays.in(0, Attempts.size() + 2);
  E.State = static_cast<PluginState>(Strays.in(0, 3));
  E.Why =
      Strays.pick({Cause::Infrastructure, Cause::Compiler, Cause::Cancelled});
  E.Worker = static_cast<WorkerId>(Strays.in(0, 5));
  E.Bytes = Strays.in(0, 1000000);
  if (E.Attempt < Attempts.size() &&
      (!Attempts[E.Attempt].IsOver || Attempts[E.Attempt].IsOnThread))
    return;
  // Ids of future attempts are not strays.
  if (E.Attempt >= Attempts.size())
    E.Attempt += 1000000;
  post(Time(static_cast<int64_t>(Strays.in(0, 1000000))), E);
}

LinkResult dtlto::sim::simulate(const Scenario &TheScenario, bool WantsLog) {
  return Simulation(TheScenario, WantsLog).run();
}
