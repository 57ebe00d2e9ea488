//===- Crash.cpp - The report of a crash ----------------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CaseReport.h"
#include "Rules/Loan.h"
#include <csignal>
#include <cstring>
#include <initializer_list>
#include <unistd.h>

using namespace dtlto;

static const auto PageSize = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
static int CrashFd = 2;
std::atomic<const char *> dtlto::check::NullReason{""};

static void writeTexts(std::initializer_list<const char *> Texts) {
  for (const char *Text : Texts)
    if (::write(CrashFd, Text, std::strlen(Text)) < 0)
      return;
}

static void onCrash(int Signal, siginfo_t *Info, void *) {
  // The first thread reports, and ends the process.
  static std::atomic_flag Reported = ATOMIC_FLAG_INIT;
  while (Reported.test_and_set())
    ::pause();
  std::optional<Misuse> M;
  if (Signal == SIGSEGV || Signal == SIGBUS)
    M = Loan::judge(Info->si_addr);
  writeTexts({"fail\tMemory\tthe plugin "});
  if (M) {
    writeTexts(
        {M->What[0], M->What[1], M->What[2], M->What[3], "\t", M->Fix, "\n"});
  } else {
    char Digits[3] = {char('0' + Signal / 10), char('0' + Signal % 10), 0};
    const char *WhyNull = check::NullReason;
    bool IsNull = Signal == SIGSEGV && *WhyNull &&
                  reinterpret_cast<uintptr_t>(Info->si_addr) < PageSize;
    writeTexts({"crashed with signal ", Digits,
                Signal == SIGABRT ? " (abort: an exception or a panic?)" : "",
                IsNull ? " at a null pointer; " : "", IsNull ? WhyNull : "",
                "\tlook at it in a debugger: --only=CASE --debug\n"});
  }
  ::_exit(1);
}

void dtlto::check::catchCrashes(int Fd) {
  CrashFd = Fd;
  struct sigaction Action = {};
  Action.sa_sigaction = onCrash;
  // Some runtimes give their threads a signal stack.
  Action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  for (int Signal : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL})
    ::sigaction(Signal, &Action, nullptr);
}
