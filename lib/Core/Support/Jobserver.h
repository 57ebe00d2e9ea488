//===- Jobserver.h - A client of GNU make's jobserver -----------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// With `make -jN`, all programs of a build share N cores, including the
// commands of a ninja that make runs. A pipe or fifo contains tokens of one
// byte each; MAKEFLAGS names it. A program has one token from the start, which
// it never gives back. For each additional concurrent task, it reads a byte and
// later writes the same byte.
//
// A token that isn't given back costs the rest of the build one core. So tokens
// are also given back when the process ends: by exit(), by LLD's _exit(), by a
// fatal error or a signal. Only SIGKILL can't be handled.
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

/// All functions may be called on any thread. A process can have one at a time.
class Jobserver {
public:
  /// Returns the jobserver in \p MakeFlags. Returns null if there is none or it
  /// can't be used; \p Note is then the reason, or empty.
  static std::unique_ptr<Jobserver> connect(llvm::StringRef MakeFlags,
                                            std::string &Note);
  /// Gives back all tokens. No callback is called afterwards.
  ~Jobserver();

  /// Calls \p OnToken once, on another thread, when a token has been taken.
  /// This may never happen.
  void take(std::function<void()> OnToken);

  /// Gives back one token that was taken.
  static void releaseToken();
  /// Gives back all tokens, for callers that are about to call _exit().
  /// Async-signal-safe.
  static void releaseAllTokens();

private:
  Jobserver(int ReadFd, int WakeFd) : ReadFd(ReadFd), WakeFd(WakeFd) {}
  void run();
  void wake();

  const int ReadFd; // never waits
  const int WakeFd; // an eventfd: signals changes of the fields below
  std::mutex Mutex; // guards all below
  std::deque<std::function<void()>> Requests;
  bool IsEnding = false;
#ifndef _WIN32
  std::optional<pthread_t> Thread; // started with the first take()
#endif
};

} // namespace dtlto

#endif // DTLTO_SUPPORT_JOBSERVER_H
