//===- Interrupt.cpp - When dtlto-distributor is told to end --------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Interrupt.h"
#include "Support/Jobserver.h"
#include "llvm/Support/Signals.h"
#include <atomic>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <sys/prctl.h>
#include <thread>
#include <unistd.h>

using namespace llvm;
using namespace dtlto;

static pid_t Parent = 0;
static int Wake[2] = {-1, -1};
static std::atomic<bool> IsEnding = false;

void dtlto::noteParent() { Parent = ::getppid(); }

void dtlto::waitIfEnding() {
  while (IsEnding)
    ::pause();
}

void dtlto::endOnSignals(std::function<void()> End, bool WithParent) {
  if (::pipe2(Wake, O_CLOEXEC) != 0)
    return; // signals then end the process where it is
  std::thread([End = std::move(End)] {
    char Byte;
    while (::read(Wake[0], &Byte, 1) < 0 && errno == EINTR)
      ;
    IsEnding = true;
    End();
    sys::RunInterruptHandlers(); // files that are being written
    Jobserver::giveBackAll();
    ::_exit(128 + SIGTERM);
  }).detach();
  // LLVM's handler has removed files by then, and lets a second signal end the
  // process as it is.
  sys::SetInterruptFunction(
      [] { [[maybe_unused]] ssize_t N = ::write(Wake[1], "", 1); });
  if (!WithParent)
    return;
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != Parent) // it went before that
    ::raise(SIGTERM);
}
