//===- Plan.h - Which job runs where, and when ------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All decisions about the jobs of a link, and nothing else: events and the time
// go in, actions come out. There is no thread, lock, clock, file or message in
// here, and nothing of LLVM, so that a test can put a link through any history,
// and a log of events repeats the decisions of a link that went wrong.
//
// A job is brought to its end by attempts. Each is at the plugin's or here:
//
//   at the plugin's:  Preparing -> Ready -> Offered -> Accepted -> (a result)
//                                    |________| BUSY
//   here:             [Preparing ->] Queued -> Compiling -> (an object)
//
// Jobs are taken in falling order of cost; a job's number is its rank.
// Preparing looks into LLVM's cache and builds what the plugin needs; only a
// few jobs are prepared ahead of the plugin, so that memory follows what it has
// room for. The first good result wins, and the other attempts are cancelled.
// Then the object may be verified, and is delivered: at once, or if any are
// verified, when all of them were and none differs. An attempt that fails
// while no other is under way is tried once more if the infrastructure was to
// blame, then compiled here, or fails the link, as the user chose.
//
// A compile error is one worker's word. It is the module's once the compiler
// here, or a second attempt at the plugin's, says so too. An object that was
// refused may be as odd as its program: then it is made a second time with the
// same bytes. Once there is an object, the plugin is told which of its workers
// were wrong.
//
// JobTable has the jobs, their attempts and sums over them, PluginView and
// PluginRoom what is known of the plugin, LocalThreads what may run locally.
// Sharing decides which jobs run locally and which get a duplicate attempt;
// Steps has what can be done with a job. The plan puts them together: Plan.cpp
// has what events do, Decide.cpp what is done next, Check.cpp what must hold
// after each step.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_CORE_PLAN_PLAN_H
#define DTLTO_CORE_PLAN_PLAN_H

#include "Plan/Sharing.h"
#include "Plan/Steps.h"
#include <string>

namespace dtlto::plan {

/// The plan of one link. Belongs to one thread.
class Plan {
public:
  /// \p Infos are in the order in which the jobs are to be started.
  Plan(const std::vector<JobInfo> &Infos, const Options &O);
  Plan(const Plan &) = delete; // its parts refer to each other

  /// Begins. Returns what has to be done first. Call once.
  std::vector<Action> start(Time Now);

  /// One step. Returns what has to be done after \p E. The same history gives
  /// the same actions. Time never goes back. Events of attempts that have
  /// ended, or never were, are ignored.
  std::vector<Action> handle(Time Now, const Event &E);

  /// When a Tick is due, if no event comes before; Never: only events matter.
  /// Later than the last step.
  Time wakeUp() const;

  /// Whether nothing follows at once when an offer is accepted, or when the
  /// plugin reports that a job has begun locally. Not where it has other
  /// machines: their jobs take longer than a wake-up costs.
  bool newsCanWait() const;
  /// The same of so many results of jobs that ran locally by way of the plugin:
  /// it has others for its slots, and the next are ready.
  size_t numResultsThatCanWait() const;

  /// Every job has ended, and no thread of the driver has anything to do.
  bool isDone() const;

  /// Whether events of this attempt still matter.
  bool isLive(AttemptId Id) const;
  /// The attempts that the plugin has accepted, the highest rank first.
  std::vector<AttemptId> accepted() const;
  /// Whether the plugin could begin another job at once; false if that is
  /// unknown, and true until it was asked.
  bool hasIdleSlots() const { return Room.hasIdleSlots(); }
  /// The estimate from which on the link may have to wait for a job that begins
  /// late: half of what each slot of the plugin, and each core that helps it,
  /// still has to do.
  double longFrom() const;
  /// How many attempts and jobs wait for a thread of the driver.
  size_t numOnThreads() const;
  bool hasFailed() const { return Do.hasFailed(); }

  /// Empty, or the rule that doesn't hold. Every job and attempt is looked at.
  std::string check() const;

private:
  using Kind = AttemptKind;
  using State = AttemptState;

  void exclude(Time From, Time Lost);

  // What events do (Plan.cpp).
  void react(const Event &E);
  void reactOfJob(const Event &E);
  void reactOfOrphan(const Attempt &A, const Event &E);
  void reactOfAttempt(const Attempt &A, const Event &E);
  void onOpened(const Event &E);
  void onPrepared(const Attempt &A, const Event &E);
  void onAccepted(const Attempt &A);
  void onBusy(const Attempt &A, const Event &E);
  void onState(const Attempt &A, const Event &E);
  void onSucceeded(const Attempt &A, const Event &E);
  void onFailed(const Attempt &A, Cause Why);
  void onCompiledHere(const Attempt &A, const Event &E);

  // What is done next (Decide.cpp).
  void decide();
  void checkDeadlines();
  void prepareMore();
  void offerMore();
  void compileMore();
  void shareMore();
  void duplicateMore();
  void carryOut(const Sharing::Decision &D);
  void queryLoad();
  bool keepsOrder(const Attempt &A) const;
  bool keepsOrderHere(const Attempt &A) const;

  const Options O;
  JobTable Jobs;
  Speeds Rates{O};
  PluginView Plugin{O, Rates};
  PluginRoom Room{O, Jobs, Plugin};
  LocalThreads Local{O, Jobs};
  Sharing Share{O, Jobs, Plugin, Room, Local, Rates};
  Steps Do{O, Jobs, Plugin, Local};
  bool OpenIsWanted = false; // by a job that is being prepared
  bool HasStarted = false;
};

} // namespace dtlto::plan

#endif // DTLTO_CORE_PLAN_PLAN_H
