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
#include <system_error>
#include <unistd.h>

using namespace dtlto;

std::chrono::milliseconds dtlto::LogLimit{1000};

struct MessageLog::OpenFile {
  int Fd = -1, Errno = 0;
};

MessageLog::~MessageLog() { end(); }

/// Closes the file, if there is one.
void MessageLog::end() {
  if (!Thread)
    return;
  Thread->post([F = TheFile] {
    if (F->Fd != -1)
      ::close(F->Fd);
  });
  if (HasFile.exchange(false))
    Thread->wait(LogLimit);
  Thread.reset();
}

int MessageLog::fd() const { return HasFile ? TheFile->Fd : -1; }

void MessageLog::open(const std::string &File, bool Verbose) {
  this->Verbose = Verbose;
  end();
  if (File.empty())
    return;
  std::string Why;
  try {
    Thread = std::make_unique<FileThread>();
    TheFile = std::make_shared<OpenFile>();
    Thread->post([F = TheFile, File] {
      F->Fd = os::openLog(File);
      F->Errno = F->Fd == -1 ? errno : 0;
    });
    HasFile = Thread->wait(LogLimit);
    if (int Errno = HasFile ? TheFile->Errno : ETIMEDOUT)
      Why = os::errorText(Errno);
  } catch (const std::system_error &E) {
    Why = E.what();
  }
  if (Why.empty())
    return;
  end();
  warning("cannot open the log file " + quote(File) + ": " + Why +
          "; set or unset " + Variable);
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

/// Writes a line to the file and waits for that, at most LogLimit.
void MessageLog::write(uint32_t Level, const std::string &Line) {
  if (!HasFile || (Level == DTLTO_LOG_DEBUG && !Verbose))
    return;
  std::string FullLine = "dtlto[" + std::to_string(getpid()) + "] " + Plugin +
                         ": " + levelName(Level) + ": " + Line + "\n";
  Thread->post([F = TheFile, FullLine] { os::writeLog(F->Fd, FullLine); });
  if (!Thread->wait(LogLimit))
    HasFile = false; // this message and all later ones go to the linker
}

void MessageLog::fail(int32_t Status, const std::string &Text) {
  write(DTLTO_LOG_ERROR, sdk::oneLine(Text));
  throw sdk::Error(Status, Text);
}

void MessageLog::emit(uint32_t Level, const std::string &Text) {
  std::string Line = sdk::oneLine(Text);
  write(Level, Line);
  bool ToHost =
      !HasFile || Level == DTLTO_LOG_ERROR || Level == DTLTO_LOG_DEBUG;
  if (!ToHost)
    return;
  if (Level == DTLTO_LOG_DEBUG && Verbose && !HasFile)
    Level = DTLTO_LOG_NOTE;
  Host.log(Host.context, Level, Line.c_str());
}
