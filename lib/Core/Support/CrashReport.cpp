//===- CrashReport.cpp - Reports crashes and limits their time ------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Support/CrashReport.h"
#include "llvm/Support/PrettyStackTrace.h"
#include <cerrno>
#include <csignal>
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
static const std::string *Report = nullptr; // never destroyed

void dtlto::endWithin(unsigned Seconds) {
  struct sigaction Default = {};
  Default.sa_handler = SIG_DFL;
  ::sigaction(SIGALRM, &Default, nullptr);
  sigset_t Alarm;
  ::sigemptyset(&Alarm);
  ::sigaddset(&Alarm, SIGALRM);
  ::pthread_sigmask(SIG_UNBLOCK, &Alarm, nullptr);
  ::alarm(Seconds);
}

/// Calls only async-signal-safe functions.
static void onSignalWithLimit(int Signal, siginfo_t *Info, void *Context) {
  const PreviousHandler &Previous = Handlers[Signal];
  int Errno = errno;
  endWithin(Previous.Seconds);
  if (Previous.IsCrash && Report)
    (void)!::write(STDERR_FILENO, Report->data(), Report->size());
  errno = Errno;
  if (Previous.Action.sa_flags & SA_SIGINFO)
    Previous.Action.sa_sigaction(Signal, Info, Context);
  else
    Previous.Action.sa_handler(Signal);
}

static void limitHandler(int Signal, unsigned Seconds, bool IsCrash) {
  struct sigaction Current;
  if (Handlers[Signal].Seconds || ::sigaction(Signal, nullptr, &Current) != 0 ||
      (!(Current.sa_flags & SA_SIGINFO) &&
       (Current.sa_handler == SIG_DFL || Current.sa_handler == SIG_IGN)))
    return;
  Handlers[Signal] = {Current, Seconds, IsCrash};
  Current.sa_sigaction = onSignalWithLimit;
  Current.sa_flags |= SA_SIGINFO;
  ::sigaction(Signal, &Current, nullptr);
}

void dtlto::installCrashReport(StringRef Note) {
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
