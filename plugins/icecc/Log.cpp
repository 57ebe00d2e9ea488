//===- Log.cpp - The plugin's messages, and libicecc's --------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Log.h"
#include <atomic>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <icecc/logging.h>
#include <ostream>
#include <streambuf>
#include <unistd.h>

using namespace dtlto::icecc;

//===----------------------------------------------------------------------===//
// What libicecc says
//===----------------------------------------------------------------------===//

// libicecc writes to streams that are the process's, from all threads at once,
// and a thread of ours may outlive the session. So these live for ever, keep a
// line for each thread, and write whole lines only.

static std::atomic<int> LibraryFd{-1}; // -1: nowhere

namespace {
class LineBuffer : public std::streambuf {
  int_type overflow(int_type C) override {
    char Byte = traits_type::to_char_type(C);
    if (!traits_type::eq_int_type(C, traits_type::eof()))
      xsputn(&Byte, 1);
    return traits_type::not_eof(C);
  }

  std::streamsize xsputn(const char *Text, std::streamsize Size) override {
    static thread_local std::string Line;
    int Fd = LibraryFd;
    if (Fd == -1)
      return Size;
    Line.append(Text, static_cast<size_t>(Size));
    size_t End = Line.rfind('\n');
    if (End != std::string::npos) {
      // There is nobody to tell of a failure.
      [[maybe_unused]] ssize_t Written = write(Fd, Line.data(), End + 1);
      Line.erase(0, End + 1);
    }
    return Size;
  }
};
} // namespace

static void setLibraryLog(int Fd, Verbosity Level) {
  static std::ostream *Shown = new std::ostream(new LineBuffer);
  static std::ostream *Silent = new std::ostream(nullptr);
  LibraryFd = Fd;
  auto At = [&](Verbosity Least) {
    return Fd != -1 && Level >= Least ? Shown : Silent;
  };
  // setup_debug() would do this, but it takes the linker's SIGHUP.
  logfile_error = At(Verbosity::Errors);
  logfile_warning = At(Verbosity::Warnings);
  logfile_info = At(Verbosity::Info);
  logfile_trace = At(Verbosity::Debug);
}

//===----------------------------------------------------------------------===//
// What we say
//===----------------------------------------------------------------------===//

Log::~Log() {
  if (Fd == -1)
    return;
  setLibraryLog(-1, Verbosity::Errors);
  close(Fd);
}

bool Log::open(const std::string &File, Verbosity Level, std::string &Error) {
  Verbose = Level >= Verbosity::Info;
  setLibraryLog(Level == Verbosity::Errors ? -1 : STDERR_FILENO, Level);
  if (File.empty())
    return true;
  // A pipe that nobody reads must not hold up the link: O_NONBLOCK.
  Fd = ::open(File.c_str(),
              O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK | O_NOCTTY,
              0666);
  if (Fd == -1) {
    Error = "can't open the log file '" + File + "': " + std::strerror(errno) +
            "; set or unset ICECC_LOGFILE";
    return false;
  }
  setLibraryLog(Fd, Level);
  return true;
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

/// A message is one line, whoever's words are in it.
static std::string oneLine(std::string Text) {
  while (!Text.empty() && (Text.back() == '\n' || Text.back() == '\r'))
    Text.pop_back();
  for (char &C : Text)
    if (static_cast<unsigned char>(C) < 0x20 || C == 0x7f)
      C = ' ';
  return Text;
}

void Log::emit(uint32_t Level, const std::string &Text) {
  std::string Line = oneLine(Text);

  bool ToFile = Fd != -1 && (Level != DTLTO_LOG_DEBUG || Verbose);
  if (ToFile) {
    std::string Whole = "dtlto[" + std::to_string(getpid()) +
                        "] icecc: " + levelName(Level) + " " + Line + "\n";
    // One write, so that lines of other threads and processes don't mix with
    // it.
    [[maybe_unused]] ssize_t Written = write(Fd, Whole.data(), Whole.size());
  }

  bool ToHost =
      Fd == -1 || Level == DTLTO_LOG_ERROR || Level == DTLTO_LOG_DEBUG;
  if (!ToHost)
    return;
  if (Level == DTLTO_LOG_DEBUG && Verbose && Fd == -1)
    Level = DTLTO_LOG_NOTE;
  Host.log(Host.context, Level, Line.c_str());
}
