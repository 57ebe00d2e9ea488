//===- Host.cpp - A host of the farm, as this link knows it ---------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Host.h"
#include <algorithm>

using namespace dtlto::distcc;

Host::Slot *Host::idleSlot() {
  for (Slot &S : InSlot)
    if (!S.Job && S.IsOurs)
      return &S;
  return nullptr;
}

int Host::take(uint64_t Job) {
  ++NumBusy;
  Slot *To = idleSlot();
  for (size_t I = 0; !To && I != InSlot.size(); ++I)
    if (!InSlot[I].Job)
      To = &InSlot[I];
  if (!To)
    To = &InSlot.emplace_back();
  To->Job = Job;
  return static_cast<int>(To - InSlot.data());
}

void Host::release(uint64_t Job) {
  --NumBusy;
  for (Slot &S : InSlot)
    if (S.Job == Job) {
      S.Job = 0;
      IsTaken &= !S.IsOurs;
    }
}

void Host::learn(uint64_t Cost, Clock::duration Took) {
  double Seconds = std::max(std::chrono::duration<double>(Took).count(), 0.001);
  double Now = static_cast<double>(std::max<uint64_t>(Cost, 1)) / Seconds;
  // Jobs differ, and so does a machine's other work: some of the past counts.
  Speed = Speed == 0 ? Now : 0.7 * Speed + 0.3 * Now;
}
