//===- Runner.cpp - Cases and programs in processes of their own ----------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CaseReport.h"
#include <algorithm>
#include <cassert>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace dtlto::check;
using Clock = std::chrono::steady_clock;
namespace fs = std::filesystem;

static const int EndSignals[] = {SIGINT, SIGTERM, SIGHUP};
static volatile std::sig_atomic_t PendingSignal = 0;
static std::string TempFolder;
static pid_t OwnerPid = 0;

/// Sets the signals' handler, except for signals that are ignored.
static void setSignals(void (*Handler)(int)) {
  for (int Signal : EndSignals)
    if (std::signal(Signal, Handler) == SIG_IGN)
      std::signal(Signal, SIG_IGN);
}

std::string dtlto::check::makeTempFolder() {
  std::error_code EC;
  TempFolder =
      (fs::temp_directory_path(EC) / "dtlto-plugin-check-XXXXXX").string();
  if (!::mkdtemp(TempFolder.data()))
    return "";
  OwnerPid = ::getpid();
  std::atexit([] {
    if (::getpid() == OwnerPid) // a plugin may call exit() in the child
      removeTempFolder();
  });
  setSignals([](int Signal) { PendingSignal = Signal; });
  return TempFolder;
}

void dtlto::check::removeTempFolder() {
  setSignals(SIG_DFL);
  std::error_code EC;
  fs::remove_all(TempFolder, EC);
}

std::string dtlto::check::readFile(const std::string &Path) {
  std::ostringstream Bytes;
  Bytes << std::ifstream(Path, std::ios::binary).rdbuf();
  return Bytes.str();
}

namespace {
enum {
  StdoutFile,
  Errors,
  ReportFile
}; // where a process writes: 1, 2, its report

/// A child process that has ended.
struct Child {
  std::string Outputs[3]; // indexed by the enum above
  std::string Problem;    // why it didn't start
  int Status = 0;
  bool TimedOut = false;
};
} // namespace

[[noreturn]] static void becomeChild(const std::function<void(int Fd)> &Run,
                                     const int (&Files)[3]) {
  // Ctrl-C doesn't reach the child's process group.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != OwnerPid)
    ::_exit(127);
  // A process group: everything that the child starts can be killed with it.
  ::setpgid(0, 0);
  ::dup2(Files[StdoutFile], 1);
  ::dup2(Files[Errors], 2);
  setSignals(SIG_DFL);
  Run(Files[ReportFile]);
  ::_exit(127);
}

/// Calls \p Run with the report's descriptor in a child process, which has \p
/// Limit. All processes that it starts end with it.
static Child runChild(const std::function<void(int Fd)> &Run,
                      std::chrono::milliseconds Limit) {
  assert(!TempFolder.empty() && "makeTempFolder() comes first");
  Child C;
  const std::string Names[] = {TempFolder + "/stdout.txt",
                               TempFolder + "/case.txt",
                               TempFolder + "/report.txt"};
  int Files[3];
  for (int I : {StdoutFile, Errors, ReportFile})
    Files[I] = ::open(Names[I].c_str(),
                      O_RDWR | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
  const pid_t Pid = Files[2] < 0 ? -1 : ::fork();
  if (Pid < 0)
    C.Problem = std::strerror(errno);
  else if (Pid == 0)
    becomeChild(Run, Files);
  const auto End = Clock::now() + Limit;
  while (Pid > 0 && ::waitpid(Pid, &C.Status, WNOHANG) == 0) {
    if ((C.TimedOut = Clock::now() > End || PendingSignal)) {
      ::kill(-Pid, SIGKILL);
      ::waitpid(Pid, &C.Status, 0);
      break;
    }
    ::usleep(2000);
  }
  if (Pid > 0)
    ::kill(-Pid, SIGKILL);
  if (int Signal = PendingSignal) {
    removeTempFolder();
    std::raise(Signal);
  }
  for (int I : {StdoutFile, Errors, ReportFile}) {
    ::close(Files[I]);
    C.Outputs[I] = readFile(Names[I]);
  }
  return C;
}

bool dtlto::check::runProgram(const std::vector<std::string> &Args,
                              const std::string &Folder, std::string &Output) {
  std::vector<char *> Raw;
  for (const std::string &Arg : Args)
    Raw.push_back(const_cast<char *>(Arg.c_str()));
  Raw.push_back(nullptr);
  Child C = runChild(
      [&](int) {
        ::dup2(2, 1);
        ::dup2(::open("/dev/null", O_RDONLY | O_CLOEXEC), 0);
        if (::chdir(Folder.c_str()) == 0)
          ::execvp(Raw[0], Raw.data());
        std::fputs(std::strerror(errno), stderr);
        std::fflush(stderr);
      },
      std::chrono::hours(24));
  Output = C.Problem + C.Outputs[Errors];
  return C.Problem.empty() && WIFEXITED(C.Status) && !WEXITSTATUS(C.Status);
}

/// Adds to \p R what the end of \p C means.
static void judgeEnd(const Child &C, Report &R,
                     std::chrono::milliseconds Limit) {
  const std::string Seconds = std::to_string(Limit.count() / 1000) + " s";
  const std::string Code =
      " with exit code " + std::to_string(WEXITSTATUS(C.Status));
  auto Add = [&](const char *Section, const std::string &What,
                 const char *Fix) {
    R.Failures.push_back({Section, What, Fix});
  };
  if (!C.Problem.empty()) {
    Add("this machine", C.Problem, "try again");
  } else if (R.IsLoading) {
    Add("PluginAPI.h",
        "the plugin " +
            (C.TimedOut ? "was not loaded after " + Seconds
             : !R.Failures.empty() || WIFSIGNALED(C.Status)
                 ? "crashed while it was loaded"
                 : "ended the process" + Code + " while it was loaded"),
        "check what runs in dlopen(), such as constructors and static objects: "
        "whatever may wait or fail belongs in open()");
    std::rotate(R.Failures.begin(), R.Failures.end() - 1, R.Failures.end());
  } else if (C.TimedOut) {
    Add("--timeout", "the case had not ended after " + Seconds,
        "if your jobs take that long, raise --timeout");
  } else if (WIFSIGNALED(C.Status)) {
    Add("PluginAPI.h",
        "the process died of signal " + std::to_string(WTERMSIG(C.Status)),
        "look at it in a debugger (--debug)");
  } else if (R.Failures.empty() && !R.HasEnded) {
    Add("PluginAPI.h", "the process ended" + Code,
        "a plugin must not call exit()");
  }
  if (const std::string &Text = C.Outputs[StdoutFile]; !Text.empty())
    Add("PluginAPI.h",
        "the plugin, or what it started, wrote to standard output: '" +
            oneLine(Text.substr(0, std::min(Text.find('\n'), size_t(100)))) +
            "'",
        "standard output is the linker's: use log() for messages to users, and "
        "give each child another standard output");
}

Report dtlto::check::runCase(const std::function<void(int ReportFd)> &Case,
                             std::chrono::milliseconds Limit) {
  const Clock::time_point Begin = Clock::now();
  Child C = runChild(Case, Limit);
  Report R = readReport(C.Outputs[ReportFile]);
  R.Seconds = std::chrono::duration<double>(Clock::now() - Begin).count();
  judgeEnd(C, R, Limit);
  R.Errors = std::move(C.Outputs[Errors]);
  return R;
}
