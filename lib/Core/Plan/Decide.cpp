//===- Decide.cpp - The decisions of a step -------------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Plan/Plan.h"

using namespace dtlto::plan;

/// Decides all that can be done now. Each function may enable those after it.
void Plan::decide() {
  Local.beginStep();
  checkDeadlines();
  Executor.deliverHeld();
  if (!Executor.hasFailed()) {
    prepareMore();
    offerMore();
    compileMore();
    shareMore();
    prepareMore(); // jobs that begin locally have left their places
    duplicateMore();
    if (Room.isBatchComplete()) {
      Room.BatchIsOpen = false;
      Executor.addAction(Action::CompleteBatch);
    }
  }
  if (Local.requestToken())
    Executor.addAction(Action::TakeToken);
  if (Jobs.hasEnded() && Plugin.wasOpened() &&
      Plugin.At != PluginView::Phase::Closed) {
    Plugin.At = PluginView::Phase::Closed;
    Executor.addAction(Action::Close);
  }
}

void Plan::checkDeadlines() {
  if (Executor.hasFailed() || !Plugin.startCheckIfDue())
    return;
  if (Plugin.callHangs())
    return Executor.dropPlugin(Cause::CallHangs);
  auto All = Jobs.in(State::Accepted);
  if (Plugin.isDead() && All.empty() && Room.IsBusy)
    return Executor.dropPlugin(Cause::AlwaysBusy);
  for (const Attempt *A : All) {
    if (!Plugin.isOverdue(*A))
      continue;
    Executor.addAction(Action::Cancel, A->Job, A->Id, Cause::Timeout);
    onFailed(*A, Cause::Timeout);
    if (Executor.hasFailed())
      return;
    ++Plugin.NumTimeouts;
  }
  // Further jobs would also wait in vain, as many at a time as it has slots.
  bool HasMore = Jobs.hasWaiting() || !Jobs.in(State::Ready).empty() ||
                 !Jobs.in(State::Accepted).empty();
  if (HasMore && Plugin.NumTimeouts > 1 && Plugin.NumTimeouts >= Room.slots())
    Executor.dropPlugin(Cause::Timeout);
}

//===----------------------------------------------------------------------===//
// Jobs for the plugin
//===----------------------------------------------------------------------===//

void Plan::prepareMore() {
  // Without a plugin, prepare jobs as the local threads take them.
  auto NumAhead = [this] {
    return Jobs.in(State::Preparing).size() + Jobs.in(State::Ready).size() +
           Jobs.in(State::Offered).size() + Jobs.in(State::Queued).size();
  };
  while (Jobs.hasWaiting() && NumAhead() < Room.preparedLimit())
    Executor.prepare(Jobs.firstWaiting(), /*ForPlugin=*/!Plugin.IsDropped,
                     Plugin.IsDropped ? Cause::PluginDropped : Cause::None);
}

/// Whether no job before \p A is still being prepared, or half of the memory is
/// left for all of these, and slots for the long ones.
bool Plan::keepsOrder(const Attempt &A) const {
  if (A.Kind != Kind::First)
    return true;
  bool IsNext = true;
  size_t NumLong = 0;
  const double Long = longJobThreshold();
  uint64_t Bytes = Jobs.sums().BytesInFlight + A.Bytes;
  for (const Attempt *Before : Jobs.in(State::Preparing)) {
    if (Before->Job >= A.Job)
      break;
    if (Before->Kind != Kind::First || Before->IsOrphan)
      continue;
    IsNext = false;
    NumLong += Jobs[*Before].Info.Estimate >= Long;
  }
  return IsNext || (!Opts.KeepOrder && Room.hasLoad() && Room.hasSlots() &&
                    Jobs.numAtPlugin() + NumLong < Room.load().Slots &&
                    Bytes <= Opts.MaxBytesInFlight / 2);
}

void Plan::offerMore() {
  const auto &Ready = Jobs.in(State::Ready);
  if (Plugin.IsDropped)
    return;
  if (!Plugin.wasOpened()) {
    bool IsEarly = Opts.OpenAtOnce && !Jobs.in(State::Preparing).empty();
    if (Ready.empty() && !IsEarly)
      return;
    Plugin.recordOpen(/*IsDone=*/false);
    Executor.addAction(Action::Open);
  }
  if (!Plugin.isOpen())
    return;
  bool Insist = Room.mayInsist();
  const size_t MaxOffers = Room.maxOffers();
  while (!Ready.empty() && Jobs.in(State::Offered).size() < MaxOffers &&
         (!Room.isFull() || Insist)) {
    const Attempt &A = **Ready.begin();
    if (!keepsOrder(A) || Room.lacksMemory(A))
      return;
    AttemptNotes &N = Jobs.notes(A);
    N.Since = N.LastSign = Room.LastOffer = Plugin.Now;
    if (!Plugin.FirstOffer)
      Plugin.FirstOffer = Plugin.LastResult = Plugin.Now;
    Jobs.move(A, State::Offered);
    Executor.addAction(Action::Offer, A.Job, A.Id).Insist =
        std::exchange(Insist, false);
  }
}

//===----------------------------------------------------------------------===//
// Jobs for this machine, and duplicates
//===----------------------------------------------------------------------===//

/// Whether each job before \p A can be compiled remotely, or waits in the local
/// queue as well.
bool Plan::keepsLocalOrder(const Attempt &A) const {
  auto HasBefore = [&](State S) {
    return !Jobs.in(S).empty() && (*Jobs.in(S).begin())->Job < A.Job;
  };
  bool MayBeDropped = !Plugin.isOpen() && !Plugin.IsDropped;
  return !Opts.KeepOrder || !(HasBefore(State::Preparing) ||
                              (MayBeDropped && HasBefore(State::Ready)));
}

void Plan::compileMore() {
  const auto &Queued = Jobs.in(State::Queued);
  while (!Queued.empty() && Jobs.in(State::Compiling).size() < Local.limit()) {
    const Attempt &A = **Queued.begin();
    if (!keepsLocalOrder(A) || !Local.hasRoom(Jobs[A]))
      return;
    Executor.compile(A);
  }
}

void Plan::shareMore() {
  Share.beginStep();
  const unsigned Limit = Share.localShare();
  while (Sharing::MaybeDecision D = Share.next(Limit))
    execute(*D);
}

void Plan::duplicateMore() {
  if (!Share.startScanIfDue())
    return;
  queryLoad();
  for (const Attempt *A : Share.waitingDuplicates())
    Executor.dropDuplicate(*A);
  uint32_t Free = Room.load().Free == Unknown ? 1 : Room.load().Free;
  for (const Attempt *Slow : Share.slowAttempts())
    if (Sharing::MaybeDecision D = Share.helpFor(*Slow, Free))
      execute(*D);
}

void Plan::execute(const Sharing::Decision &D) {
  switch (D.What) {
  case Sharing::Decision::PrepareLocally:
    return Executor.prepare(D.Job, /*ForPlugin=*/false, D.Why);
  case Sharing::Decision::TakeBack:
    Executor.cancel(*D.Target, D.Why);
    break;
  case Sharing::Decision::CompileLocally:
    if (D.Why == Cause::Overdue && Share.mustBeAlone(Jobs[D.Job]))
      Executor.cancelAll(D.Job, D.Why);
    break;
  case Sharing::Decision::Duplicate:
    return Executor.prepareAgain(D.Job, Kind::Duplicate, D.Slow);
  }
  Executor.compile(Executor.queueLocally(D.Job, D.Why, D.Slow));
}

//===----------------------------------------------------------------------===//
// Time
//===----------------------------------------------------------------------===//

void Plan::queryLoad() {
  if (Plugin.isOpen() && Room.startQueryIfDue())
    Executor.addAction(Action::QueryLoad);
}

Time Plan::wakeUp() const {
  // An event ends all that is under way.
  if (!Plugin.isUp() || Executor.hasFailed())
    return Never;
  Time At = std::min(Plugin.NextCheck, Share.nextScan());
  if (Time Next = Room.nextOffer();
      Next < At &&
      (!Room.IsBusy || keepsOrder(**Jobs.in(State::Ready).begin())))
    At = Next;
  return std::max(At, Plugin.Now + std::chrono::microseconds(100));
}
