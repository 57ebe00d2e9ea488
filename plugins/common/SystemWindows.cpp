//===- SystemWindows.cpp - What differs between systems: Windows ----------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The handle of a socket is a number with 32 significant bits, so it fits into
// an int, and INVALID_SOCKET is -1.
//
//===----------------------------------------------------------------------===//

#include "Network.h"
#include "System.h"
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <io.h>
#include <map>
#include <mutex>
#include <sys/stat.h>
#include <windows.h>

using namespace dtlto;
using namespace std::chrono;

/// Returns nothing if \p Text isn't UTF-8; no file has such a name.
static std::wstring wide(const std::string &Text) {
  int Size = ::MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, Text.data(),
                                   int(Text.size()), nullptr, 0);
  std::wstring Wide(size_t(Size), L'\0');
  ::MultiByteToWideChar(CP_UTF8, 0, Text.data(), int(Text.size()), Wide.data(),
                        Size);
  return Wide;
}

static std::string narrow(const wchar_t *Wide) {
  int Size =
      ::WideCharToMultiByte(CP_UTF8, 0, Wide, -1, nullptr, 0, nullptr, nullptr);
  std::string Text(size_t(std::max(Size, 1)), '\0');
  ::WideCharToMultiByte(CP_UTF8, 0, Wide, -1, Text.data(), Size, nullptr,
                        nullptr);
  Text.pop_back();
  return Text;
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

// The C library has no texts for socket errors.
static constexpr struct {
  int Errno, Code;
  const char *Text;
} SocketErrors[] = {
    {EAGAIN, WSAEWOULDBLOCK, "Resource temporarily unavailable"},
    {EINPROGRESS, WSAEINPROGRESS, "Operation now in progress"},
    {ECONNREFUSED, WSAECONNREFUSED, "Connection refused"},
    {ECONNRESET, WSAECONNRESET, "Connection reset by peer"},
    {ECONNRESET, WSAECONNABORTED, "Connection reset by peer"},
    {EPIPE, WSAESHUTDOWN, "Broken pipe"},
    {ETIMEDOUT, WSAETIMEDOUT, "Connection timed out"},
    {EHOSTUNREACH, WSAEHOSTUNREACH, "No route to host"},
    {EHOSTUNREACH, WSAEHOSTDOWN, "No route to host"},
    {ENETUNREACH, WSAENETUNREACH, "Network is unreachable"},
    {ENETUNREACH, WSAENETDOWN, "Network is unreachable"},
    {EADDRNOTAVAIL, WSAEADDRNOTAVAIL, "Address not available"},
    {EAFNOSUPPORT, WSAEAFNOSUPPORT, "Address family not supported"},
    {ENOBUFS, WSAENOBUFS, "No buffer space available"},
    {EMFILE, WSAEMFILE, "Too many open files"},
    {EACCES, WSAEACCES, "Permission denied"},
    {ENOSYS, WSAEOPNOTSUPP, "not supported on Windows yet"},
};

static int errnoOf(int Code) {
  for (const auto &E : SocketErrors)
    if (E.Code == Code)
      return E.Errno;
  return EIO;
}

std::string os::errorText(int Errno) {
  for (const auto &E : SocketErrors)
    if (E.Errno == Errno)
      return E.Text;
  return std::strerror(Errno);
}

//===----------------------------------------------------------------------===//
// Sockets
//===----------------------------------------------------------------------===//

static bool fail() {
  errno = errnoOf(::WSAGetLastError());
  return false;
}

static int openNonBlocking(int Family, int Type) {
  // Not while the library is loaded: WSAStartup() might then wait forever.
  static const int StartupStatus = [] {
    WSADATA Data;
    return ::WSAStartup(MAKEWORD(2, 2), &Data);
  }();
  (void)StartupStatus;
  SOCKET S = ::WSASocketW(Family, Type, 0, nullptr, 0,
                          WSA_FLAG_OVERLAPPED | WSA_FLAG_NO_HANDLE_INHERIT);
  u_long NonBlocking = 1;
  if (S != INVALID_SOCKET && ::ioctlsocket(S, FIONBIO, &NonBlocking) == 0)
    return int(S);
  fail();
  if (S != INVALID_SOCKET)
    ::closesocket(S);
  return -1;
}

int os::openSocket(int Family) { return openNonBlocking(Family, SOCK_STREAM); }

bool os::beginConnect(int Socket, const sockaddr *To, socklen_t Size) {
  return ::connect(SOCKET(Socket), To, Size) == 0 ||
         ::WSAGetLastError() == WSAEWOULDBLOCK || fail();
}

int os::connectError(int Socket) {
  int Error = 0;
  socklen_t Size = sizeof(Error);
  if (::getsockopt(SOCKET(Socket), SOL_SOCKET, SO_ERROR,
                   reinterpret_cast<char *>(&Error), &Size) != 0)
    Error = ::WSAGetLastError();
  return Error ? errnoOf(Error) : 0;
}

void os::closeSocket(int Socket) { ::closesocket(SOCKET(Socket)); }

int64_t os::send(int Socket, const Part *Parts, size_t Count) {
  WSABUF Buffers[MaxParts];
  Count = std::min(Count, MaxParts);
  for (size_t I = 0; I != Count; ++I)
    Buffers[I] = {ULONG(std::min<size_t>(Parts[I].Size, ULONG_MAX)),
                  static_cast<char *>(const_cast<void *>(Parts[I].Data))};
  DWORD NumSent = 0;
  if (::WSASend(SOCKET(Socket), Buffers, DWORD(Count), &NumSent, 0, nullptr,
                nullptr) != 0)
    return fail() - 1;
  return NumSent;
}

int64_t os::receive(int Socket, void *To, size_t Size) {
  int N = ::recv(SOCKET(Socket), static_cast<char *>(To),
                 int(std::min<size_t>(Size, INT_MAX)), 0);
  return N < 0 ? fail() - 1 : N;
}

int os::poll(pollfd *Sockets, size_t Count, int TimeoutMs) {
  return ::WSAPoll(Sockets, ULONG(Count), TimeoutMs);
}

/// Opens a datagram socket that is connected to itself.
int os::openSignal() {
  int Socket = openNonBlocking(AF_INET, SOCK_DGRAM);
  if (Socket == -1)
    return -1;
  sockaddr_in Loopback = {};
  Loopback.sin_family = AF_INET;
  Loopback.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto *Address = reinterpret_cast<sockaddr *>(&Loopback);
  socklen_t Size = sizeof(Loopback);
  if (::bind(SOCKET(Socket), Address, Size) == 0 &&
      ::getsockname(SOCKET(Socket), Address, &Size) == 0 &&
      ::connect(SOCKET(Socket), Address, Size) == 0)
    return Socket;
  fail();
  closeSocket(Socket);
  return -1;
}

void os::raise(int Signal) { ::send(SOCKET(Signal), "", 1, 0); }

void os::lower(int Signal) {
  char Byte;
  while (::recv(SOCKET(Signal), &Byte, 1, 0) >= 0)
    ;
}

void os::setResetOnClose(int Socket, bool DoesReset) {
  linger Linger = {u_short(DoesReset), /*l_linger=*/0};
  ::setsockopt(SOCKET(Socket), SOL_SOCKET, SO_LINGER,
               reinterpret_cast<const char *>(&Linger), sizeof(Linger));
}

//===----------------------------------------------------------------------===//
// Watching connections
//===----------------------------------------------------------------------===//

/// Windows breaks a connection whose data isn't acknowledged, and doesn't
/// report when the last answer came.
void dtlto::watchMachine(int Socket) {
  auto Set = [&](int Level, int Name, int Value) {
    ::setsockopt(SOCKET(Socket), Level, Name,
                 reinterpret_cast<const char *>(&Value), sizeof(Value));
  };
  // Options of Windows 10, which mingw-w64 may lack.
  constexpr int KeepIdle = 3, KeepCount = 16, KeepInterval = 17;
  int Seconds =
      int(duration_cast<seconds>(TheNetworkLimits.AckTimeout).count());
  Set(SOL_SOCKET, SO_KEEPALIVE, 1);
  Set(IPPROTO_TCP, KeepIdle, std::max(Seconds / 3, 1));
  Set(IPPROTO_TCP, KeepInterval, std::max(Seconds / 6, 1));
  Set(IPPROTO_TCP, KeepCount, 4);
}

void dtlto::allowStall(int, steady_clock::duration) {}

bool dtlto::isMachineSilent(int) { return true; } // unknown

WireBytes dtlto::wireBytes(int) { return {}; }

//===----------------------------------------------------------------------===//
// The user's settings and files
//===----------------------------------------------------------------------===//

const char *const os::HomeVariable = "USERPROFILE";

const char *os::environment(const char *Name) {
  const wchar_t *Value = ::_wgetenv(wide(Name).c_str());
  if (!Value)
    return nullptr;
  static std::mutex Mutex;
  static std::map<std::string, std::string> Values; // never erased
  std::lock_guard<std::mutex> Lock(Mutex);
  std::string &Cached = Values[Name];
  Cached = narrow(Value);
  return Cached.c_str();
}

int os::readFile(const std::string &Path, size_t MaxSize, std::string &Text) {
  Text.clear();
  int Fd = ::_wopen(wide(Path).c_str(), _O_RDONLY | _O_BINARY | _O_NOINHERIT);
  if (Fd == -1)
    return errno;
  int Code = ::GetFileType(HANDLE(::_get_osfhandle(Fd))) == FILE_TYPE_DISK
                 ? 0
                 : EINVAL;
  while (Code == 0) {
    char Buffer[4096];
    int N = ::_read(Fd, Buffer, sizeof(Buffer));
    if (N == 0)
      break;
    if (N > 0)
      Text.append(Buffer, size_t(N));
    else
      Code = errno;
    if (Text.size() > MaxSize)
      Code = EFBIG;
  }
  ::_close(Fd);
  return Code;
}

int os::openLog(const std::string &Path) {
  return ::_wopen(wide(Path).c_str(),
                  _O_WRONLY | _O_CREAT | _O_APPEND | _O_BINARY | _O_NOINHERIT,
                  _S_IREAD | _S_IWRITE);
}

void os::writeLog(int Fd, std::string_view Text) {
  ::_write(Fd, Text.data(), static_cast<unsigned>(Text.size()));
}

// Windows has no $DISTCC_DIR that other processes look into.
void os::putFile(const std::string &, const void *, size_t) {}
void os::makeFolder(const std::string &) {}
void os::removeFile(const std::string &) {}
int os::openLocks(const std::string &) {
  errno = ENOLCK;
  return -1;
}
void os::closeLocks(int) {}
bool os::lockByte(int, uint64_t, bool) { return false; }
void os::unlockByte(int, uint64_t) {}
bool os::isLockedByOther(int, uint64_t) { return false; }

//===----------------------------------------------------------------------===//
// The machine
//===----------------------------------------------------------------------===//

void *os::reserve(size_t Size) {
  return ::VirtualAlloc(nullptr, Size, MEM_RESERVE | MEM_COMMIT,
                        PAGE_READWRITE);
}

void os::shrink(void *Pages, size_t Old, size_t New) {
  constexpr size_t PageSize = 4096;
  size_t NewSize = (New + PageSize - 1) / PageSize * PageSize;
  if (New == 0)
    ::VirtualFree(Pages, 0, MEM_RELEASE);
  else if (NewSize < Old)
    ::VirtualFree(static_cast<char *>(Pages) + NewSize, Old - NewSize,
                  MEM_DECOMMIT);
}

bool os::load(double &) { return false; }
