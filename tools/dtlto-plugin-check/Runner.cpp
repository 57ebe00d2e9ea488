//===- Runner.cpp - Cases in processes of their own -----------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Runner.h"
#include "Samples.h"
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace dtlto::check;
using Clock = std::chrono::steady_clock;

static std::atomic<pid_t> RunningGroup{0};

void dtlto::check::killCase() {
  if (pid_t Group = RunningGroup)
    ::kill(-Group, SIGKILL);
}

CaseResult dtlto::check::runCase(const std::vector<std::string> &Args,
                                 std::chrono::milliseconds Limit,
                                 const std::string &Folder) {
  CaseResult R;
  int Pipe[2];
  std::string Log = Folder + "/case.txt", Printed = Folder + "/stdout.txt";
  constexpr int Flags = O_RDWR | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC;
  int Words = ::open(Log.c_str(), Flags, 0666);
  int Out = ::open(Printed.c_str(), Flags, 0666);
  if (Words < 0 || Out < 0 || ::pipe2(Pipe, O_CLOEXEC) != 0) {
    R.Failures.push_back({"this machine", std::strerror(errno), "try again"});
    return R;
  }
  std::vector<char *> Raw;
  for (const std::string &Arg : Args)
    Raw.push_back(const_cast<char *>(Arg.c_str()));
  Raw.push_back(nullptr);

  Clock::time_point Begin = Clock::now();
  pid_t Parent = ::getpid(), Pid = ::fork();
  if (Pid == 0) {
    // Ctrl-C doesn't reach its group.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != Parent)
      ::_exit(127);
    // A group of its own: whatever it starts can be ended with it.
    ::setpgid(0, 0);
    ::dup2(Out, 1);
    ::dup2(Words, 2);
    if (Pipe[1] == 3)
      ::fcntl(3, F_SETFD, 0);
    else
      ::dup2(Pipe[1], 3);
    ::execv(Raw[0], Raw.data());
    ::_exit(127);
  }
  if (Pid > 0)
    RunningGroup = Pid;
  ::close(Pipe[1]);
  std::string Lines;
  int Status = 0;
  bool Over = Pid < 0, TimedOut = false;
  // Not until the end of the pipe: what the plugin has started may hold it.
  while (!Over) {
    pollfd End = {Pipe[0], POLLIN, 0};
    char Buffer[4096];
    if (::poll(&End, 1, 20) > 0) {
      ssize_t N = ::read(Pipe[0], Buffer, sizeof(Buffer));
      if (N > 0)
        Lines.append(Buffer, static_cast<size_t>(N));
      else
        ::usleep(1000); // it ends
    }
    if (::waitpid(Pid, &Status, WNOHANG) == Pid)
      Over = true;
    else if (Clock::now() - Begin > Limit)
      Over = TimedOut = true;
  }
  if (Pid > 0) {
    ::kill(-Pid, SIGKILL);
    RunningGroup = 0;
    if (TimedOut)
      ::waitpid(Pid, &Status, 0);
  }
  ::fcntl(Pipe[0], F_SETFL, O_NONBLOCK);
  char Buffer[4096];
  for (ssize_t N; (N = ::read(Pipe[0], Buffer, sizeof(Buffer))) > 0;)
    Lines.append(Buffer, static_cast<size_t>(N));
  ::close(Pipe[0]);
  ::close(Words);
  ::close(Out);
  R.Seconds = std::chrono::duration<double>(Clock::now() - Begin).count();
  R.Output = readFile(Log);

  Report Said = readReport(Lines);
  R.Failures = Said.Failures;
  R.Ended = Said.Ended;
  R.Note = Said.Note;
  if (Said.Loading) {
    std::string How = TimedOut ? "was not loaded after " +
                                     std::to_string(Limit.count() / 1000) + " s"
                      : !R.Failures.empty() || WIFSIGNALED(Status)
                          ? std::string("crashed while it was loaded")
                          : "ended the process with exit code " +
                                std::to_string(WEXITSTATUS(Status)) +
                                " while it was loaded";
    R.Failures.insert(
        R.Failures.begin(),
        {"PluginAPI.h", "the plugin " + How,
         "look at what runs in dlopen(), constructors and static objects: all "
         "that may wait or fail belongs in open()"});
  } else if (TimedOut)
    R.Failures.push_back({"--timeout",
                          "the case had not ended after " +
                              std::to_string(Limit.count() / 1000) + " s",
                          "if your jobs take that long, raise --timeout"});
  else if (WIFSIGNALED(Status))
    R.Failures.push_back(
        {"PluginAPI.h",
         "the process died of signal " + std::to_string(WTERMSIG(Status)),
         "look at it in a debugger (--debug)"});
  else if (R.Failures.empty() && !Said.Ended)
    R.Failures.push_back({"PluginAPI.h",
                          "the process ended with exit code " +
                              std::to_string(WEXITSTATUS(Status)),
                          "a plugin must not call exit()"});
  if (std::string Text = readFile(Printed); !Text.empty()) {
    Text.resize(std::min({Text.find('\n'), Text.size(), size_t(100)}));
    for (char &C : Text)
      if (static_cast<unsigned char>(C) < ' ')
        C = ' ';
    R.Failures.push_back(
        {"PluginAPI.h",
         "the plugin, or what it started, wrote to standard output: '" + Text +
             "'",
         "that is the linker's; log() has what users are to read, and a child "
         "needs a standard output of its own"});
  }
  return R;
}
