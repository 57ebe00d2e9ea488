//===- Host.cpp - A host of the farm, as this link knows it ---------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Host.h"
#include <algorithm>

using namespace dtlto::distcc;

/// The slot's number.
int Host::take(uint64_t Job) {
  ++NumBusy;
  auto It = std::find(InSlot.begin(), InSlot.end(), 0);
  if (It == InSlot.end())
    It = InSlot.insert(It, 0);
  *It = Job;
  return static_cast<int>(It - InSlot.begin());
}

void Host::release(uint64_t Job) {
  --NumBusy;
  *std::find(InSlot.begin(), InSlot.end(), Job) = 0;
}

void Host::learn(uint64_t Cost, Clock::duration Took) {
  double Seconds = std::max(std::chrono::duration<double>(Took).count(), 0.001);
  double Now = static_cast<double>(std::max<uint64_t>(Cost, 1)) / Seconds;
  // Jobs differ, and so does a machine's other work: some of the past counts.
  Speed = Speed == 0 ? Now : 0.7 * Speed + 0.3 * Now;
}
