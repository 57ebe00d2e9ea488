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
static const char *brokenRule(const Job &J, const Options &Opts) {
  unsigned NumAtPlugin = 0, NumLocal = 0;
  for (const Attempt *A : J.Attempts)
    if (!A->IsOrphan)
      ++(A->isAtPlugin() ? NumAtPlugin : NumLocal);
  if ((J.At == Stage::UnderWay) != (NumAtPlugin + NumLocal != 0))
    return "no attempt is running, or one is although the job has its object";
  if (NumAtPlugin > 2 || NumLocal > 1 || J.Tries > Opts.MaxTries ||
      J.Duplicates > Opts.MaxTries)
    return "has too many attempts";
  if (J.Info.HasSideFiles && NumAtPlugin != 0 && NumLocal != 0)
    return "two attempts write its side files";
  return nullptr;
}

std::string Plan::check() const {
  bool EndsLocally = false; // a job that has its object is still being compiled
  for (JobId J = 0; J != Jobs.size(); ++J) {
    EndsLocally |= Jobs[J].At == Stage::Held && !Jobs[J].IsProven &&
                   !Jobs[J].Attempts.empty();
    if (const char *Rule = brokenRule(Jobs[J], Opts))
      return "job " + std::to_string(J) + ": " + Rule;
  }
  const JobSums &S = Jobs.sums();
  if (S.NumHeld != 0 && S.NumHeld + S.NumEnded == Jobs.size() &&
      (Opts.VerifyPercent == 0 || Executor.hasCompared() || !EndsLocally))
    return "objects are held although all comparisons are done";
  if (!Jobs.in(State::Queued).empty() &&
      Jobs.in(State::Compiling).size() < Local.limit()) {
    const Attempt &Next = **Jobs.in(State::Queued).begin();
    LocalThreads Copy = Local;
    Copy.beginStep();
    // The attempt may only wait for memory, or for a token that was requested.
    if (keepsLocalOrder(Next) &&
        (Copy.hasRoom(Jobs[Next]) || Copy.requestToken()))
      return "job " + std::to_string(Next.Job) +
             ": waits for a thread although one is idle";
  }
  if (!Jobs.hasEnded() && numOnThreads() == 0 && Jobs.numAtPlugin() == 0 &&
      !Plugin.isOpening() && wakeUp() == Never)
    return "no attempt is running, and jobs are left";
  return {};
}
