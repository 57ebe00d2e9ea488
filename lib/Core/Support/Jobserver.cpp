//===- Jobserver.cpp - A client of GNU make's jobserver -------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Support/Jobserver.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/ManagedStatic.h"
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <optional>
#include <poll.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace llvm;
using namespace dtlto;

//===----------------------------------------------------------------------===//
// Tokens, where a signal handler can find them
//===----------------------------------------------------------------------===//

// More than a link can use.
static constexpr size_t MaxTokens = 4096;
static constexpr short NoToken = -1;

static std::atomic<int> WriteFd = -1;
static std::atomic<bool> HasEnded = false; // no more are to be taken
static std::atomic<short> Tokens[MaxTokens];
// Threads that may hold a token which isn't in Tokens.
static std::atomic<unsigned> NumBusy = 0;

namespace {
/// Marks this thread as taking or giving back a token, and blocks signals.
class Transfer {
public:
  Transfer() {
    sigset_t All;
    ::sigfillset(&All);
    ::pthread_sigmask(SIG_SETMASK, &All, &Old);
    ++NumBusy;
  }
  ~Transfer() {
    --NumBusy;
    ::pthread_sigmask(SIG_SETMASK, &Old, nullptr);
  }

private:
  sigset_t Old;
};
} // namespace

static bool releaseFrom(std::atomic<short> &Slot) {
  short Token = Slot.exchange(NoToken);
  if (Token == NoToken)
    return false;
  auto Byte = static_cast<unsigned char>(Token);
  while (::write(WriteFd, &Byte, 1) < 0 && errno == EINTR) {
  }
  return true;
}

/// Takes a token if there is one. Returns the result of read(), or 0 if no more
/// may be taken.
static ssize_t acquireFrom(int Fd) {
  Transfer T;
  unsigned char Byte;
  if (HasEnded)
    return 0;
  ssize_t N = ::read(Fd, &Byte, 1);
  if (N != 1)
    return N;
  for (std::atomic<short> &Slot : Tokens) {
    short Expected = NoToken;
    if (Slot.compare_exchange_strong(Expected, Byte))
      return 1;
  }
  [[maybe_unused]] ssize_t NumWritten = ::write(WriteFd, &Byte, 1);
  return 0;
}

void Jobserver::releaseToken() {
  Transfer T;
  for (std::atomic<short> &Slot : Tokens)
    if (releaseFrom(Slot))
      return;
}

void Jobserver::releaseAllTokens() {
  // Another thread may be about to store or write its token.
  auto WaitForTransfers = [] {
    for (int I = 0; I != 1000 && NumBusy != 0; ++I)
      ::sched_yield();
  };
  HasEnded = true;
  WaitForTransfers();
  ++NumBusy;
  for (std::atomic<short> &Slot : Tokens)
    releaseFrom(Slot);
  --NumBusy;
  WaitForTransfers();
}

//===----------------------------------------------------------------------===//
// The end of the process
//===----------------------------------------------------------------------===//

static constexpr int Signals[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGTERM, SIGILL,
                                  SIGTRAP, SIGABRT, SIGFPE,  SIGBUS,  SIGSEGV,
                                  SIGSYS,  SIGUSR1, SIGUSR2, SIGXCPU};
static struct sigaction OldActions[std::size(Signals)];

/// Gives back all tokens, then runs the previous handler, usually LLVM's.
static void onSignal(int Signal) {
  int Errno = errno;
  Jobserver::releaseAllTokens();
  for (size_t I = 0; I != std::size(Signals); ++I)
    if (Signals[I] == Signal)
      ::sigaction(Signal, &OldActions[I], nullptr);
  ::raise(Signal); // waits until this handler returns
  errno = Errno;
}

namespace {
/// Runs in llvm_shutdown(), which LLD calls before _exit().
struct AtShutdown {
  ~AtShutdown() { Jobserver::releaseAllTokens(); }
};
} // namespace

static ManagedStatic<AtShutdown> ExitHandler;

static void installExitHandlers() {
  *ExitHandler;
  std::atexit(Jobserver::releaseAllTokens);
  for (size_t I = 0; I != std::size(Signals); ++I) {
    struct sigaction Action = {};
    Action.sa_handler = onSignal;
    Action.sa_flags = SA_ONSTACK;
    ::sigfillset(&Action.sa_mask);
    if (::sigaction(Signals[I], nullptr, &OldActions[I]) == 0 &&
        OldActions[I].sa_handler != SIG_IGN)
      ::sigaction(Signals[I], &Action, nullptr);
  }
}

//===----------------------------------------------------------------------===//
// Connecting
//===----------------------------------------------------------------------===//

/// Returns the jobserver in MAKEFLAGS; the last one counts.
static std::optional<std::string> findAuth(StringRef MakeFlags) {
  std::optional<std::string> Auth;
  SmallVector<StringRef, 16> Words;
  MakeFlags.split(Words, ' ');
  for (StringRef Word : Words) {
    if (Word == "--") // variables follow
      break;
    if (Word.consume_front("--jobserver-auth=") ||
        Word.consume_front("--jobserver-fds=")) // before make 4.2
      Auth = Word.str();
  }
  return Auth;
}

/// Opens the pipe \p Fd again, so that O_NONBLOCK isn't shared with other
/// processes. Returns -1 if \p Fd isn't a pipe: make closes its pipe for
/// programs that shouldn't use it, and the number may then belong to another
/// file.
static int reopen(int Fd, int Flags) {
  struct stat Status;
  if (Fd < 0 || ::fstat(Fd, &Status) != 0 || !S_ISFIFO(Status.st_mode))
    return -1;
  return ::open(("/proc/self/fd/" + std::to_string(Fd)).c_str(),
                Flags | O_NONBLOCK | O_CLOEXEC);
}

std::unique_ptr<Jobserver> Jobserver::connect(StringRef MakeFlags,
                                              std::string &Note) {
  Note.clear();
  std::optional<std::string> Auth = findAuth(MakeFlags);
  if (!Auth)
    return nullptr;
  StringRef Name = *Auth;
  int In = -1, Out = -1;
  if (Name.consume_front("fifo:")) {
    struct stat Status;
    In = ::open(Name.str().c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (In < 0) {
      Note = "it cannot be opened: " + std::string(std::strerror(errno));
    } else if (::fstat(In, &Status) != 0 || !S_ISFIFO(Status.st_mode)) {
      Note = "it is not a FIFO";
    } else {
      Out = ::fcntl(In, F_DUPFD_CLOEXEC, 0);
    }
  } else {
    auto [Read, Write] = Name.split(',');
    int ReadNumber = -1, WriteNumber = -1;
    if (!Read.getAsInteger(10, ReadNumber) &&
        !Write.getAsInteger(10, WriteNumber) &&
        (In = reopen(ReadNumber, O_RDONLY)) >= 0)
      Out = reopen(WriteNumber, O_WRONLY);
    Note = "make has closed its pipe, since the rule that links has no '+'";
  }
  int WakeFd = Out < 0 ? -1 : ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (WakeFd < 0) {
    Note = "jobserver '" + *Auth + "' is not used: " + Note;
    for (int Fd : {In, Out})
      if (Fd >= 0)
        ::close(Fd);
    return nullptr;
  }
  Note.clear();
  for (std::atomic<short> &Slot : Tokens)
    Slot = NoToken;
  HasEnded = false;
  WriteFd = Out;
  static std::once_flag Once;
  std::call_once(Once, installExitHandlers);
  return std::unique_ptr<Jobserver>(new Jobserver(In, WakeFd));
}

Jobserver::~Jobserver() {
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    IsEnding = true;
  }
  wake();
  if (Thread)
    ::pthread_join(*Thread, nullptr);
  releaseAllTokens();
  ::close(WriteFd.exchange(-1));
  ::close(WakeFd);
  ::close(ReadFd);
}

//===----------------------------------------------------------------------===//
// Taking tokens
//===----------------------------------------------------------------------===//

void Jobserver::wake() {
  uint64_t One = 1;
  [[maybe_unused]] ssize_t N = ::write(WakeFd, &One, sizeof(One));
}

void Jobserver::take(std::function<void()> OnToken) {
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    Requests.push_back(std::move(OnToken));
    // If no thread can be started, there are no tokens.
    if (pthread_t New; !Thread && ::pthread_create(
                                      &New, nullptr,
                                      [](void *Self) -> void * {
                                        static_cast<Jobserver *>(Self)->run();
                                        return nullptr;
                                      },
                                      this) == 0)
      Thread = New;
  }
  wake();
}

void Jobserver::run() {
  bool IsBroken = false;
  while (true) {
    bool HasRequests;
    {
      std::lock_guard<std::mutex> Lock(Mutex);
      if (IsEnding)
        return;
      HasRequests = !Requests.empty() && !IsBroken;
    }
    pollfd Fds[] = {{WakeFd, POLLIN, 0}, {ReadFd, POLLIN, 0}};
    if (::poll(Fds, HasRequests ? 2 : 1, -1) < 0 && errno != EINTR)
      return;
    if (uint64_t N; Fds[0].revents)
      (void)!::read(WakeFd, &N, sizeof(N));
    if (!HasRequests || !Fds[1].revents)
      continue;
    ssize_t N = acquireFrom(ReadFd);
    // At the end of the file, all holders of tokens have ended, so there will
    // be no more tokens.
    IsBroken = N == 0 || (N < 0 && errno != EAGAIN && errno != EINTR);
    if (N != 1)
      continue;
    std::function<void()> OnToken;
    {
      std::lock_guard<std::mutex> Lock(Mutex);
      OnToken = std::move(Requests.front());
      Requests.pop_front();
    }
    OnToken();
  }
}
