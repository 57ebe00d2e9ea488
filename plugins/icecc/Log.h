//===- Log.h - Messages of the plugin and libicecc --------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Messages of the plugin go where MessageLog.h says. Messages of libicecc go
// where icecc writes them: to the file ICECC_LOGFILE, or to standard error if
// only ICECC_DEBUG is set.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_ICECC_LOG_H
#define DTLTO_ICECC_LOG_H

#include "MessageLog.h"

namespace dtlto::icecc {

/// The levels of ICECC_DEBUG, as in icecc. Each includes those before it.
enum class Verbosity { Errors, Warnings, Info, Debug };

class Log : public MessageLog {
public:
  explicit Log(const dtlto_host &Host)
      : MessageLog(Host, "icecc", "ICECC_LOGFILE") {}
  ~Log();

  /// Begins to append to \p File (empty: none), and lets libicecc log up to \p
  /// Level. libicecc logs nothing without a file at \p Level Errors. Warns if
  /// the file can't be opened.
  void open(const std::string &File, Verbosity Level);
};

} // namespace dtlto::icecc

#endif // DTLTO_ICECC_LOG_H
