//===- PlainMessages.h - Messages where LLD is not there --------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_REPORT_PLAINMESSAGES_H
#define DTLTO_REPORT_PLAINMESSAGES_H

#include "Report/StatusLine.h"
#include "Support/Messages.h"

namespace dtlto {

/// The width of the terminal that standard error is; 0 if it doesn't tell.
/// Nothing: it is none.
std::optional<unsigned> terminalColumns();

/// Shows messages as LLD's error handler does.
class PlainMessages : public Messages {
public:
  /// \p Errors is where they go. Each begins with \p Program, its level and
  /// \p Prefix. \p IsDumb: lines can't be overwritten, even on a terminal.
  PlainMessages(StatusLine &Errors, llvm::StringRef Program,
                llvm::StringRef Prefix, bool Verbose, bool IsDumb = true)
      : Errors(Errors), Program(Program.str()), Prefix(Prefix.str()),
        Verbose(Verbose), IsDumb(IsDumb) {}

  void emit(MessageLevel Level, const llvm::Twine &Text) override;
  void progress(llvm::StringRef Line) override;
  std::optional<unsigned> columns() const override;
  bool verbose() const override { return Verbose; }

private:
  StatusLine &Errors;
  const std::string Program, Prefix;
  const bool Verbose, IsDumb;
};

} // namespace dtlto

#endif // DTLTO_REPORT_PLAINMESSAGES_H
