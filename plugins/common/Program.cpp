//===- Program.cpp - A program that runs jobs -----------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Program.h"
#include "FolderSettings.h"
#include "Text.h"
#include "dtlto/sdk/Result.hpp"
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace dtlto;
using namespace dtlto::sdk;

// Of a line that has no end.
static constexpr size_t MaxLine = 4096;

static bool canRun(const std::string &Path) {
  struct stat Info;
  return ::stat(Path.c_str(), &Info) == 0 && S_ISREG(Info.st_mode) &&
         ::access(Path.c_str(), X_OK) == 0;
}

std::string dtlto::findProgram(const std::string &Name) {
  if (Name.empty())
    return "";
  if (Name.find('/') != std::string::npos) {
    std::string Path = absolutePath(Name);
    return canRun(Path) ? Path : "";
  }
  const char *All = ::getenv("PATH");
  std::string_view Rest = All ? All : "/usr/bin:/bin";
  while (!Rest.empty()) {
    size_t End = std::min(Rest.find(':'), Rest.size());
    std::string Path = std::string(Rest.substr(0, End)) + "/" + Name;
    if (Path[0] == '/' && End != 0 && canRun(Path))
      return Path;
    Rest.remove_prefix(std::min(End + 1, Rest.size()));
  }
  return "";
}

/// The name of a variable and its `=`, or all if there is none.
static std::string_view nameOf(std::string_view Variable) {
  return Variable.substr(0, Variable.find('='));
}

Program::Program(JobFolder &Folder, const std::vector<std::string> &Args,
                 const std::vector<std::string> &Env)
    : Folder(Folder) {
  // It waits until the guard knows it: from its first moment on, it ends when
  // the linker does.
  std::vector<char *> Words, Variables;
  for (const char *Word :
       {"sh", "-c", "read -r go || exit 1; exec \"$@\" </dev/null", "dtlto"})
    Words.push_back(const_cast<char *>(Word));
  for (const std::string &Arg : Args)
    Words.push_back(const_cast<char *>(Arg.c_str()));
  Words.push_back(nullptr);
  for (char **V = environ; *V; ++V) {
    bool IsOurs = false;
    for (const std::string &E : Env)
      IsOurs |= nameOf(*V) == nameOf(E);
    if (!IsOurs)
      Variables.push_back(*V);
  }
  for (const std::string &E : Env)
    if (E.find('=') != std::string::npos)
      Variables.push_back(const_cast<char *>(E.c_str()));
  Variables.push_back(nullptr);

  // Of standard input, output and error: the reader's end, and the writer's.
  int Ends[3][2] = {{-1, -1}, {-1, -1}, {-1, -1}}, Why = 0;
  // A socket, since one that was killed must not end the linker by SIGPIPE.
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, Ends[0]) != 0)
    Why = errno;
  for (int I = 1; I != 3 && !Why; ++I)
    if (::pipe2(Ends[I], O_CLOEXEC) != 0)
      Why = errno;
  if (!Why) {
    posix_spawn_file_actions_t Actions;
    posix_spawn_file_actions_init(&Actions);
    // First, since the folder's may be one of these.
    posix_spawn_file_actions_addfchdir_np(&Actions, Folder.fd());
    posix_spawn_file_actions_adddup2(&Actions, Ends[0][0], 0);
    posix_spawn_file_actions_adddup2(&Actions, Ends[1][1], 1);
    posix_spawn_file_actions_adddup2(&Actions, Ends[2][1], 2);
    posix_spawnattr_t Attr;
    posix_spawnattr_init(&Attr);
    posix_spawnattr_setflags(&Attr,
                             POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setpgroup(&Attr, 0);
    sigset_t None;
    sigemptyset(&None);
    posix_spawnattr_setsigmask(&Attr, &None);
    Why = ::posix_spawn(&Pid, "/bin/sh", &Actions, &Attr, Words.data(),
                        Variables.data());
    posix_spawnattr_destroy(&Attr);
    posix_spawn_file_actions_destroy(&Actions);
  }
  for (int Fd : {Ends[0][0], Ends[1][1], Ends[2][1]})
    if (Fd >= 0)
      ::close(Fd);
  if (!Why) {
    Folder.watch(Pid);
    Fds[0] = Ends[1][0];
    Fds[1] = Ends[2][0];
    for (int Fd : Fds)
      ::fcntl(Fd, F_SETFL, O_NONBLOCK);
    (void)::send(Ends[0][1], "go\n", 3, MSG_NOSIGNAL);
    ::close(Ends[0][1]);
    return;
  }
  for (int Fd : {Ends[0][1], Ends[1][0], Ends[2][0]})
    if (Fd >= 0)
      ::close(Fd);
  throw Error(DTLTO_ERROR_INFRASTRUCTURE,
              "can't start " + quote(Args[0]) + ": " + std::strerror(Why));
}

Program::~Program() {
  if (!Ended) {
    ::kill(-Pid, SIGKILL);
    Folder.unwatch(Pid);
    while (::waitpid(Pid, nullptr, 0) < 0 && errno == EINTR)
      ;
  }
  for (int Fd : Fds)
    if (Fd >= 0)
      ::close(Fd);
}

void Program::listen(const std::function<void(std::string, bool)> &Line) {
  for (int I = 0; I != 2; ++I) {
    char Block[4096];
    ssize_t N = -1;
    // No more than a pipe can hold: it may never stop.
    for (int J = 0; J != 16 && Fds[I] >= 0 &&
                    (N = ::read(Fds[I], Block, sizeof(Block))) > 0;
         ++J)
      for (ssize_t K = 0; K != N; ++K) {
        if (Block[K] != '\n' && Block[K] != '\r' && Rest[I].size() < MaxLine) {
          Rest[I] += Block[K];
          continue;
        }
        if (!Rest[I].empty())
          Line(Rest[I], I == 1);
        Rest[I].clear();
      }
    if (Fds[I] >= 0 && N == 0) {
      ::close(Fds[I]);
      Fds[I] = -1;
    }
    if ((Fds[I] < 0 || Ended) && !Rest[I].empty()) {
      Line(Rest[I], I == 1);
      Rest[I].clear();
    }
  }
}

bool Program::hasEnded() {
  if (Ended)
    return true;
  siginfo_t Info = {};
  // Its number is nobody else's before it is waited for, so the guard can't end
  // a stranger.
  if (::waitid(P_PID, static_cast<id_t>(Pid), &Info,
               WEXITED | WNOHANG | WNOWAIT) != 0) {
    if (errno != ECHILD)
      return false;
    // This process ignores SIGCHLD, or another part of it has waited.
    Folder.unwatch(Pid);
    How = "ended, but how is lost";
    return Ended = true;
  }
  if (Info.si_pid == 0)
    return false;
  if (Info.si_code == CLD_EXITED && Info.si_status == 0) {
    Folder.unwatch(Pid);
  } else {
    ::kill(-Pid, SIGKILL); // what it has started
    Folder.unwatch(Pid);
    How = Info.si_code == CLD_EXITED
              ? "ended with " + std::to_string(Info.si_status)
              : "was killed by signal " + std::to_string(Info.si_status);
  }
  while (::waitpid(Pid, nullptr, 0) < 0 && errno == EINTR)
    ;
  return Ended = true;
}

void Program::end() {
  if (!Ended)
    ::kill(-Pid, Asked ? SIGKILL : SIGTERM);
  Asked = true;
}
