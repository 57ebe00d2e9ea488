//===- Progress.cpp - The line that tells how far the link is -------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report/Progress.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Unicode.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>

using namespace llvm;
using namespace dtlto;
using namespace std::chrono_literals;

// Nobody reads faster, and a terminal at the other end of a slow line may not
// take more.
static constexpr std::chrono::milliseconds Interval = 50ms;

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
    return createStringError(
        inconvertibleErrorCode(),
        Text + ": expected %s, %t, %r, %u, %f, %p, %P, %o, %c, %e, %E, %w, "
               "%W, or %% for a percent sign");
  }
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

namespace {
struct Character {
  StringRef Bytes;
  int Width; // in columns; -1: no character, but a color
};
} // namespace

/// The bytes that set a color which \p Text begins with, ESC [ ... m.
static size_t colorSize(StringRef Text) {
  if (!Text.starts_with("\x1b["))
    return 0;
  size_t End = Text.find_first_not_of("0123456789;:", 2);
  return End != StringRef::npos && Text[End] == 'm' ? End + 1 : 0;
}

/// The first character of \p Text. A byte that begins none is one by itself.
static Character firstCharacter(StringRef Text) {
  unsigned char C = Text.front();
  size_t Size = C < 0xC0 ? 1 : C < 0xE0 ? 2 : C < 0xF0 ? 3 : C < 0xF8 ? 4 : 1;
  StringRef Bytes = Text.take_front(Size);
  return {Bytes, sys::unicode::columnWidthUTF8(Bytes)};
}

static std::vector<Character> split(StringRef Text, bool WithColors) {
  std::vector<Character> All;
  while (!Text.empty()) {
    size_t Size = WithColors ? colorSize(Text) : 0;
    Character C =
        Size ? Character{Text.take_front(Size), -1} : firstCharacter(Text);
    if (!Size && C.Width < 0) { // not printable, or no UTF-8
      C = {"?", 1};
      Size = 1;
    }
    All.push_back(C);
    Text = Text.drop_front(Size ? Size : C.Bytes.size());
  }
  return All;
}

static std::string join(ArrayRef<Character> Part, bool OnlyColors = false) {
  std::string Bytes;
  for (const Character &C : Part)
    if (!OnlyColors || C.Width < 0)
      Bytes += C.Bytes;
  return Bytes;
}

std::string dtlto::printable(StringRef Text) {
  return join(split(Text, /*WithColors=*/false));
}

std::string dtlto::fitToLine(StringRef Text, unsigned Columns) {
  std::vector<Character> All = split(Text, /*WithColors=*/true);
  int Width = 0;
  for (const Character &C : All)
    Width += std::max(0, C.Width);
  if (Columns == 0 || Width <= static_cast<int>(Columns))
    return join(All);

  StringRef Gap = StringRef("...").take_front(Columns);
  int Room = static_cast<int>(Columns - Gap.size());
  // As many from either end as there is room for; the end says more of a path.
  size_t Tail = All.size(), Head = 0;
  for (int Left = Room - Room / 2; Tail && All[Tail - 1].Width <= Left;)
    Left -= std::max(0, All[--Tail].Width);
  for (int Left = Room / 2; Head != Tail && All[Head].Width <= Left;)
    Left -= std::max(0, All[Head++].Width);
  ArrayRef<Character> Chars = All;
  return join(Chars.take_front(Head)) +
         join(Chars.slice(Head, Tail - Head), /*OnlyColors=*/true) + Gap.str() +
         join(Chars.drop_front(Tail));
}

static std::string decimal(double N, int Digits) {
  std::string Text;
  raw_string_ostream(Text) << llvm::format("%.*f", Digits, N);
  return Text;
}

/// Three columns at least, so that what comes after doesn't move.
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

static double seconds(std::chrono::steady_clock::duration D) {
  return std::chrono::duration<double>(D).count();
}

//===----------------------------------------------------------------------===//
// Progress
//===----------------------------------------------------------------------===//

Progress::Progress(std::string Format, size_t Total, double Work, Screen S)
    : Format(std::move(Format)), Total(Total), Work(Work), S(std::move(S)),
      Begin(this->S.Now()) {}

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
  // One for each that can end at the same time, and the one before them.
  while (Ends.size() > MaxRunning + 1)
    Ends.pop_front();
  change(Name, Worker, /*IsEnd=*/true);
}

void Progress::change(StringRef Name, StringRef Worker, bool IsEnd) {
  What = "codegen " + printable(Name);
  if (!Worker.empty())
    What += " on " + printable(Worker);
  // Lines that stay: one for each job.
  if (!S.Columns())
    return IsEnd ? show() : void();
  if (Due == TimePoint::max())
    Due = std::max(S.Now(), LastShown + Interval);
  showDue();
}

void Progress::showDue() {
  if (Due != TimePoint::max() && S.Now() >= Due)
    show();
}

void Progress::show() {
  std::optional<unsigned> Columns = S.Columns();
  S.Show(fitToLine(status() + What, Columns.value_or(0)));
  IsShown = Columns.has_value();
  LastShown = S.Now();
  Due = TimePoint::max();
}

void Progress::clear() {
  if (IsShown)
    S.Show("");
  IsShown = false;
  Due = TimePoint::max();
}

std::string Progress::status() const {
  double Took = seconds(S.Now() - Begin);
  // Rounding may make it a little more than all.
  double Part = Work > 0 ? std::min(1.0, WorkDone / Work) : 0;
  std::optional<double> Left;
  if (Part > 0)
    Left = Took / Part - Took;
  bool WithHours = std::max(Took, Left.value_or(0)) >= 3600;

  std::string Text;
  for (size_t I = 0; I != Format.size(); ++I) {
    if (Format[I] != '%') {
      Text += Format[I];
      continue;
    }
    switch (Format[++I]) {
    case '%':
      Text += '%';
      break;
    case 's':
      Text += std::to_string(NumStarted);
      break;
    case 't':
      Text += std::to_string(Total);
      break;
    case 'r':
      Text += std::to_string(NumStarted - NumFinished);
      break;
    case 'u':
      Text += std::to_string(Total - NumStarted);
      break;
    case 'f':
      Text += std::to_string(NumFinished);
      break;
    case 'p':
      Text += percent(Total ? double(NumFinished) / double(Total) : 1);
      break;
    case 'P':
      Text += percent(Part);
      break;
    case 'o':
      Text += Took > 0 ? decimal(double(NumFinished) / Took, 1) : "?";
      break;
    case 'c': {
      double Span = Ends.size() > 1 ? seconds(Ends.back() - Ends.front()) : 0;
      Text += Span > 0 ? decimal(double(Ends.size() - 1) / Span, 1) : "?";
      break;
    }
    case 'e':
      Text += decimal(Took, 3);
      break;
    case 'E':
      Text += Left ? decimal(*Left, 3) : "?";
      break;
    case 'w':
      Text += clock(Took, WithHours);
      break;
    case 'W':
      Text += Left ? clock(*Left, WithHours) : "?";
      break;
    }
  }
  return Text;
}
