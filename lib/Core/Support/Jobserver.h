//===- Jobserver.h - A client of GNU make's jobserver -----------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `make -jN` lets all programs of a build share N cores, also those that a
// ninja runs which it runs. There is a pipe or a fifo with tokens, one byte
// each, and MAKEFLAGS names it. A program has one token from the start, which
// it never gives back. For each thing more that it does at a time, it reads a
// byte, and afterwards writes the same byte.
//
// A token that isn't given back is one core less for the rest of the build. So
// they are given back when the process ends, too: by exit() or _exit() of LLD,
// by a fatal error or a signal. Only SIGKILL can't be seen.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_SUPPORT_JOBSERVER_H
#define DTLTO_SUPPORT_JOBSERVER_H

#include "llvm/ADT/StringRef.h"
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#ifndef _WIN32
#include <pthread.h>
#endif

namespace dtlto {

/// Any thread. There may be one at a time in a process.
class Jobserver {
public:
  /// The jobserver that \p MakeFlags name. Null if they name none, or if it
  /// can't be used; \p Note is then why, or empty.
  static std::unique_ptr<Jobserver> connect(llvm::StringRef MakeFlags,
                                            std::string &Note);
  /// Gives back all tokens. Calls nobody any more.
  ~Jobserver();

  /// Calls \p OnToken once, on a thread of its own, when it has taken a token.
  /// That may never be.
  void take(std::function<void()> OnToken);

  /// Gives back one token that was taken.
  static void giveBack();
  /// Gives back all of them: for whoever is about to call _exit(). Signal
  /// handlers may call it.
  static void giveBackAll();

private:
  Jobserver(int ReadFd, int WakeFd) : ReadFd(ReadFd), WakeFd(WakeFd) {}
  void run();
  void wake();

  const int ReadFd; // never waits
  const int WakeFd; // an eventfd: there is something new below
  std::mutex Mutex; // guards all below
  std::deque<std::function<void()>> Asked;
  bool IsEnding = false;
#ifndef _WIN32
  std::optional<pthread_t> Thread; // started when a token is asked for
#endif
};

} // namespace dtlto

#endif // DTLTO_SUPPORT_JOBSERVER_H
