//===- Execution.h - An action's result -------------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   GetActionResult     is there one?
//   UpdateActionResult  there is one, of the client's own
//   Execute             a stream: cache check, queued, executing, completed
//   WaitExecution       the rest of it, if that was cut
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_REAPI_EXECUTION_H
#define DTLTO_REAPI_EXECUTION_H

#include "Server.h"

namespace dtlto::reapi {

struct Outcome {
  Fault Failed;
  re::ActionResult Result; // if it hasn't
  bool WasCached = false;
};

/// What the server has kept of the action \p Name. Fault::None and no Result:
/// nothing.
Fault findResult(Server &S, Stop &Stopping, DigestKind Kind,
                 const BlobName &Name, const std::string &Output,
                 std::unique_ptr<re::ActionResult> &Result);

/// Makes \p Result what the server has of the action \p Name, whose blobs are
/// there.
Fault putResult(Server &S, Stop &Stopping, DigestKind Kind,
                const BlobName &Name, const re::ActionResult &Result);

struct ExecuteOptions {
  BlobName Action;
  std::string Output; // empty: what it writes to standard output
  bool SkipCache = false;
  std::chrono::seconds Limit{3600}; // of silence, and of being executed
  /// Told of each DTLTO_STATE_..., with the worker's name if it is known, and
  /// whether the server says that the action is in its queue.
  std::function<void(uint32_t, const std::string &, bool IsQueued)> Report;
  /// Asked before the action is to begin once more. Not empty: why it may not.
  std::function<std::string()> WhyNot = [] { return std::string(); };
  /// Called when the server has taken it.
  std::function<void()> Begun = [] {};
};

/// Has the server execute an action whose blobs are there. What the server
/// refuses with is returned at once: whoever knows of the other executions
/// decides whether and when it is asked again.
Outcome execute(Server &S, Stop &Stopping, DigestKind Kind,
                const ExecuteOptions &O);

/// Microseconds from \p Begin to \p End; 0 if that isn't known.
uint64_t microsecondsBetween(const google::protobuf::Timestamp &Begin,
                             const google::protobuf::Timestamp &End);

} // namespace dtlto::reapi

#endif // DTLTO_REAPI_EXECUTION_H
