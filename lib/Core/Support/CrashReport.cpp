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
struct Inner {
  struct sigaction Action;
  unsigned Seconds = 0; // its time limit; 0: ours isn't installed
  bool IsCrash = false;
};
} // namespace

static Inner Handlers[NSIG];
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
  const Inner &Was = Handlers[Signal];
  int Errno = errno;
  endWithin(Was.Seconds);
  if (Was.IsCrash && Report)
    (void)!::write(STDERR_FILENO, Report->data(), Report->size());
  errno = Errno;
  if (Was.Action.sa_flags & SA_SIGINFO)
    Was.Action.sa_sigaction(Signal, Info, Context);
  else
    Was.Action.sa_handler(Signal);
}

static void limitHandler(int Signal, unsigned Seconds, bool IsCrash) {
  struct sigaction Is;
  if (Handlers[Signal].Seconds || ::sigaction(Signal, nullptr, &Is) != 0 ||
      (!(Is.sa_flags & SA_SIGINFO) &&
       (Is.sa_handler == SIG_DFL || Is.sa_handler == SIG_IGN)))
    return;
  Handlers[Signal] = {Is, Seconds, IsCrash};
  Is.sa_sigaction = onSignalWithLimit;
  Is.sa_flags |= SA_SIGINFO;
  ::sigaction(Signal, &Is, nullptr);
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
