//===- JobResult.h - What an attempt at a job came to -----------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Whether a plugin's answer is a good object or which failure it is. Any
// thread.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_RUN_JOBRESULT_H
#define DTLTO_RUN_JOBRESULT_H

#include "Bundle/JobOutputs.h"
#include "Host/SessionEvents.h"
#include "Plan/Plan.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace dtlto {

/// What an attempt has made, until it is delivered or of no use.
struct JobResult {
  Buffer Object;
  bool MayBeEmpty = false; // LLVM made none, and that is right
  // Of a worker that makes files beside the object.
  Buffer Packed;               // as they came
  JobOutputs Outputs;          // in Packed
  std::string CacheEntry = {}; // the file that it is from; empty: none
};

/// What a worker has made, and where, to be compared. Borrowed.
struct Made {
  llvm::StringRef Object;
  JobOutputs Outputs;     // beside the object
  SideFiles Side;         // where those made here are
  std::string Worker;     // empty: not known
  std::string CacheEntry; // the file that it is from; empty: none
};

struct Verdict {
  plan::Cause Failure = plan::Cause::None; // None: the result is good
  std::string Why;                         // it isn't, one line
};

/// Judges \p E, a Done event of a job for \p Module, and finds the compiler's
/// messages in what was said with it. \p R becomes what the event brought; \p
/// Side is what has to come with the object, and \p Check fails, with a reason,
/// if it is no good.
Verdict judge(Event &E, llvm::StringRef Module, const SideFiles &Side,
              llvm::function_ref<llvm::Error(llvm::StringRef)> Check,
              JobResult &R);

} // namespace dtlto

#endif // DTLTO_RUN_JOBRESULT_H
