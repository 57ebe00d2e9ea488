//===- SystemPosix.cpp - What differs between systems: POSIX --------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Network.h"
#include "System.h"
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/sockios.h>
#include <linux/tcp.h> // tcp_info: libc's ends early
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

using namespace dtlto;
using namespace std::chrono;

std::string os::errorText(int Errno) { return std::strerror(Errno); }

//===----------------------------------------------------------------------===//
// Sockets
//===----------------------------------------------------------------------===//

int os::openSocket(int Family) {
  return ::socket(Family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
}

bool os::beginConnect(int Socket, const sockaddr *To, socklen_t Size) {
  return ::connect(Socket, To, Size) == 0 || errno == EINPROGRESS;
}

int os::connectError(int Socket) {
  int Error = 0;
  socklen_t Size = sizeof(Error);
  if (::getsockopt(Socket, SOL_SOCKET, SO_ERROR, &Error, &Size) != 0)
    return errno;
  return Error;
}

void os::closeSocket(int Socket) { ::close(Socket); }

int64_t os::send(int Socket, const Part *Parts, size_t Count) {
  iovec Vector[MaxParts];
  Count = std::min(Count, MaxParts);
  for (size_t I = 0; I != Count; ++I)
    Vector[I] = {const_cast<void *>(Parts[I].Data), Parts[I].Size};
  msghdr Message = {};
  Message.msg_iov = Vector;
  Message.msg_iovlen = Count;
  ssize_t N;
  do
    N = ::sendmsg(Socket, &Message, MSG_NOSIGNAL);
  while (N < 0 && errno == EINTR);
  if (N < 0 && errno == EWOULDBLOCK)
    errno = EAGAIN;
  return N;
}

int64_t os::receive(int Socket, void *To, size_t Size) {
  ssize_t N;
  do
    N = ::recv(Socket, To, Size, 0);
  while (N < 0 && errno == EINTR);
  if (N < 0 && errno == EWOULDBLOCK)
    errno = EAGAIN;
  return N;
}

int os::poll(pollfd *Sockets, size_t Count, int TimeoutMs) {
  return ::poll(Sockets, Count, TimeoutMs);
}

int os::openSignal() { return ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

void os::raise(int Signal) {
  uint64_t One = 1;
  // Fails only if the counter is full, and then the reader is awake.
  (void)!::write(Signal, &One, sizeof(One));
}

void os::lower(int Signal) {
  uint64_t Count;
  (void)!::read(Signal, &Count, sizeof(Count));
}

void os::setResetOnClose(int Socket, bool DoesReset) {
  linger Linger = {DoesReset, /*l_linger=*/0};
  ::setsockopt(Socket, SOL_SOCKET, SO_LINGER, &Linger, sizeof(Linger));
}

//===----------------------------------------------------------------------===//
// Watching connections
//===----------------------------------------------------------------------===//

static void set(int Socket, int Level, int Name, int64_t Value) {
  int Int = static_cast<int>(std::clamp<int64_t>(Value, 1, INT32_MAX));
  ::setsockopt(Socket, Level, Name, &Int, sizeof(Int));
}

void dtlto::watchMachine(int Socket) {
  const milliseconds AckTimeout = TheNetworkLimits.AckTimeout;
  // Send the first probe after a third of the time, and then three more. The
  // limit for acknowledgements applies to probes as well.
  int64_t Seconds = duration_cast<seconds>(AckTimeout).count();
  set(Socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  set(Socket, IPPROTO_TCP, TCP_KEEPIDLE, Seconds / 3);
  set(Socket, IPPROTO_TCP, TCP_KEEPINTVL, Seconds / 6);
  set(Socket, IPPROTO_TCP, TCP_KEEPCNT, 4);
  set(Socket, IPPROTO_TCP, TCP_USER_TIMEOUT, AckTimeout.count());
}

/// Returns zeros if \p Socket isn't TCP.
static tcp_info infoOf(int Socket) {
  tcp_info Info = {};
  socklen_t Size = sizeof(Info);
  ::getsockopt(Socket, IPPROTO_TCP, TCP_INFO, &Info, &Size);
  return Info;
}

void dtlto::allowStall(int Socket, steady_clock::duration Stalled) {
  const milliseconds AckTimeout = TheNetworkLimits.AckTimeout;
  milliseconds Limit = AckTimeout;
  int Unsent = 0; // including bytes sent but not acknowledged
  // The system probes again before its limit has passed. So the last answer is
  // younger than AckTimeout as long as the machine is reachable.
  if (::ioctl(Socket, SIOCOUTQ, &Unsent) == 0 && Unsent > 0 &&
      milliseconds(infoOf(Socket).tcpi_last_ack_recv) < AckTimeout)
    Limit = std::max(Limit,
                     duration_cast<milliseconds>(Stalled) + AckTimeout * 2 / 3);
  set(Socket, IPPROTO_TCP, TCP_USER_TIMEOUT, Limit.count());
}

bool dtlto::isMachineSilent(int Socket) {
  // The system's timers are a little coarse.
  return milliseconds(infoOf(Socket).tcpi_last_ack_recv) >=
         TheNetworkLimits.AckTimeout * 3 / 4;
}

WireBytes dtlto::wireBytes(int Socket) {
  tcp_info Info = infoOf(Socket);
  return {Info.tcpi_bytes_acked, Info.tcpi_bytes_received};
}

//===----------------------------------------------------------------------===//
// The user's settings and files
//===----------------------------------------------------------------------===//

const char *const os::HomeVariable = "HOME";

const char *os::environment(const char *Name) { return ::getenv(Name); }

int os::readFile(const std::string &Path, size_t MaxSize, std::string &Text) {
  Text.clear();
  // O_NONBLOCK: a pipe must not block the link.
  int Fd = open(Path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (Fd == -1)
    return errno;
  int Code = 0;
  struct stat Stat;
  if (fstat(Fd, &Stat) != 0)
    Code = errno;
  else if (S_ISDIR(Stat.st_mode))
    Code = EISDIR;
  else if (!S_ISREG(Stat.st_mode))
    Code = EINVAL;
  while (Code == 0) {
    char Buffer[4096];
    ssize_t N = read(Fd, Buffer, sizeof(Buffer));
    if (N == 0)
      break;
    if (N > 0)
      Text.append(Buffer, size_t(N));
    else if (errno != EINTR)
      Code = errno;
    if (Text.size() > MaxSize)
      Code = EFBIG;
  }
  close(Fd);
  return Code;
}

int os::openLog(const std::string &Path) {
  // O_NONBLOCK: a pipe must not block the link.
  return ::open(
      Path.c_str(),
      O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0666);
}

void os::writeLog(int Fd, std::string_view Text) {
  sigset_t Pipe, Old, Pending;
  sigemptyset(&Pipe);
  sigaddset(&Pipe, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &Pipe, &Old);
  sigpending(&Pending);
  bool WasPending = sigismember(&Pending, SIGPIPE) == 1;
  ssize_t Written = ::write(Fd, Text.data(), Text.size());
  const timespec AtOnce = {};
  if (Written < 0 && errno == EPIPE && !WasPending)
    while (sigtimedwait(&Pipe, nullptr, &AtOnce) < 0 && errno == EINTR)
      ;
  pthread_sigmask(SIG_SETMASK, &Old, nullptr);
}

void os::putFile(const std::string &Path, const void *Data, size_t Size) {
  // O_NONBLOCK: a pipe must not block the link. It is not written to.
  int Fd = ::open(Path.c_str(),
                  O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC | O_NOFOLLOW |
                      O_NONBLOCK | O_NOCTTY,
                  0666);
  if (Fd == -1)
    return;
  struct stat Info;
  if (fstat(Fd, &Info) == 0 && S_ISREG(Info.st_mode)) {
    [[maybe_unused]] ssize_t Written = ::write(Fd, Data, Size);
  }
  ::close(Fd);
}

void os::makeFolder(const std::string &Path) { ::mkdir(Path.c_str(), 0777); }

void os::removeFile(const std::string &Path) { ::unlink(Path.c_str()); }

/// Whether a server manages the locks of a file system.
static bool isRemote(const struct statfs &FileSystem) {
  switch (static_cast<uint32_t>(FileSystem.f_type)) {
  case NFS_SUPER_MAGIC:
  case SMB_SUPER_MAGIC:
  case SMB2_SUPER_MAGIC:
  case CIFS_SUPER_MAGIC:
  case CEPH_SUPER_MAGIC:
  case FUSE_SUPER_MAGIC:
  case AFS_SUPER_MAGIC:
  case AFS_FS_MAGIC:
  case V9FS_MAGIC:
  case CODA_SUPER_MAGIC:
  case OCFS2_SUPER_MAGIC:
    return true;
  default:
    return false;
  }
}

int os::openLocks(const std::string &Path) {
  int Fd = ::open(
      Path.c_str(),
      O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0600);
  if (Fd == -1)
    return -1;
  struct stat Info;
  struct statfs FileSystem;
  if (fstat(Fd, &Info) == 0 && S_ISREG(Info.st_mode) &&
      fstatfs(Fd, &FileSystem) == 0 && !isRemote(FileSystem))
    return Fd;
  ::close(Fd);
  errno = ENOLCK;
  return -1;
}

void os::closeLocks(int Fd) { ::close(Fd); }

/// Uses open file description locks: POSIX locks belong to a process, which may
/// have two sessions.
static bool lock(int Fd, int Command, short Type, uint64_t At,
                 struct flock *Answer = nullptr) {
  struct flock LockRequest = {};
  LockRequest.l_type = Type;
  LockRequest.l_whence = SEEK_SET;
  LockRequest.l_start = static_cast<off_t>(At);
  LockRequest.l_len = 1;
  bool Ok = ::fcntl(Fd, Command, &LockRequest) == 0;
  if (Answer)
    *Answer = LockRequest;
  return Ok;
}

bool os::lockByte(int Fd, uint64_t At, bool IsShared) {
  return lock(Fd, F_OFD_SETLK, IsShared ? F_RDLCK : F_WRLCK, At);
}

void os::unlockByte(int Fd, uint64_t At) { lock(Fd, F_OFD_SETLK, F_UNLCK, At); }

bool os::isLockedByOther(int Fd, uint64_t At) {
  struct flock Answer;
  return lock(Fd, F_OFD_GETLK, F_WRLCK, At, &Answer) &&
         Answer.l_type != F_UNLCK;
}

//===----------------------------------------------------------------------===//
// The machine
//===----------------------------------------------------------------------===//

static size_t roundToPages(size_t Size) {
  static const size_t PageSize = size_t(sysconf(_SC_PAGESIZE));
  return (Size + PageSize - 1) / PageSize * PageSize;
}

void *os::reserve(size_t Size) {
  void *P = ::mmap(nullptr, Size, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return P == MAP_FAILED ? nullptr : P;
}

void os::shrink(void *Pages, size_t Old, size_t New) {
  size_t NewSize = roundToPages(New), OldSize = roundToPages(Old);
  if (NewSize != OldSize)
    ::munmap(static_cast<char *>(Pages) + NewSize, OldSize - NewSize);
}

bool os::load(double &Load) { return ::getloadavg(&Load, 1) == 1; }
