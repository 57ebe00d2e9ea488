//===- Check.cpp - What must hold after each step -------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For the simulator and for tests: looks at everything, so it takes too long
// for each step of a real link, but not for the end of one that hangs.
//
//===----------------------------------------------------------------------===//

#include "Plan/Plan.h"
#include <algorithm>
#include <cmath>

using namespace dtlto::plan;

using State = AttemptState;

/// Sums of estimates are taken in another order here.
static bool isClose(double A, double B) {
  return std::abs(A - B) <= 1e-6 * std::max({1.0, std::abs(A), std::abs(B)});
}

std::string Plan::check() const {
  std::string Wrong;
  auto Expect = [&Wrong](bool Holds, const char *Rule,
                         std::optional<JobId> J = std::nullopt) {
    if (!Holds && Wrong.empty())
      Wrong = (J ? "job " + std::to_string(*J) + ": " : "") + Rule;
  };

  size_t NumAttempts = 0, Ended = 0, Unoffered = 0, PreparingHere = 0,
         Twice = 0, BusyThreads = 0, Held = 0;
  uint64_t Bytes = 0, BytesRunning = 0, BytesPrepared = 0;
  size_t PluginHere = 0;
  double Left = 0, Doubled = 0;
  bool EndsHere = false; // a compile of a job that has its object
  for (JobId I = 0; I != Jobs.size(); ++I) {
    const Job &J = Jobs[I];
    unsigned AtPlugin = 0, Here = 0;
    for (const Attempt &A : J.Attempts) {
      ++NumAttempts;
      Expect(A.Job == I && in(A.State).count({I, A.Id}) && JobOf.count(A.Id),
             "an attempt is not where it is looked for", I);
      bool IsInFlight = A.State == State::Offered || A.State == State::Accepted;
      Bytes += IsInFlight ? A.Bytes : 0;
      Expect(isAtPlugin(A)
                 ? A.State != State::Queued && A.State != State::Compiling
                 : A.State != State::Ready && !IsInFlight,
             "an attempt is where its kind can't be", I);
      Expect(!A.IsOrphan || isOnThread(A),
             "a cancelled attempt is on no thread", I);
      BytesRunning += isRunningHere(A) ? J.Info.BytesHere : 0;
      PluginHere += isRunningHere(A) && A.State != State::Compiling;
      if (A.IsOrphan)
        continue;
      if (A.Kind == AttemptKind::Here && A.State == State::Preparing)
        BytesPrepared += J.Info.BytesHere;
      ++(isAtPlugin(A) ? AtPlugin : Here);
      Unoffered += A.Kind != AttemptKind::Duplicate &&
                   (A.State == State::Preparing || A.State == State::Ready ||
                    A.State == State::Offered);
      PreparingHere +=
          A.Kind == AttemptKind::Here && A.State == State::Preparing;
      Twice += A.IsTwice;
      Doubled += A.IsTwice ? J.Info.Estimate : 0;
    }
    Left += J.IsLeft ? J.Info.Estimate : 0;
    Ended += J.At == Stage::Ended;
    BusyThreads += J.At == Stage::Verifying || J.At == Stage::Delivering;
    Held += J.At == Stage::Held;
    EndsHere |= J.At == Stage::Held && !J.IsProven && !J.Attempts.empty();
    bool IsWaiting = I >= NextWaiting && I < EndWaiting;
    Expect((J.At == Stage::Waiting) == IsWaiting, "waits, but not for its turn",
           I);
    Expect((J.At == Stage::UnderWay) == (AtPlugin + Here != 0),
           "nobody works on it, or although it has its object", I);
    Expect(AtPlugin <= 2 && Here <= 1, "has too many attempts", I);
    Expect(J.Tries <= O.MaxTries && J.Duplicates <= O.MaxTries,
           "was tried too often", I);
    Expect(!J.Info.HasSideFiles || AtPlugin == 0 || Here == 0,
           "two attempts write its side files", I);
  }
  size_t NumInSets = 0;
  for (const KeySet &S : InState)
    NumInSets += S.size();
  Expect(NumAttempts == NumInSets && NumAttempts == JobOf.size(),
         "an attempt is in two states, or lost");
  Expect(Ended == NumEnded, "jobs that have ended are counted wrong");
  Expect(Unoffered == NumUnoffered, "jobs not given out are counted wrong");
  Expect(PreparingHere == NumPreparingHere && BusyThreads == NumBusyThreads,
         "threads are counted wrong");
  Expect(Held == NumHeld &&
             (Held == 0 || Held + Ended < Jobs.size() ||
              (O.VerifyPercent != 0 && !HasCompared && EndsHere)),
         "objects wait though all that are to be compared were");
  Expect(Twice == NumTwice && isClose(Doubled, SecondsTwice),
         "duplicates are counted wrong");
  Expect(isClose(Left, SecondsLeft), "what is left is counted wrong");
  Expect(Bytes == BytesInFlight && BytesRunning == BytesHere &&
             BytesPrepared == BytesPreparingHere && PluginHere == NumPluginHere,
         "memory is counted wrong");

  Expect(Bytes <= O.MaxBytesInFlight || numAtPlugin() <= 1,
         "more memory is in flight than allowed");
  unsigned Limit = O.LocalJobs ? std::max(1u, *O.LocalJobs) : O.Cores;
  Expect(in(State::Compiling).size() <= Limit,
         "more jobs run here than allowed");
  Expect(in(State::Offered).size() <= O.MaxOffers, "too many offers");
  Expect(NumTwice <= 1 ||
             SecondsTwice <= SecondsInAll * O.DuplicatePercent / 100 + 1e-6,
         "more is done twice than allowed");

  if (PluginGone)
    Expect(in(State::Ready).empty() && numAtPlugin() == 0,
           "a plugin that was dropped has jobs");
  bool HasThreads = !in(State::Preparing).empty() ||
                    !in(State::Compiling).empty() || NumBusyThreads != 0;
  if (!in(State::Queued).empty() && in(State::Compiling).size() < Limit) {
    JobId Next = in(State::Queued).begin()->first;
    size_t NumHere = in(State::Compiling).size() + (PluginHere != 0);
    bool HasMemory = NumHere == 0 ||
                     BytesRunning + Jobs[Next].Info.BytesHere <= O.MaxBytesHere;
    bool HasToken = !O.NeedsTokens || Tokens >= NumHere;
    bool IsNext = keepsOrderHere(*find(in(State::Queued).begin()->second));
    Expect(!IsNext || !HasMemory || (!HasToken && TokenAsked),
           "a job waits for a thread, and one is idle", Next);
  }
  Expect(!O.NeedsTokens || in(State::Compiling).size() <= Tokens + 1,
         "a job runs here without a token");
  Expect(wakeUp() > Now, "the next look is in the past");
  Expect(NumEnded == Jobs.size() || HasThreads || numAtPlugin() != 0 ||
             (OpenAsked && !IsOpen && !PluginGone) || wakeUp() != Never,
         "nothing is under way, and jobs are left");
  return Wrong;
}
