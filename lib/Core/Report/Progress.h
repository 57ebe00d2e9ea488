//===- Progress.h - The line that shows a link's progress -------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// As in ninja: a status, then the job that began or ended last, on a single
// line that is overwritten:
//
//   [57/114] codegen foo.o on node3
//   [57/114] app: codegen foo.o on node3
//
// The second form, with the output's name, is for terminals that show the
// progress of several links.
//
// The status is a text with the placeholders of ninja's NINJA_STATUS:
//
//   %s started   %t total   %r running   %u not started   %f finished
//   %p percent finished   %P percent of the time, estimated
//   %o finished jobs per second, overall   %c the same, recently
//   %e elapsed seconds   %E seconds left, estimated
//   %w %W the same as [h:]mm:ss   %% a percent sign
//
// Unknown values are shown as "?". Times are estimated from the modules' times
// in earlier links, or from their sizes (CostHistory.h).
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_REPORT_PROGRESS_H
#define DTLTO_REPORT_PROGRESS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <chrono>
#include <deque>
#include <functional>
#include <optional>
#include <string>

namespace dtlto {

/// The default status.
inline constexpr llvm::StringLiteral DefaultStatusFormat = "[%f/%t] ";

/// Fails with a message that names the first invalid placeholder.
llvm::Error checkStatusFormat(llvm::StringRef Format);

/// Not thread-safe.
class Progress {
public:
  using TimePoint = std::chrono::steady_clock::time_point;
  struct Screen {
    /// Shows a line; on a terminal, in place of the one before. An empty one
    /// removes it.
    std::function<void(llvm::StringRef Line)> Show;
    /// The terminal's width in columns, 0 if unknown. Without a terminal,
    /// unset: then each finished job gets a line of its own.
    std::function<std::optional<unsigned>()> Columns;
    std::function<TimePoint()> Now;
    /// Whether other links show their progress on the same terminal.
    std::function<bool()> IsShared;
  };

  /// \p Format has been checked. \p Total jobs are expected to take \p Work
  /// together, in any unit. \p Output is the name of the link's output.
  Progress(std::string Format, size_t Total, double Work,
           llvm::StringRef Output, Screen Display);

  /// For a link that runs all jobs \p NumRuns times, each time with the same
  /// work. \p NumDone of these runs have ended since \p NewBegin. \p NewLabel
  /// is shown before the jobs' names. Call this before any job starts.
  void setShare(unsigned NumDone, unsigned NumRuns, TimePoint NewBegin,
                std::string NewLabel);

  /// Reports that a job runs, on \p Worker unless that is empty. If not
  /// \p IsFirst, it was started before, and now runs once more.
  void jobStarted(llvm::StringRef Name, llvm::StringRef Worker, bool IsFirst);
  /// Reports that a job has ended whose share of the work is \p Work. If not
  /// \p WasStarted, jobStarted() was never called, for example because the
  /// object was cached.
  void jobFinished(llvm::StringRef Name, llvm::StringRef Worker, double Work,
                   bool WasStarted);

  /// When to call showDue(); TimePoint::max() if there is nothing to show.
  TimePoint due() const { return Due; }
  /// Redraws the line of a terminal if it is due. Redraws are limited; without
  /// changes there is one each second, since the status may have times.
  void showDue();
  /// Removes the line.
  void clear();

private:
  void change(llvm::StringRef Name, llvm::StringRef Worker, bool IsEnd);
  void show();
  std::string status() const;
  std::string value(char Placeholder) const;
  std::string line(unsigned Columns) const;

  const std::string Format;
  size_t Total;
  double Work;
  const Screen Display;
  TimePoint Begin;
  std::string Label = "codegen ";
  size_t NumStarted = 0, NumFinished = 0, MaxRunning = 1;
  double WorkDone = 0;
  std::deque<TimePoint> Ends; // the last few
  std::string Output;
  std::string JobText, WorkerText; // the job of the last change, and its worker
  bool IsShown = false;
  TimePoint LastShown = {}, Due = TimePoint::max();
};

} // namespace dtlto

#endif // DTLTO_REPORT_PROGRESS_H
