//===- CostObserver.cpp - Steps teach the cost history --------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Run/CostObserver.h"

using namespace llvm;
using namespace dtlto;

using PlanEvent = plan::Event;

void CostObserver::saw(const Step &S) {
  if (!S.E)
    return;
  double Took = S.E->Seconds;
  switch (S.E->What) {
  case PlanEvent::StateChanged: {
    Times &T = Seen[S.E->Attempt];
    auto &When =
        S.E->State == plan::PluginState::Receiving ? T.Receiving : T.Running;
    if (S.E->State >= plan::PluginState::Running && !When)
      When = S.Now;
    return;
  }
  case PlanEvent::CompiledHere:
    break;
  case PlanEvent::Succeeded:
    if (!S.E->RanHere) {
      Times T = Seen.lookup(S.E->Attempt);
      if (!T.Running)
        return;
      Took = std::chrono::duration<double>(T.Receiving.value_or(S.Now) -
                                           *T.Running)
                 .count();
    }
    break;
  default:
    return;
  }
  Costs.record(Run.costKey(S.Job), Run.bitcodeSize(S.Job), Took, S.E->Bytes);
}
