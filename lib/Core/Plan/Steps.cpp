//===- Steps.cpp - The steps of a job -------------------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From its preparation to its end, at the plugin's or here, and what a deadline
// that was missed does to it.
//
//===----------------------------------------------------------------------===//

#include "Plan/Plan.h"
#include <algorithm>

using namespace dtlto::plan;

using Kind = AttemptKind;
using State = AttemptState;

void Plan::prepareMore() {
  // Without a plugin, jobs are prepared as the local threads take them.
  auto NumAhead = [&] {
    return in(State::Preparing).size() + in(State::Ready).size() +
           in(State::Offered).size() + in(State::Queued).size();
  };
  while (NextWaiting != EndWaiting && NumAhead() < PreparedLimit)
    prepare(NextWaiting++, /*ForPlugin=*/!PluginGone,
            PluginGone ? Cause::PluginGone : Cause::None);
}

/// The first preparation of a job.
void Plan::prepare(JobId J, bool ForPlugin, Cause Why) {
  Attempt &A =
      add(J, ForPlugin ? Kind::First : Kind::Here, State::Preparing, Why);
  if (!ForPlugin)
    act(Action::StaysHere, J, A.Id, Why);
  Action &P = act(Action::Prepare, J, A.Id);
  P.ForPlugin = ForPlugin;
  P.IsSampled = Jobs[J].IsSampled;
}

/// Gives the plugin the job once more.
void Plan::prepareAgain(JobId J, Kind K, WorkerId Avoid) {
  Attempt &A = add(J, K, State::Preparing, Cause::None);
  Action &P = act(Action::Prepare, J, A.Id);
  P.ForPlugin = P.IsAgain = true;
  P.Avoid = Avoid;
}

/// Whether \p A overtakes no job before it that is still being prepared, or
/// half of the memory is left for all of these, and slots for the long ones.
bool Plan::keepsOrder(const Attempt &A) const {
  if (A.Kind != Kind::First)
    return true;
  bool IsNext = true;
  size_t NumLong = 0;
  const double Long = longFrom();
  uint64_t Bytes = BytesInFlight + A.Bytes;
  for (const Key &K : in(State::Preparing)) {
    if (K.first >= A.Job)
      break;
    const Attempt &Before = *find(K.second);
    if (Before.Kind != Kind::First || Before.IsOrphan)
      continue;
    IsNext = false;
    NumLong += Jobs[Before.Job].Info.Estimate >= Long;
    Bytes += Before.Bytes; // known if it is being prepared again
  }
  return IsNext || (!O.KeepOrder && LoadIsKnown && TheLoad.Slots != Unknown &&
                    numAtPlugin() + NumLong < TheLoad.Slots &&
                    Bytes <= O.MaxBytesInFlight / 2);
}

/// Whether it is known of all jobs before \p A that the plugin can do them, or
/// that they have to be compiled here: then they are in the queue here, too.
bool Plan::keepsOrderHere(const Attempt &A) const {
  auto HasBefore = [&](State S) {
    return !in(S).empty() && in(S).begin()->first < A.Job;
  };
  return !O.KeepOrder || !(HasBefore(State::Preparing) ||
                           (!IsOpen && !PluginGone && HasBefore(State::Ready)));
}

/// Whether \p A has to wait until others leave their memory.
bool Plan::lacksMemory(const Attempt &A) const {
  return BytesInFlight + A.Bytes > O.MaxBytesInFlight && numAtPlugin() != 0;
}

/// Whether the plugin would say BUSY, as far as is known. One that wants to
/// know when it has all jobs has to say so itself.
bool Plan::isFull() const {
  return PluginBusy || (numAtPlugin() >= FullAt && !WantsBatches &&
                        Now - FullSince < O.BusyIsNews);
}

void Plan::offerMore() {
  if (PluginGone)
    return;
  if (in(State::Ready).empty() &&
      (OpenAsked || !(O.OpenAtOnce || OpenIsWanted) ||
       in(State::Preparing).empty()))
    return;
  if (!OpenAsked) {
    OpenAsked = true;
    LastResult = Now;
    sawWork();
    act(Action::Open);
  }
  if (!IsOpen)
    return;
  bool Insist =
      PluginBusy && numAtPlugin() == 0 && Now - LastOffer >= O.BusyRetry;
  // It may only be asked whether it still is full; and a job that comes back as
  // BUSY must not be overtaken by the next.
  bool OneByOne = numAtPlugin() >= FullAt || O.KeepOrder;
  size_t MaxOffers = OneByOne ? 1 : std::max(1u, OffersAhead);
  while (!in(State::Ready).empty() && in(State::Offered).size() < MaxOffers &&
         (!isFull() || Insist)) {
    Attempt &A = *find(in(State::Ready).begin()->second);
    if (!keepsOrder(A))
      return;
    if (lacksMemory(A))
      return;
    A.Since = A.LastSign = LastOffer = Now;
    if (!std::exchange(HasOffered, true))
      LastResult = FirstOffer = Now;
    move(A, State::Offered);
    act(Action::Offer, A.Job, A.Id).Insist = Insist;
    Insist = false;
  }
}

bool Plan::newsCanWait() const {
  return isThisMachine() && !WantsBatches && !O.KeepOrder &&
         (isFull() || in(State::Ready).empty());
}

size_t Plan::numResultsThatCanWait() const {
  if (!isThisMachine() || !isFull() || in(State::Ready).empty() ||
      numAtPlugin() <= TheLoad.Slots)
    return 0;
  return (numAtPlugin() - TheLoad.Slots) / 2;
}

/// Whether the plugin has jobs that it isn't told of yet, and gets no other
/// before one that it has ends: the next has to wait for room there, or for
/// memory, or there is none. What is being prepared may still go to it.
bool Plan::isBatchComplete() const {
  if (!BatchIsOpen || PluginGone || !in(State::Offered).empty() ||
      in(State::Accepted).empty())
    return false;
  for (const Key &K : in(State::Preparing))
    if (const Attempt &A = *find(K.second); isAtPlugin(A) && !A.IsOrphan)
      return false;
  if (in(State::Ready).empty())
    return NextWaiting == EndWaiting;
  return isFull() || lacksMemory(*find(in(State::Ready).begin()->second));
}

void Plan::compileMore() {
  unsigned Limit = O.LocalJobs ? std::max(1u, *O.LocalJobs) : O.Cores;
  while (!in(State::Queued).empty() && in(State::Compiling).size() < Limit) {
    Attempt &A = *find(in(State::Queued).begin()->second);
    if (!keepsOrderHere(A) || !hasRoomHere(Jobs[A.Job]))
      return;
    compile(A);
  }
}

/// Whether there is memory and a token for \p J here, after \p NumBefore others
/// that will take \p BytesBefore. If not, something runs here whose end is an
/// event.
bool Plan::hasRoomHere(const Job &J, size_t NumBefore, uint64_t BytesBefore) {
  // Those of the plugin's have their own tokens, but one has the linker's.
  size_t Num = in(State::Compiling).size() + NumBefore + (NumPluginHere != 0);
  if (Num == 0)
    return true;
  uint64_t Taken = BytesHere + BytesBefore;
  if (Taken > O.MaxBytesHere || J.Info.BytesHere > O.MaxBytesHere - Taken)
    return false;
  if (!O.NeedsTokens || Tokens >= Num)
    return true;
  LacksToken = true;
  return false;
}

/// Gives back the tokens that no job here has, or is to have once it is
/// prepared.
void Plan::returnTokens() {
  size_t Num =
      in(State::Compiling).size() + NumPreparingHere + (NumPluginHere != 0);
  for (; Tokens != 0 && Tokens >= Num; --Tokens)
    act(Action::ReturnToken);
}

void Plan::compile(Attempt &A) {
  markTaken(Jobs[A.Job]);
  move(A, State::Compiling);
  act(Action::CompileHere, A.Job, A.Id, A.Why);
}

/// \p J was prepared, and is to be compiled here when there is a thread.
void Plan::compileHere(JobId J, Cause Why, WorkerId Slow) {
  Attempt &A = add(J, Kind::Here, State::Queued, Why);
  act(Action::StaysHere, J, A.Id, Why).Avoid = Slow;
}

/// The plugin can't do \p J, as \p Failed has shown.
void Plan::fallBack(JobId J, AttemptId Failed, Cause Why) {
  if (!mayFallBack())
    return failLink(J, Failed, Why);
  compileHere(J, Why);
}

/// The object is good. But where one differs, all others are suspect: if any
/// are compared, none is delivered before.
void Plan::hold(JobId J) {
  Jobs[J].At = Stage::Held;
  ++NumHeld;
  if (O.VerifyPercent == 0)
    deliver(J);
}

void Plan::deliver(JobId J) {
  Jobs[J].At = Stage::Delivering;
  --NumHeld;
  ++NumBusyThreads;
  act(Action::Deliver, J, Jobs[J].Decisive).IsProven = Jobs[J].IsProven;
}

/// When those of the sample were all made here, another's object is compared.
/// False if there is none.
bool Plan::compareAHeldOne() {
  if (O.VerifyPercent == 0 || HasCompared || Failing || HasDifference)
    return false;
  bool MustWait = false;
  for (JobId J = Jobs.size(); J-- != 0;) {
    if (Jobs[J].At != Stage::Held || Jobs[J].IsProven)
      continue;
    // A compile that came too late is about to end.
    if (std::any_of(Jobs[J].Attempts.begin(), Jobs[J].Attempts.end(),
                    [](const Attempt &A) { return !isAtPlugin(A); })) {
      MustWait = true;
      continue;
    }
    HasCompared = true;
    --NumHeld;
    Jobs[J].At = Stage::UnderWay;
    add(J, Kind::Verify, State::Queued, Cause::None);
    return true;
  }
  return MustWait;
}

/// Nothing is left to compare.
void Plan::deliverHeld() {
  if (NumHeld == 0 || NumEnded + NumHeld != Jobs.size() || compareAHeldOne())
    return;
  for (JobId J = 0; J != Jobs.size(); ++J) {
    if (Jobs[J].At != Stage::Held)
      continue;
    if (Failing || HasDifference)
      endJob(J, Cause::LinkFailed);
    else
      deliver(J);
  }
}

void Plan::endJob(JobId J, Cause Why) {
  cancelAll(J, Why == Cause::LinkFailed ? Why : Cause::Overtaken);
  NumHeld -= Jobs[J].At == Stage::Held;
  Jobs[J].At = Stage::Ended;
  markTaken(Jobs[J]);
  ++NumEnded;
  act(Action::EndJob, J, Jobs[J].Decisive, Why);
}

/// Nothing more is started; what a thread works on is waited for.
void Plan::failLink(JobId Blamed, AttemptId Failed, Cause Why) {
  Failing = true;
  act(Action::FailLink, Blamed, Failed, Why);
  NextWaiting = EndWaiting;
  for (JobId J = 0; J != Jobs.size(); ++J)
    if (Jobs[J].At == Stage::Waiting || Jobs[J].At == Stage::UnderWay ||
        Jobs[J].At == Stage::Held)
      endJob(J, Cause::LinkFailed);
}

void Plan::dropPlugin(Cause Why) {
  if (PluginGone)
    return;
  PluginGone = true;
  act(Action::DropPlugin, 0, 0, Why);
  if (Failing)
    return;
  if (!mayFallBack())
    return failLink(0, 0, Why);
  for (State S : {State::Ready, State::Offered, State::Accepted}) {
    KeySet All = in(S);
    for (const Key &K : All) {
      cancel(K.second, Cause::PluginGone);
      if (numLive(Jobs[K.first]) == 0)
        compileHere(K.first, Cause::PluginGone);
    }
  }
}

void Plan::checkDeadlines() {
  if (!OpenAsked || CloseAsked || PluginGone || Failing || Now < NextCheck)
    return;
  NextCheck = Now + std::min(O.DeadlineStep, O.JobTimeout / 4);
  if (CallSince != Never &&
      Now - CallSince > std::min(O.CallTimeout, O.JobTimeout))
    return dropPlugin(Cause::CallHangs);
  auto Talk = std::chrono::duration<double>(O.JobTimeout) * O.TalkFactor;
  bool IsSilent = Now - LastSign > O.JobTimeout || Now - LastWork > Talk;
  if (IsSilent && in(State::Accepted).empty() && PluginBusy)
    return dropPlugin(Cause::AlwaysBusy);
  KeySet All = in(State::Accepted);
  for (const Key &K : All) {
    Attempt *A = find(K.second);
    if (!A)
      continue;
    bool IsLate = A->Reported == PluginState::Queued
                      ? IsSilent
                      : Now - A->LastSign > O.JobTimeout;
    if (!IsLate)
      continue;
    act(Action::Cancel, K.first, K.second, Cause::Timeout);
    onFailed(*A, Cause::Timeout);
    if (Failing)
      return;
  }
}

Time Plan::wakeUp() const {
  // All that is under way ends with an event.
  if (!OpenAsked || CloseAsked || PluginGone || Failing)
    return Never;
  Time At = NextCheck;
  if (HereIsIdle || (isGivenOut() && IsOpen && !O.KeepOrder))
    At = std::min(At, NextLook);
  if (isFull() && !in(State::Ready).empty()) {
    if (!PluginBusy)
      At = std::min(At, FullSince + O.BusyIsNews);
    else if (numAtPlugin() == 0 &&
             keepsOrder(*find(in(State::Ready).begin()->second)))
      At = std::min(At, LastOffer + O.BusyRetry);
  }
  return std::max(At, Now + std::chrono::microseconds(100));
}
