//===- HelperProcess.cpp - One run of a credential helper -----------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Credentials.h"
#include "Guard.h"
#include "Text.h"
#include "dtlto/sdk/Result.hpp"
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace dtlto::reapi;
using dtlto::quote;
namespace sdk = dtlto::sdk;
using SteadyClock = std::chrono::steady_clock;

static constexpr size_t MaxAnswer = size_t(1) << 20;
static constexpr size_t MaxComplaint = 500;
// Nobody wakes a thread that waits for a process.
static constexpr int SliceMs = 20;

namespace {
/// A process with a group of its own. The group ends with this object, or with
/// the linker.
class Process {
public:
  Process() = default;
  Process(const Process &) = delete;
  ~Process();
  /// The errno of what can't be done, or 0. \p Input is less than a pipe holds.
  int start(const std::string &Program, const std::string &Input);
  /// Reads what is there, and waits for it for a moment.
  void listen();
  /// Whether it has ended. What it left open doesn't count.
  bool hasEnded();

  std::string Answer, Complaint;
  std::string How; // it ended otherwise than with 0

private:
  static void read(int &Fd, std::string &To, size_t Max);

  /// Null: there is no shell, and the linker's end is not noticed.
  std::unique_ptr<dtlto::Guard> Guard;
  pid_t Pid = -1;
  int Out = -1, Err = -1;
};
} // namespace

Process::~Process() {
  // What a helper that has ended left behind may stay.
  if (Pid > 0) {
    ::kill(-Pid, SIGKILL);
    if (Guard)
      Guard->unwatch(Pid);
    while (::waitpid(Pid, nullptr, 0) < 0 && errno == EINTR)
      ;
  }
  for (int Fd : {Out, Err})
    if (Fd >= 0)
      ::close(Fd);
}

int Process::start(const std::string &Program, const std::string &Input) {
  int In[2], OutEnds[2], ErrEnds[2];
  if (::pipe2(In, O_CLOEXEC) != 0)
    return errno;
  // Before there is a reader that could go away: no SIGPIPE.
  ssize_t Written = ::write(In[1], Input.data(), Input.size());
  int Why = Written < 0 ? errno : 0;
  ::close(In[1]);
  if (!Why && Written != ssize_t(Input.size()))
    Why = ENOSPC;
  if (!Why && ::pipe2(OutEnds, O_CLOEXEC) != 0)
    Why = errno;
  if (Why) {
    ::close(In[0]);
    return Why;
  }
  if (::pipe2(ErrEnds, O_CLOEXEC) != 0) {
    Why = errno;
    for (int Fd : {In[0], OutEnds[0], OutEnds[1]})
      ::close(Fd);
    return Why;
  }
  int NoGuard = 0;
  Guard = dtlto::Guard::start(/*Folder=*/"", /*Lock=*/-1, NoGuard);
  posix_spawn_file_actions_t Actions;
  posix_spawn_file_actions_init(&Actions);
  posix_spawn_file_actions_adddup2(&Actions, In[0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&Actions, OutEnds[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&Actions, ErrEnds[1], STDERR_FILENO);
  posix_spawnattr_t Attributes;
  posix_spawnattr_init(&Attributes);
  // The linker may block or ignore signals; a child should have the usual
  // ones.
  sigset_t None, Default;
  sigemptyset(&None);
  sigemptyset(&Default);
  sigaddset(&Default, SIGPIPE);
  posix_spawnattr_setsigmask(&Attributes, &None);
  posix_spawnattr_setsigdefault(&Attributes, &Default);
  posix_spawnattr_setpgroup(&Attributes, 0); // one of its own
  posix_spawnattr_setflags(&Attributes, POSIX_SPAWN_SETSIGMASK |
                                            POSIX_SPAWN_SETSIGDEF |
                                            POSIX_SPAWN_SETPGROUP);
  std::string Name = Program, Get = "get";
  char *Argv[] = {Name.data(), Get.data(), nullptr};
  Why = ::posix_spawnp(&Pid, Argv[0], &Actions, &Attributes, Argv, environ);
  posix_spawnattr_destroy(&Attributes);
  posix_spawn_file_actions_destroy(&Actions);
  if (Why)
    Pid = -1;
  else if (Guard)
    Guard->watch(Pid);
  for (int Fd : {In[0], OutEnds[1], ErrEnds[1]})
    ::close(Fd);
  Out = OutEnds[0];
  Err = ErrEnds[0];
  for (int Fd : {Out, Err})
    ::fcntl(Fd, F_SETFL, O_NONBLOCK);
  return Why;
}

/// What is more than \p Max is dropped but for one byte, which tells of it.
void Process::read(int &Fd, std::string &To, size_t Max) {
  char Block[4096];
  ssize_t N = -1;
  // No more than a pipe can hold: it may never stop.
  for (int I = 0;
       I != 16 && Fd >= 0 && (N = ::read(Fd, Block, sizeof(Block))) > 0; ++I)
    To.append(Block,
              std::min(size_t(N), Max + 1 - std::min(Max + 1, To.size())));
  if (Fd >= 0 && (N == 0 || (N < 0 && errno != EAGAIN && errno != EINTR))) {
    ::close(Fd);
    Fd = -1;
  }
}

void Process::listen() {
  // Without any that is open, it only waits.
  pollfd Polled[2] = {{Out, POLLIN, 0}, {Err, POLLIN, 0}};
  ::poll(Polled, 2, SliceMs);
  read(Out, Answer, MaxAnswer);
  read(Err, Complaint, MaxComplaint);
}

bool Process::hasEnded() {
  // Its number may be another process's once it was waited for.
  siginfo_t Info = {};
  if (::waitid(P_PID, id_t(Pid), &Info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
      Info.si_pid == 0)
    return false;
  if (Guard)
    Guard->unwatch(Pid);
  int Status = 0;
  pid_t Got;
  do
    Got = ::waitpid(Pid, &Status, 0);
  while (Got < 0 && errno == EINTR);
  // Whoever else in this process waits for any child may have been quicker;
  // what it wrote counts then.
  if (Got == Pid && WIFSIGNALED(Status))
    How = "was killed by signal " + std::to_string(WTERMSIG(Status));
  else if (Got == Pid && WEXITSTATUS(Status) != 0)
    How = "ended with " + std::to_string(WEXITSTATUS(Status));
  Pid = -1;
  return true;
}

/// \p Uri has no control characters.
static std::string request(const std::string &Uri) {
  std::string Text = "{\"uri\":\"";
  for (char C : Uri) {
    if (C == '"' || C == '\\')
      Text += '\\';
    Text += C;
  }
  return Text + "\"}\n";
}

Fault dtlto::reapi::runHelper(Stop &Stopping, const std::string &Program,
                              const std::string &Uri,
                              std::chrono::milliseconds Limit, Credentials &C) {
  const SteadyClock::time_point End = SteadyClock::now() + Limit;
  auto Refused = [&](const std::string &Why) {
    Fault F;
    F.What = Fault::Refused;
    F.Code = grpc::StatusCode::UNAUTHENTICATED;
    F.Text = "credential-helper=: " + quote(Program) + " " + Why;
    return F;
  };
  Process P;
  if (int Why = P.start(Program, request(Uri)))
    return Refused(std::string("can't be started: ") + std::strerror(Why));
  while (true) {
    P.listen();
    if (P.hasEnded())
      break;
    if (Stopping.raised()) {
      Fault F;
      F.What = Fault::Cancelled;
      F.Code = grpc::StatusCode::CANCELLED;
      F.Text = "cancelled";
      return F;
    }
    if (SteadyClock::now() >= End)
      return Refused("hasn't answered for " + Uri + " within " +
                     std::to_string(Limit.count() / 1000) + " seconds");
  }
  // All that it has written is there; what it has started may write more.
  P.listen();
  std::string Said = P.Complaint.substr(0, P.Complaint.find('\n'));
  Said = sdk::printable(Said.substr(0, MaxComplaint), ' ');
  if (!P.How.empty())
    return Refused(P.How + " for " + Uri + (Said.empty() ? "" : ": " + Said));
  if (P.Answer.size() > MaxAnswer)
    return Refused("has written more than " + std::to_string(MaxAnswer) +
                   " bytes");
  std::string Error;
  if (!readCredentials(P.Answer, C, Error))
    return Refused("was of no use for " + Uri + ": " + Error);
  return {};
}
