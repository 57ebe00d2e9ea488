//===- MessageLog.h - Where a plugin's messages go --------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// With a log file, warnings and notes go to that file instead of the linker's
// output; errors go to both. Debugging messages go to the linker's --verbose
// output. If the user asked for them, they also go to the file or, without one,
// to the linker's output as notes.
//
// If the file hangs (FileThread.h), further messages go to the linker.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_PLUGINS_MESSAGELOG_H
#define DTLTO_PLUGINS_MESSAGELOG_H

#include "FileThread.h"
#include "dtlto/sdk/Result.hpp"
#include <atomic>

namespace dtlto {

/// The time limit for opening the file and for writing a line. Tests shorten
/// it.
extern std::chrono::milliseconds LogLimit;

/// Any thread may log.
class MessageLog {
public:
  /// \p Plugin is part of each line of the file. \p Variable is the environment
  /// variable that names the file, for messages.
  MessageLog(const dtlto_host &Host, std::string Plugin, std::string Variable)
      : Host(Host), Plugin(std::move(Plugin)), Variable(std::move(Variable)) {}
  ~MessageLog();
  MessageLog(const MessageLog &) = delete;

  /// Appends to \p File from now on; an empty name means no file. Warns if the
  /// file can't be opened.
  void open(const std::string &File, bool Verbose);

  void error(const std::string &Text) { emit(DTLTO_LOG_ERROR, Text); }
  void warning(const std::string &Text) { emit(DTLTO_LOG_WARNING, Text); }
  void note(const std::string &Text) { emit(DTLTO_LOG_NOTE, Text); }
  void debug(const std::string &Text) { emit(DTLTO_LOG_DEBUG, Text); }

  /// For the plugin's open(): writes the error to the file and throws
  /// sdk::Error, which the SDK reports to the host.
  [[noreturn]] void fail(int32_t Status, const std::string &Text);

  int fd() const; // of the file, or -1

private:
  void emit(uint32_t Level, const std::string &Text);
  void write(uint32_t Level, const std::string &Line);
  void end();

  const dtlto_host &Host;
  const std::string Plugin, Variable;
  struct OpenFile;
  std::shared_ptr<OpenFile> TheFile;  // used by Thread
  std::unique_ptr<FileThread> Thread; // null without a file
  std::atomic<bool> HasFile{false};   // false if it hangs
  bool Verbose = false;
};

} // namespace dtlto

#endif // DTLTO_PLUGINS_MESSAGELOG_H
