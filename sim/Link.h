//===- Link.h - Simulates one link ------------------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One link, as a discrete simulation without a clock or threads: a plan, a
// driver that carries out its actions, as the linker's does, and a plugin with
// a farm. Each step is checked against all rules: those of the plan itself,
// those of Rules.h, and that the link ends.
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
  std::string Log;       // if wanted
  plan::Time End = {};   // of the last job
  // For a second round:
  bool IsGood = true;         // each job has an object
  std::vector<BusySlot> Busy; // slots of the farm whose jobs aren't needed
  // Counts:
  bool IsDropped = false; // the plugin
  size_t NumLocal = 0, NumDuplicates = 0, NumFailed = 0;
};

/// Runs the link of \p S to its end, or until a rule is broken.
LinkResult simulate(const Scenario &S, bool WantsLog = false);

/// A link with two rounds of code generation: two plans, one after the other,
/// with one farm. A fault occurs in the first round, in the second, or in both.
/// So there are stragglers, failures and duplicates just before the barrier,
/// jobs that fall back in one round only, and plugins that give up between the
/// two. The second round begins with the farm in the state in which the first
/// left it: machines have died, and slots have jobs that aren't needed any
/// more.
struct TwoRounds {
  LinkResult First;
  std::optional<LinkResult> Second; // if all jobs of First have objects

  /// The first broken rule, with its round.
  std::string violation() const;
};

TwoRounds simulateTwice(uint64_t Seed, const Limits &Restrictions,
                        bool WantsLog = false);

/// Prints how often each outcome occurred in each round of \p Links.
void printRounds(const std::vector<TwoRounds> &Links);

} // namespace dtlto::sim

#endif // DTLTO_SIM_LINK_H
