//===- MessageLog.h - Where a plugin's messages go --------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// With a log file, warnings and notes go to that file instead of the linker's
// output; errors go to both. Debugging messages go to the linker's --verbose,
// and if the user asked for them to the file or, without one, to the linker's
// output as notes.
//
// The file may be on a file server that is gone. A thread of its own opens and
// writes the file. If that thread hangs, it is abandoned, and further messages
// go to the linker.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_PLUGINS_MESSAGELOG_H
#define DTLTO_PLUGINS_MESSAGELOG_H

#include "dtlto/sdk/Result.hpp"
#include <atomic>
#include <chrono>
#include <memory>

namespace dtlto {

/// The time limit for opening the file and for writing a line. Tests shorten
/// it.
extern std::chrono::milliseconds LogLimit;

/// Any thread may log.
class MessageLog {
public:
  /// \p Plugin stands in each line of the file; \p Variable is the environment
  /// variable that names it, for messages.
  MessageLog(const dtlto_host &Host, std::string Plugin, std::string Variable)
      : Host(Host), Plugin(std::move(Plugin)), Variable(std::move(Variable)) {}
  ~MessageLog();
  MessageLog(const MessageLog &) = delete;

  /// Appends to \p File from now on (empty: none). Returns false with \p Error
  /// if the file can't be opened.
  bool open(const std::string &File, bool Verbose, std::string &Error);

  void error(const std::string &Text) { emit(DTLTO_LOG_ERROR, Text); }
  void warning(const std::string &Text) { emit(DTLTO_LOG_WARNING, Text); }
  void note(const std::string &Text) { emit(DTLTO_LOG_NOTE, Text); }
  void debug(const std::string &Text) { emit(DTLTO_LOG_DEBUG, Text); }

  /// In open(): throws sdk::Error, which the SDK tells the host, and writes it
  /// to the file.
  [[noreturn]] void fail(int32_t Status, const std::string &Text);

  int fd() const; // of the file; -1: none

private:
  void emit(uint32_t Level, const std::string &Text);
  void write(uint32_t Level, const std::string &Line);
  void end();

  const dtlto_host &Host;
  const std::string Plugin, Variable;
  struct Writer;
  std::shared_ptr<Writer> TheWriter; // null: there is no file
  std::atomic<bool> HasFile{false};  // and it doesn't hang
  bool Verbose = false;
};

} // namespace dtlto

#endif // DTLTO_PLUGINS_MESSAGELOG_H
