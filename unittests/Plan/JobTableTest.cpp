//===- JobTableTest.cpp - Jobs, attempts, and sums over them --------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Plan/JobTable.h"
#include <gtest/gtest.h>
#include <random>
#include <string>

using namespace dtlto::plan;

using Kind = AttemptKind;
using State = AttemptState;

/// Recomputes the sums. Estimates in this test are whole numbers, so that the
/// order of additions doesn't matter.
static std::string recount(const JobTable &T) {
  JobSums S;
  for (const Job &J : T) {
    S.NumEnded += J.At == Stage::Ended;
    S.NumHeld += J.At == Stage::Held;
    S.NumBusyThreads += J.At == Stage::Verifying || J.At == Stage::Delivering;
    S.TotalSeconds += J.Info.Estimate;
    S.RemainingSeconds += J.IsRemaining ? J.Info.Estimate : 0;
    for (const Attempt *A : J.Attempts) {
      EXPECT_TRUE(T.in(A->State).count(A) && T.find(A->Id) == A);
      S.BytesInFlight += A->isInFlight() ? A->Bytes : 0;
      S.LocalBytes += A->isRunningLocally() ? J.Info.LocalBytes : 0;
      S.NumPluginLocal += A->isRunningLocally() && A->isAtPlugin();
      if (A->IsOrphan)
        continue;
      bool IsPreparingHere =
          A->Kind == Kind::Local && A->State == State::Preparing;
      S.NumPreparingLocal += IsPreparingHere;
      S.PreparingLocalBytes += IsPreparingHere ? J.Info.LocalBytes : 0;
      S.NumUnoffered +=
          A->Kind != Kind::Duplicate &&
          (A->State == State::Preparing || A->State == State::Ready ||
           A->State == State::Offered);
      S.NumRedundant += A->IsRedundant;
      S.RedundantSeconds += A->IsRedundant ? J.Info.Estimate : 0;
    }
  }
  auto Text = [](const JobSums &S) {
    std::string Out;
    for (double V :
         {double(S.NumEnded), double(S.NumHeld), double(S.NumBusyThreads),
          S.TotalSeconds, S.RemainingSeconds, double(S.NumUnoffered),
          double(S.NumPreparingLocal), double(S.PreparingLocalBytes),
          double(S.NumPluginLocal), double(S.LocalBytes),
          double(S.BytesInFlight), double(S.NumRedundant), S.RedundantSeconds})
      Out += std::to_string(V) + " ";
    return Out;
  };
  EXPECT_EQ(Text(T.sums()), Text(S));
  return Text(S);
}

TEST(JobTableTest, SumsAreRightAfterAnyChange) {
  std::mt19937 Random(1);
  std::vector<JobInfo> Infos;
  for (unsigned I = 0; I != 12; ++I)
    Infos.push_back({double(20 - I), false, 100 + I});
  JobTable T(Infos);
  for (unsigned Step = 0; Step != 20000 && !T.hasEnded(); ++Step) {
    JobId J = Random() % T.size();
    const Job &TheJob = T[J];
    if (TheJob.At == Stage::Waiting && J != T.firstWaiting() &&
        J != T.lastWaiting())
      continue;
    const Attempt *A = TheJob.Attempts.empty() ? nullptr : TheJob.Attempts[0];
    switch (Random() % 9) {
    case 0:
      if (TheJob.At <= Stage::UnderWay && TheJob.numLive() < 2)
        T.add(J, A ? Kind::Duplicate : Kind::First, State::Preparing,
              Cause::None);
      break;
    case 1:
      if (TheJob.At <= Stage::UnderWay && TheJob.numLive() < 2)
        T.add(J, Kind::Local, Random() % 2 ? State::Preparing : State::Queued,
              Cause::Straggler);
      break;
    case 2:
      if (A && A->isAtPlugin() && A->State == State::Preparing && !A->IsOrphan)
        T.setPrepared(*A, 1000 + J);
      break;
    case 3:
      if (A && A->isAtPlugin() && !A->isOnThread())
        T.move(*A, A->State == State::Ready     ? State::Offered
                   : A->State == State::Offered ? State::Accepted
                                                : State::Ready);
      else if (A && !A->isAtPlugin() && !A->IsOrphan)
        T.move(*A, State::Compiling);
      break;
    case 4:
      if (A && A->isInFlight())
        T.report(*A, PluginState(Random() % 4), Random() % 2);
      break;
    case 5:
      if (A && A->IsRedundant)
        T.setKind(*A, A->isAtPlugin() ? Kind::Retry : Kind::Verify, false);
      break;
    case 6:
      if (A && A->isOnThread())
        T.orphan(*A);
      break;
    case 7:
      if (A)
        T.remove(*A);
      break;
    case 8:
      if (Random() % 8 == 0)
        T.markNotRemaining(J);
      if (!A && TheJob.At != Stage::Ended && Random() % 3 == 0)
        T.enter(J, Stage(unsigned(TheJob.At) + 1));
    }
    recount(T);
    if (testing::Test::HasFailure())
      return;
  }
  EXPECT_TRUE(T.hasEnded());
}

TEST(JobTableTest, JobsLeaveBothEndsOfTheOrder) {
  JobTable T(std::vector<JobInfo>(3));
  T.add(0, Kind::First, State::Preparing, Cause::None);
  T.add(2, Kind::Local, State::Preparing, Cause::PluginFull);
  EXPECT_EQ(T.firstWaiting(), 1u);
  EXPECT_EQ(T.lastWaiting(), 1u);
  T.enter(1, Stage::Ended);
  EXPECT_FALSE(T.hasWaiting());
}
