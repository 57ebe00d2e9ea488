//===- Bound.h - How long a simulated link may take -------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A link may take no longer than a person who knows the farm would say.
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
  const char *Rule; // what is broken by a link that takes longer
};

/// None for links with other faults, and where the user's options are what a
/// link waits for.
std::optional<Bound> boundOf(const Scenario &S);

/// How many threads of the driver's prepare, compare and deliver.
unsigned numHelpers(const plan::Options &O);

} // namespace dtlto::sim

#endif // DTLTO_SIM_BOUND_H
