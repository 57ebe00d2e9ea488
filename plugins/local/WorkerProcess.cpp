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
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

// docs/BUNDLE.md, "The frame".
static constexpr size_t FrameHead = 8 + 4 + 4 + 8 + 32;
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

static int spawn(const std::string &Worker, int In, int Out, int Err,
                 pid_t &Pid) {
  const char *Args[] = {Worker.c_str(), "--frame", "-", "-o", "-", nullptr};
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

/// Reads what is there. Returns false at the end of file.
static bool readSome(int From, std::vector<char> &To, size_t Max) {
  char Buffer[64 << 10];
  ssize_t N = ::recv(From, Buffer, sizeof(Buffer), 0);
  if (N > 0)
    To.insert(To.end(), Buffer,
              Buffer + std::min(static_cast<size_t>(N), Max - To.size()));
  return N > 0 || (N < 0 && (errno == EAGAIN || errno == EINTR));
}

static uint64_t littleEndian(const char *Bytes, unsigned Size) {
  uint64_t N = 0;
  for (unsigned I = Size; I-- != 0;)
    N = N << 8 | static_cast<unsigned char>(Bytes[I]);
  return N;
}

/// Takes the frame off. Returns false if it isn't whole.
static bool unframe(std::vector<char> &Bytes) {
  if (Bytes.size() < FrameHead || std::memcmp(&Bytes[0], "DTLTOOBJ", 8) != 0 ||
      littleEndian(&Bytes[8], 4) != 1 || littleEndian(&Bytes[12], 4) != 0 ||
      littleEndian(&Bytes[16], 8) != Bytes.size() - FrameHead)
    return false;
  Bytes.erase(Bytes.begin(), Bytes.begin() + FrameHead);
  return true;
}

WorkerResult runWorker(const std::string &Worker, dtlto_span Bundle,
                       std::chrono::seconds Limit,
                       const std::function<bool()> &Stop) {
  WorkerResult R;
  auto Fail = [&](std::string Why) {
    R.Message = std::move(Why);
    return std::move(R);
  };
  Fd In, Out, Err, TheirIn, TheirOut, TheirErr;
  if (!makeChannel(In, TheirIn) || !makeChannel(Out, TheirOut) ||
      !makeChannel(Err, TheirErr))
    return Fail(std::string("no socket for a worker: ") + std::strerror(errno));
  Child Process;
  if (int Why = spawn(Worker, TheirIn.N, TheirOut.N, TheirErr.N, Process.Pid)) {
    Process.Pid = -1;
    return Fail("can't start '" + Worker + "': " + std::strerror(Why));
  }
  TheirIn.close();
  TheirOut.close();
  TheirErr.close();

  Clock::time_point Deadline = Clock::now() + Limit;
  const char *Next = static_cast<const char *>(Bundle.data);
  size_t Left = static_cast<size_t>(Bundle.size);
  std::vector<char> Text;
  int Status = 0;
  // One that closes what it writes to has as good as ended, but not always.
  while (Out.N >= 0 || Err.N >= 0 || !Process.hasEnded(Status)) {
    if (Stop())
      return Fail("stopped");
    if (Clock::now() >= Deadline)
      return Fail("the worker took longer than " +
                  std::to_string(Limit.count()) + " s");
    pollfd Fds[3] = {
        {In.N, POLLOUT, 0}, {Out.N, POLLIN, 0}, {Err.N, POLLIN, 0}};
    ::poll(Fds, 3, Out.N >= 0 || Err.N >= 0 ? 200 : 1);
    if (Fds[0].revents) {
      ssize_t N = ::send(In.N, Next, Left, MSG_NOSIGNAL);
      if (N > 0) {
        Next += N;
        Left -= static_cast<size_t>(N);
      }
      // A worker that ends before it has read all tells why.
      if (Left == 0 || (N < 0 && errno != EAGAIN && errno != EINTR))
        In.close();
    }
    if (Fds[1].revents && !readSome(Out.N, R.Object, R.Object.max_size()))
      Out.close();
    if (Fds[2].revents && !readSome(Err.N, Text, MaxStderr))
      Err.close();
  }
  while (!Text.empty() && Text.back() == '\n')
    Text.pop_back();
  R.Message.assign(Text.begin(), Text.end());

  if (WIFSIGNALED(Status)) {
    bool Killed = WTERMSIG(Status) == SIGKILL || WTERMSIG(Status) == SIGTERM;
    R.Status = Killed ? DTLTO_ERROR_INFRASTRUCTURE : DTLTO_ERROR_COMPILER;
    R.Object.clear();
    return Fail("the code generator " +
                std::string(Killed ? "was killed by" : "crashed with") +
                " signal " + std::to_string(WTERMSIG(Status)) +
                (R.Message.empty() ? "" : ": " + R.Message));
  }
  if (WEXITSTATUS(Status) != 0) {
    R.Object.clear();
    R.Status = DTLTO_ERROR_COMPILER;
    if (R.Message.empty())
      R.Message = "the code generator failed without a word";
    return R;
  }
  if (!unframe(R.Object)) {
    R.Object.clear();
    return Fail("'" + Worker + "' wrote no whole object");
  }
  R.Status = DTLTO_OK;
  return R;
}
