//===- Guard.cpp - Cleans up when the linker is killed --------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Guard.h"
#include <cerrno>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace dtlto;
using namespace std::chrono_literals;

// Standard input: "run GROUP", "end GROUP", "quit", or the linker's end. $1:
// the folder, or nothing to remove; its marker, which * doesn't match, goes
// last. Numbers in $g stand between spaces of their own.
static constexpr const char *GuardScript = R"(g=
while read -r what x; do
  case $what in
  run) g="$g $x " ;;
  end) g="${g%%" $x "*}${g#*" $x "}" ;;
  quit) exit 0 ;;
  esac
done
for x in $g; do kill -s TERM -- "-$x"; done
n=0
for x in $g; do
  while [ $n -lt 3 ] && kill -s 0 -- "-$x"; do sleep 1; n=$((n + 1)); done
  kill -s KILL -- "-$x"
done
[ -n "$1" ] || exit 0
for x in "$1"/*; do rm -rf -- "$x"; done
rm -rf -- "$1"
)";

std::unique_ptr<Guard> Guard::start(const std::string &Folder, int Lock,
                                    int &Why) {
  int Ends[2];
  // A socket: writing to a guard that was killed must not end the linker.
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, Ends) != 0) {
    Why = errno;
    return nullptr;
  }
  posix_spawn_file_actions_t Actions;
  posix_spawn_file_actions_init(&Actions);
  posix_spawn_file_actions_adddup2(&Actions, Ends[1], STDIN_FILENO);
  posix_spawn_file_actions_addopen(&Actions, STDOUT_FILENO, "/dev/null",
                                   O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&Actions, STDOUT_FILENO, STDERR_FILENO);
  if (Lock >= 0)
    posix_spawn_file_actions_adddup2(&Actions, Lock, 3);
  posix_spawnattr_t Attr;
  posix_spawnattr_init(&Attr);
  // Ctrl-C is for the linker.
  posix_spawnattr_setflags(&Attr, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK);
  sigset_t None;
  sigemptyset(&None);
  posix_spawnattr_setsigmask(&Attr, &None);
  const char *Args[] = {"sh",          "-c",           GuardScript,
                        "dtlto-guard", Folder.c_str(), nullptr};
  pid_t Pid;
  Why = ::posix_spawn(&Pid, "/bin/sh", &Actions, &Attr,
                      const_cast<char **>(Args), environ);
  posix_spawnattr_destroy(&Attr);
  posix_spawn_file_actions_destroy(&Actions);
  ::close(Ends[1]);
  if (!Why)
    return std::unique_ptr<Guard>(new Guard(Ends[0], Pid));
  ::close(Ends[0]);
  return nullptr;
}

Guard::~Guard() {
  tell("quit\n");
  ::close(Fd);
  for (unsigned I = 0; ::waitpid(Pid, nullptr, WNOHANG) == 0; ++I) {
    if (I == 500)
      ::kill(Pid, SIGKILL); // it was stopped, or the like
    std::this_thread::sleep_for(2ms);
  }
}

void Guard::tell(const std::string &Line) {
  (void)::send(Fd, Line.data(), Line.size(), MSG_NOSIGNAL);
}

void Guard::watch(pid_t Group) { tell("run " + std::to_string(Group) + "\n"); }

void Guard::unwatch(pid_t Group) {
  tell("end " + std::to_string(Group) + "\n");
}
