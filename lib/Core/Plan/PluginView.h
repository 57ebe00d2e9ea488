//===- PluginView.h - What is known of the plugin ---------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Whether the plugin is open, when it last showed a sign of life, and how many
// jobs it takes. Only the plan changes this.
//
// A plugin that hasn't begun any job may wait for machines that never answer. A
// plugin whose first object is overdue may have jobs on frozen machines. Both
// are called silent. A plugin without a sign of life for longer than the user
// allows is dead.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_CORE_PLAN_PLUGINVIEW_H
#define DTLTO_CORE_PLAN_PLUGINVIEW_H

#include "Plan/Speeds.h"

namespace dtlto::plan {

/// The plugin's phase and signs of life.
struct PluginView {
  PluginView(const Options &Opts, const Speeds &Rates)
      : Opts(Opts), Rates(Rates) {}

  /// This process was suspended at \p From for \p Pause. Excludes that time
  /// from all deadlines.
  void excludePause(Time From, Time Pause);
  void recordOpen(bool IsDone);
  void recordWork() { LastSign = LastWork = Now; }
  /// The plugin is in a call since \p Since; Never: in none.
  void recordCall(Time Since);
  void recordState(PluginState State, const Job &J);

  bool wasOpened() const { return At != Phase::Unopened; }
  bool isOpening() const { return At == Phase::Opening && !IsDropped; }
  bool isOpen() const { return At == Phase::Open && !IsDropped; }
  /// Whether the plugin may cause events.
  bool isUp() const { return isOpening() || isOpen(); }
  bool mayFallBack() const { return Opts.Fallback && !IsArgumentWrong; }

  bool isSilent() const { return !HasEnded && (!Due || Now > firstDue()); }
  /// How long the plugin has been silent: it has jobs or is being opened, but
  /// it has not begun a job, or its first object is overdue.
  Time silence() const;
  /// Whether opening takes so long that the link continues without the plugin.
  bool opensSlowly() const { return isOpening() && silence() > Opts.DeadAfter; }

  /// Whether deadlines are due for a check; then not again for a while.
  bool startCheckIfDue();
  bool callHangs() const {
    return CallSince != Never &&
           Now - CallSince > std::min(Opts.CallTimeout, Opts.JobTimeout);
  }
  bool isDead() const;
  /// Whether \p A, which was accepted, shows no sign of life.
  bool isOverdue(const Attempt &A) const {
    return A.Reported == PluginState::Queued
               ? isDead()
               : Now - A.LastSign > Opts.JobTimeout;
  }

  Time Now = {}; // the time of the step
  enum class Phase { Unopened, Opening, Open, Closed } At = Phase::Unopened;
  bool IsDropped = false;       // in any phase
  bool IsArgumentWrong = false; // rejected by open(); fails the link
  bool ReportsStates = false;   // reports when jobs begin
  bool HasEnded = false;        // has returned an object
  size_t NumTimeouts = 0;       // of jobs since it last returned an object
  Time LastSign = {};           // last sign of life
  Time LastWork = {};           // when a job was accepted, began, ran or ended
  // Initially when it was opened, then when it was first offered a job.
  Time LastResult = {};
  std::optional<Time> FirstOffer; // since when it has had work
  /// Of the jobs that the plugin has begun, the one that should end first.
  struct DueJob {
    Time Begin;
    double Estimate;
  };
  std::optional<DueJob> Due;
  Time NextCheck = {}; // when to check deadlines

private:
  Time firstDue() const {
    return Due->Begin + fromSeconds(Rates.slowThreshold(Due->Estimate));
  }

  const Options &Opts;
  const Speeds &Rates;
  Time CallSince = Never;
  // When this process was last suspended, and for how long during the current
  // call.
  Time SuspendedFrom{0}, SuspendedInCall{0};
};

/// The plugin's load and its answers to offers.
class PluginRoom {
public:
  PluginRoom(const Options &Opts, const JobTable &Jobs,
             const PluginView &Plugin)
      : Opts(Opts), Jobs(Jobs), Plugin(Plugin), PreparedLimit(Opts.MinPrepared),
        OffersAhead(Opts.MaxOffers) {}

  void recordLoad(const Load &NewLoad);
  void recordRoom();
  void recordAccepted();
  /// \p HasRoomSince: the plugin has reported room since the job was offered.
  void recordBusy(bool HasRoomSince);
  void recordEnd();
  /// Whether a query of the load is due; then not again for a while.
  bool startQueryIfDue();

  const Load &load() const { return ReportedLoad; }
  bool hasLoad() const { return HasLoad; }
  bool hasSlots() const { return ReportedLoad.Slots != Unknown; }
  /// Whether all slots of the plugin are on this machine.
  bool isThisMachine() const {
    return ReportedLoad.Local != 0 && ReportedLoad.Slots != 0 &&
           ReportedLoad.Local >= ReportedLoad.Slots;
  }
  /// How many jobs may be prepared ahead of the plugin.
  unsigned preparedLimit() const { return PreparedLimit; }
  /// How many jobs the plugin runs at once.
  size_t slots() const;
  /// The same once waiting jobs have average size: large jobs, which come
  /// first, fill the memory and leave slots idle for a while.
  double laterSlots() const;
  /// Whether jobs that wait at the plugin may be about to begin.
  bool hasFreeSlots() const;
  /// Whether the plugin could begin another job at once, as far as is known.
  bool hasIdleSlots() const;

  /// Whether the plugin would answer BUSY, as far as is known. A plugin that
  /// wants batches must say so itself.
  bool isFull() const {
    return IsBusy || (Jobs.numAtPlugin() >= NumJobsAtBusy && !WantsBatches &&
                      Plugin.Now - LastBusy < Opts.BusyHoldoff);
  }
  /// Whether \p A has to wait until other jobs release memory.
  bool lacksMemory(const Attempt &A) const {
    return Jobs.sums().BytesInFlight + A.Bytes > Opts.MaxBytesInFlight &&
           Jobs.numAtPlugin() != 0;
  }
  /// Whether there is no memory for the plugin's next job. False for a silent
  /// plugin: its throughput is unknown.
  bool waitsForMemory() const;
  /// Whether to offer a job despite BUSY, because the plugin has no other.
  bool mayInsist() const {
    return IsBusy && Jobs.numAtPlugin() == 0 &&
           Plugin.Now - LastOffer >= Opts.BusyRetry;
  }
  size_t maxOffers() const;
  /// When an offer may be due without an event; Never: only after one.
  Time nextOffer() const;
  /// Whether the plugin's batch is complete: it has jobs, hasn't been told that
  /// these are all for now, and gets no other before one of them ends. Jobs
  /// that are being prepared may still go to it.
  bool isBatchComplete() const;

  bool IsBusy = false; // its last answer
  bool WantsBatches = false;
  bool BatchIsOpen = false; // it has got jobs since CompleteBatch
  Time LastOffer = {};
  Time LastQuery = {}; // last query of the load

private:
  const Options &Opts;
  const JobTable &Jobs;
  const PluginView &Plugin;
  Load ReportedLoad;
  bool HasLoad = false;
  unsigned PreparedLimit;
  // Consecutive BUSY answers that came with a report of room.
  unsigned NumBusyWithRoom = 0;
  // The number of jobs at the last BUSY, and its time. While that is recent,
  // don't ask again whenever one job replaces another.
  size_t NumJobsAtBusy = SIZE_MAX;
  Time LastBusy = {};
  // A job ended since the last report of room; the next report may only mean
  // that.
  bool HasEndedSinceRoom = false;
  // The limit of offers without an answer: the number accepted since the last
  // BUSY. A plugin with one idle slot isn't offered MaxOffers jobs for it.
  unsigned OffersAhead;
};

} // namespace dtlto::plan

#endif // DTLTO_CORE_PLAN_PLUGINVIEW_H
