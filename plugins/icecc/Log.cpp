//===- Log.cpp - Messages of the plugin and libicecc ----------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Log.h"
#include "System.h"
#include <atomic>
#include <icecc/logging.h>
#include <ostream>
#include <streambuf>
#include <string>

using namespace dtlto::icecc;

//===----------------------------------------------------------------------===//
// Messages of libicecc
//===----------------------------------------------------------------------===//

// libicecc writes to global streams from all threads at once, and a thread of
// ours may outlive the session. So these streams are never destroyed, keep a
// line for each thread, and write only whole lines.

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
      // The line may contain text of the scheduler or of nodes.
      for (char &C : Line)
        if (C != '\n' && (static_cast<unsigned char>(C) < 0x20 || C == 0x7f))
          C = '?';
      dtlto::os::writeLog(Fd, std::string_view(Line).substr(0, End + 1));
      Line.erase(0, End + 1);
    }
    return Size;
  }
};
} // namespace

static void setLibraryLog(int Fd, Verbosity Level) {
  static std::ostream *VisibleLog = new std::ostream(new LineBuffer);
  static std::ostream *NullLog = new std::ostream(nullptr);
  LibraryFd = Fd;
  auto At = [&](Verbosity Least) {
    return Fd != -1 && Level >= Least ? VisibleLog : NullLog;
  };
  // setup_debug() would do this, but it replaces the linker's handler of
  // SIGHUP.
  logfile_error = At(Verbosity::Errors);
  logfile_warning = At(Verbosity::Warnings);
  logfile_info = At(Verbosity::Info);
  logfile_trace = At(Verbosity::Debug);
}

//===----------------------------------------------------------------------===//
// Messages of the plugin
//===----------------------------------------------------------------------===//

Log::~Log() {
  // Before the file is closed.
  if (fd() != -1)
    setLibraryLog(-1, Verbosity::Errors);
}

void Log::open(const std::string &File, Verbosity Level) {
  setLibraryLog(Level == Verbosity::Errors ? -1 : STDERR_FILENO, Level);
  MessageLog::open(File, Level >= Verbosity::Info);
  if (fd() != -1)
    setLibraryLog(fd(), Level);
}
