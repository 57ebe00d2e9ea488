//===- Execution.h - Looks up and executes actions --------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   GetActionResult     looks for a cached result
//   UpdateActionResult  stores a result of the client
//   Execute             a stream: cache check, queued, executing, completed
//   WaitExecution       the rest of the stream, if it was interrupted
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_REAPI_EXECUTION_H
#define DTLTO_REAPI_EXECUTION_H

#include "Server.h"

namespace dtlto::reapi {

struct Outcome {
  Fault Failed;
  re::ActionResult Result; // if there is no fault
  bool WasCached = false;
};

/// Fetches the cached result of the action \p Name. Leaves \p Result empty if
/// there is none.
Fault findResult(Server &S, Stop &Stopping, DigestKind Kind,
                 const BlobName &Name, const std::string &Output,
                 std::unique_ptr<re::ActionResult> &Result);

/// Stores \p Result, whose blobs must be uploaded, for the action \p Name.
Fault putResult(Server &S, Stop &Stopping, DigestKind Kind,
                const BlobName &Name, const re::ActionResult &Result);

struct ExecuteOptions {
  BlobName Action;
  std::string Output; // empty: its standard output
  bool SkipCache = false;
  std::chrono::seconds Limit{3600}; // for silence, and for the execution
  /// Called with each DTLTO_STATE_..., the worker's name if known, and whether
  /// the server reports that the action is in its queue.
  std::function<void(uint32_t, const std::string &, bool IsQueued)> OnState;
  /// Called before the action restarts. Returns why it may not, or nothing.
  std::function<std::string()> WhyNot = [] { return std::string(); };
  /// Called when the server has accepted the action.
  std::function<void()> OnAccepted = [] {};
};

/// Executes an action whose blobs are uploaded. Returns refusals at once: the
/// caller knows the other executions and decides about retries.
Outcome execute(Server &S, Stop &Stopping, DigestKind Kind,
                const ExecuteOptions &O);

/// Returns the microseconds from \p Begin to \p End, or 0 if they are unknown.
uint64_t microsecondsBetween(const google::protobuf::Timestamp &Begin,
                             const google::protobuf::Timestamp &End);

} // namespace dtlto::reapi

#endif // DTLTO_REAPI_EXECUTION_H
