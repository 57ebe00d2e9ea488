//===- Sharing.h - This machine's share, and stragglers ---------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A link finishes when its last job does. So while the plugin has no room, this
// machine takes jobs: first from the cheap end of the order, which show how
// fast it is, then the longest that the plugin would end after all the rest.
// Next to a large farm these are cheap, too, next to a few slots they are not.
// And once all jobs are given out,
//
//   - jobs that only wait at the plugin are taken back, if they would be ready
//     locally before the plugin is through;
//   - jobs that run for much longer than expected, or don't begin while slots
//     are idle, get a duplicate attempt: remotely if the plugin has room,
//     otherwise locally;
//   - where too much would be done twice, they are still compiled locally:
//     cores that are idle cost nothing, and machines may be frozen.
//
// Until a silent plugin (PluginView.h) has an object, the link goes on as if
// there were no plugin: the linker uses all its cores, and compiles what the
// plugin has, too. The first result wins. The same goes for a link that gets
// late after the first results: it must not take more than about twice what it
// takes on this machine alone.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_CORE_PLAN_SHARING_H
#define DTLTO_CORE_PLAN_SHARING_H

#include "Plan/LocalThreads.h"
#include "Plan/PluginView.h"

namespace dtlto::plan {

/// Decides, and changes nothing but when it looks again and which jobs were
/// slow. The plan carries a decision out before it asks for the next.
class Sharing {
public:
  struct Decision {
    enum Kind {
      PrepareHere, // Job, which waits for its turn
      TakeBack,    // Of: cancel it, and compile its job locally
      CompileHere, // Job, which the plugin has, too
      Duplicate    // Job: give it to the plugin once more
    } What;
    JobId Job;
    Cause Why = Cause::None;
    WorkerId Slow = 0; // has the job already
    const Attempt *Of = nullptr;
  };
  using MaybeDecision = std::optional<Decision>;

  Sharing(const Options &O, const JobTable &Jobs, const PluginView &Plugin,
          const PluginRoom &Room, LocalThreads &Local, Speeds &Rates)
      : O(O), Jobs(Jobs), Plugin(Plugin), Room(Room), Local(Local),
        Rates(Rates) {}

  /// How many jobs may run locally in addition to the plugin's.
  unsigned localShare() const;
  /// \p J must not be compiled locally while the plugin has it.
  bool mustBeAlone(const Job &J) const {
    return J.Info.HasSideFiles || O.DuplicatePercent == 0;
  }

  /// Once in a step, before next().
  void beginStep();
  /// The next job that is begun locally, if fewer than \p Share are.
  MaybeDecision next(unsigned Share);

  /// Whether jobs are looked through for stragglers now; then not again for a
  /// while.
  bool takeLook();
  /// The duplicates that would wait for room or memory. Each holds up its job,
  /// which may be begun locally: there will be other stragglers, or it again.
  std::vector<const Attempt *> duplicatesThatWait() const;
  /// The first attempts of all jobs that are slow. The longest job is first.
  std::vector<const Attempt *> slowOnes();
  /// What \p Slow needs; \p Free slots of the plugin are left for duplicates.
  MaybeDecision helpFor(const Attempt &Slow, uint32_t &Free);

  void lookNow() { NextLook = Plugin.Now; }
  /// Never: only events matter.
  Time nextLook() const {
    bool Looks =
        HereIsIdle || (Jobs.isGivenOut() && Plugin.isOpen() && !O.KeepOrder);
    return Looks ? NextLook : Never;
  }

private:
  void checkLate();
  bool paysHere(const Job &J) const;
  bool mayBeginNow(const Job &J);
  void recheckLater(const Job &J);
  const Attempt *readyForHere(bool Longest) const;
  const Attempt *lateThere() const;
  bool onlyWaits(const Attempt &A, bool HasFreeSlots) const;
  bool isDead() const { return Plugin.silence() > O.DeadAfter || IsLate; }
  MaybeDecision take(const Attempt &A);
  MaybeDecision takeBack();
  MaybeDecision startSilent();
  Decision startOverdue(JobId Id) const;
  bool mayStillCome(const Job &J) const;
  bool mayDoTwice(double Estimate) const;
  bool isSlow(const Attempt &A);

  const Options &O;
  const JobTable &Jobs;
  const PluginView &Plugin;
  const PluginRoom &Room;
  LocalThreads &Local;
  Speeds &Rates;

  // The link is looked at again, in order: whether it is late; whether a job
  // pays locally, and for stragglers; for jobs to take from the plugin, which
  // is NextLook if there was none.
  Time NextLate = {}, NextLook = {}, NextTake = {};
  bool IsLate = false;     // and remains so
  bool HereIsIdle = false; // there are jobs, but they don't pay locally yet
};

} // namespace dtlto::plan

#endif // DTLTO_CORE_PLAN_SHARING_H
