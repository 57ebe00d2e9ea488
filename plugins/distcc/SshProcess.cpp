//===- SshProcess.cpp - A distccd at the other end of ssh -----------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SshProcess.h"
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace dtlto::distcc;

int dtlto::distcc::spawnSsh(const std::vector<std::string> &SshCommand,
                            const HostSpec &Host, pid_t &Pid) {
  std::vector<std::string> Args = SshCommand;
  if (!Host.User.empty()) {
    Args.push_back("-l");
    Args.push_back(Host.User);
  }
  Args.push_back(Host.Name);
  Args.push_back(Host.Command.empty() ? "distccd" : Host.Command);
  Args.push_back("--inetd");
  Args.push_back("--enable-tcp-insecure");
  std::vector<char *> Argv;
  for (std::string &A : Args)
    Argv.push_back(A.data());
  Argv.push_back(nullptr);

  // One socket for both directions; theirs stays blocking, as ssh wants it.
  int Fds[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, Fds) != 0)
    return -1;
  ::fcntl(Fds[0], F_SETFL, O_NONBLOCK);

  posix_spawn_file_actions_t Actions;
  posix_spawn_file_actions_init(&Actions);
  posix_spawn_file_actions_adddup2(&Actions, Fds[1], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&Actions, Fds[1], STDOUT_FILENO);
  // The linker may block or ignore signals; ssh should have the usual ones.
  posix_spawnattr_t Attributes;
  posix_spawnattr_init(&Attributes);
  sigset_t None, Default;
  sigemptyset(&None);
  sigemptyset(&Default);
  sigaddset(&Default, SIGPIPE);
  posix_spawnattr_setsigmask(&Attributes, &None);
  posix_spawnattr_setsigdefault(&Attributes, &Default);
  posix_spawnattr_setflags(&Attributes,
                           POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  int Why = ::posix_spawnp(&Pid, Argv[0], &Actions, &Attributes, Argv.data(),
                           environ);
  posix_spawnattr_destroy(&Attributes);
  posix_spawn_file_actions_destroy(&Actions);
  ::close(Fds[1]);
  if (Why != 0) {
    ::close(Fds[0]);
    errno = Why;
    return -1;
  }
  return Fds[0];
}

void Reaper::add(pid_t Pid) {
  ::kill(Pid, SIGTERM);
  Pids.push_back(Pid);
}

void Reaper::reap() {
  Pids.erase(std::remove_if(Pids.begin(), Pids.end(),
                            [](pid_t Pid) {
                              return ::waitpid(Pid, nullptr, WNOHANG) != 0;
                            }),
             Pids.end());
}

Reaper::~Reaper() {
  reap();
  for (pid_t Pid : Pids) {
    ::kill(Pid, SIGKILL);
    ::waitpid(Pid, nullptr, 0);
  }
}
