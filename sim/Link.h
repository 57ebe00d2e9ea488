//===- Link.h - A link that is only arithmetic ------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One link, as a discrete simulation without a clock or a thread: a plan, a
// driver that does what its actions say, as the linker's does, and a plugin
// with a farm. After each step all rules are checked: those of the plan itself,
// those of Rules.h, and that the link comes to its end.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_SIM_LINK_H
#define DTLTO_SIM_LINK_H

#include "Scenario.h"
#include <optional>
#include <string>

namespace dtlto::sim {

struct LinkResult {
  size_t NumJobs = 0;
  uint64_t NumSteps = 0;
  uint64_t Digest = 0;   // of all actions and their times
  std::string Violation; // empty: no rule was broken
  std::string Log;       // if it was wanted
  plan::Time End = {};   // of the last job
  // For a second round.
  bool IsGood = true;         // each job has an object
  std::vector<BusySlot> Busy; // of the farm, with jobs that aren't needed
  // What happened.
  bool IsDropped = false; // the plugin
  size_t NumHere = 0, NumDuplicates = 0, NumFailed = 0;
};

/// Runs the link of \p S to its end, or to the first rule that doesn't hold.
LinkResult simulate(const Scenario &S, bool WantsLog = false);

/// A link with two rounds of code generation: two plans, one after the other,
/// with one farm. A fault is there in the first round, in the second, or in
/// both. So there are stragglers, failures and duplicates just before the
/// barrier, jobs that fall back in one round only, and plugins that give up
/// between the two. The second round begins with the farm as the first leaves
/// it: machines have died, and slots have jobs that aren't needed any more.
struct TwoRounds {
  LinkResult First;
  std::optional<LinkResult> Second; // if each job of the first has a result

  /// The first rule that was broken, with its round.
  std::string violation() const;
};

TwoRounds simulateTwice(uint64_t Seed, const Limits &L, bool WantsLog = false);

/// Prints how often what happened in each round of \p Links.
void printRounds(const std::vector<TwoRounds> &Links);

} // namespace dtlto::sim

#endif // DTLTO_SIM_LINK_H
