//===- Sharing.h - The local share of jobs, and stragglers ------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A link finishes when its last job does. So while the plugin has no room, this
// machine takes jobs: first cheap ones, which show how fast it is, then the
// longest that the plugin would end after all the rest. Those are cheap next to
// a large farm, and long next to a few slots. Once all jobs are given out,
//
//   - jobs that only wait at the plugin are taken back if they would end
//     earlier locally than at the plugin;
//   - jobs that run for much longer than expected, or don't begin while slots
//     are idle, get a duplicate attempt: remotely if the plugin has room,
//     otherwise locally;
//   - stragglers beyond the limit of duplicate work are still compiled locally:
//     idle cores cost nothing, and machines may be frozen.
//
// Until a silent plugin (PluginView.h) returns an object, the link goes on as
// if there were no plugin: the linker uses all its cores, and also compiles
// what the plugin has. The first result wins. The same applies to a link that
// gets late after its first results: it must not take more than about twice its
// time on this machine alone.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_CORE_PLAN_SHARING_H
#define DTLTO_CORE_PLAN_SHARING_H

#include "Plan/LocalThreads.h"
#include "Plan/PluginView.h"

namespace dtlto::plan {

/// Decides only; its own state is when to look again and which jobs were slow.
/// The plan carries out a decision before it asks for the next.
class Sharing {
public:
  struct Decision {
    enum Kind {
      PrepareLocally, // Job, which waits for its turn
      TakeBack,       // Of: cancel it, and compile its job locally
      CompileLocally, // Job, which the plugin has as well
      Duplicate       // Job: give it to the plugin once more
    } What;
    JobId Job;
    Cause Why = Cause::None;
    WorkerId Slow = 0; // the worker that has the job
    const Attempt *Target = nullptr;
  };
  using MaybeDecision = std::optional<Decision>;

  Sharing(const Options &Opts, const JobTable &Jobs, const PluginView &Plugin,
          const PluginRoom &Room, LocalThreads &Local, Speeds &Rates)
      : Opts(Opts), Jobs(Jobs), Plugin(Plugin), Room(Room), Local(Local),
        Rates(Rates) {}

  /// The number of jobs that may run locally in addition to the plugin's.
  unsigned localShare() const;
  /// Whether \p J must not be compiled locally while the plugin has it.
  bool mustBeAlone(const Job &J) const {
    return J.Info.HasSideFiles || Opts.DuplicatePercent == 0;
  }

  /// Called once in each step, before next().
  void beginStep();
  /// Returns the next job to begin locally, if fewer than \p Share are begun.
  MaybeDecision next(unsigned Share);

  /// Whether a search for stragglers is due; then not again for a while.
  bool startScanIfDue();
  /// The duplicates that would wait for room or memory. Drop them, so that
  /// their jobs can begin locally: there will be other stragglers, or these
  /// again.
  std::vector<const Attempt *> waitingDuplicates() const;
  /// The first attempts of all slow jobs, the longest job first.
  std::vector<const Attempt *> slowAttempts();
  /// Returns how to help \p Slow; \p Free slots of the plugin are left for
  /// duplicates.
  MaybeDecision helpFor(const Attempt &Slow, uint32_t &Free);

  void scanNow() { NextScan = Plugin.Now; }
  /// When to look again; Never: only after an event.
  Time nextScan() const {
    bool Scans = IsLocalIdle ||
                 (Jobs.allJobsOffered() && Plugin.isOpen() && !Opts.KeepOrder);
    return Scans ? NextScan : Never;
  }

private:
  void checkLate();
  bool paysLocally(const Job &J) const;
  bool mayBeginNow(const Job &J);
  void recheckLater(const Job &J);
  const Attempt *readyForLocal(bool Longest) const;
  const Attempt *lateRemoteAttempt() const;
  bool isOnlyWaiting(const Attempt &A, bool HasFreeSlots) const;
  bool isDead() const { return Plugin.silence() > Opts.DeadAfter || IsLate; }
  MaybeDecision take(const Attempt &A);
  MaybeDecision takeBack();
  MaybeDecision startSilent();
  Decision startOverdue(JobId Id) const;
  bool mayStillFinish(const Job &J) const;
  bool mayDuplicate(double Estimate) const;
  bool isSlow(const Attempt &A);

  const Options &Opts;
  const JobTable &Jobs;
  const PluginView &Plugin;
  const PluginRoom &Room;
  LocalThreads &Local;
  Speeds &Rates;

  // When to check again: whether the link is late; for stragglers and jobs to
  // begin locally; for jobs to take from the plugin. NextTake is NextScan if
  // there was none.
  Time NextLate = {}, NextScan = {}, NextTake = {};
  bool IsLate = false;      // once set, stays set
  bool IsLocalIdle = false; // jobs exist, but don't pay locally yet
};

} // namespace dtlto::plan

#endif // DTLTO_CORE_PLAN_SHARING_H
