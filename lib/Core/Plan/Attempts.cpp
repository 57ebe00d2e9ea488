//===- Attempts.cpp - The attempts of jobs, and sums over them ------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Plan/Plan.h"
#include <algorithm>

using namespace dtlto::plan;

using Kind = AttemptKind;
using State = AttemptState;

Plan::Attempt *Plan::find(AttemptId Id) {
  auto It = JobOf.find(Id);
  if (It == JobOf.end())
    return nullptr;
  for (Attempt &A : Jobs[It->second].Attempts)
    if (A.Id == Id)
      return &A;
  return nullptr;
}

bool Plan::isLive(AttemptId Id) const {
  const Attempt *A = find(Id);
  return A && !A->IsOrphan;
}

std::vector<AttemptId> Plan::accepted() const {
  std::vector<AttemptId> Ids;
  for (const Key &K : in(State::Accepted))
    Ids.push_back(K.second);
  return Ids;
}

/// Keeps the sums that depend on where an attempt is.
void Plan::count(const Attempt &A, bool IsIn) {
  auto Sum = [IsIn](auto &N, auto By) { IsIn ? N += By : N -= By; };
  if (A.State == State::Offered || A.State == State::Accepted)
    Sum(BytesInFlight, A.Bytes);
  if (isRunningHere(A)) {
    Sum(BytesHere, Jobs[A.Job].Info.BytesHere);
    if (A.State != State::Compiling)
      Sum(NumPluginHere, 1u);
  }
  if (A.IsOrphan)
    return;
  bool IsEarly = A.State == State::Preparing || A.State == State::Ready ||
                 A.State == State::Offered;
  if (IsEarly && A.Kind != Kind::Duplicate)
    Sum(NumUnoffered, 1u);
  if (A.State == State::Preparing && A.Kind == Kind::Here) {
    Sum(NumPreparingHere, 1u);
    Sum(BytesPreparingHere, Jobs[A.Job].Info.BytesHere);
  }
  if (A.IsTwice) {
    Sum(NumTwice, 1u);
    Sum(SecondsTwice, Jobs[A.Job].Info.Estimate);
  }
}

void Plan::setKind(Attempt &A, Kind K, bool IsTwice) {
  count(A, false);
  A.Kind = K;
  A.IsTwice = IsTwice;
  count(A, true);
}

Plan::Attempt &Plan::add(JobId J, Kind K, State S, Cause Why) {
  Attempt A;
  A.Id = ++LastId;
  A.Job = J;
  A.Kind = K;
  A.State = S;
  A.Why = Why;
  A.IsTwice = K == Kind::Duplicate || Why == Cause::Straggler;
  A.LastSign = Now;
  JobOf[A.Id] = J;
  in(S).insert({J, A.Id});
  count(A, true);
  Jobs[J].At = Stage::UnderWay;
  Jobs[J].Tries += K == Kind::First || K == Kind::Retry;
  Jobs[J].Duplicates += K == Kind::Duplicate;
  Jobs[J].Attempts.push_back(A);
  return Jobs[J].Attempts.back();
}

void Plan::move(Attempt &A, State To) {
  count(A, false);
  in(A.State).erase({A.Job, A.Id});
  A.State = To;
  in(To).insert({A.Job, A.Id});
  count(A, true);
}

void Plan::remove(AttemptId Id) {
  Attempt *A = find(Id);
  count(*A, false);
  // Others of the build may have the next one sooner.
  if (A->State == State::Compiling && Tokens != 0) {
    --Tokens;
    act(Action::ReturnToken);
  }
  in(A->State).erase({A->Job, Id});
  std::vector<Attempt> &All = Jobs[A->Job].Attempts;
  All.erase(All.begin() + (A - All.data()));
  JobOf.erase(Id);
}

/// Nobody needs the attempt any more. One that a thread works on stays until
/// the thread comes back.
void Plan::cancel(AttemptId Id, Cause Why) {
  Attempt *A = find(Id);
  act(Action::Cancel, A->Job, Id, Why);
  if (!isOnThread(*A))
    return remove(Id);
  count(*A, false);
  A->IsOrphan = true;
  count(*A, true);
}

void Plan::cancelAll(JobId J, Cause Why) {
  std::vector<AttemptId> Ids;
  for (const Attempt &A : Jobs[J].Attempts)
    if (!A.IsOrphan)
      Ids.push_back(A.Id);
  for (AttemptId Id : Ids)
    cancel(Id, Why);
}

unsigned Plan::numLive(const Job &J) const {
  return static_cast<unsigned>(
      std::count_if(J.Attempts.begin(), J.Attempts.end(),
                    [](const Attempt &A) { return !A.IsOrphan; }));
}

/// Whether \p J is compiled here, or is going to be.
bool Plan::hasHere(const Job &J) const {
  return std::any_of(J.Attempts.begin(), J.Attempts.end(),
                     [](const Attempt &A) { return !isAtPlugin(A); });
}
