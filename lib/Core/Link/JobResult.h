//===- JobResult.h - What an attempt at a job came to -----------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Whether a plugin's answer is a good object or which failure it is, and the
// way of a good one to LLVM. Any thread.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_LINK_JOBRESULT_H
#define DTLTO_LINK_JOBRESULT_H

#include "Bundle/JobOutputs.h"
#include "Host/SessionEvents.h"
#include "Plan/Plan.h"
#include "LLVM/ThinBackend.h"

namespace dtlto {

struct Task;

/// What an attempt has made, until it is delivered or of no use.
struct JobResult {
  Buffer Object;
  bool MayBeEmpty = false; // LLVM made none, and that is right
  // Of a worker that makes files beside the object.
  Buffer Packed;               // as they came
  JobOutputs Outputs;          // in Packed
  std::string CacheEntry = {}; // the file that it is from; empty: none
};

struct Verdict {
  plan::Cause Failure = plan::Cause::None; // None: the result is good
  std::string Why;                         // it isn't, one line
};

/// Judges \p E, a Done event for a job that is compiled for \p Target. \p R
/// becomes what the event brought; \p Side is what has to come with the object.
Verdict judge(Event &E, const llvm::lto::Config &Conf,
              const llvm::Triple &Target, const SideFiles &Side, JobResult &R);

/// Writes what comes with the object of \p T to \p Side, then the object to the
/// stream that \p Out makes.
llvm::Error write(const JobResult &R, const Task &T, const SideFiles &Side,
                  const llvm::AddStreamFn &Out);

} // namespace dtlto

#endif // DTLTO_LINK_JOBRESULT_H
