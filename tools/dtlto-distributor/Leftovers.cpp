//===- Leftovers.cpp - Nothing outlives dtlto-distributor -----------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Leftovers.h"
#include "Guard.h"
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/prctl.h>
#include <unistd.h>

using namespace dtlto;

static constexpr const char *Option = "--launch-under";

std::vector<std::string> dtlto::launcher(const std::string &Self) {
  return {Self, Option, std::to_string(::getpid())};
}

void dtlto::becomeLaunched(int Argc, char **Argv) {
  if (Argc < 5 || std::strcmp(Argv[1], Option) != 0)
    return;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != std::atoi(Argv[2])) // it went before that
    ::_exit(1);
  ::execvp(Argv[3], Argv + 4);
  std::fprintf(stderr, "can't run '%s': %s\n", Argv[3], std::strerror(errno));
  ::_exit(127);
}

void dtlto::removeAfterUs(const std::string &Folder) {
  int Why;
  // It lives until the kernel closes our end of its stream.
  static const Guard *TheGuard =
      Guard::start(Folder, /*Lock=*/-1, Why).release();
  (void)TheGuard;
}
