//===- Process.cpp - A program that a plugin starts -----------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Process.h"
#include "Guard.h"
#include <algorithm>
#include <cassert>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <string_view>
#include <sys/socket.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace dtlto;
using namespace std::chrono_literals;

// How long to wait after SIGKILL. A process that waits for a file server may
// never end.
static constexpr std::chrono::seconds MaxKillTime{1};

void Descriptor::reset(int New) {
  int Errno = errno;
  if (Fd >= 0)
    ::close(Fd);
  Fd = New;
  errno = Errno;
}

int dtlto::openPipe(Descriptor &Reader, Descriptor &Writer) {
  int Ends[2];
  if (::pipe2(Ends, O_CLOEXEC) != 0)
    return errno;
  Reader.reset(Ends[0]);
  Writer.reset(Ends[1]);
  return 0;
}

static int dontBlock(const Descriptor &D) {
  return ::fcntl(D.get(), F_SETFL, O_NONBLOCK) == 0 ? 0 : errno;
}

int dtlto::openStream(Descriptor &ParentEnd, Descriptor &ChildEnd) {
  int Ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, Ends) != 0)
    return errno;
  ParentEnd.reset(Ends[0]);
  ChildEnd.reset(Ends[1]);
  return dontBlock(ParentEnd);
}

int Output::open(Descriptor &Writer) {
  int Errno = openPipe(Reader, Writer);
  return Errno ? Errno : dontBlock(Reader);
}

void Output::read(std::string &To, size_t Max) {
  // Read once only: the process may never stop writing.
  char Block[64 << 10];
  ssize_t N = isOpen() ? ::read(fd(), Block, sizeof(Block)) : -1;
  if (N > 0)
    To.append(Block,
              std::min(static_cast<size_t>(N), Max - std::min(Max, To.size())));
  else if (isOpen() && (N == 0 || (errno != EAGAIN && errno != EINTR)))
    Reader.reset();
}

/// Returns our environment with \p Changes, terminated by a null pointer.
static std::vector<char *>
environment(const std::vector<std::string> &Changes) {
  auto NameOf = [](std::string_view Variable) {
    return Variable.substr(0, Variable.find('='));
  };
  std::vector<char *> All;
  for (char **V = environ; *V; ++V)
    if (std::none_of(Changes.begin(), Changes.end(), [&](const std::string &C) {
          return NameOf(C) == NameOf(*V);
        }))
      All.push_back(*V);
  for (const std::string &C : Changes)
    if (C.find('=') != std::string::npos)
      All.push_back(const_cast<char *>(C.c_str()));
  All.push_back(nullptr);
  return All;
}

int Process::start(const Setup &S, Guard *G) {
  assert(Pid < 0 && "a process is started once");
  std::vector<char *> Args, Env = environment(S.Env);
  for (const std::string &Arg : S.Args)
    Args.push_back(const_cast<char *>(Arg.c_str()));
  Args.push_back(nullptr);

  posix_spawn_file_actions_t Actions;
  posix_spawn_file_actions_init(&Actions);
  // Change the folder first: the streams may replace its descriptor.
  if (S.Folder >= 0)
    posix_spawn_file_actions_addfchdir_np(&Actions, S.Folder);
  const int Streams[] = {S.In, S.Out, S.Err};
  for (int I = 0; I != 3; ++I)
    if (Streams[I] >= 0)
      posix_spawn_file_actions_adddup2(&Actions, Streams[I], I);
    else
      posix_spawn_file_actions_addopen(&Actions, I, "/dev/null",
                                       I == 0 ? O_RDONLY : O_WRONLY, 0);
  if (S.InheritedFd >= 0)
    posix_spawn_file_actions_adddup2(&Actions, S.InheritedFd, 3);

  posix_spawnattr_t Attributes;
  posix_spawnattr_init(&Attributes);
  // Reset signals that the linker may block or ignore.
  sigset_t None, Default;
  sigemptyset(&None);
  sigemptyset(&Default);
  sigaddset(&Default, SIGPIPE);
  sigaddset(&Default, SIGTERM);
  posix_spawnattr_setsigmask(&Attributes, &None);
  posix_spawnattr_setsigdefault(&Attributes, &Default);
  posix_spawnattr_setpgroup(&Attributes, 0);
  int Flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
  if (S.Group == Setup::NewGroup)
    Flags |= POSIX_SPAWN_SETPGROUP;
  if (S.Group == Setup::NewSession)
    Flags |= POSIX_SPAWN_SETSID;
  posix_spawnattr_setflags(&Attributes, static_cast<short>(Flags));

  int Errno = ::posix_spawnp(&Pid, Args[0], &Actions, &Attributes, Args.data(),
                             Env.data());
  posix_spawnattr_destroy(&Attributes);
  posix_spawn_file_actions_destroy(&Actions);
  if (Errno) {
    Pid = -1;
    return Errno;
  }
  HasGroup = S.Group != Setup::Inherited;
  if (G)
    G->watch(Pid);
  TheGuard = G;
  return 0;
}

bool Process::hasEnded() {
  if (HasEnded || Pid < 0)
    return true;
  siginfo_t Info = {};
  if (::waitid(P_PID, static_cast<id_t>(Pid), &Info,
               WEXITED | WNOHANG | WNOWAIT) != 0)
    return HasEnded = IsLost = errno == ECHILD;
  if (Info.si_pid == 0)
    return false;
  (Info.si_code == CLD_EXITED ? Status : Signal) = Info.si_status;
  return HasEnded = true;
}

std::string Process::describeExit() const {
  return Signal   ? "was killed by signal " + std::to_string(Signal)
         : Status ? "ended with " + std::to_string(Status)
                  : "";
}

void Process::kill(int Signal) const {
  if (Pid > 0)
    ::kill(HasGroup ? -Pid : Pid, Signal);
}

Process::~Process() {
  if (Pid < 0)
    return;
  if (!hasEnded())
    kill(SIGKILL);
  if (TheGuard)
    TheGuard->unwatch(Pid);
  const auto End = std::chrono::steady_clock::now() + MaxKillTime;
  while (::waitpid(Pid, nullptr, WNOHANG) == 0 &&
         std::chrono::steady_clock::now() < End)
    std::this_thread::sleep_for(1ms);
}

std::string dtlto::pluginFolder() {
  Dl_info Info;
  if (!::dladdr(reinterpret_cast<const void *>(&pluginFolder), &Info) ||
      !Info.dli_fname)
    return ".";
  std::string File = Info.dli_fname;
  size_t Slash = File.rfind('/');
  return Slash == std::string::npos ? "." : File.substr(0, Slash);
}
