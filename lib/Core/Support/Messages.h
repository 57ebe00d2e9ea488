//===- Messages.h - The interface for the core's messages -------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_SUPPORT_MESSAGES_H
#define DTLTO_SUPPORT_MESSAGES_H

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include <optional>
#include <string>

namespace dtlto {

enum class MessageLevel {
  Debug,
  Note,
  /// About the farm or the settings. The program is still right, so
  /// `--fatal-warnings` doesn't fail the link: otherwise, a machine that is
  /// switched off would.
  Warning,
  Error,
  // From a compiler, each in the same form as with in-process ThinLTO.
  Diagnostic, ///< A warning about the program.
  Remark,     ///< A remark or a note about the program.
  Text        ///< What LLVM writes to standard error: not a diagnostic.
};

/// An error, warning, remark or text from a compiler.
struct CompilerMessage {
  MessageLevel Level;
  std::string Text;
};

/// Receives the messages of the core and the plugins for the user. The linker's
/// executable implements this by LLD's error handler, so that `--verbose`,
/// `--no-warnings` and the like have their usual meaning.
class Messages {
public:
  virtual ~Messages() = default;

  /// Shows one message without a prefix or a line end. Any thread.
  virtual void emit(MessageLevel Level, const llvm::Twine &Text) = 0;

  /// Shows the progress of the link. On a terminal, the next call overwrites
  /// the line, and an empty text removes it. Otherwise, each line stays. Only
  /// the thread that called wait() may call this.
  virtual void progress(llvm::StringRef Line) = 0;

  /// Returns the width of the terminal on which progress() overwrites lines, 0
  /// if unknown. Returns nullopt if there is no such terminal.
  virtual std::optional<unsigned> columns() const = 0;

  /// Whether Debug messages are shown.
  virtual bool verbose() const = 0;

  void debug(const llvm::Twine &Text) { emit(MessageLevel::Debug, Text); }
  void note(const llvm::Twine &Text) { emit(MessageLevel::Note, Text); }
  void warning(const llvm::Twine &Text) { emit(MessageLevel::Warning, Text); }
  void error(const llvm::Twine &Text) { emit(MessageLevel::Error, Text); }
};

} // namespace dtlto

#endif // DTLTO_SUPPORT_MESSAGES_H
