//===- Steps.h - The steps of a job -----------------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The steps of a job, from its preparation to its end, at the plugin or
// locally. Each step changes the table, and adds the actions that carry it out.
// The plan chooses the next step.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_CORE_PLAN_STEPS_H
#define DTLTO_CORE_PLAN_STEPS_H

#include "Plan/Events.h"
#include "Plan/LocalThreads.h"
#include "Plan/PluginView.h"

namespace dtlto::plan {

class Steps {
public:
  Steps(const Options &Opts, JobTable &Jobs, PluginView &Plugin,
        LocalThreads &Local)
      : Opts(Opts), Jobs(Jobs), Plugin(Plugin), Local(Local) {}

  std::vector<Action> takeActions() { return std::exchange(Actions, {}); }
  Action &addAction(Action::Kind What, JobId J = 0, AttemptId A = 0,
                    Cause Why = Cause::None);
  bool hasFailed() const { return IsFailing; }
  bool hasCompared() const { return HasCompared; }

  // A job begins.
  /// Prepares \p J for the first time.
  void prepare(JobId J, bool ForPlugin, Cause Why);
  /// Gives \p J to the plugin once more.
  void prepareAgain(JobId J, AttemptKind K, WorkerId Avoid);
  /// Queues \p J, which is prepared, for a local thread.
  const Attempt &queueLocally(JobId J, Cause Why, WorkerId Slow = 0);
  /// Starts \p A on a local thread.
  void compile(const Attempt &A);
  /// Handles a job that the plugin can't do, as attempt \p FailedAttempt has
  /// shown.
  void fallBack(JobId J, AttemptId FailedAttempt, Cause Why);

  // An attempt ends.
  /// Cancels \p A. If a thread works on it, it stays in the table until the
  /// thread is done.
  void cancel(const Attempt &A, Cause Why);
  void cancelAll(JobId J, Cause Why);
  void remove(const Attempt &A);
  /// Cancels \p A, a duplicate that finds no room, and doesn't count it.
  void dropDuplicate(const Attempt &A);
  /// \p A has the job's object. Cancels the job's other attempts, except one
  /// whose object is to be compared.
  void win(const Attempt &A);
  /// \p A has an object that wins if it equals one that is compiled locally.
  void compare(const Attempt &A);
  /// The remote cache has the object of \p J.
  void useFound(JobId J);
  /// Tells the plugin that the result of \p WrongAttempt was bad.
  void refute(JobId J, AttemptId WrongAttempt, Cause Why);

  // A job ends.
  /// \p J has a good object. If any objects are compared, holds it until all
  /// these are equal: if one differs, all others are suspect.
  void hold(JobId J);
  /// Delivers held objects once nothing is left to compare.
  void deliverHeld();
  void verify(const Attempt &A);
  /// Handles the comparison: whether the object of \p J is \p IsEqual to the
  /// local one.
  void finishVerification(JobId J, bool IsEqual);
  void endJob(JobId J, Cause Why);
  /// Ends \p A and with it its job.
  void endWith(const Attempt &A, Cause Why);

  // The link ends.
  /// Fails the link: starts nothing more, but waits for running threads.
  void failLink(JobId BlamedJob, AttemptId FailedAttempt, Cause Why);
  void dropPlugin(Cause Why);

private:
  bool compareHeldObject();
  void deliver(JobId J);

  const Options &Opts;
  JobTable &Jobs;
  PluginView &Plugin;
  LocalThreads &Local;
  std::vector<Action> Actions;                     // of this step
  bool IsFailing = false;                          // the link has failed
  bool HasCompared = false, HasDifference = false; // of any object
};

} // namespace dtlto::plan

#endif // DTLTO_CORE_PLAN_STEPS_H
