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

/// LLD's standard error while there may be a progress line on it: LLD's output
/// first removes that line, which returns only after a complete line of LLD's.
/// Thread-safe.
class StatusLine : public llvm::raw_ostream {
public:
  /// \p Underlying has no buffer and outlives this object.
  explicit StatusLine(llvm::raw_ostream &Underlying)
      : raw_ostream(/*unbuffered=*/true), Underlying(Underlying) {}
  ~StatusLine() override;

  /// Replaces the progress line by \p Line; an empty one removes it.
  void show(llvm::StringRef Line);
  /// Writes \p Line as permanent output.
  void write(llvm::StringRef Line);

  bool is_displayed() const override { return Underlying.is_displayed(); }
  bool has_colors() const override { return Underlying.has_colors(); }

private:
  void write_impl(const char *Ptr, size_t Size) override;
  uint64_t current_pos() const override { return Underlying.tell(); }
  void eraseLine();

  llvm::raw_ostream &Underlying;
  std::mutex Mutex;        // guards the following members
  std::string ShownLine;   // empty if none
  bool AtLineStart = true; // apart from the progress line
};

/// Returns the width of the terminal on standard error; 0 if unknown. Returns
/// nothing if standard error isn't a terminal.
std::optional<unsigned> terminalColumns();

/// Shows messages like LLD's error handler.
class PlainMessages : public Messages {
public:
  /// Writes messages to \p Errors. Each begins with \p Program, its level and
  /// \p Prefix. With \p IsDumb, lines can't be overwritten, even on a terminal.
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
