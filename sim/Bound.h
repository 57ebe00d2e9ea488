//===- Bound.h - The time limit of a simulated link -------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A link may take at most the time that someone who knows the farm would
// expect.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_SIM_BOUND_H
#define DTLTO_SIM_BOUND_H

#include "Scenario.h"
#include <optional>

namespace dtlto::sim {

/// The share of a local compile that can be cancelled. The rest is code
/// generation, which runs to its end.
constexpr double StoppableShare = 0.6;

struct Bound {
  double Seconds;
  const char *Rule; // the rule that a longer link breaks
};

/// Returns the link's time limit. There is none for links with other faults, or
/// if the user's options determine the link's time.
std::optional<Bound> boundOf(const Scenario &S);

/// The number of driver threads that prepare, compare and deliver.
unsigned numHelpers(const plan::Options &Opts);

} // namespace dtlto::sim

#endif // DTLTO_SIM_BOUND_H
