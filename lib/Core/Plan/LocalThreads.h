//===- LocalThreads.h - Memory and tokens for local jobs --------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_CORE_PLAN_LOCALTHREADS_H
#define DTLTO_CORE_PLAN_LOCALTHREADS_H

#include "Plan/JobTable.h"
#include <algorithm>

namespace dtlto::plan {

/// Whether another job may be compiled locally. One always may; each that runs
/// next to it needs memory and, in a build with a jobserver, a token.
class LocalThreads {
public:
  LocalThreads(const Options &O, const JobTable &Jobs) : O(O), Jobs(Jobs) {}

  /// The user's own number is kept, but one must be able to run.
  unsigned limit() const {
    return O.LocalJobs ? std::max(1u, *O.LocalJobs) : O.Cores;
  }

  void beginStep() { LacksToken = false; }
  /// Whether \p J has memory and a token after \p NumBefore others that will
  /// take \p BytesBefore. If not, something runs locally whose end is an event,
  /// or a token is asked for.
  bool hasRoom(const Job &J, size_t NumBefore = 0, uint64_t BytesBefore = 0) {
    size_t Num = numRunning() + NumBefore;
    if (Num == 0)
      return true;
    uint64_t Taken = Jobs.sums().BytesHere + BytesBefore;
    if (Taken > O.MaxBytesHere || J.Info.BytesHere > O.MaxBytesHere - Taken)
      return false;
    bool HasToken = !O.NeedsTokens || Tokens >= Num;
    LacksToken |= !HasToken;
    return HasToken;
  }

  size_t numTokens() const { return Tokens; }
  /// Whether to ask for a token: one at a time.
  bool askToken() { return LacksToken && !std::exchange(IsAsked, true); }
  void takeToken() {
    IsAsked = false;
    ++Tokens;
  }
  void returnToken() { --Tokens; }
  /// There is a token that no local job has, or is to have once it is prepared.
  bool hasSpareToken() const {
    return Tokens != 0 && Tokens >= numRunning() + Jobs.sums().NumPreparingHere;
  }

private:
  /// The plugin's local jobs have their own tokens, but one has the linker's.
  size_t numRunning() const {
    return Jobs.in(AttemptState::Compiling).size() +
           (Jobs.sums().NumPluginHere != 0);
  }

  const Options &O;
  const JobTable &Jobs;
  size_t Tokens = 0;       // that were taken
  bool IsAsked = false;    // for one more
  bool LacksToken = false; // in this step, a job could use one more
};

} // namespace dtlto::plan

#endif // DTLTO_CORE_PLAN_LOCALTHREADS_H
