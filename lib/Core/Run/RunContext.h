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

  /// Of two runs for one link, the first: what it writes for the user has that
  /// in its name.
  bool IsFirstRound = false;
  /// The user knows which modules stay here: it is the second run of their
  /// jobs.
  bool HasToldWhatStays = false;

  Messages &msg() const { return Host.Msg; }
  const Options &opts() const { return Opts; }
  /// Where this run writes what the user wants at \p Path: x.json becomes
  /// x.round1.json in the first of two.
  std::string fileOfRound(llvm::StringRef Path) const {
    if (!IsFirstRound)
      return Path.str();
    llvm::StringRef Extension = llvm::sys::path::extension(Path);
    return (Path.drop_back(Extension.size()) + ".round1" + Extension).str();
  }
};

} // namespace dtlto

#endif // DTLTO_RUN_RUNCONTEXT_H
