//===- RunContext.h - The context of a run ----------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_RUN_RUNCONTEXT_H
#define DTLTO_RUN_RUNCONTEXT_H

#include "Host/HostContext.h"
#include "Host/RemoteStore.h"
#include "Report/Progress.h"
#include "Report/Timeline.h"
#include "Run/Options.h"
#include "llvm/Support/Path.h"
#include <chrono>

namespace dtlto {

/// The context of the driver and its observers, whatever the jobs are.
/// References outlive the run. In Run, only this file knows that a link may
/// have two rounds.
struct RunContext {
  const HostContext &Host;
  const Options &Opts;
  /// Takes the record of the run, for --time-trace. May be null.
  std::vector<Timeline> *Timelines = nullptr;
  std::shared_ptr<RemoteStore> Store = nullptr; // the remote cache; may be null
  std::chrono::steady_clock::time_point StartTime = {}; // at the first task
  std::chrono::steady_clock::time_point SetUp = {}; // when LLD set up its LTO
  const char *Units = "modules"; // what messages count jobs as

  /// 1 or 2 if the link has two rounds, each with all jobs; otherwise 0.
  unsigned Round = 0;
  /// When the first of two rounds began.
  std::chrono::steady_clock::time_point FirstRoundStart = {};
  /// Data of the first round for the second. Null: there is one round.
  struct RoundNotes {
    Timeline Record;
    std::string LocalReasons; // which jobs are compiled locally, and why
  } *First = nullptr;

  Messages &msg() const { return Host.Msg; }
  const Options &opts() const { return Opts; }
  /// Whether this is the link's last round.
  bool isLast() const { return Round != 1; }
  /// Adds the first round's record to \p Record, that of the last.
  void addEarlierStage(Timeline &Record) const {
    if (First && isLast())
      Record.addEarlierStage(
          std::move(First->Record),
          std::chrono::duration<double>(StartTime - FirstRoundStart).count());
  }
  /// Whether the link has already reported \p LocalReasons. If not, notes that
  /// it has.
  bool wasReported(std::string LocalReasons) const {
    return First &&
           std::exchange(First->LocalReasons, LocalReasons) == LocalReasons;
  }
  /// Returns this run's file for the user's \p Path, if each round has a file
  /// of its own: x.log becomes x.round1.log in the first of two.
  std::string fileFor(llvm::StringRef Path) const {
    if (isLast())
      return Path.str();
    llvm::StringRef Extension = llvm::sys::path::extension(Path);
    return (Path.drop_back(Extension.size()) + ".round1" + Extension).str();
  }
  /// Sets the share of this run in the link's progress.
  void setShare(Progress &Line) const {
    if (Round != 0)
      Line.setShare(Round - 1, 2, FirstRoundStart,
                    "codegen (round " + std::to_string(Round) + " of 2) ");
  }
};

} // namespace dtlto

#endif // DTLTO_RUN_RUNCONTEXT_H
