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

/// What an attempt has made, until it is delivered or discarded.
struct JobResult {
  Buffer Object;
  bool MayBeEmpty = false; // LLVM made none, and that is right
  // Of a worker that makes files as well as the object.
  Buffer Packed;               // as they came
  JobOutputs Outputs;          // in Packed
  std::string CacheEntry = {}; // the file that it is from; empty: none
};

/// What a worker has made, and where, to be compared. Borrowed.
struct Made {
  llvm::StringRef Object;
  JobOutputs Outputs;     // with the object
  SideFiles Side;         // where those made here are
  std::string Worker;     // empty: not known
  std::string CacheEntry; // the file that it is from; empty: none
};

using ObjectDigest = std::array<uint8_t, 32>;
ObjectDigest digestOf(llvm::StringRef Object);

/// An object that the check refused. It may be as unusual as its program: then
/// another compile makes the same.
struct RefusedObject {
  plan::AttemptId Attempt;
  plan::WorkerId Worker;
  ObjectDigest Digest;
};

/// A plugin's answer to an attempt, and what is wrong with it.
struct CheckedResult {
  Event E;                                 // Done, without its object
  JobResult Result;                        // what it brought
  plan::Cause Failure = plan::Cause::None; // None: the result is good
  std::string Why;                         // it isn't, one line
  ObjectDigest Digest = {};                // BadResult: of what it brought
};

/// Checks \p E, a Done event of a job for \p Module. Adds the compiler's
/// messages in the event's text to the event. \p Side is what has to come with
/// the object. \p Check fails, with a reason, if the object is invalid.
CheckedResult
checkResult(Event E, llvm::StringRef Module, const SideFiles &Side,
            llvm::function_ref<llvm::Error(llvm::StringRef)> Check);

} // namespace dtlto

#endif // DTLTO_RUN_JOBRESULT_H
