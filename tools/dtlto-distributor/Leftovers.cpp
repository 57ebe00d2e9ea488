//===- Leftovers.cpp - Nothing outlives dtlto-distributor -----------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Leftovers.h"
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <unistd.h>

using namespace dtlto;

static constexpr const char *Option = "--launch-under";

// Standard input is a pipe that nobody else has. A compiler that ends at the
// same moment may still make a file.
static constexpr const char *Script = R"(read -r line
rm -rf -- "$1"
[ ! -e "$1" ] || { sleep 1; rm -rf -- "$1"; }
)";

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
  int Ends[2];
  if (::pipe2(Ends, O_CLOEXEC) != 0)
    return;
  posix_spawn_file_actions_t Actions;
  posix_spawn_file_actions_init(&Actions);
  posix_spawn_file_actions_adddup2(&Actions, Ends[0], STDIN_FILENO);
  posix_spawn_file_actions_addopen(&Actions, STDOUT_FILENO, "/dev/null",
                                   O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&Actions, STDOUT_FILENO, STDERR_FILENO);
  posix_spawnattr_t Attr;
  posix_spawnattr_init(&Attr);
  // Ctrl-C is for us.
  posix_spawnattr_setflags(&Attr, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK);
  sigset_t None;
  sigemptyset(&None);
  posix_spawnattr_setsigmask(&Attr, &None);
  const char *Args[] = {"sh",          "-c",           Script,
                        "dtlto-guard", Folder.c_str(), nullptr};
  pid_t Pid;
  // Our end of the pipe stays open until the kernel closes it.
  ::posix_spawn(&Pid, "/bin/sh", &Actions, &Attr, const_cast<char **>(Args),
                environ);
  posix_spawnattr_destroy(&Attr);
  posix_spawn_file_actions_destroy(&Actions);
  ::close(Ends[0]);
}
