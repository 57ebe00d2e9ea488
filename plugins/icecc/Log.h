//===- Log.h - The plugin's messages, and libicecc's ---------- -*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where a message goes. With ICECC_LOGFILE, warnings and notes go to that file
// instead of the linker's output; errors go to both. Debugging messages go to
// the linker's --verbose, and with ICECC_DEBUG to the file or, without one, to
// the linker's output as notes. What libicecc says is shown as icecc shows it:
// in the file, or on standard error if only ICECC_DEBUG is set.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_ICECC_LOG_H
#define DTLTO_ICECC_LOG_H

#include "dtlto/PluginAPI.h"
#include <string>

namespace dtlto::icecc {

/// ICECC_DEBUG, as icecc has it: each shows what is above it as well.
enum class Verbosity { Errors, Warnings, Info, Debug };

/// Any thread may log.
class Log {
public:
  Log(const dtlto_host &Host) : Host(Host) {}
  ~Log();
  Log(const Log &) = delete;

  /// Begins to append to \p File (empty: none), and lets libicecc speak no
  /// louder than \p Level; not at all, with no file and \p Level Errors.
  /// Returns false with \p Error if the file can't be opened.
  bool open(const std::string &File, Verbosity Level, std::string &Error);

  void error(const std::string &Text) { emit(DTLTO_LOG_ERROR, Text); }
  void warning(const std::string &Text) { emit(DTLTO_LOG_WARNING, Text); }
  void note(const std::string &Text) { emit(DTLTO_LOG_NOTE, Text); }
  void debug(const std::string &Text) { emit(DTLTO_LOG_DEBUG, Text); }

private:
  void emit(uint32_t Level, const std::string &Text);

  const dtlto_host &Host;
  int Fd = -1; // of the file; written a line at a time
  bool Verbose = false;
};

} // namespace dtlto::icecc

#endif // DTLTO_ICECC_LOG_H
