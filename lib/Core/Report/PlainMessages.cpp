//===- PlainMessages.cpp - Messages on standard error ---------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report/PlainMessages.h"
#include "Support/System.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/WithColor.h"

using namespace llvm;
using namespace dtlto;

StatusLine::~StatusLine() = default;

/// Moves to the first column, and erases to the end of the line.
static constexpr StringLiteral Erase = "\r\x1b[K";

void StatusLine::eraseLine() {
  if (!ShownLine.empty())
    Underlying << Erase;
  ShownLine.clear();
}

void StatusLine::show(StringRef Line) {
  std::lock_guard<std::mutex> Lock(Mutex);
  if (!AtLineStart || Line == ShownLine)
    return;
  if (Line.empty())
    return eraseLine();
  // Write in one piece, to avoid flicker.
  Underlying << (Twine(Erase) + Line).str();
  ShownLine = Line.str();
}

void StatusLine::write(StringRef Line) {
  std::lock_guard<std::mutex> Lock(Mutex);
  eraseLine();
  Underlying << (Twine(Line) + "\n").str();
}

void StatusLine::write_impl(const char *Ptr, size_t Size) {
  if (Size == 0)
    return;
  std::lock_guard<std::mutex> Lock(Mutex);
  eraseLine();
  Underlying.write(Ptr, Size);
  AtLineStart = Ptr[Size - 1] == '\n';
}

std::optional<unsigned> dtlto::terminalColumns() {
  if (!sys::Process::StandardErrIsDisplayed())
    return std::nullopt;
  // LLVM would only read the environment.
  return terminalWidth();
}

void PlainMessages::emit(MessageLevel Level, const Twine &Text) {
  if (Level == MessageLevel::Debug && !Verbose)
    return;
  // Write in one piece: other processes may write there as well.
  std::string Line;
  raw_string_ostream OS(Line);
  if (Level != MessageLevel::Remark && Level != MessageLevel::Text)
    OS << Program << ": ";
  const bool IsError = Level == MessageLevel::Error;
  if (Level == MessageLevel::Note)
    OS << "note: ";
  else if (IsError || Level == MessageLevel::Warning ||
           Level == MessageLevel::Diagnostic)
    WithColor(OS, IsError ? HighlightColor::Error : HighlightColor::Warning,
              Errors.has_colors() ? ColorMode::Enable : ColorMode::Disable)
            .get()
        << (IsError ? "error: " : "warning: ");
  // A compiler's messages get no prefix.
  if (Level < MessageLevel::Diagnostic)
    OS << Prefix;
  OS << Text << '\n';
  Errors << OS.str();
}

void PlainMessages::progress(StringRef Line) {
  if (columns())
    Errors.show(Line);
  else
    Errors.write(Line);
}

std::optional<unsigned> PlainMessages::columns() const {
  return IsDumb ? std::nullopt : terminalColumns();
}
