//===- CostObserverTest.cpp - Steps update the cost history ---------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Run/Observers.h"
#include "Steps.h"
#include "TempFolder.h"
#include "gtest/gtest.h"

using namespace dtlto;
using namespace dtlto::test;
using namespace std::chrono_literals;

using PlanEvent = plan::Event;

namespace {

class CostObserverTest : public testing::Test {
protected:
  /// Each attempt has the number of its job.
  void step(plan::Time Now, PlanEvent E) {
    Step S;
    S.Now = Now;
    S.E = &E;
    S.Job = static_cast<plan::JobId>(E.Attempt);
    Observer.onStep(S);
  }
  void state(plan::Time Now, plan::AttemptId A, plan::PluginState State) {
    PlanEvent E{PlanEvent::StateChanged};
    E.Attempt = A;
    E.State = State;
    step(Now, E);
  }
  void ends(plan::Time Now, plan::AttemptId A, PlanEvent::Kind How,
            bool RanLocally = false, double Seconds = 0) {
    PlanEvent E{How};
    E.Attempt = A;
    E.RanLocally = RanLocally;
    E.Seconds = Seconds;
    step(Now, E);
  }

  /// Returns the times that the next link finds, if any.
  std::vector<std::optional<double>> learnt() {
    EXPECT_EQ(Costs->save(), "");
    auto Next = CostHistory::load(Folder.path("costs"));
    std::vector<std::optional<double>> Times;
    for (plan::JobId J = 0; J != Run.numJobs(); ++J) {
      const JobFacts &F = Run.facts(J);
      CostEstimate E = Next->estimate(F.CostKey, F.Size);
      Times.push_back(E.IsMeasured ? std::optional<double>(E.Seconds)
                                   : std::nullopt);
    }
    return Times;
  }

  TempFolder Folder;
  FakeLink Run{4};
  std::unique_ptr<CostHistory> Costs = CostHistory::load(Folder.path("costs"));
  CostObserver Observer{Run, *Costs};
};

using plan::PluginState;

TEST_F(CostObserverTest, AtThePlugins) {
  // Waiting, sending and receiving don't count.
  state(1s, 0, PluginState::Queued);
  state(2s, 0, PluginState::Sending);
  state(5s, 0, PluginState::Running);
  state(6s, 0, PluginState::Running); // another worker: no new begin
  state(9s, 0, PluginState::Receiving);
  ends(20s, 0, PlanEvent::Succeeded);
  // No state `receiving`.
  state(3s, 1, PluginState::Running);
  ends(5s, 1, PlanEvent::Succeeded);
  // No state `running` either.
  state(3s, 2, PluginState::Sending);
  ends(5s, 2, PlanEvent::Succeeded);
  // A failure.
  state(3s, 3, PluginState::Running);
  ends(5s, 3, PlanEvent::Failed);
  auto Times = learnt();
  ASSERT_TRUE(Times[0] && Times[1]);
  EXPECT_NEAR(*Times[0], 4, 0.01);
  EXPECT_NEAR(*Times[1], 2, 0.01);
  EXPECT_FALSE(Times[2]);
  EXPECT_FALSE(Times[3]);
}

TEST_F(CostObserverTest, Here) {
  // The time of the thread counts, not when it is reported.
  ends(50s, 0, PlanEvent::CompiledLocally, false, 3);
  ends(60s, 1, PlanEvent::Succeeded, /*RanLocally=*/true, 1.5);
  ends(60s, 2, PlanEvent::LocalCompileFailed, false, 1);
  auto Times = learnt();
  ASSERT_TRUE(Times[0] && Times[1]);
  EXPECT_NEAR(*Times[0], 3, 0.01);
  EXPECT_NEAR(*Times[1], 1.5, 0.01);
  EXPECT_FALSE(Times[2]);
}

} // namespace
