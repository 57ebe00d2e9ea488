//===- Progress.cpp - The line that shows a link's progress ---------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report/Progress.h"
#include "Support/Failure.h"
#include "Support/Text.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
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
    StringRef Found = Format.substr(I, 2);
    if (Found.size() == 2 && Placeholders.contains(Found[1]))
      continue;
    std::string Text =
        Found.size() == 2
            ? "unknown placeholder '" + printable(Found) + "'"
            : "a '%' at the end, where a placeholder's letter is missing";
    return failure(Text +
                   ": expected %s, %t, %r, %u, %f, %p, %P, %o, %c, %e, %E, %w, "
                   "%W, or %% for a percent sign");
  }
  return Error::success();
}

static std::string decimal(double N, int Digits) {
  std::string Text;
  raw_string_ostream(Text) << llvm::format("%.*f", Digits, N);
  return Text;
}

/// At least three columns, so that the rest of the line doesn't move.
static std::string percent(double Part) {
  std::string Text;
  raw_string_ostream(Text) << llvm::format("%3d%%",
                                           static_cast<int>(100 * Part));
  return Text;
}

static std::string clock(double Seconds, bool WithHours) {
  auto N = static_cast<uint64_t>(Seconds);
  std::string Text;
  raw_string_ostream OS(Text);
  if (WithHours)
    OS << N / 3600 << ':' << llvm::format("%02d", int(N / 60 % 60));
  else
    OS << llvm::format("%02d", int(N / 60));
  OS << ':' << llvm::format("%02d", int(N % 60));
  return Text;
}

static double inSeconds(std::chrono::steady_clock::duration D) {
  return std::chrono::duration<double>(D).count();
}

//===----------------------------------------------------------------------===//
// Progress
//===----------------------------------------------------------------------===//

Progress::Progress(std::string Format, size_t Total, double Work,
                   StringRef Output, Screen S)
    : Format(std::move(Format)), Total(Total), Work(Work), S(std::move(S)),
      Begin(this->S.Now()), Output(printable(Output)) {}

void Progress::setShare(unsigned Before, unsigned All, TimePoint Began,
                        std::string NewLabel) {
  NumStarted = NumFinished = Total * Before;
  WorkDone = Work * Before;
  Total *= All;
  Work *= All;
  Begin = Began;
  Label = std::move(NewLabel);
}

void Progress::started(StringRef Name, StringRef Worker, bool IsFirst) {
  if (IsFirst)
    ++NumStarted;
  MaxRunning = std::max(MaxRunning, NumStarted - NumFinished);
  change(Name, Worker, /*IsEnd=*/false);
}

void Progress::finished(StringRef Name, StringRef Worker, double JobWork,
                        bool HadStarted) {
  if (!HadStarted)
    ++NumStarted;
  ++NumFinished;
  WorkDone += JobWork;
  Ends.push_back(S.Now());
  // One for each job that can run at the same time, and one more.
  while (Ends.size() > MaxRunning + 1)
    Ends.pop_front();
  change(Name, Worker, /*IsEnd=*/true);
}

void Progress::change(StringRef Name, StringRef Worker, bool IsEnd) {
  What = Label + printable(Name);
  Where = Worker.empty() ? "" : " on " + printable(Worker);
  // Without a terminal, write one line for each job.
  if (!S.Columns())
    return IsEnd ? show() : void();
  Due = std::min(Due, std::max(S.Now(), LastShown + Interval));
  showDue();
}

void Progress::showDue() {
  if (Due != TimePoint::max() && S.Now() >= Due)
    show();
}

void Progress::show() {
  std::optional<unsigned> Columns = S.Columns();
  S.Show(line(Columns.value_or(0)));
  IsShown = Columns.has_value();
  LastShown = S.Now();
  Due = IsShown ? LastShown + RedrawInterval : TimePoint::max();
}

/// Drops the worker's name first if the line is too long for \p Columns.
std::string Progress::line(unsigned Columns) const {
  std::string Job = status();
  if (!Output.empty() && S.IsShared())
    Job += Output + ": ";
  Job += What;
  std::string Whole = fitToLine(Job + Where, 0);
  return fitToLine(Whole, Columns) == Whole ? Whole : fitToLine(Job, Columns);
}

void Progress::clear() {
  if (IsShown)
    S.Show("");
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
  const double Took = inSeconds(S.Now() - Begin);
  // Rounding may give slightly more than 1.
  const double Part = Work > 0 ? std::min(1.0, WorkDone / Work) : 0;
  const double Left = Part > 0 ? Took / Part - Took : 0;
  const bool WithHours = std::max(Took, Left) >= 3600;
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
    return Took > 0 ? decimal(double(NumFinished) / Took, 1) : "?";
  case 'c': {
    double Span = Ends.size() > 1 ? inSeconds(Ends.back() - Ends.front()) : 0;
    return Span > 0 ? decimal(double(Ends.size() - 1) / Span, 1) : "?";
  }
  case 'e':
    return decimal(Took, 3);
  case 'E':
    return Part > 0 ? decimal(Left, 3) : "?";
  case 'w':
    return clock(Took, WithHours);
  case 'W':
    return Part > 0 ? clock(Left, WithHours) : "?";
  default:
    return "%";
  }
}
