//===- Check.cpp - Invariants of a plan -----------------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For the simulator, for tests, and for the end of a link that hangs. check()
// looks at everything, which takes too long for each step of a real link.
// JobTable.h keeps the sums correct by construction; the simulator checks what
// actions may do.
//
//===----------------------------------------------------------------------===//

#include "Plan/Plan.h"

using namespace dtlto::plan;

/// Returns the invariant that \p J breaks, or null.
static const char *brokenBy(const Job &J, const Options &O) {
  unsigned AtPlugin = 0, Here = 0;
  for (const Attempt *A : J.Attempts)
    if (!A->IsOrphan)
      ++(A->isAtPlugin() ? AtPlugin : Here);
  if ((J.At == Stage::UnderWay) != (AtPlugin + Here != 0))
    return "no attempt is running, or one is although the job has its object";
  if (AtPlugin > 2 || Here > 1 || J.Tries > O.MaxTries ||
      J.Duplicates > O.MaxTries)
    return "has too many attempts";
  if (J.Info.HasSideFiles && AtPlugin != 0 && Here != 0)
    return "two attempts write its side files";
  return nullptr;
}

std::string Plan::check() const {
  bool EndsHere = false; // a job that has its object is still being compiled
  for (JobId J = 0; J != Jobs.size(); ++J) {
    EndsHere |= Jobs[J].At == Stage::Held && !Jobs[J].IsProven &&
                !Jobs[J].Attempts.empty();
    if (const char *Rule = brokenBy(Jobs[J], O))
      return "job " + std::to_string(J) + ": " + Rule;
  }
  const JobSums &S = Jobs.sums();
  if (S.NumHeld != 0 && S.NumHeld + S.NumEnded == Jobs.size() &&
      (O.VerifyPercent == 0 || Do.hasCompared() || !EndsHere))
    return "objects are held although all comparisons are done";
  if (!Jobs.in(State::Queued).empty() &&
      Jobs.in(State::Compiling).size() < Local.limit()) {
    const Attempt &Next = **Jobs.in(State::Queued).begin();
    LocalThreads Copy = Local;
    Copy.beginStep();
    // The attempt may only wait for memory, or for a token that was requested.
    if (keepsOrderHere(Next) && (Copy.hasRoom(Jobs[Next]) || Copy.askToken()))
      return "job " + std::to_string(Next.Job) +
             ": waits for a thread although one is idle";
  }
  if (!Jobs.hasEnded() && numOnThreads() == 0 && Jobs.numAtPlugin() == 0 &&
      !Plugin.isOpening() && wakeUp() == Never)
    return "no attempt is running, and jobs are left";
  return {};
}
