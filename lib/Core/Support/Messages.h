//===- Messages.h - Where the core's messages go ----------------*- C++ -*-===//
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
  /// Of the farm or the settings. The program is right in spite of it, so that
  /// `--fatal-warnings` doesn't fail the link, which a machine that is switched
  /// off would.
  Warning,
  Error,
  // A compiler's, each in the form that it has with in-process ThinLTO.
  Diagnostic, ///< A warning about the program.
  Remark,     ///< A remark or a note about the program.
  Text        ///< What LLVM writes to standard error: not a diagnostic.
};

/// An error, a warning, a remark or a text of a compiler.
struct CompilerMessage {
  MessageLevel Level;
  std::string Text;
};

/// Takes what the core and the plugins tell the user. The linker's executable
/// implements it with LLD's own error handler, so that `--verbose`,
/// `--no-warnings` and the like mean what they mean in LLD.
class Messages {
public:
  virtual ~Messages() = default;

  /// Shows one message, without a prefix or an end of line. Any thread.
  virtual void emit(MessageLevel Level, const llvm::Twine &Text) = 0;

  /// Shows how far the link is. On a terminal, the next one overwrites the
  /// line, and an empty text takes it away; else it stays, as a line of its
  /// own. The calling thread of wait() only.
  virtual void progress(llvm::StringRef Line) = 0;

  /// The width of the terminal that progress() can overwrite lines on, 0 if it
  /// doesn't tell. Nothing: there is no such terminal.
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
