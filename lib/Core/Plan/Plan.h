//===- Plan.h - Which job runs where, and when ------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Makes all decisions about the jobs of a link, and nothing else: events and
// the time go in, actions come out. The plan uses no thread, lock, clock, file
// or message, and nothing of LLVM. So a test can put a link through any
// history, and a log of events reproduces the decisions of a failed link.
//
// A job is done by attempts. Each attempt is at the plugin or local:
//
//   at the plugin:  Preparing -> Ready -> Offered -> Accepted -> (a result)
//                                  |________| BUSY
//   locally:        [Preparing ->] Queued -> Compiling -> (an object)
//
// Jobs are taken in descending order of cost; a job's number is its rank.
// Preparing asks LLVM's cache and builds what the plugin needs. Only a few jobs
// are prepared ahead of the plugin, which bounds memory. The first good result
// wins, and the other attempts are cancelled. The object may then be verified.
// It is delivered at once or, if any objects are verified, when all of these
// are equal. If an attempt fails while no other is under way, the job is
// retried if the infrastructure was to blame. Otherwise it is compiled locally,
// or the link fails, as the user chose.
//
// A compile error counts only if a second compiler confirms it: the local one,
// or a second attempt at the plugin. A refused object may be valid if its
// program is unusual: then a second compile makes the same bytes. Once there is
// an object, the plugin is told which of its workers were wrong.
//
// JobTable has the jobs, their attempts and sums over them, PluginView and
// PluginRoom the known state of the plugin, LocalThreads the resources of local
// jobs. Sharing decides which jobs run locally and which get a duplicate
// attempt. Steps has the steps of a job. Plan connects them: Plan.cpp handles
// events, Decide.cpp chooses the next steps, Check.cpp checks invariants.
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
  /// \p Infos are in the order in which the jobs should start.
  Plan(const std::vector<JobInfo> &Infos, const Options &Opts);
  Plan(const Plan &) = delete; // its parts refer to each other

  /// Begins. Returns the first actions. Call once.
  std::vector<Action> start(Time Now);

  /// Handles \p E. Returns the actions that follow. Equal histories give equal
  /// actions. Time never goes back. Events of unknown or finished attempts are
  /// ignored.
  std::vector<Action> handle(Time Now, const Event &E);

  /// When a Tick is due unless an event comes first; Never: only events matter.
  /// Later than the last step.
  Time wakeUp() const;

  /// Whether an accepted offer, or a report that a job has begun locally,
  /// causes no action at once. False if the plugin has other machines: their
  /// jobs take longer than a wake-up costs.
  bool updatesCanWait() const;
  /// How many results of local jobs of the plugin can wait: it has other jobs
  /// for its slots, and the next ones are ready.
  size_t numDeferrableResults() const;

  /// Whether all jobs have ended, and all threads of the driver are idle.
  bool isDone() const;

  /// Whether events of this attempt still matter.
  bool isLive(AttemptId Id) const;
  /// The attempts that the plugin has accepted, the highest rank first.
  std::vector<AttemptId> accepted() const;
  /// Whether the plugin could begin another job at once; false if unknown, and
  /// true until the first load query is answered.
  bool hasIdleSlots() const { return Room.hasIdleSlots(); }
  /// The estimate above which a job that begins late may delay the link: half
  /// of the remaining work of each slot of the plugin and each core that helps
  /// it.
  double longJobThreshold() const;
  /// The number of attempts and jobs that wait for a thread of the driver.
  size_t numOnThreads() const;
  bool hasFailed() const { return Executor.hasFailed(); }

  /// Returns a broken invariant, or "". Looks at each job and attempt.
  std::string check() const;

private:
  using Kind = AttemptKind;
  using State = AttemptState;

  void excludePause(Time From, Time Pause);

  // Handling events (Plan.cpp).
  void dispatch(const Event &E);
  void handleJobEvent(const Event &E);
  void handleOrphanEvent(const Attempt &A, const Event &E);
  void handleAttemptEvent(const Attempt &A, const Event &E);
  void onOpened(const Event &E);
  void onPrepared(const Attempt &A, const Event &E);
  void onAccepted(const Attempt &A);
  void onBusy(const Attempt &A, const Event &E);
  void onState(const Attempt &A, const Event &E);
  void onSucceeded(const Attempt &A, const Event &E);
  void onFailed(const Attempt &A, Cause Why);
  void onCompiledLocally(const Attempt &A, const Event &E);
  void onFound(JobId J);

  // Choosing the next steps (Decide.cpp).
  void decide();
  void checkDeadlines();
  void prepareMore();
  void offerMore();
  void compileMore();
  void shareMore();
  void duplicateMore();
  void execute(const Sharing::Decision &D);
  void queryLoad();
  bool keepsOrder(const Attempt &A) const;
  bool keepsLocalOrder(const Attempt &A) const;

  const Options Opts;
  JobTable Jobs;
  Speeds Rates{Opts};
  PluginView Plugin{Opts, Rates};
  PluginRoom Room{Opts, Jobs, Plugin};
  LocalThreads Local{Opts, Jobs};
  Sharing Share{Opts, Jobs, Plugin, Room, Local, Rates};
  Steps Executor{Opts, Jobs, Plugin, Local};
  bool HasStarted = false;
};

} // namespace dtlto::plan

#endif // DTLTO_CORE_PLAN_PLAN_H
