//===- PlainMessages.cpp - Messages where LLD is not there ----------------===//
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

std::optional<unsigned> dtlto::terminalColumns() {
  if (!sys::Process::StandardErrIsDisplayed())
    return std::nullopt;
  // LLVM would only ask the environment.
  return terminalWidth();
}

void PlainMessages::emit(MessageLevel Level, const Twine &Text) {
  if (Level == MessageLevel::Debug && !Verbose)
    return;
  // In one piece: others write there, too.
  std::string Line;
  raw_string_ostream OS(Line);
  auto Begin = [&](StringRef Kind, HighlightColor Color) {
    OS << Program << ": ";
    WithColor(OS, Color,
              Errors.has_colors() ? ColorMode::Enable : ColorMode::Disable)
            .get()
        << Kind;
  };
  switch (Level) {
  case MessageLevel::Debug:
    OS << Program << ": ";
    break;
  case MessageLevel::Note:
    OS << Program << ": note: ";
    break;
  case MessageLevel::Warning:
  case MessageLevel::Diagnostic:
    Begin("warning: ", HighlightColor::Warning);
    break;
  case MessageLevel::Error:
    Begin("error: ", HighlightColor::Error);
    break;
  case MessageLevel::Remark:
  case MessageLevel::Text:
    break;
  }
  // A compiler's messages are not ours.
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
