//===- SystemPosix.cpp - What differs between systems: POSIX --------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Support/Failure.h"
#include "Support/System.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <thread>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

using namespace llvm;
using namespace dtlto;

// The requested number of descriptors, if the hard limit allows it.
static constexpr rlim_t MaxDescriptors = 65536;

uint64_t dtlto::randomSeed() {
  uint64_t Seed;
  if (::getentropy(&Seed, sizeof(Seed)) != 0)
    Seed = static_cast<uint64_t>(
        std::chrono::steady_clock::now().time_since_epoch().count());
  return Seed;
}

void dtlto::raiseDescriptorLimit() {
  rlimit Limit;
  if (::getrlimit(RLIMIT_NOFILE, &Limit) != 0 ||
      Limit.rlim_cur >= MaxDescriptors)
    return;
  Limit.rlim_cur = std::min(Limit.rlim_max, MaxDescriptors);
  ::setrlimit(RLIMIT_NOFILE, &Limit);
}

unsigned dtlto::terminalWidth() {
  winsize Size = {};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &Size) == 0 ? Size.ws_col : 0;
}

bool dtlto::isTerminalShared() {
  // Each process locks the byte at its process ID. The locks end with the
  // process, and F_GETLK finds only locks of other processes.
  static const bool IsLocked = [] {
    struct flock ProcessLock = {};
    ProcessLock.l_type = F_WRLCK;
    ProcessLock.l_whence = SEEK_SET;
    ProcessLock.l_start = ::getpid();
    ProcessLock.l_len = 1;
    return ::fcntl(STDERR_FILENO, F_SETLK, &ProcessLock) == 0;
  }();
  struct flock AnyLock = {};
  AnyLock.l_type = F_WRLCK;
  AnyLock.l_whence = SEEK_SET;
  return IsLocked && ::fcntl(STDERR_FILENO, F_GETLK, &AnyLock) == 0 &&
         AnyLock.l_type != F_UNLCK;
}

uint64_t dtlto::physicalMemory() {
  long Pages = ::sysconf(_SC_PHYS_PAGES), Size = ::sysconf(_SC_PAGESIZE);
  uint64_t Memory = Pages <= 0 || Size <= 0 ? uint64_t(1) << 30
                                            : uint64_t(Pages) * uint64_t(Size);
  rlimit Limit; // RLIM_INFINITY exceeds any memory
  if (::getrlimit(RLIMIT_AS, &Limit) == 0)
    Memory = std::min<uint64_t>(Memory, Limit.rlim_cur);
  return Memory;
}

/// Calls \p Each(Begin, End) for each read-only mapping of a file, in the order
/// of addresses.
static void forEachFileMapping(function_ref<void(uintptr_t, uintptr_t)> Each) {
  auto Maps = MemoryBuffer::getFileAsStream("/proc/self/maps");
  if (!Maps)
    return;
  for (StringRef Line : split((*Maps)->getBuffer(), '\n')) {
    // begin-end permissions offset device inode path
    SmallVector<StringRef, 6> Words;
    Line.split(Words, ' ', 5, /*KeepEmpty=*/false);
    uintptr_t Begin, End;
    if (Words.size() >= 5 && Words[1] == "r--p" && Words[4] != "0" &&
        !Words[0].consumeInteger(16, Begin) && Words[0].consume_front("-") &&
        !Words[0].consumeInteger(16, End))
      Each(Begin, End);
  }
}

void dtlto::dropFilePages(ArrayRef<StringRef> Ranges) {
  const auto Page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  const StringRef *First = Ranges.begin(); // may reach into a mapping
  forEachFileMapping([&](uintptr_t Begin, uintptr_t End) {
    auto At = [](const char *P) { return reinterpret_cast<uintptr_t>(P); };
    while (First != Ranges.end() && At(First->end()) <= Begin)
      ++First;
    for (auto *R = First; R != Ranges.end() && At(R->begin()) < End; ++R) {
      uintptr_t From = alignTo(std::max(At(R->begin()), Begin), Page);
      uintptr_t To = alignDown(std::min(At(R->end()), End), Page);
      if (From < To)
        ::madvise(reinterpret_cast<void *>(From), To - From, MADV_DONTNEED);
    }
  });
}

void dtlto::returnFreeMemory() {
#ifdef __GLIBC__
  ::malloc_trim(0);
#endif
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

void dtlto::removeFolder(const std::string &Path) {
  sys::fs::remove_directories(Path);
}

Expected<std::string>
dtlto::captureFileOutput(function_ref<Error(raw_fd_ostream &)> Write) {
  int FD = ::memfd_create("dtlto", MFD_CLOEXEC);
  if (FD < 0)
    return errorCodeToError(errnoAsErrorCode());
  raw_fd_ostream OS(FD, /*shouldClose=*/true);
  if (Error E = Write(OS))
    return std::move(E);
  OS.flush();
  if (std::error_code EC = OS.error()) {
    OS.clear_error();
    return errorCodeToError(EC);
  }
  auto File = MemoryBuffer::getOpenFile(FD, "dtlto", /*FileSize=*/-1,
                                        /*RequiresNullTerminator=*/false);
  if (!File)
    return errorCodeToError(File.getError());
  return (*File)->getBuffer().str();
}

int dtlto::openForLog(const std::string &Path, std::error_code &Why) {
  // Don't wait for a pipe's reader.
  int FD = ::open(Path.c_str(),
                  O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK, 0666);
  // But wait for an existing reader that is slow.
  if (FD < 0 || ::fcntl(FD, F_SETFL, 0) != 0)
    Why = errnoAsErrorCode();
  return FD;
}

void dtlto::withoutPipeSignal(function_ref<void()> Write) {
  sigset_t Pipe, Old, Pending;
  sigemptyset(&Pipe);
  sigaddset(&Pipe, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &Pipe, &Old);
  sigpending(&Pending);
  const bool WasPending = sigismember(&Pending, SIGPIPE) == 1;
  Write();
  const timespec NoWait = {};
  if (!WasPending)
    while (sigtimedwait(&Pipe, nullptr, &NoWait) < 0 && errno == EINTR)
      ;
  pthread_sigmask(SIG_SETMASK, &Old, nullptr);
}

LockedFile::~LockedFile() { ::close(FD); }

Expected<std::unique_ptr<LockedFile>>
dtlto::lockFile(const std::string &Path, std::chrono::milliseconds Limit) {
  constexpr int Flags = O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  int FD = open(Path.c_str(), O_RDWR | Flags, 0666);
  if (FD < 0 && errno == EACCES) // a file of another user is sufficient
    FD = open(Path.c_str(), O_RDONLY | Flags, 0666);
  if (FD < 0)
    return failure("'" + Path +
                   "' cannot be opened: " + errnoAsErrorCode().message());
  auto Lock = std::make_unique<LockedFile>(FD);
  auto End = std::chrono::steady_clock::now() + Limit;
  // No system call waits for a lock with a time limit.
  while (flock(FD, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EINTR)
      continue;
    if (errno != EWOULDBLOCK)
      break; // no locks on this file system
    if (std::chrono::steady_clock::now() >= End)
      return failure("another link holds '" + Path + "'");
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return Lock;
}

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

bool dtlto::startThread(std::function<void()> Work) {
  auto *Owned = new std::function<void()>(std::move(Work));
  auto Run = [](void *Argument) -> void * {
    std::unique_ptr<std::function<void()>> Owned(
        static_cast<std::function<void()> *>(Argument));
    (*Owned)();
    return nullptr;
  };
  pthread_attr_t Attributes;
  ::pthread_attr_init(&Attributes);
  ::pthread_attr_setdetachstate(&Attributes, PTHREAD_CREATE_DETACHED);
  pthread_t Thread;
  const bool IsStarted =
      ::pthread_create(&Thread, &Attributes, Run, Owned) == 0;
  ::pthread_attr_destroy(&Attributes);
  if (!IsStarted)
    delete Owned;
  return IsStarted;
}

//===----------------------------------------------------------------------===//
// Libraries and pipes
//===----------------------------------------------------------------------===//

void *dtlto::openLibrary(const std::string &Path, std::string &Why) {
  void *Library = dlopen(Path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (Library)
    return Library;
  if (const char *Text = dlerror())
    Why = Text;
  return nullptr;
}

void *dtlto::findSymbol(void *Library, const char *Name) {
  return dlsym(Library, Name);
}

bool dtlto::isOutputBroken() {
  pollfd Files[] = {{STDOUT_FILENO, 0, 0}, {STDERR_FILENO, 0, 0}};
  return ::poll(Files, 2, 0) > 0 &&
         (Files[0].revents | Files[1].revents) & POLLERR;
}
