//===- Steps.h - The steps of a job -----------------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What can be done with a job, from its preparation to its end, at the plugin
// or locally. Each step changes the table, and adds the actions that carry it
// out. The plan decides which step is next.
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
  Steps(const Options &O, JobTable &Jobs, PluginView &Plugin,
        LocalThreads &Local)
      : O(O), Jobs(Jobs), Plugin(Plugin), Local(Local) {}

  std::vector<Action> takeActions() { return std::exchange(Actions, {}); }
  Action &act(Action::Kind What, JobId J = 0, AttemptId A = 0,
              Cause Why = Cause::None);
  bool hasFailed() const { return Failing; }
  bool hasCompared() const { return HasCompared; }

  // A job begins.
  /// The first preparation of \p J.
  void prepare(JobId J, bool ForPlugin, Cause Why);
  /// Gives the plugin \p J once more.
  void prepareAgain(JobId J, AttemptKind K, WorkerId Avoid);
  /// \p J was prepared, and is to be compiled locally when there is a thread.
  const Attempt &compileHere(JobId J, Cause Why, WorkerId Slow = 0);
  /// \p A has its thread.
  void compile(const Attempt &A);
  /// The plugin can't do \p J, as \p Failed has shown.
  void fallBack(JobId J, AttemptId Failed, Cause Why);

  // An attempt ends.
  /// \p A is not needed any more. If a thread works on it, it stays until the
  /// thread comes back.
  void cancel(const Attempt &A, Cause Why);
  void cancelAll(JobId J, Cause Why);
  void remove(const Attempt &A);
  /// Cancels \p A, a duplicate that finds no room, and doesn't count it.
  void dropDuplicate(const Attempt &A);
  /// \p A has the job's object. The job's other attempts are cancelled, except
  /// one that is to be compared with it.
  void win(const Attempt &A);
  /// The object of \p A wins if it is equal to one that is made locally.
  void compare(const Attempt &A);
  /// The result of \p Wrong was not good.
  void refute(JobId J, AttemptId Wrong, Cause Why);

  // A job ends.
  /// The object of \p J is good. But where one differs, all others are suspect:
  /// if any are compared, none is delivered before.
  void hold(JobId J);
  /// Delivers what is held once nothing is left to compare.
  void deliverHeld();
  void verify(const Attempt &A);
  /// The object of \p J is \p IsEqual to the one that was made locally.
  void verified(JobId J, bool IsEqual);
  void endJob(JobId J, Cause Why);
  /// How \p A ends is how its job does.
  void endWith(const Attempt &A, Cause Why);

  // The link ends.
  /// Nothing more is started; what a thread works on is waited for.
  void failLink(JobId Blamed, AttemptId Failed, Cause Why);
  void dropPlugin(Cause Why);

private:
  bool compareAHeldOne();
  void deliver(JobId J);

  const Options &O;
  JobTable &Jobs;
  PluginView &Plugin;
  LocalThreads &Local;
  std::vector<Action> Actions;                     // of this step
  bool Failing = false;                            // the link has failed
  bool HasCompared = false, HasDifference = false; // any object
};

} // namespace dtlto::plan

#endif // DTLTO_CORE_PLAN_STEPS_H
