//===- LLDMessages.cpp - Messages through LLD's error handler -------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LLDMessages.h"
#include "Report/PlainMessages.h"
#include "lld/Common/ErrorHandler.h"

using namespace llvm;
using namespace dtlto;

void LLDMessages::emit(MessageLevel Level, const Twine &Text) {
  switch (Level) {
  case MessageLevel::Debug:
    return lld::log("dtlto: " + Text);
  case MessageLevel::Note:
    // LLD has no notes, and message() adds no prefix.
    return lld::message(lld::errorHandler().logName + ": note: dtlto: " + Text,
                        lld::errorHandler().errs());
  case MessageLevel::Warning:
    if (!lld::errorHandler().fatalWarnings)
      return lld::warn("dtlto: " + Text);
    if (!lld::errorHandler().suppressWarnings)
      lld::message(lld::errorHandler().logName + ": warning: dtlto: " + Text,
                   lld::errorHandler().errs());
    return;
  case MessageLevel::Error:
    return lld::error("dtlto: " + Text);
  // As in LLD's diagnosticHandler().
  case MessageLevel::Diagnostic:
    return lld::warn(Text);
  case MessageLevel::Remark:
    return lld::message(Text);
  case MessageLevel::Text:
    return lld::message(Text, lld::errorHandler().errs());
  }
}

void LLDMessages::progress(StringRef Line) {
  if (columns())
    Errors.show(Line);
  else
    Errors.write(Line);
}

std::optional<unsigned> LLDMessages::columns() const {
  return IsDumb ? std::nullopt : terminalColumns();
}

bool LLDMessages::verbose() const { return lld::errorHandler().verbose; }
