//===- JobRun.h - One job, from its action to its object --------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The life of a job, on its own thread from the SDK's pool:
//
//   make an action                     -> its digest
//   look it up in the action cache     -> the object, or nothing
//   upload its blobs                   -> those that are missing
//   have it executed                   -> queued, running, the object
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_REAPI_JOBRUN_H
#define DTLTO_REAPI_JOBRUN_H

#include "Client.h"
#include <optional>

namespace dtlto::reapi {

/// One thread, except for the job's cancellation. Failures throw sdk::Error.
class JobRun {
public:
  JobRun(Client &Session, const sdk::Job &LinkerJob);
  ~JobRun() { LinkerJob.onCancel(nullptr); }
  JobRun(const JobRun &) = delete;

  sdk::Result run();

private:
  sdk::Result runReady();
  /// runReady() for a processor that the worker may not support.
  sdk::Result runForeign(const std::string &Target);
  /// Client::answerOnce() for this job.
  void answerOnce(Client::Question &Q, const std::function<void()> &Ask);
  std::optional<sdk::Result> fromCache(const Action &A);
  /// Asks one of the workers whether their clang has exactly the linker's
  /// version.
  void checkCompiler();
  std::string queryCompiler();
  sdk::Result execute(const Action &A);
  /// Executes \p O.Action, with retries within the limits of README.md. \p A
  /// has its blobs. Returns the last outcome.
  Outcome tryToExecute(const Action &A, ExecuteOptions &O);
  /// Tries once. Sets \p IsRefusal to whether the server has not accepted it,
  /// and \p RefusalStreak to the number of refusals in a row.
  Outcome tryOnce(ExecuteOptions &O, bool &IsRefusal, unsigned &RefusalStreak);
  /// Prepares retry \p Try of \p A, which has failed with \p F.
  void prepareRetry(const Action &A, const Fault &F, unsigned Try);
  /// Handles \p RefusalStreak refused executions in a row, the last with \p F.
  void onRefusal(const Fault &F, unsigned RefusalStreak);
  void uploadAll(const Action &A);
  /// Makes the job's result from \p R, which comes from \p By.
  sdk::Result conclude(const Action &A, re::ActionResult &R,
                       const std::string &By);
  /// Fetches the object of \p R, with memory of \p Share.
  std::string fetchObject(const Action &A, re::ActionResult &R,
                          const std::string &By,
                          sdk::ResultMemory::Share &Share);
  std::string standardError(const re::ActionResult &R);
  /// Returns the text \p D, or nothing if it is too long or can't be fetched.
  std::string read(const re::Digest &D);
  /// Reports the times of an execution.
  void count(const re::ExecutedActionMetadata &M);
  /// Throws if the job was cancelled, or the server can't be used.
  void checkStopped();
  /// Throws the reason why the job was stopped.
  [[noreturn]] void throwStopped();
  /// Throws the error that \p F means for the job.
  [[noreturn]] void fail(const Fault &F, const std::string &Activity);

  Client &Session;
  const sdk::Job &LinkerJob;
  Stop Cancelled; // also raised if the server can't be used
  const Client::Registration Registered;
  /// The action cache's result is bad, or unwanted.
  bool SkipsCache = false;
};

} // namespace dtlto::reapi

#endif // DTLTO_REAPI_JOBRUN_H
