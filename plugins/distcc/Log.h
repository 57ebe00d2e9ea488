//===- Log.h - The plugin's messages ----------------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where a message goes. With DISTCC_LOG, warnings and notes go to that file
// instead of the linker's output, as distcc's do; errors go to both. Debugging
// messages go to the linker's --verbose, and with DISTCC_VERBOSE to the file
// or, without one, to the linker's output as notes.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_DISTCC_LOG_H
#define DTLTO_DISTCC_LOG_H

#include "dtlto/PluginAPI.h"
#include <string>

namespace dtlto::distcc {

/// Any thread may log.
class Log {
public:
  Log(const dtlto_host &Host) : Host(Host) {}
  ~Log();
  Log(const Log &) = delete;

  /// Begins to append to \p File (empty: none). Returns false with \p Error if
  /// it can't be opened.
  bool open(const std::string &File, bool Verbose, std::string &Error);

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

} // namespace dtlto::distcc

#endif // DTLTO_DISTCC_LOG_H
