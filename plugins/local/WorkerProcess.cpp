//===- WorkerProcess.cpp - A job in a process of its own ------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WorkerProcess.h"
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <fstream>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace dtlto::sdk;
using Clock = std::chrono::steady_clock;

// Descriptors or processes that this machine lacks are waited for while other
// jobs run, and so long after that.
static constexpr std::chrono::seconds MaxLack{3};
// The worker stops at 64 KiB; this is for what isn't one.
static constexpr size_t MaxStderr = 1 << 20;

namespace {

class Fd {
public:
  Fd() = default;
  Fd(const Fd &) = delete;
  ~Fd() { close(); }
  void close() {
    if (N >= 0)
      ::close(N);
    N = -1;
  }
  int N = -1;
};

/// A socket rather than a pipe: writing to one that was closed at the other end
/// can be told not to raise SIGPIPE.
bool makeChannel(Fd &Ours, Fd &Theirs) {
  int Fds[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, Fds) != 0)
    return false;
  Ours.N = Fds[0];
  Theirs.N = Fds[1];
  return ::fcntl(Ours.N, F_SETFL, O_NONBLOCK) == 0;
}

/// Kills and collects the process unless it was waited for.
struct Child {
  ~Child() {
    if (Pid > 0) {
      ::kill(Pid, SIGKILL);
      ::waitpid(Pid, nullptr, 0);
    }
  }
  /// Returns whether it has ended, and then its \p Status.
  bool hasEnded(int &Status) {
    if (::waitpid(Pid, &Status, WNOHANG) == 0)
      return false;
    Pid = -1;
    return true;
  }
  pid_t Pid = -1;
};

} // namespace

/// The most memory that a process took so far, in bytes, without what it shares
/// with others; 0 if it has ended. wait4() would count what the linker takes: a
/// process begins as its parent's.
static uint64_t memoryOf(pid_t Pid) {
  std::ifstream Status("/proc/" + std::to_string(Pid) + "/status");
  uint64_t Peak = 0, Shared = 0, KiB;
  for (std::string Name; Status >> Name;) {
    if (Name == "VmHWM:" && Status >> KiB)
      Peak = KiB;
    else if ((Name == "RssFile:" || Name == "RssShmem:") && Status >> KiB)
      Shared += KiB;
  }
  return Peak > Shared ? (Peak - Shared) << 10 : 0;
}

static int spawn(const std::string &Worker, const char *Option, int In, int Out,
                 int Err, pid_t &Pid) {
  const char *Args[] = {Worker.c_str(), Option, "-", "-o", "-", nullptr};
  posix_spawn_file_actions_t Actions;
  posix_spawn_file_actions_init(&Actions);
  posix_spawn_file_actions_adddup2(&Actions, In, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&Actions, Out, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&Actions, Err, STDERR_FILENO);
  int Why = ::posix_spawn(&Pid, Worker.c_str(), &Actions, nullptr,
                          const_cast<char **>(Args), environ);
  posix_spawn_file_actions_destroy(&Actions);
  return Why;
}

/// Starts the worker, with a socket to each of its streams. Returns an errno
/// with the words before it in \p Problem, or 0.
static int start(const std::string &Worker, const char *Option, Fd &In, Fd &Out,
                 Fd &Err, Child &Process, std::string &Problem) {
  Fd TheirIn, TheirOut, TheirErr;
  int Why = 0;
  if (!makeChannel(In, TheirIn) || !makeChannel(Out, TheirOut) ||
      !makeChannel(Err, TheirErr)) {
    Why = errno;
    Problem = "no socket for a worker: ";
  } else if ((Why = spawn(Worker, Option, TheirIn.N, TheirOut.N, TheirErr.N,
                          Process.Pid)) != 0) {
    Process.Pid = -1;
    Problem = "can't start '" + Worker + "': ";
  }
  if (Why != 0)
    for (Fd *F : {&In, &Out, &Err})
      F->close();
  return Why;
}

/// Reads what is there. Returns false at the end of file.
static bool readSome(int From, std::vector<char> &To, size_t Max) {
  char Buffer[64 << 10];
  ssize_t N = ::recv(From, Buffer, sizeof(Buffer), 0);
  if (N > 0)
    To.insert(To.end(), Buffer,
              Buffer + std::min(static_cast<size_t>(N), Max - To.size()));
  return N > 0 || (N < 0 && (errno == EAGAIN || errno == EINTR));
}

/// <prefix>/bin/dtlto-codegen, from this file in <prefix>/lib/dtlto.
static std::string findWorker() {
  Dl_info Info;
  if (!::dladdr(reinterpret_cast<const void *>(&findWorker), &Info) ||
      !Info.dli_fname)
    return "";
  std::string Path = Info.dli_fname;
  return Path.substr(0, Path.find_last_of('/') + 1) + "../../bin/dtlto-codegen";
}

WorkerProcesses::WorkerProcesses(const dtlto_host &Host, std::string Path,
                                 std::chrono::seconds Limit)
    : Program(Path.empty() ? findWorker() : std::move(Path)), Limit(Limit) {
  if (::access(Program.c_str(), X_OK) != 0)
    throw Error(DTLTO_ERROR_CALLER,
                "can't run '" + Program + "': " + std::strerror(errno) +
                    "; name dtlto-codegen with worker=PATH");
  require<dtlto_bundle>(Host, DTLTO_EXT_BUNDLE);
}

Result WorkerProcesses::run(const Job &J) const {
  Result R;
  R.Worker = "a worker process";
  auto Fail = [&](int32_t Status, std::string Why) {
    R.Status = Status;
    R.Message = std::move(Why);
    return std::move(R);
  };
  if (!J.enterRoom())
    return Fail(DTLTO_CANCELLED, "");
  Bundle B = J.bundle();
  J.state(DTLTO_STATE_RUNNING, R.Worker);
  Fd In, Out, Err;
  Child Process;
  std::string Problem;
  Clock::time_point Since = Clock::now();
  while (int Why = start(Program, "--frame", In, Out, Err, Process, Problem)) {
    bool IsLack = Why == EMFILE || Why == ENFILE || Why == ENOMEM ||
                  Why == ENOBUFS || Why == EAGAIN;
    if (NumRunning)
      Since = Clock::now();
    if (!IsLack || Clock::now() - Since > MaxLack)
      return Fail(DTLTO_ERROR_INFRASTRUCTURE, Problem + std::strerror(Why));
    if (J.isCancelled())
      return Fail(DTLTO_CANCELLED, "");
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  ++NumRunning;
  std::shared_ptr<void> Leave(nullptr, [this](void *) { --NumRunning; });

  Clock::time_point Deadline = Clock::now() + Limit;
  auto Next = B.begin();
  size_t Done = 0; // of its bytes
  std::vector<char> Object, Text;
  int Status = 0;
  uint64_t Memory = 0;
  // One that closes what it writes to has as good as ended, but not always.
  while (Out.N >= 0 || Err.N >= 0 || !Process.hasEnded(Status)) {
    if (J.isCancelled())
      return Fail(DTLTO_CANCELLED, "");
    if (Clock::now() >= Deadline)
      return Fail(DTLTO_ERROR_INFRASTRUCTURE,
                  "the worker took longer than " +
                      std::to_string(Limit.count()) + " s");
    pollfd Fds[3] = {
        {In.N, POLLOUT, 0}, {Out.N, POLLIN, 0}, {Err.N, POLLIN, 0}};
    ::poll(Fds, 3, Out.N >= 0 || Err.N >= 0 ? 200 : 1);
    if (Fds[0].revents) {
      ssize_t N = ::send(In.N, Next->Bytes.data() + Done,
                         Next->Bytes.size() - Done, MSG_NOSIGNAL);
      if (N > 0 && (Done += static_cast<size_t>(N)) == Next->Bytes.size()) {
        ++Next;
        Done = 0;
      }
      // A worker that ends before it has read all tells why.
      if (Next == B.end() || (N < 0 && errno != EAGAIN && errno != EINTR))
        In.close();
    }
    // It writes when all is done.
    if (Fds[1].revents && Memory == 0)
      Memory = memoryOf(Process.Pid);
    if (Fds[1].revents && !readSome(Out.N, Object, Object.max_size()))
      Out.close();
    if (Fds[2].revents && !readSome(Err.N, Text, MaxStderr))
      Err.close();
  }
  J.leaveRoom(Memory);
  while (!Text.empty() && Text.back() == '\n')
    Text.pop_back();
  R.Message.assign(Text.begin(), Text.end());

  if (WIFSIGNALED(Status)) {
    bool Killed = WTERMSIG(Status) == SIGKILL || WTERMSIG(Status) == SIGTERM;
    return Fail(Killed ? DTLTO_ERROR_INFRASTRUCTURE : DTLTO_ERROR_COMPILER,
                "the code generator " +
                    std::string(Killed ? "was killed by" : "crashed with") +
                    " signal " + std::to_string(WTERMSIG(Status)) +
                    (R.Message.empty() ? "" : ": " + R.Message));
  }
  if (WEXITSTATUS(Status) != 0)
    return Fail(DTLTO_ERROR_COMPILER,
                R.Message.empty() ? "the code generator failed without a word"
                                  : R.Message);
  if (std::string Why = J.problem({Object.data(), Object.size()}); !Why.empty())
    return Fail(DTLTO_ERROR_INFRASTRUCTURE, "'" + Program + "': " + Why);
  R.Object = std::move(Object);
  return R;
}
