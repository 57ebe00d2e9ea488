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

/// Decides whether another job may be compiled locally. One may always run.
/// Each further one needs memory and, in a build with a jobserver, a token.
class LocalThreads {
public:
  LocalThreads(const Options &Opts, const JobTable &Jobs)
      : Opts(Opts), Jobs(Jobs) {}

  /// The user's number is respected, except that one must be able to run.
  unsigned limit() const {
    return Opts.LocalJobs ? std::max(1u, *Opts.LocalJobs) : Opts.Cores;
  }

  void beginStep() { LacksToken = false; }
  /// Whether \p J has memory and a token after \p NumBefore others that will
  /// use \p BytesBefore. If not, either a local job is running whose end is an
  /// event, or a token will be requested.
  bool hasRoom(const Job &J, size_t NumBefore = 0, uint64_t BytesBefore = 0) {
    size_t Num = numRunning() + NumBefore;
    if (Num == 0)
      return true;
    uint64_t UsedBytes = Jobs.sums().LocalBytes + BytesBefore;
    if (UsedBytes > Opts.MaxLocalBytes ||
        J.Info.LocalBytes > Opts.MaxLocalBytes - UsedBytes)
      return false;
    bool HasToken = !Opts.NeedsTokens || Tokens >= Num;
    LacksToken |= !HasToken;
    return HasToken;
  }

  size_t numTokens() const { return Tokens; }
  /// Whether to request a token; only one request at a time.
  bool requestToken() {
    return LacksToken && !std::exchange(IsTokenRequested, true);
  }
  void takeToken() {
    IsTokenRequested = false;
    ++Tokens;
  }
  void returnToken() { --Tokens; }
  /// Whether there is a token that no job needs that is, or will be, compiled
  /// locally.
  bool hasSpareToken() const {
    return Tokens != 0 &&
           Tokens >= numRunning() + Jobs.sums().NumPreparingLocal;
  }

private:
  /// The plugin's local jobs have their own tokens, except one that uses the
  /// linker's.
  size_t numRunning() const {
    return Jobs.in(AttemptState::Compiling).size() +
           (Jobs.sums().NumPluginLocal != 0);
  }

  const Options &Opts;
  const JobTable &Jobs;
  size_t Tokens = 0;             // taken so far
  bool IsTokenRequested = false; // one more
  bool LacksToken = false;       // a job of this step could use one more
};

} // namespace dtlto::plan

#endif // DTLTO_CORE_PLAN_LOCALTHREADS_H
