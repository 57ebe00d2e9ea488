//===- SshProcess.cpp - A distccd at the other end of ssh -----------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SshProcess.h"
#include "Guard.h"
#include "Network.h"
#include "dtlto/sdk/Result.hpp"
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <spawn.h>
#include <string_view>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace dtlto;
using namespace dtlto::distcc;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

// From SIGTERM to SIGKILL. ssh takes the time to restore a terminal.
static constexpr Clock::duration MaxTermination = 1s;
// Of what a process writes to standard error.
static constexpr off_t MaxMessages = 1 << 20;
static constexpr size_t MaxLastLine = 400;

std::string SshProcess::lastLine() const {
  std::string Text(static_cast<size_t>(MaxMessages), '\0');
  ssize_t N = Messages < 0 ? 0 : ::pread(Messages, Text.data(), Text.size(), 0);
  // What was not written to is zeros.
  Text.resize(
      std::min(Text.find('\0'), static_cast<size_t>(std::max<ssize_t>(N, 0))));
  size_t End = Text.find_last_not_of("\r\n\t .");
  if (End == std::string::npos)
    return {};
  Text.resize(End + 1);
  size_t Begin = Text.find_last_of("\r\n");
  return sdk::oneLine(
      Text.substr(Begin == std::string::npos ? 0 : Begin + 1, MaxLastLine));
}

/// A file in memory of a fixed size: a process that writes without end neither
/// blocks nor fills the memory.
static int openMessages() {
  int Fd = ::memfd_create("ssh", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (Fd >= 0 && (::ftruncate(Fd, MaxMessages) != 0 ||
                  ::fcntl(Fd, F_ADD_SEALS, F_SEAL_GROW) != 0)) {
    int Why = errno;
    ::close(Fd);
    errno = Why;
    return -1;
  }
  return Fd;
}

static std::vector<std::string>
commandLine(const std::vector<std::string> &SshCommand, const HostSpec &Host) {
  std::vector<std::string> Args = SshCommand;
  std::string_view Program = Args[0];
  if (Program.substr(Program.find_last_of('/') + 1) == "ssh") {
    // Of several values of an option, ssh takes the first.
    Args.insert(Args.begin() + 1, "-oBatchMode=yes");
    auto Limit =
        std::chrono::ceil<std::chrono::seconds>(TheNetworkLimits.Connect);
    Args.push_back("-oConnectTimeout=" + std::to_string(Limit.count()));
  }
  if (!Host.User.empty()) {
    Args.push_back("-l");
    Args.push_back(Host.User);
  }
  Args.push_back(Host.Name);
  Args.push_back(Host.Command.empty() ? "distccd" : Host.Command);
  Args.push_back("--inetd");
  Args.push_back("--enable-tcp-insecure");
  return Args;
}

Reaper::Reaper() = default;

int Reaper::start(const std::vector<std::string> &SshCommand,
                  const HostSpec &Host, SshProcess &Ssh) {
  int Why = 0;
  if (!TheGuard)
    TheGuard = Guard::start("", -1, Why);
  if (!TheGuard) {
    errno = Why;
    return -1;
  }
  std::vector<std::string> Args = commandLine(SshCommand, Host);
  std::vector<char *> Argv, Variables;
  for (std::string &A : Args)
    Argv.push_back(A.data());
  Argv.push_back(nullptr);
  // No window that asks. An ssh before 8.4 knows only the second variable.
  for (char **V = environ; *V; ++V)
    if (std::strncmp(*V, "SSH_ASKPASS", 11) != 0)
      Variables.push_back(*V);
  char Never[] = "SSH_ASKPASS_REQUIRE=never", NoProgram[] = "SSH_ASKPASS=false";
  for (char *V : {Never, NoProgram, static_cast<char *>(nullptr)})
    Variables.push_back(V);

  int Messages = openMessages();
  if (Messages < 0)
    return -1;
  // One socket for both directions; theirs stays blocking, as ssh wants it.
  int Fds[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, Fds) != 0) {
    Why = errno;
    ::close(Messages);
    errno = Why;
    return -1;
  }
  ::fcntl(Fds[0], F_SETFL, O_NONBLOCK);

  posix_spawn_file_actions_t Actions;
  posix_spawn_file_actions_init(&Actions);
  posix_spawn_file_actions_adddup2(&Actions, Fds[1], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&Actions, Fds[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&Actions, Messages, STDERR_FILENO);
  // The linker may block or ignore signals; ssh should have the usual ones. A
  // new session has no terminal that ssh could ask at.
  posix_spawnattr_t Attributes;
  posix_spawnattr_init(&Attributes);
  sigset_t None, Default;
  sigemptyset(&None);
  sigemptyset(&Default);
  sigaddset(&Default, SIGPIPE);
  sigaddset(&Default, SIGTERM);
  posix_spawnattr_setsigmask(&Attributes, &None);
  posix_spawnattr_setsigdefault(&Attributes, &Default);
  posix_spawnattr_setflags(&Attributes, POSIX_SPAWN_SETSID |
                                            POSIX_SPAWN_SETSIGMASK |
                                            POSIX_SPAWN_SETSIGDEF);
  Why = ::posix_spawnp(&Ssh.Pid, Argv[0], &Actions, &Attributes, Argv.data(),
                       Variables.data());
  posix_spawnattr_destroy(&Attributes);
  posix_spawn_file_actions_destroy(&Actions);
  ::close(Fds[1]);
  if (Why != 0) {
    ::close(Fds[0]);
    ::close(Messages);
    Ssh.Pid = -1;
    errno = Why;
    return -1;
  }
  TheGuard->watch(Ssh.Pid);
  Ssh.Messages = Messages;
  return Fds[0];
}

void Reaper::end(SshProcess &Ssh) {
  if (Ssh.Messages >= 0)
    ::close(Ssh.Messages);
  if (Ssh.Pid >= 0) {
    ::kill(-Ssh.Pid, SIGTERM);
    Ending.push_back({Ssh.Pid, Clock::now() + MaxTermination});
  }
  Ssh = {};
}

void Reaper::reap() {
  auto HasEnded = [this](Process &P) {
    siginfo_t Info = {};
    // Its number is not another process's before it is waited for.
    bool IsThere = ::waitid(P_PID, static_cast<id_t>(P.Pid), &Info,
                            WEXITED | WNOHANG | WNOWAIT) == 0 &&
                   Info.si_pid == 0;
    if (IsThere && Clock::now() >= P.KillAt)
      ::kill(-P.Pid, SIGKILL);
    if (IsThere)
      return false;
    TheGuard->unwatch(P.Pid);
    ::waitpid(P.Pid, nullptr, WNOHANG);
    return true;
  };
  Ending.erase(std::remove_if(Ending.begin(), Ending.end(), HasEnded),
               Ending.end());
}

Reaper::~Reaper() {
  for (auto Until = Clock::now() + 2 * MaxTermination;
       reap(), !Ending.empty() && Clock::now() < Until;)
    std::this_thread::sleep_for(2ms);
}
