//===- CrashReport.cpp - Reports crashes and limits their time ------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Support/CrashReport.h"
#include "llvm/Support/ManagedStatic.h"
#include "llvm/Support/PrettyStackTrace.h"
#include "llvm/Support/Signals.h"
#include <atomic>
#include <cerrno>
#include <csignal>
#include <mutex>
#include <string>
#ifndef _WIN32
#include <unistd.h>
#endif

using namespace llvm;
using namespace dtlto;

const char *dtlto::bugReportLine() {
  return *DTLTO_BUG_REPORT_URL
             ? "PLEASE submit a bug report to " DTLTO_BUG_REPORT_URL
               " and include this output.\n"
             : "PLEASE report this crash to those who packaged dtlto, and "
               "include this output.\n";
}

#ifdef _WIN32

void dtlto::installCrashReport(StringRef Note) {
  EnablePrettyStackTrace();
  auto *Text = new std::string(bugReportLine() + Note.str());
  setBugReportMsg(Text->c_str());
}

bool dtlto::limitAbortHandler() { return false; }

void dtlto::waitIfCrashing() {}

void dtlto::limitInterrupts() {}

void dtlto::endWithin(unsigned) {}

#else

static constexpr unsigned MaxCrash = 8, MaxInterrupt = 2; // seconds

namespace {
/// The previous handler of a signal.
struct PreviousHandler {
  struct sigaction Action;
  unsigned Seconds = 0; // its time limit; 0: ours isn't installed
  bool IsCrash = false;
};
} // namespace

static PreviousHandler Handlers[NSIG];
// A plugin's handler of SIGABRT, which runs first. It runs once, since it may
// call the handler that it found, which is ours.
static struct sigaction PluginAbort;
static std::atomic<bool> HasPluginAbort = false;
static std::atomic<pid_t> CrashingThread = 0; // the first one; 0: none
static std::atomic<const std::string *> Report = nullptr; // never destroyed

void dtlto::endWithin(unsigned Seconds) {
  static std::atomic<bool> WillEnd = false;
  struct sigaction Default = {};
  Default.sa_handler = SIG_DFL;
  ::sigaction(SIGALRM, &Default, nullptr);
  sigset_t Alarm;
  ::sigemptyset(&Alarm);
  ::sigaddset(&Alarm, SIGALRM);
  ::pthread_sigmask(SIG_UNBLOCK, &Alarm, nullptr);
  unsigned Left = ::alarm(Seconds);
  if (WillEnd.exchange(true) && Left != 0 && Left < Seconds)
    ::alarm(Left);
}

void dtlto::waitIfCrashing() {
  while (CrashingThread != 0)
    ::pause();
}

namespace {
/// Runs in llvm_shutdown(), which LLD calls before _exit().
struct AtShutdown {
  ~AtShutdown() { waitIfCrashing(); }
};
} // namespace

static ManagedStatic<AtShutdown> ExitCheck;

/// Calls only async-signal-safe functions.
static void onSignalWithLimit(int Signal, siginfo_t *Info, void *Context) {
  const PreviousHandler &Previous = Handlers[Signal];
  int Errno = errno;
  endWithin(Previous.Seconds);
  if (Previous.IsCrash) {
    const std::string *Text = Report;
    pid_t First = 0;
    if (!CrashingThread.compare_exchange_strong(First, ::gettid()))
      while (First != ::gettid()) // several threads crash at once
        ::pause();
    else if (Text)
      (void)!::write(STDERR_FILENO, Text->data(), Text->size());
  }
  const struct sigaction *Next = &Previous.Action;
  if (Signal == SIGABRT && HasPluginAbort.exchange(false)) {
    Next = &PluginAbort;
    sys::RunInterruptHandlers(); // removes files, as LLVM's handler does first
  }
  errno = Errno;
  if (Next->sa_flags & SA_SIGINFO)
    Next->sa_sigaction(Signal, Info, Context);
  else
    Next->sa_handler(Signal);
}

static bool isFunction(const struct sigaction &Action) {
  return Action.sa_flags & SA_SIGINFO ||
         (Action.sa_handler != SIG_DFL && Action.sa_handler != SIG_IGN);
}

static void install(int Signal, struct sigaction Action) {
  Action.sa_sigaction = onSignalWithLimit;
  Action.sa_flags |= SA_SIGINFO;
  // Otherwise a second thread that crashes would end the process before the
  // first has written anything.
  if (Handlers[Signal].IsCrash)
    Action.sa_flags &= ~SA_RESETHAND;
  ::sigaction(Signal, &Action, nullptr);
}

static void limitHandler(int Signal, unsigned Seconds, bool IsCrash) {
  struct sigaction Current;
  if (Handlers[Signal].Seconds || ::sigaction(Signal, nullptr, &Current) != 0 ||
      !isFunction(Current))
    return;
  Handlers[Signal] = {Current, Seconds, IsCrash};
  install(Signal, Current);
}

bool dtlto::limitAbortHandler() {
  static std::mutex Mutex; // guards PluginAbort, except from its reader
  std::lock_guard<std::mutex> Lock(Mutex);
  struct sigaction Current;
  if (!Handlers[SIGABRT].Seconds ||
      ::sigaction(SIGABRT, nullptr, &Current) != 0 || !isFunction(Current) ||
      Current.sa_sigaction == onSignalWithLimit)
    return false;
  HasPluginAbort = false;
  PluginAbort = Current;
  HasPluginAbort = true;
  install(SIGABRT, Current);
  return true;
}

void dtlto::installCrashReport(StringRef Note) {
  *ExitCheck;
  EnablePrettyStackTrace(); // installs LLVM's handlers
  setBugReportMsg("");      // printed before LLVM's
  Report = new std::string(bugReportLine() + Note.str());
  for (int Signal : {SIGILL, SIGTRAP, SIGABRT, SIGFPE, SIGBUS, SIGSEGV, SIGSYS})
    limitHandler(Signal, MaxCrash, /*IsCrash=*/true);
  for (int Signal : {SIGQUIT, SIGXCPU})
    limitHandler(Signal, MaxCrash, /*IsCrash=*/false);
}

void dtlto::limitInterrupts() {
  for (int Signal : {SIGHUP, SIGINT, SIGTERM, SIGUSR2})
    limitHandler(Signal, MaxInterrupt, /*IsCrash=*/false);
}

#endif
