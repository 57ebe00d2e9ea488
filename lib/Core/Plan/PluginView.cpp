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

void PluginView::exclude(Time From, Time Lost) {
  for (Time *At : {&LastSign, &LastWork, &LastResult})
    *At += Lost;
  if (FirstOffer)
    *FirstOffer += Lost;
  if (Due)
    Due->Began += Lost;
  if (CallSince != Never)
    CallSince += Lost;
  SuspendedFrom = From;
  SuspendedInCall += Lost;
}

void PluginView::sawOpen(bool IsDone) {
  At = IsDone ? Phase::Open : Phase::Opening;
  LastResult = Now;
  sawWork();
}

void PluginView::sawCall(Time Since) {
  CallSince = Since;
  if (Since == Never || Since >= SuspendedFrom)
    SuspendedInCall = Time(0);
  else
    CallSince += SuspendedInCall;
}

void PluginView::sawState(PluginState State, const Job &J) {
  LastSign = Now;
  if (State == PluginState::Queued)
    return;
  LastWork = Now;
  // The plugin has some time to return an object.
  double Estimate = J.Info.Estimate;
  if (!Due || Now + fromSeconds(Rates.slowAfter(Estimate)) < firstDue())
    Due = {Now, Estimate};
  ReportsStates |= State != PluginState::Sending;
}

Time PluginView::silence() const {
  if (!isSilent())
    return Time();
  return Now - (Due ? firstDue() : LastResult);
}

bool PluginView::takeCheck() {
  if (!isUp() || Now < NextCheck)
    return false;
  NextCheck = Now + std::min(O.DeadlineStep, O.JobTimeout / 4);
  return true;
}

bool PluginView::isDead() const {
  auto Talk = std::chrono::duration<double>(O.JobTimeout) * O.TalkFactor;
  return Now - LastSign > O.JobTimeout || Now - LastWork > Talk;
}

//===----------------------------------------------------------------------===//
// Its room
//===----------------------------------------------------------------------===//

void PluginRoom::sawLoad(const Load &L) {
  HasLoad = true;
  TheLoad = L;
  if (TheLoad.Local == Unknown)
    TheLoad.Local = 0;
  if (L.Slots != Unknown)
    PreparedLimit = static_cast<unsigned>(std::clamp<uint64_t>(
        uint64_t(O.PreparedPerSlot) * L.Slots, O.MinPrepared,
        std::max(O.MinPrepared, O.MaxPrepared)));
}

void PluginRoom::sawRoom() {
  IsBusy = false;
  if (!std::exchange(EndedSinceRoom, false) && FullAt != SIZE_MAX) {
    FullAt = SIZE_MAX;
    OffersAhead = 0;
  }
}

void PluginRoom::sawAccepted() {
  NumBusyWithRoom = 0;
  OffersAhead = std::min(OffersAhead + 1, O.MaxOffers);
  BatchIsOpen = WantsBatches;
}

void PluginRoom::sawBusy(bool RoomSince) {
  OffersAhead = 0;
  // Don't retry without end if the plugin reports room each time.
  if (RoomSince && ++NumBusyWithRoom <= MaxBusyWithRoom)
    return;
  IsBusy = true;
  EndedSinceRoom = false;
  FullAt = Jobs.numAtPlugin() - 1;
  FullSince = Plugin.Now;
}

void PluginRoom::sawEnd() {
  IsBusy = false;
  EndedSinceRoom = true;
}

bool PluginRoom::takeQuery() {
  if (Plugin.Now - LastQuery < O.LoadInterval)
    return false;
  LastQuery = Plugin.Now;
  return true;
}

size_t PluginRoom::slots() const {
  size_t Slots = hasSlots() ? TheLoad.Slots : Jobs.in(State::Accepted).size();
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
  return std::clamp(double(O.MaxBytesInFlight) / Each, Slots,
                    std::max(Slots, double(TheLoad.Slots)));
}

bool PluginRoom::hasFreeSlots() const {
  if (TheLoad.Free == 0 || !hasSlots())
    return TheLoad.Free != 0;
  // The load is outdated: slots that have begun a job since aren't free.
  const auto &Accepted = Jobs.in(State::Accepted);
  return std::count_if(Accepted.begin(), Accepted.end(), [](const Attempt *A) {
           return A->Reported != PluginState::Queued;
         }) < static_cast<ptrdiff_t>(TheLoad.Slots);
}

bool PluginRoom::hasIdleSlots() const {
  if (Plugin.IsDropped || O.KeepOrder)
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
  bool OneByOne = Jobs.numAtPlugin() >= FullAt || O.KeepOrder;
  return OneByOne ? 1 : std::max(1u, OffersAhead);
}

Time PluginRoom::nextOffer() const {
  if (!isFull() || Jobs.in(State::Ready).empty())
    return Never;
  if (!IsBusy)
    return FullSince + O.BusyIsNews;
  return Jobs.numAtPlugin() == 0 ? LastOffer + O.BusyRetry : Never;
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
