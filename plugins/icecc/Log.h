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

#include "MessageLog.h"

namespace dtlto::icecc {

/// ICECC_DEBUG, as icecc has it: each shows what is above it as well.
enum class Verbosity { Errors, Warnings, Info, Debug };

class Log : public MessageLog {
public:
  explicit Log(const dtlto_host &Host)
      : MessageLog(Host, "icecc", "ICECC_LOGFILE") {}
  ~Log();

  /// Begins to append to \p File (empty: none), and lets libicecc speak no
  /// louder than \p Level; not at all, with no file and \p Level Errors.
  /// Returns false with \p Error if the file can't be opened.
  bool open(const std::string &File, Verbosity Level, std::string &Error);
};

} // namespace dtlto::icecc

#endif // DTLTO_ICECC_LOG_H
