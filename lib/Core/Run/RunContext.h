//===- RunContext.h - What a run of jobs goes by ----------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_RUN_RUNCONTEXT_H
#define DTLTO_RUN_RUNCONTEXT_H

#include "Host/HostContext.h"
#include "Report/Timeline.h"
#include "Run/Options.h"
#include "llvm/Support/Path.h"
#include <chrono>

namespace dtlto {

/// What the driver and its observers know, whatever the jobs are. References
/// outlive the run.
struct RunContext {
  const HostContext &Host;
  const Options &Opts;
  /// Takes the record of the run, for --time-trace. Null: nobody wants it.
  std::vector<Timeline> *Timelines = nullptr;
  std::chrono::steady_clock::time_point Started = {}; // the first task came
  std::chrono::steady_clock::time_point SetUp = {};   // LLD began with its LTO

  /// Of two runs for one link, of the same jobs: 1, 2; 0: there is one.
  unsigned RunOfTwo = 0;
  /// When the first of two began.
  std::chrono::steady_clock::time_point BothStarted = {};
  /// Takes the record of the first run, for the second one's. Null: there is
  /// one run.
  Timeline *FirstRecord = nullptr;
  /// Takes which jobs of the first run stay here, and why: the second says it
  /// only if that is another. Null: there is one run.
  std::string *FirstStays = nullptr;

  Messages &msg() const { return Host.Msg; }
  const Options &opts() const { return Opts; }
  /// Where this run writes what the user wants at \p Path, and each run has
  /// its own: x.log becomes x.round1.log in the first of two.
  std::string fileOfRound(llvm::StringRef Path) const {
    if (RunOfTwo != 1)
      return Path.str();
    llvm::StringRef Extension = llvm::sys::path::extension(Path);
    return (Path.drop_back(Extension.size()) + ".round1" + Extension).str();
  }
};

} // namespace dtlto

#endif // DTLTO_RUN_RUNCONTEXT_H
