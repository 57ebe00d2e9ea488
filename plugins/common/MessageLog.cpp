//===- MessageLog.cpp - Where a plugin's messages go ----------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MessageLog.h"
#include "System.h"
#include "Text.h"
#include <cerrno>
#include <unistd.h>

using namespace dtlto;

MessageLog::~MessageLog() {
  if (Fd != -1)
    ::close(Fd);
}

bool MessageLog::open(const std::string &File, bool Verbose,
                      std::string &Error) {
  this->Verbose = Verbose;
  if (Fd != -1)
    ::close(Fd);
  Fd = -1;
  if (File.empty())
    return true;
  Fd = os::openLog(File);
  if (Fd != -1)
    return true;
  Error = "can't open the log file " + quote(File) + ": " +
          os::errorText(errno) + "; set or unset " + Variable;
  return false;
}

static const char *levelName(uint32_t Level) {
  switch (Level) {
  case DTLTO_LOG_ERROR:
    return "error";
  case DTLTO_LOG_WARNING:
    return "warning";
  case DTLTO_LOG_DEBUG:
    return "debug";
  default:
    return "note";
  }
}

/// To the file.
void MessageLog::write(uint32_t Level, const std::string &Line) {
  if (Fd == -1 || (Level == DTLTO_LOG_DEBUG && !Verbose))
    return;
  std::string Whole = "dtlto[" + std::to_string(getpid()) + "] " + Plugin +
                      ": " + levelName(Level) + ": " + Line + "\n";
  // At once, so that lines of other threads and processes don't mix with it.
  os::writeLog(Fd, Whole);
}

void MessageLog::fail(int32_t Status, const std::string &Text) {
  write(DTLTO_LOG_ERROR, sdk::oneLine(Text));
  throw sdk::Error(Status, Text);
}

void MessageLog::emit(uint32_t Level, const std::string &Text) {
  std::string Line = sdk::oneLine(Text);
  write(Level, Line);
  bool ToHost =
      Fd == -1 || Level == DTLTO_LOG_ERROR || Level == DTLTO_LOG_DEBUG;
  if (!ToHost)
    return;
  if (Level == DTLTO_LOG_DEBUG && Verbose && Fd == -1)
    Level = DTLTO_LOG_NOTE;
  Host.log(Host.context, Level, Line.c_str());
}
