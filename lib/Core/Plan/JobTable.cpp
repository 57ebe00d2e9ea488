//===- JobTable.cpp - Jobs, their attempts, and sums over them ------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Plan/JobTable.h"
#include <algorithm>
#include <cassert>

using namespace dtlto::plan;

using Kind = AttemptKind;
using State = AttemptState;

unsigned Job::numLive() const {
  return static_cast<unsigned>(
      std::count_if(Attempts.begin(), Attempts.end(),
                    [](const Attempt *A) { return !A->IsOrphan; }));
}

bool Job::hasLocalAttempt() const {
  return std::any_of(Attempts.begin(), Attempts.end(),
                     [](const Attempt *A) { return !A->isAtPlugin(); });
}

JobTable::JobTable(const std::vector<JobInfo> &Infos)
    : Jobs(Infos.size()), EndWaiting(static_cast<JobId>(Infos.size())) {
  for (size_t J = 0; J != Infos.size(); ++J) {
    Jobs[J].Info = Infos[J];
    Sums.TotalSeconds += Infos[J].Estimate;
  }
  Sums.RemainingSeconds = Sums.TotalSeconds;
}

const Attempt *JobTable::find(AttemptId Id) const {
  auto It = Attempts.find(Id);
  return It == Attempts.end() ? nullptr : &It->second;
}

Attempt &JobTable::entry(const Attempt &A) {
  auto It = Attempts.find(A.Id);
  assert(It != Attempts.end() && &It->second == &A && "a removed attempt");
  return It->second;
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

/// Adds \p A to the sums that depend on its state, or subtracts it.
void JobTable::count(const Attempt &A, bool IsIn) {
  auto Sum = [IsIn](auto &N, auto By) {
    assert((IsIn || N >= By ||
            std::is_floating_point_v<decltype(By)>)&&"less than nothing");
    IsIn ? N += By : N -= By;
  };
  const JobInfo &Info = Jobs[A.Job].Info;
  if (A.isInFlight())
    Sum(Sums.BytesInFlight, A.Bytes);
  if (A.isRunningLocally()) {
    Sum(Sums.LocalBytes, Info.LocalBytes);
    if (A.State != State::Compiling)
      Sum(Sums.NumPluginLocal, size_t(1));
  }
  if (A.IsOrphan)
    return;
  bool IsEarly = A.State == State::Preparing || A.State == State::Ready ||
                 A.State == State::Offered;
  if (IsEarly && A.Kind != Kind::Duplicate)
    Sum(Sums.NumUnoffered, size_t(1));
  if (A.State == State::Preparing && A.Kind == Kind::Local) {
    Sum(Sums.NumPreparingLocal, size_t(1));
    Sum(Sums.PreparingLocalBytes, Info.LocalBytes);
  }
  if (A.IsRedundant) {
    Sum(Sums.NumRedundant, size_t(1));
    Sum(Sums.RedundantSeconds, Info.Estimate);
  }
}

void JobTable::count(Stage S, bool IsIn) {
  size_t *N = S == Stage::Ended  ? &Sums.NumEnded
              : S == Stage::Held ? &Sums.NumHeld
              : S == Stage::Verifying || S == Stage::Delivering
                  ? &Sums.NumBusyThreads
                  : nullptr;
  if (N)
    IsIn ? ++*N : --*N;
}

template <typename FnT> void JobTable::change(const Attempt &A, FnT Fn) {
  Attempt &Entry = entry(A);
  count(Entry, false);
  Fn(Entry);
  [[maybe_unused]] bool IsLocal =
      Entry.State == State::Queued || Entry.State == State::Compiling;
  assert((Entry.State == State::Preparing || IsLocal != Entry.isAtPlugin()) &&
         "an attempt is where its kind can't be");
  assert((!Entry.IsOrphan || Entry.isOnThread()) &&
         "a cancelled attempt is on no thread");
  count(Entry, true);
}

//===----------------------------------------------------------------------===//
// Changes
//===----------------------------------------------------------------------===//

const Attempt &JobTable::add(JobId J, Kind K, State S, Cause Why) {
  Attempt &A = Attempts[++LastId];
  A.Id = LastId;
  A.Job = J;
  A.Kind = K;
  A.State = S;
  A.Why = Why;
  A.IsRedundant = K == Kind::Duplicate || Why == Cause::Straggler;
  InState[size_t(S)].insert(&A);
  count(A, true);
  enter(J, Stage::UnderWay);
  Jobs[J].Tries += K == Kind::First || K == Kind::Retry;
  Jobs[J].Duplicates += K == Kind::Duplicate;
  Jobs[J].Attempts.push_back(&A);
  assert(Jobs[J].numLive() <= 3u + (K == Kind::Found) && "too many attempts");
  return A;
}

void JobTable::move(const Attempt &A, State To) {
  InState[size_t(A.State)].erase(&A);
  change(A, [=](Attempt &A) { A.State = To; });
  InState[size_t(To)].insert(&A);
}

void JobTable::setPrepared(const Attempt &A, uint64_t Bytes) {
  assert(A.State == State::Preparing);
  entry(A).Bytes = Bytes;
  move(A, State::Ready);
}

void JobTable::setKind(const Attempt &A, Kind K, bool IsRedundant) {
  change(A, [=](Attempt &A) {
    A.Kind = K;
    A.IsRedundant = IsRedundant;
  });
}

void JobTable::report(const Attempt &A, PluginState State, bool RunsLocally) {
  change(A, [=](Attempt &A) {
    A.Reported = State;
    A.RunsLocally = RunsLocally;
  });
}

void JobTable::orphan(const Attempt &A) {
  change(A, [](Attempt &A) { A.IsOrphan = true; });
}

void JobTable::countWasted(const Attempt &A) {
  Sums.WastedSeconds += A.IsRedundant ? Jobs[A.Job].Info.Estimate : 0;
}

void JobTable::remove(const Attempt &A) {
  count(entry(A), false);
  InState[size_t(A.State)].erase(&A);
  auto &All = Jobs[A.Job].Attempts;
  All.erase(std::find(All.begin(), All.end(), &A));
  Attempts.erase(A.Id);
}

void JobTable::enter(JobId J, Stage To) {
  Stage &At = Jobs[J].At;
  assert(At != Stage::Ended && "a job goes on after its end");
  if (At == Stage::Waiting && To != Stage::Waiting) {
    assert(J == FirstWaiting || J + 1 == EndWaiting);
    J == FirstWaiting ? ++FirstWaiting : --EndWaiting;
  }
  count(At, false);
  At = To;
  count(At, true);
}

void JobTable::markNotRemaining(JobId J) {
  if (Jobs[J].IsRemaining)
    Sums.RemainingSeconds -= Jobs[J].Info.Estimate;
  Jobs[J].IsRemaining = false;
}
