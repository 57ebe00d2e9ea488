//===- WorkerProcess.cpp - A job in its own process -----------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WorkerProcess.h"
#include "Process.h"
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <optional>
#include <poll.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

using namespace dtlto;
using namespace dtlto::sdk;
using Clock = std::chrono::steady_clock;

// How long to retry if descriptors or processes are lacking although no other
// job is running.
static constexpr std::chrono::seconds MaxShortage{3};
// Our worker stops at 64 KiB; another program may not.
static constexpr size_t MaxStderr = 1 << 20;

/// Returns the peak of a process's memory in bytes, without memory that it
/// shares; 0 if it has ended. wait4() would count the linker's memory, which
/// the process begins with.
static uint64_t peakMemory(pid_t Pid) {
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

namespace {
/// One dtlto-codegen process.
class CodegenProcess {
public:
  /// Starts the worker. Returns 0, or an errno with the text before it in \p
  /// Problem.
  int start(const std::string &Program, std::string &Problem);
  /// Sends \p B, and reads the worker's output, until the worker has ended or
  /// \p IsOver().
  template <typename F> void run(const Bundle &B, F IsOver);

  std::string Object, Text; // of standard output and error
  uint64_t Memory = 0;      // peak; 0: unknown
  Process Child;

private:
  Descriptor In;
  Output Out, Err;
};
} // namespace

int CodegenProcess::start(const std::string &Program, std::string &Problem) {
  Descriptor ChildIn, ChildOut, ChildErr;
  Problem = "no socket for a worker: ";
  if (int Why = openStream(In, ChildIn))
    return Why;
  if (int Why = Out.open(ChildOut))
    return Why;
  if (int Why = Err.open(ChildErr))
    return Why;
  Problem = "cannot start '" + Program + "': ";
  Process::Setup S;
  // A name alone is a file in the current folder; PATH is not searched.
  bool IsPath = Program.find("/") != std::string::npos;
  S.Args = {IsPath ? Program : "./" + Program, "--frame", "-", "-o", "-"};
  S.In = ChildIn.get();
  S.Out = ChildOut.get();
  S.Err = ChildErr.get();
  return Child.start(S);
}

template <typename F> void CodegenProcess::run(const Bundle &B, F IsOver) {
  auto Next = B.begin();
  size_t NumSent = 0; // bytes of *Next
  // A worker that closed both outputs has usually, but not always, exited.
  while ((Out.isOpen() || Err.isOpen() || !Child.hasEnded()) && !IsOver()) {
    pollfd Fds[3] = {
        {In.get(), POLLOUT, 0}, {Out.fd(), POLLIN, 0}, {Err.fd(), POLLIN, 0}};
    ::poll(Fds, 3, Out.isOpen() || Err.isOpen() ? 200 : 1);
    if (Fds[0].revents) {
      ssize_t N = ::send(In.get(), Next->Bytes.data() + NumSent,
                         Next->Bytes.size() - NumSent, MSG_NOSIGNAL);
      if (N > 0 && (NumSent += static_cast<size_t>(N)) == Next->Bytes.size()) {
        ++Next;
        NumSent = 0;
      }
      // A worker that exits before it has read everything reports the reason.
      if (Next == B.end() || (N < 0 && errno != EAGAIN && errno != EINTR))
        In.reset();
    }
    // The worker writes its result at the end, so measure its memory now.
    if (Fds[1].revents && Memory == 0)
      Memory = peakMemory(Child.pid());
    Out.read(Object);
    Err.read(Text, MaxStderr);
  }
}

WorkerProcesses::WorkerProcesses(const dtlto_host &Host, std::string Path,
                                 std::chrono::seconds Limit)
    // The plugin is in <prefix>/lib/dtlto.
    : Program(Path.empty() ? pluginFolder() + "/../../bin/dtlto-codegen"
                           : std::move(Path)),
      Limit(Limit) {
  if (::access(Program.c_str(), X_OK) != 0)
    throw Error(DTLTO_ERROR_CALLER,
                "cannot run '" + Program + "': " + std::strerror(errno) +
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
  std::optional<CodegenProcess> W;
  std::string Problem;
  Clock::time_point Since = Clock::now();
  while (int Why = W.emplace().start(Program, Problem)) {
    bool IsShortage = Why == EMFILE || Why == ENFILE || Why == ENOMEM ||
                      Why == ENOBUFS || Why == EAGAIN;
    if (NumRunning)
      Since = Clock::now();
    if (!IsShortage || Clock::now() - Since > MaxShortage)
      return Fail(DTLTO_ERROR_INFRASTRUCTURE, Problem + std::strerror(Why));
    if (J.isCancelled())
      return Fail(DTLTO_CANCELLED, "");
    W.reset(); // frees its descriptors for others
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  ++NumRunning;
  std::shared_ptr<void> Leave(nullptr, [this](void *) { --NumRunning; });

  Clock::time_point Deadline = Clock::now() + Limit;
  W->run(B, [&] { return J.isCancelled() || Clock::now() >= Deadline; });
  if (!W->Child.hasEnded())
    return J.isCancelled() ? Fail(DTLTO_CANCELLED, "")
                           : Fail(DTLTO_ERROR_INFRASTRUCTURE,
                                  "the worker took longer than " +
                                      std::to_string(Limit.count()) + " s");
  J.leaveRoom(W->Memory);
  R.Message = W->Text.substr(0, W->Text.find_last_not_of('\n') + 1);
  if (int Signal = W->Child.signal()) {
    bool WasKilled = Signal == SIGKILL || Signal == SIGTERM;
    return Fail(WasKilled ? DTLTO_ERROR_INFRASTRUCTURE : DTLTO_ERROR_COMPILER,
                "the code generator " +
                    std::string(WasKilled ? "was killed by" : "crashed with") +
                    " signal " + std::to_string(Signal) +
                    (R.Message.empty() ? "" : ": " + R.Message));
  }
  if (W->Child.status() != 0)
    return Fail(DTLTO_ERROR_COMPILER,
                R.Message.empty()
                    ? "the code generator failed without an error message"
                    : R.Message);
  if (std::string Why = J.problem(W->Object); !Why.empty())
    return Fail(DTLTO_ERROR_INFRASTRUCTURE, "'" + Program + "': " + Why);
  R.Object = std::move(W->Object);
  return R;
}
