//===- TwoRounds.h - Links that generate code twice -------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two rounds of code generation are two plans, one after the other, with one
// farm. A fault is there in the first round, in the second, or in both: so
// there are stragglers, failures and duplicates just before the barrier, jobs
// that fall back in one round only, and plugins that give up between the two.
// What the first round leaves at the farm is there when the second begins:
// machines that have died, and slots with jobs that aren't needed any more.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_SIM_TWOROUNDS_H
#define DTLTO_SIM_TWOROUNDS_H

#include "Link.h"
#include <optional>

namespace dtlto::sim {

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

#endif // DTLTO_SIM_TWOROUNDS_H
