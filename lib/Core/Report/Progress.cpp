//===- Progress.cpp - The line that shows a link's progress ---------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report/Progress.h"
#include "Support/Failure.h"
#include "Support/Text.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>

using namespace llvm;
using namespace dtlto;
using namespace std::chrono_literals;

// Limits redraws, since a terminal may have a slow connection.
static constexpr std::chrono::milliseconds Interval = 50ms;
// Redraws a line without changes, since the status may have times.
static constexpr std::chrono::seconds RedrawInterval = 1s;

static constexpr StringLiteral Placeholders = "strpufocewEWP%";

Error dtlto::checkStatusFormat(StringRef Format) {
  for (size_t I = Format.find('%'); I != StringRef::npos;
       I = Format.find('%', I + 2)) {
    StringRef Spelling = Format.substr(I, 2);
    if (Spelling.size() == 2 && Placeholders.contains(Spelling[1]))
      continue;
    std::string Text =
        Spelling.size() == 2
            ? "unknown placeholder '" + printable(Spelling) + "'"
            : "a '%' at the end, where a placeholder's letter is missing";
    return failure(Text +
                   ": expected %s, %t, %r, %u, %f, %p, %P, %o, %c, %e, %E, %w, "
                   "%W, or %% for a percent sign");
  }
  return Error::success();
}

/// At least three columns, so that the rest of the line doesn't move.
static std::string percent(double Part) {
  return formatv("{0,3}%", static_cast<int>(100 * Part));
}

static std::string clock(double Seconds, bool WithHours) {
  auto N = static_cast<uint64_t>(Seconds);
  if (WithHours)
    return formatv("{0}:{1,0+2}:{2,0+2}", N / 3600, N / 60 % 60, N % 60);
  return formatv("{0,0+2}:{1,0+2}", N / 60, N % 60);
}

static double inSeconds(std::chrono::steady_clock::duration D) {
  return std::chrono::duration<double>(D).count();
}

//===----------------------------------------------------------------------===//
// Progress
//===----------------------------------------------------------------------===//

Progress::Progress(std::string Format, size_t Total, double Work,
                   StringRef Output, Screen Display)
    : Format(std::move(Format)), Total(Total), Work(Work),
      Display(std::move(Display)), Begin(this->Display.Now()),
      Output(printable(Output)) {}

void Progress::setShare(unsigned NumDone, unsigned NumRuns, TimePoint NewBegin,
                        std::string NewLabel) {
  NumStarted = NumFinished = Total * NumDone;
  WorkDone = Work * NumDone;
  Total *= NumRuns;
  Work *= NumRuns;
  Begin = NewBegin;
  Label = std::move(NewLabel);
}

void Progress::jobStarted(StringRef Name, StringRef Worker, bool IsFirst) {
  if (IsFirst)
    ++NumStarted;
  MaxRunning = std::max(MaxRunning, NumStarted - NumFinished);
  change(Name, Worker, /*IsEnd=*/false);
}

void Progress::jobFinished(StringRef Name, StringRef Worker, double JobWork,
                           bool WasStarted) {
  if (!WasStarted)
    ++NumStarted;
  ++NumFinished;
  WorkDone += JobWork;
  Ends.push_back(Display.Now());
  // One for each job that can run at the same time, and one more.
  while (Ends.size() > MaxRunning + 1)
    Ends.pop_front();
  change(Name, Worker, /*IsEnd=*/true);
}

void Progress::change(StringRef Name, StringRef Worker, bool IsEnd) {
  JobText = Label + printable(Name);
  WorkerText = Worker.empty() ? "" : " on " + printable(Worker);
  // Without a terminal, write one line for each job.
  if (!Display.Columns())
    return IsEnd ? show() : void();
  Due = std::min(Due, std::max(Display.Now(), LastShown + Interval));
  showDue();
}

void Progress::showDue() {
  if (Due != TimePoint::max() && Display.Now() >= Due)
    show();
}

void Progress::show() {
  std::optional<unsigned> Columns = Display.Columns();
  Display.Show(line(Columns.value_or(0)));
  IsShown = Columns.has_value();
  LastShown = Display.Now();
  Due = IsShown ? LastShown + RedrawInterval : TimePoint::max();
}

/// Drops the worker's name first if the line is too long for \p Columns.
std::string Progress::line(unsigned Columns) const {
  std::string Job = status();
  if (!Output.empty() && Display.IsShared())
    Job += Output + ": ";
  Job += JobText;
  std::string Whole = fitToLine(Job + WorkerText, 0);
  return fitToLine(Whole, Columns) == Whole ? Whole : fitToLine(Job, Columns);
}

void Progress::clear() {
  if (IsShown)
    Display.Show("");
  IsShown = false;
  Due = TimePoint::max();
}

std::string Progress::status() const {
  std::string Text;
  for (size_t I = 0; I != Format.size(); ++I)
    if (Format[I] == '%')
      Text += value(Format[++I]);
    else
      Text += Format[I];
  return Text;
}

std::string Progress::value(char Placeholder) const {
  const double Elapsed = inSeconds(Display.Now() - Begin);
  // Rounding may give slightly more than 1.
  const double Part = Work > 0 ? std::min(1.0, WorkDone / Work) : 0;
  const double Remaining = Part > 0 ? Elapsed / Part - Elapsed : 0;
  const bool WithHours = std::max(Elapsed, Remaining) >= 3600;
  switch (Placeholder) {
  case 's':
    return std::to_string(NumStarted);
  case 't':
    return std::to_string(Total);
  case 'r':
    return std::to_string(NumStarted - NumFinished);
  case 'u':
    return std::to_string(Total - NumStarted);
  case 'f':
    return std::to_string(NumFinished);
  case 'p':
    return percent(Total ? double(NumFinished) / double(Total) : 1);
  case 'P':
    return percent(Part);
  case 'o':
    return Elapsed > 0 ? formatv("{0:f1}", double(NumFinished) / Elapsed).str()
                       : "?";
  case 'c': {
    double Span = Ends.size() > 1 ? inSeconds(Ends.back() - Ends.front()) : 0;
    return Span > 0 ? formatv("{0:f1}", double(Ends.size() - 1) / Span).str()
                    : "?";
  }
  case 'e':
    return formatv("{0:f3}", Elapsed).str();
  case 'E':
    return Part > 0 ? formatv("{0:f3}", Remaining).str() : "?";
  case 'w':
    return clock(Elapsed, WithHours);
  case 'W':
    return Part > 0 ? clock(Remaining, WithHours) : "?";
  default:
    return "%";
  }
}
