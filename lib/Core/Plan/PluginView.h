//===- PluginView.h - What is known of the plugin ---------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Whether the plugin is there, when it showed its last sign of life, and how
// many jobs it takes. Only the plan changes this.
//
// A plugin that hasn't begun a single job may wait for machines that will never
// answer, and one whose first object is overdue may have jobs on machines that
// are frozen. Such a plugin is silent. One that shows no sign of life for
// longer than the user allows is dead.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_CORE_PLAN_PLUGINVIEW_H
#define DTLTO_CORE_PLAN_PLUGINVIEW_H

#include "Plan/Speeds.h"

namespace dtlto::plan {

/// The plugin's life.
struct PluginView {
  PluginView(const Options &O, const Speeds &Rates) : O(O), Rates(Rates) {}

  /// This process was suspended at \p From for \p Lost. Excludes that time from
  /// all deadlines.
  void exclude(Time From, Time Lost);
  void sawOpen(bool IsDone);
  void sawWork() { LastSign = LastWork = Now; }
  /// It is in a call since then; Never: in none.
  void sawCall(Time Since);
  void sawState(PluginState State, const Job &J);

  bool wasOpened() const { return At != Phase::Unopened; }
  bool isOpening() const { return At == Phase::Opening && !IsDropped; }
  bool isOpen() const { return At == Phase::Open && !IsDropped; }
  /// Events are to be expected of it.
  bool isUp() const { return isOpening() || isOpen(); }
  bool mayFallBack() const { return O.Fallback && !IsArgumentWrong; }

  bool isSilent() const { return !HasEnded && (!Due || Now > firstDue()); }
  /// How long the plugin has been silent: it has jobs, or is being opened, but
  /// it has not begun a job, or its first object is overdue.
  Time silence() const;
  /// The plugin takes so long to open that the link goes on without it.
  bool opensSlowly() const { return isOpening() && silence() > O.DeadAfter; }

  /// Whether deadlines are to be looked at now; then not again for a while.
  bool takeCheck();
  bool callHangs() const {
    return CallSince != Never &&
           Now - CallSince > std::min(O.CallTimeout, O.JobTimeout);
  }
  bool isDead() const;
  /// \p A, which was accepted, shows no sign of life.
  bool isOverdue(const Attempt &A) const {
    return A.Reported == PluginState::Queued ? isDead()
                                             : Now - A.LastSign > O.JobTimeout;
  }

  Time Now = {}; // of the step
  enum class Phase { Unopened, Opening, Open, Closed } At = Phase::Unopened;
  bool IsDropped = false;       // in any phase
  bool IsArgumentWrong = false; // as open() said, so the link fails
  bool ReportsStates = false;   // when a job runs
  bool HasEnded = false;        // it has returned an object
  Time LastSign = {};           // of life
  Time LastWork = {}; // a job was accepted, has begun, runs or has ended
  // Or when it was first offered a job or, before, opened.
  Time LastResult = {};
  std::optional<Time> FirstOffer; // from then on, it has to work
  /// Of the jobs that the plugin has begun, the one that should end first.
  struct DueJob {
    Time Began;
    double Estimate;
  };
  std::optional<DueJob> Due;
  Time NextCheck = {}; // of deadlines

private:
  Time firstDue() const {
    return Due->Began + fromSeconds(Rates.slowAfter(Due->Estimate));
  }

  const Options &O;
  const Speeds &Rates;
  Time CallSince = Never;
  // When this process was suspended last, and how much of that time the call
  // has seen that is under way.
  Time SuspendedFrom{0}, SuspendedInCall{0};
};

/// The plugin's load and its answers to offers.
class PluginRoom {
public:
  PluginRoom(const Options &O, const JobTable &Jobs, const PluginView &Plugin)
      : O(O), Jobs(Jobs), Plugin(Plugin), PreparedLimit(O.MinPrepared),
        OffersAhead(O.MaxOffers) {}

  void sawLoad(const Load &L);
  void sawRoom();
  void sawAccepted();
  /// \p RoomSince: it has reported room since the job was offered.
  void sawBusy(bool RoomSince);
  void sawEnd();
  /// Whether the load is to be asked for now; then not again for a while.
  bool takeQuery();

  const Load &load() const { return TheLoad; }
  bool hasLoad() const { return HasLoad; }
  bool hasSlots() const { return TheLoad.Slots != Unknown; }
  /// All that the plugin has runs on this machine.
  bool isThisMachine() const {
    return TheLoad.Local != 0 && TheLoad.Slots != 0 &&
           TheLoad.Local >= TheLoad.Slots;
  }
  /// Jobs that may be prepared ahead of the plugin.
  unsigned preparedLimit() const { return PreparedLimit; }
  /// How many jobs the plugin does at once.
  size_t slots() const;
  /// The same once those that wait for memory are of average size: large ones
  /// that come first leave slots idle for a while.
  double laterSlots() const;
  /// Jobs that wait at the plugin may be about to begin.
  bool hasFreeSlots() const;
  /// The plugin could begin another job at once, as far as is known.
  bool hasIdleSlots() const;

  /// The plugin would say BUSY, as far as is known. One that wants to know when
  /// it has all jobs has to say so itself.
  bool isFull() const {
    return IsBusy || (Jobs.numAtPlugin() >= FullAt && !WantsBatches &&
                      Plugin.Now - FullSince < O.BusyIsNews);
  }
  /// \p A has to wait until others leave their memory.
  bool lacksMemory(const Attempt &A) const {
    return Jobs.sums().BytesInFlight + A.Bytes > O.MaxBytesInFlight &&
           Jobs.numAtPlugin() != 0;
  }
  /// There is no memory for the plugin's next job. The throughput of a silent
  /// plugin is unknown.
  bool waitsForMemory() const;
  /// The next job goes to the plugin though it said BUSY: it has no other.
  bool mayInsist() const {
    return IsBusy && Jobs.numAtPlugin() == 0 &&
           Plugin.Now - LastOffer >= O.BusyRetry;
  }
  size_t maxOffers() const;
  /// When an offer may be due without an event; Never: only with one.
  Time nextOffer() const;
  /// The plugin has jobs, isn't told yet that these are all for now, and gets
  /// no other before one of them ends. What is being prepared may still go to
  /// it.
  bool isBatchComplete() const;

  bool IsBusy = false; // as it said last
  bool WantsBatches = false;
  bool BatchIsOpen = false; // it has jobs since CompleteBatch
  Time LastOffer = {};
  Time LastQuery = {}; // of the load

private:
  const Options &O;
  const JobTable &Jobs;
  const PluginView &Plugin;
  Load TheLoad;
  bool HasLoad = false;
  unsigned PreparedLimit;
  // Consecutive BUSY answers that came with a report of room.
  unsigned NumBusyWithRoom = 0;
  // With so many jobs it said BUSY, then. While that is news, it isn't asked
  // again whenever one of them is replaced by another.
  size_t FullAt = SIZE_MAX;
  Time FullSince = {};
  // A job ended since room was reported; the next report may only mean that.
  bool EndedSinceRoom = false;
  // How many offers may be on their way: so many were accepted since one was
  // BUSY. A plugin with one idle slot isn't offered MaxOffers jobs for it.
  unsigned OffersAhead;
};

} // namespace dtlto::plan

#endif // DTLTO_CORE_PLAN_PLUGINVIEW_H
