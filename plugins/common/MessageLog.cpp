//===- MessageLog.cpp - Where a plugin's messages go ----------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MessageLog.h"
#include "System.h"
#include "Text.h"
#include "dtlto/sdk/Detached.hpp"
#include <cerrno>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <system_error>
#include <unistd.h>

using namespace dtlto;

std::chrono::milliseconds dtlto::LogLimit{1000};

struct MessageLog::Writer {
  explicit Writer(std::string File) : File(std::move(File)) {}

  const std::string File;
  std::mutex Mutex; // guards the rest
  std::condition_variable Changed;
  int Fd = -1, Errno = 0;
  std::deque<std::string> Lines;
  size_t NumWritten = 0, NumPosted = 0;
  bool IsOpened = false, IsEnding = false, HasEnded = false;

  void run() {
    int New = os::openLog(File);
    int Why = New == -1 ? errno : 0;
    std::unique_lock<std::mutex> Lock(Mutex);
    Fd = New;
    Errno = Why;
    IsOpened = true;
    Changed.notify_all();
    while (Fd != -1) {
      Changed.wait(Lock, [&] { return IsEnding || !Lines.empty(); });
      if (Lines.empty())
        break;
      std::string Line = std::move(Lines.front());
      Lines.pop_front();
      Lock.unlock();
      os::writeLog(New, Line);
      Lock.lock();
      ++NumWritten;
      Changed.notify_all();
    }
    Lock.unlock();
    if (New != -1)
      ::close(New);
    Lock.lock();
    HasEnded = true;
    Changed.notify_all();
  }
};

MessageLog::~MessageLog() { end(); }

/// Closes the file, if there is one.
void MessageLog::end() {
  if (!TheWriter)
    return;
  std::unique_lock<std::mutex> Lock(TheWriter->Mutex);
  TheWriter->IsEnding = true;
  TheWriter->Changed.notify_all();
  if (HasFile)
    TheWriter->Changed.wait_for(Lock, LogLimit,
                                [&] { return TheWriter->HasEnded; });
  Lock.unlock();
  HasFile = false;
  TheWriter.reset();
}

int MessageLog::fd() const { return HasFile ? TheWriter->Fd : -1; }

bool MessageLog::open(const std::string &File, bool Verbose,
                      std::string &Error) {
  this->Verbose = Verbose;
  end();
  if (File.empty())
    return true;
  TheWriter = std::make_shared<Writer>(File);
  std::string Why;
  try {
    sdk::runDetached([W = TheWriter] { W->run(); });
    std::unique_lock<std::mutex> Lock(TheWriter->Mutex);
    HasFile = TheWriter->Changed.wait_for(Lock, LogLimit,
                                          [&] { return TheWriter->IsOpened; });
    if (!HasFile)
      Why = os::errorText(ETIMEDOUT);
    else if (TheWriter->Errno)
      Why = os::errorText(TheWriter->Errno);
  } catch (const std::system_error &E) {
    Why = E.what();
  }
  if (Why.empty())
    return true;
  end();
  Error = "cannot open the log file " + quote(File) + ": " + Why +
          "; set or unset " + Variable;
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

/// Writes a line to the file and waits for that, at most LogLimit.
void MessageLog::write(uint32_t Level, const std::string &Line) {
  if (!HasFile || (Level == DTLTO_LOG_DEBUG && !Verbose))
    return;
  std::string FullLine = "dtlto[" + std::to_string(getpid()) + "] " + Plugin +
                         ": " + levelName(Level) + ": " + Line + "\n";
  Writer &W = *TheWriter;
  std::unique_lock<std::mutex> Lock(W.Mutex);
  W.Lines.push_back(std::move(FullLine));
  size_t Number = ++W.NumPosted;
  W.Changed.notify_all();
  if (!W.Changed.wait_for(Lock, LogLimit,
                          [&] { return W.NumWritten >= Number; }))
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
