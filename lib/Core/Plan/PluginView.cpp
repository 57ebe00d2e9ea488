//===- PluginView.cpp - The known state of the plugin ---------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Plan/PluginView.h"

using namespace dtlto::plan;

using State = AttemptState;

// More reports of room than plugin threads send while a BUSY answer is on its
// way to the plan.
static constexpr unsigned MaxBusyWithRoom = 100;

//===----------------------------------------------------------------------===//
// The plugin's life
//===----------------------------------------------------------------------===//

void PluginView::excludePause(Time From, Time Pause) {
  for (Time *At : {&LastSign, &LastWork, &LastResult})
    *At += Pause;
  if (FirstOffer)
    *FirstOffer += Pause;
  if (Due)
    Due->Begin += Pause;
  if (CallSince != Never)
    CallSince += Pause;
  SuspendedFrom = From;
  SuspendedInCall += Pause;
}

void PluginView::recordOpen(bool IsDone) {
  At = IsDone ? Phase::Open : Phase::Opening;
  LastResult = Now;
  recordWork();
}

void PluginView::recordCall(Time Since) {
  CallSince = Since;
  if (Since == Never || Since >= SuspendedFrom)
    SuspendedInCall = Time(0);
  else
    CallSince += SuspendedInCall;
}

void PluginView::recordState(PluginState State, const Job &J) {
  LastSign = Now;
  if (State == PluginState::Queued)
    return;
  LastWork = Now;
  // The plugin has some time to return an object.
  double Estimate = J.Info.Estimate;
  if (!Due || Now + fromSeconds(Rates.slowThreshold(Estimate)) < firstDue())
    Due = {Now, Estimate};
  ReportsStates |= State != PluginState::Sending;
}

Time PluginView::silence() const {
  if (!isSilent())
    return Time();
  return Now - (Due ? firstDue() : LastResult);
}

bool PluginView::startCheckIfDue() {
  if (!isUp() || Now < NextCheck)
    return false;
  NextCheck = Now + std::min(Opts.DeadlineStep, Opts.JobTimeout / 4);
  return true;
}

bool PluginView::isDead() const {
  auto NoProgressLimit =
      std::chrono::duration<double>(Opts.JobTimeout) * Opts.NoProgressFactor;
  return Now - LastSign > Opts.JobTimeout || Now - LastWork > NoProgressLimit;
}

//===----------------------------------------------------------------------===//
// Its room
//===----------------------------------------------------------------------===//

void PluginRoom::recordLoad(const Load &NewLoad) {
  HasLoad = true;
  ReportedLoad = NewLoad;
  if (ReportedLoad.Local == Unknown)
    ReportedLoad.Local = 0;
  if (NewLoad.Slots != Unknown)
    PreparedLimit = static_cast<unsigned>(std::clamp<uint64_t>(
        uint64_t(Opts.PreparedPerSlot) * NewLoad.Slots, Opts.MinPrepared,
        std::max(Opts.MinPrepared, Opts.MaxPrepared)));
}

void PluginRoom::recordRoom() {
  IsBusy = false;
  if (!std::exchange(HasEndedSinceRoom, false) && NumJobsAtBusy != SIZE_MAX) {
    NumJobsAtBusy = SIZE_MAX;
    OffersAhead = 0;
  }
}

void PluginRoom::recordAccepted() {
  NumBusyWithRoom = 0;
  OffersAhead = std::min(OffersAhead + 1, Opts.MaxOffers);
  BatchIsOpen = WantsBatches;
}

void PluginRoom::recordBusy(bool HasRoomSince) {
  OffersAhead = 0;
  // Don't retry without end if the plugin reports room each time.
  if (HasRoomSince && ++NumBusyWithRoom <= MaxBusyWithRoom)
    return;
  IsBusy = true;
  HasEndedSinceRoom = false;
  NumJobsAtBusy = Jobs.numAtPlugin() - 1;
  LastBusy = Plugin.Now;
}

void PluginRoom::recordEnd() {
  IsBusy = false;
  HasEndedSinceRoom = true;
}

bool PluginRoom::startQueryIfDue() {
  if (Plugin.Now - LastQuery < Opts.LoadInterval)
    return false;
  LastQuery = Plugin.Now;
  return true;
}

size_t PluginRoom::slots() const {
  size_t Slots =
      hasSlots() ? ReportedLoad.Slots : Jobs.in(State::Accepted).size();
  if (waitsForMemory())
    Slots = std::min(Slots, Jobs.numAtPlugin());
  return std::max<size_t>(1, Slots);
}

double PluginRoom::laterSlots() const {
  double Slots = double(slots());
  if (!waitsForMemory() || !hasSlots())
    return Slots;
  double Bytes = 0;
  for (const Attempt *A : Jobs.in(State::Ready))
    Bytes += double(A->Bytes);
  double Each = std::max(1.0, Bytes / double(Jobs.in(State::Ready).size()));
  return std::clamp(double(Opts.MaxBytesInFlight) / Each, Slots,
                    std::max(Slots, double(ReportedLoad.Slots)));
}

bool PluginRoom::hasFreeSlots() const {
  if (ReportedLoad.Free == 0 || !hasSlots())
    return ReportedLoad.Free != 0;
  // The load is outdated: slots that have begun a job since aren't free.
  const auto &Accepted = Jobs.in(State::Accepted);
  return std::count_if(Accepted.begin(), Accepted.end(), [](const Attempt *A) {
           return A->Reported != PluginState::Queued;
         }) < static_cast<ptrdiff_t>(ReportedLoad.Slots);
}

bool PluginRoom::hasIdleSlots() const {
  if (Plugin.IsDropped || Opts.KeepOrder)
    return false;
  // The first jobs are prepared while the plugin opens.
  return !HasLoad || (Plugin.isOpen() && hasSlots() && !waitsForMemory() &&
                      Jobs.numAtPlugin() < slots());
}

bool PluginRoom::waitsForMemory() const {
  const auto &Ready = Jobs.in(State::Ready);
  return !Plugin.isSilent() && !Ready.empty() && lacksMemory(**Ready.begin());
}

/// One if the plugin is full, to ask whether it still is, or in order: the next
/// job must not overtake one that comes back as BUSY.
size_t PluginRoom::maxOffers() const {
  bool OneByOne = Jobs.numAtPlugin() >= NumJobsAtBusy || Opts.KeepOrder;
  return OneByOne ? 1 : std::max(1u, OffersAhead);
}

Time PluginRoom::nextOffer() const {
  if (!isFull() || Jobs.in(State::Ready).empty())
    return Never;
  if (!IsBusy)
    return LastBusy + Opts.BusyHoldoff;
  return Jobs.numAtPlugin() == 0 ? LastOffer + Opts.BusyRetry : Never;
}

bool PluginRoom::isBatchComplete() const {
  if (!BatchIsOpen || Plugin.IsDropped || !Jobs.in(State::Offered).empty() ||
      Jobs.in(State::Accepted).empty())
    return false;
  for (const Attempt *A : Jobs.in(State::Preparing))
    if (A->isAtPlugin() && !A->IsOrphan)
      return false;
  const auto &Ready = Jobs.in(State::Ready);
  return Ready.empty() ? !Jobs.hasWaiting()
                       : isFull() || lacksMemory(**Ready.begin());
}
