//===- RunContext.h - What a run of jobs goes by ----------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_RUN_RUNCONTEXT_H
#define DTLTO_RUN_RUNCONTEXT_H

#include "Host/HostContext.h"
#include "Report/Progress.h"
#include "Report/Timeline.h"
#include "Run/Options.h"
#include "llvm/Support/Path.h"
#include <chrono>

namespace dtlto {

/// What the driver and its observers know, whatever the jobs are. References
/// outlive the run. Only this file knows that a link may have two rounds.
struct RunContext {
  const HostContext &Host;
  const Options &Opts;
  /// Takes the record of the run, for --time-trace. May be null.
  std::vector<Timeline> *Timelines = nullptr;
  std::chrono::steady_clock::time_point Started = {}; // the first task came
  std::chrono::steady_clock::time_point SetUp = {};   // LLD began with its LTO

  /// Of two rounds, each of which runs all jobs: 1, 2; 0: there is one.
  unsigned Round = 0;
  /// When the first of two began.
  std::chrono::steady_clock::time_point BothStarted = {};
  /// What the first round leaves for the second. Null: there is one round.
  struct RoundNotes {
    Timeline Record;
    std::string Stays; // which jobs are compiled locally, and why
  } *First = nullptr;

  Messages &msg() const { return Host.Msg; }
  const Options &opts() const { return Opts; }
  /// No other round of the link follows.
  bool isLast() const { return Round != 1; }
  /// Whether the link has reported \p Stays, or else has now.
  bool wasReported(std::string Stays) const {
    return First && std::exchange(First->Stays, Stays) == Stays;
  }
  /// Where this run writes what the user wants at \p Path, if each round has a
  /// file of its own: x.log becomes x.round1.log in the first of two.
  std::string fileFor(llvm::StringRef Path) const {
    if (isLast())
      return Path.str();
    llvm::StringRef Extension = llvm::sys::path::extension(Path);
    return (Path.drop_back(Extension.size()) + ".round1" + Extension).str();
  }
  /// Sets the share of the link that this run is.
  void setShare(Progress &Line) const {
    if (Round != 0)
      Line.setShare(Round - 1, 2, BothStarted,
                    "codegen (round " + std::to_string(Round) + " of 2) ");
  }
};

} // namespace dtlto

#endif // DTLTO_RUN_RUNCONTEXT_H
