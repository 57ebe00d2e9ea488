//===- Ending.cpp - How dtlto-distributor ends ----------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Ending.h"
#include "Guard.h"
#include "Support/Jobserver.h"
#include "llvm/Support/Signals.h"
#include <atomic>
#include <cassert>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/prctl.h>
#include <thread>
#include <unistd.h>

using namespace llvm;
using namespace dtlto;

static pid_t Parent = 0;
static int Wake[2] = {-1, -1};
static std::atomic<bool> IsEnding = false;

void dtlto::recordParent() { Parent = ::getppid(); }

void dtlto::waitIfEnding() {
  while (IsEnding)
    ::pause();
}

void dtlto::endOnSignals(std::function<void()> End, bool WithParent) {
  assert(Wake[0] < 0 && "one call in a process");
  if (::pipe2(Wake, O_CLOEXEC) != 0)
    return; // signals then end the process at once
  std::thread([End = std::move(End)] {
    char Byte;
    while (::read(Wake[0], &Byte, 1) < 0 && errno == EINTR)
      ;
    IsEnding = true;
    End();
    sys::RunInterruptHandlers(); // removes unfinished files
    Jobserver::releaseAllTokens();
    ::_exit(128 + SIGTERM);
  }).detach();
  // LLVM's handler removes files first, and lets a second signal end the
  // process at once.
  sys::SetInterruptFunction(
      [] { [[maybe_unused]] ssize_t N = ::write(Wake[1], "", 1); });
  if (!WithParent)
    return;
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != Parent) // it ended before prctl()
    ::raise(SIGTERM);
}

static constexpr const char *Option = "--launch-under";

std::vector<std::string> dtlto::launcher(const std::string &Self) {
  return {Self, Option, std::to_string(::getpid())};
}

void dtlto::runAsLauncher(int Argc, char **Argv) {
  if (Argc < 5 || std::strcmp(Argv[1], Option) != 0)
    return;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != std::atoi(Argv[2])) // it ended before prctl()
    ::_exit(1);
  ::execvp(Argv[3], Argv + 4);
  std::fprintf(stderr, "cannot run '%s': %s\n", Argv[3], std::strerror(errno));
  ::_exit(127);
}

void dtlto::removeWhenProcessEnds(const std::string &Folder) {
  int Why;
  // The guard lives until the kernel closes our end of its stream.
  static const Guard *TheGuard =
      Guard::start(Folder, /*Lock=*/-1, Why).release();
  (void)TheGuard;
}
