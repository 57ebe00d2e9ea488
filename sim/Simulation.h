//===- Simulation.h - The state of a simulated link -------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The common part of Link.cpp, which makes the steps of a link, and Driver.cpp,
// which carries out the plan's actions.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_SIM_SIMULATION_H
#define DTLTO_SIM_SIMULATION_H

#include "Farm.h"
#include "Link.h"
#include "Rules.h"
#include <algorithm>
#include <queue>

namespace dtlto::sim {

/// The purposes of random numbers.
enum SimulationStream : uint64_t {
  OfDriver = 200,
  OfHelpers,
  OfCalls,
  OfAnswers,
  OfPlugin,
  OfStrays,
  OfTokens,
  OfConfirmed
};

class Simulation {
public:
  Simulation(const Scenario &TheScenario, bool WantsLog);
  LinkResult run();

private:
  /// An event at a time. Events at the same time happen in the order in which
  /// they were requested.
  struct Due {
    enum Kind {
      OfPlan,  // E
      OfFarm,  // Stage, Id
      CallEnd, // of a call on the session's thread
      Poll     // the plugin's actions of its own
    } What;
    plan::Event E = {};
    Farm::Stage Stage = {};
    plan::AttemptId Id = 0;
    plan::Time At = {};
    uint64_t Order = 0;
    bool operator<(const Due &O) const { // the earliest is on top
      return At != O.At ? At > O.At : Order > O.Order;
    }
  };
  /// A call into the plugin. Only one runs at a time.
  struct Call {
    enum Kind { Open, Submit, Load, Cancel, Refute, Close, Complete } What;
    plan::AttemptId Id = 0;
    plan::WorkerId Avoid = 0;
  };
  struct Attempt {
    plan::JobId Job = 0;
    unsigned Number = 0; // earlier attempts of this job
    plan::WorkerId Avoid = 0;
    bool IsOnThread = false;
    plan::Time CompiledAt = {}; // unless it is stopped before StopsUntil
    plan::Time StopsUntil = {};
    bool IsOver = false; // the plan has finished with it
    bool IsAtPlugin = false;
  };

  void push(Due D, plan::Time Delay) {
    D.At = Now + std::max(Delay, plan::Time(1));
    D.Order = ++LastOrder;
    Queue.push(D);
  }
  void post(plan::Time Delay, const plan::Event &E) {
    push({Due::OfPlan, E}, Delay);
  }
  Due pop() {
    Due Next = Queue.top();
    Queue.pop();
    Now = Next.At;
    return Next;
  }

  void handle(const Due &Next);
  void drainEvents();
  void step(const plan::Event *E);
  void confirm(const plan::Event &E);
  void act(const plan::Action &A);
  void prepare(const plan::Action &A);
  void cancel(const plan::Action &A);
  void compileLocally(const plan::Action &A);
  void drop();
  void onHelper(plan::Event E);
  void call(Call C);
  void beginCall();
  void endCall();
  void pollPlugin();
  void addStray();
  Attempt &attempt(const plan::Action &A);
  void fail(std::string Why) {
    if (Result.Violation.empty())
      Result.Violation = std::move(Why);
  }
  plan::Time timeLimit() const;

  const Scenario &TheScenario;
  const bool WantsLog;
  plan::Plan ThePlan;
  Rules TheRules;
  Farm TheFarm;
  plan::Time Now = {};
  std::priority_queue<Due> Queue;
  uint64_t LastOrder = 0;
  std::vector<Attempt> Attempts = std::vector<Attempt>(1);
  std::vector<unsigned> NumAttempts;  // of each job
  std::vector<plan::Time> HelperIdle; // since or until when each is idle

  std::deque<Call> Calls; // the first one is running
  plan::Time CallSince = plan::Never;
  size_t RoomReportsBefore = 0; // before the call
  Farm::Answer TheAnswer = {};  // the running call's
  unsigned NumSubmits = 0, NumLoads = 0, NumTokens = 0;
  bool HasGivenUp = false;
  uint64_t NumSteps = 0;
  // Attempts whose objects were refused.
  std::vector<std::pair<plan::JobId, plan::AttemptId>> RefusedAttempts;
  Random Strays;
  LinkResult Result;
};

} // namespace dtlto::sim

#endif // DTLTO_SIM_SIMULATION_H
