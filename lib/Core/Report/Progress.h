//===- Progress.h - The line that shows how far the link is -----*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// As in ninja: a status, then what began or ended last, on one line that the
// next one overwrites:
//
//   [57/114] codegen foo.o on node3
//   [57/114] app: codegen foo.o on node3
//
// The second form, with the name of the output, is for terminals that show the
// progress of several links.
//
// The status is a text with the placeholders of ninja's NINJA_STATUS:
//
//   %s started   %t total   %r running   %u not started   %f finished
//   %p percent finished   %P percent of the time, estimated
//   %o finished in a second, in all   %c the same, lately
//   %e seconds so far   %E seconds to go, estimated
//   %w %W the same as [h:]mm:ss   %% a percent sign
//
// What can't be known yet is a "?". Time is estimated from what the modules
// took in earlier links, or from their sizes (CostHistory.h).
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

/// Fails with a message that names the first placeholder that isn't one.
llvm::Error checkStatusFormat(llvm::StringRef Format);

/// Belongs to one thread.
class Progress {
public:
  using TimePoint = std::chrono::steady_clock::time_point;
  struct Screen {
    /// Shows a line; on a terminal, in place of the one before. An empty one
    /// takes it away.
    std::function<void(llvm::StringRef Line)> Show;
    /// The terminal's width in columns, 0 if it is unknown; nothing: there is
    /// no terminal, and lines stay. Then each end of a job is a whole line.
    std::function<std::optional<unsigned>()> Columns;
    std::function<TimePoint()> Now;
    /// Whether other links show their progress on the same terminal.
    std::function<bool()> IsShared;
  };

  /// \p Format has been checked. \p Total jobs will take \p Work in all, in any
  /// unit. \p Output is the name of the link's output.
  Progress(std::string Format, size_t Total, double Work,
           llvm::StringRef Output, Screen S);

  /// All jobs run \p All times in the link, each time in the same time, and
  /// have run \p Before times since \p Began. \p NewLabel stands before their
  /// names. Call before any job starts.
  void setShare(unsigned Before, unsigned All, TimePoint Began,
                std::string NewLabel);

  /// A job runs, on \p Worker if that is not empty. Not \p IsFirst: it was
  /// started before, and now runs once more.
  void started(llvm::StringRef Name, llvm::StringRef Worker, bool IsFirst);
  /// A job has ended that was \p Work of all. Not \p HadStarted: started() was
  /// never called, for example since a cache has its object.
  void finished(llvm::StringRef Name, llvm::StringRef Worker, double Work,
                bool HadStarted);

  /// When showDue() has something to show; TimePoint::max() if it has nothing.
  TimePoint due() const { return Due; }
  /// Redraws the line of a terminal if it is time: the number of redraws in a
  /// second is limited, and without changes there is one each second, since
  /// the status may have times.
  void showDue();
  /// Takes the line away.
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
  const Screen S;
  TimePoint Begin;
  std::string Label = "codegen ";
  size_t NumStarted = 0, NumFinished = 0, MaxRunning = 1;
  double WorkDone = 0;
  std::deque<TimePoint> Ends; // the last ones
  std::string Output;
  std::string What, Where; // the last change: its job, and the job's worker
  bool IsShown = false;
  TimePoint LastShown = {}, Due = TimePoint::max();
};

} // namespace dtlto

#endif // DTLTO_REPORT_PROGRESS_H
