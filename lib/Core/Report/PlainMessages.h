//===- PlainMessages.h - Messages on standard error -------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_REPORT_PLAINMESSAGES_H
#define DTLTO_REPORT_PLAINMESSAGES_H

#include "Support/Messages.h"
#include "llvm/Support/raw_ostream.h"
#include <mutex>

namespace dtlto {

/// The standard error output as LLD gets it while there may be a progress line
/// on it: what LLD writes takes that line away first, and the line comes back
/// only where a line of LLD's has ended. Any thread.
class StatusLine : public llvm::raw_ostream {
public:
  /// \p Below has no buffer and outlives this.
  explicit StatusLine(llvm::raw_ostream &Below)
      : raw_ostream(/*unbuffered=*/true), Below(Below) {}
  ~StatusLine() override;

  /// Shows \p Line in the place of the one before; an empty one takes it away.
  void show(llvm::StringRef Line);
  /// Writes \p Line as one that stays.
  void write(llvm::StringRef Line);

  bool is_displayed() const override { return Below.is_displayed(); }
  bool has_colors() const override { return Below.has_colors(); }

private:
  void write_impl(const char *Ptr, size_t Size) override;
  uint64_t current_pos() const override { return Below.tell(); }
  void takeAway();

  llvm::raw_ostream &Below;
  std::mutex Mutex;        // guards what follows
  std::string Shown;       // empty: none
  bool AtLineStart = true; // but for what is shown
};

/// The width of the terminal that standard error is; 0 if it is unknown.
/// Nothing: it is no terminal.
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
