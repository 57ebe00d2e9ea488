//===- JobResult.h - The result of an attempt at a job ----------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Decides whether a plugin's answer is a good object, or which failure it is.
// Thread-safe.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_RUN_JOBRESULT_H
#define DTLTO_RUN_JOBRESULT_H

#include "Bundle/JobOutputs.h"
#include "Host/SessionEvents.h"
#include "Plan/Plan.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace dtlto {

/// The result of an attempt, until it is delivered or discarded.
struct JobResult {
  Buffer Object;
  bool MayBeEmpty = false; // LLVM correctly made no object
  // For workers that make files as well as the object.
  Buffer Packed;               // as received
  JobOutputs Outputs;          // views into Packed
  std::string CacheEntry = {}; // the object's cache file; empty if none
  bool IsFound = false;        // in the remote cache
};

/// Splits a worker's output in \p R into the object and its side files.
llvm::Error unpack(JobResult &R, const SideFiles &Side);

/// A worker's result, for comparison. Borrowed.
struct RemoteResult {
  llvm::StringRef Object;
  JobOutputs Outputs;     // next to the object
  SideFiles Side;         // the paths of the local ones
  std::string Worker;     // empty if unknown
  std::string CacheEntry; // the object's cache file; empty if none
};

using ObjectDigest = std::array<uint8_t, 32>;
ObjectDigest digestOf(llvm::StringRef Object);

/// An object that the check refused. It may be valid for an unusual program:
/// then another compile makes the same object.
struct RefusedObject {
  plan::AttemptId Attempt;
  plan::WorkerId Worker;
  ObjectDigest Digest;
};

/// A plugin's answer to an attempt, and what is wrong with it.
struct CheckedResult {
  Event E;                                 // Done, without its object
  JobResult Result;                        // what the event brought
  plan::Cause Failure = plan::Cause::None; // None: the result is good
  std::string Why;                         // why it isn't good, in one line
  ObjectDigest Digest = {};                // of the result, if BadResult
};

/// Checks \p E, a Done event of a job for \p Module. Parses the event's text
/// and adds the compiler's messages to the event. \p Side lists the files that
/// must come with the object. \p Check fails, with a reason, if the object is
/// invalid.
CheckedResult
checkResult(Event E, llvm::StringRef Module, const SideFiles &Side,
            llvm::function_ref<llvm::Error(llvm::StringRef)> Check);

} // namespace dtlto

#endif // DTLTO_RUN_JOBRESULT_H
