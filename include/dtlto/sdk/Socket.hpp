//===- dtlto/sdk/Socket.hpp - A connection to a machine ---------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A TCP connection for run() of a ThreadSession. Each function that waits has a
// deadline, also for the name of the host, and ends early if another thread
// calls cancel():
//
//   auto Line = std::make_shared<Socket>();
//   J.onCancel([Line] { Line->cancel(); });
//   Line->connect("farm", 4000, Socket::Clock::now() + 10s);
//
// POSIX systems, and Windows with ws2_32. Leaves the process's signals alone,
// and is not inherited by its children.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_SDK_SOCKET_HPP
#define DTLTO_SDK_SOCKET_HPP

#ifdef _WIN32
#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <winsock2.h>
#include <ws2tcpip.h>
#else
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#endif
#include "Detached.hpp"
#include "Result.hpp"
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <future>
#include <mutex>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace dtlto::sdk {

/// A connection that failed: an infrastructure error, in one line.
class SocketError : public Error {
public:
  explicit SocketError(const std::string &Why, bool TimedOut = false)
      : Error(DTLTO_ERROR_INFRASTRUCTURE, Why), TimedOut(TimedOut) {}
  /// Whether a deadline has passed.
  bool timedOut() const { return TimedOut; }

private:
  bool TimedOut;
};

namespace detail {

#ifdef _WIN32
using SocketHandle = SOCKET;
constexpr SocketHandle NoSocket = INVALID_SOCKET;
inline int socketError() { return ::WSAGetLastError(); }
inline bool isPending(int Code) { return Code == WSAEWOULDBLOCK; }
inline bool isInterrupted(int) { return false; }
inline void closeSocket(SocketHandle S) { ::closesocket(S); }
inline void shutdownSocket(SocketHandle S) { ::shutdown(S, SD_BOTH); }
inline int pollSocket(pollfd *P, int Ms) { return ::WSAPoll(P, 1, Ms); }
inline SocketHandle openSocket(int Family) {
  // Not while the library is loaded: WSAStartup() might then wait forever.
  static const int Started = [] {
    WSADATA Data;
    return ::WSAStartup(MAKEWORD(2, 2), &Data);
  }();
  (void)Started;
  SocketHandle S =
      ::WSASocketW(Family, SOCK_STREAM, 0, nullptr, 0,
                   WSA_FLAG_OVERLAPPED | WSA_FLAG_NO_HANDLE_INHERIT);
  u_long NonBlocking = 1;
  if (S != NoSocket)
    ::ioctlsocket(S, FIONBIO, &NonBlocking);
  return S;
}
#else
using SocketHandle = int;
constexpr SocketHandle NoSocket = -1;
inline int socketError() { return errno; }
inline bool isPending(int Code) {
  return Code == EAGAIN || Code == EWOULDBLOCK || Code == EINPROGRESS;
}
inline bool isInterrupted(int Code) { return Code == EINTR; }
inline void closeSocket(SocketHandle S) { ::close(S); }
inline void shutdownSocket(SocketHandle S) { ::shutdown(S, SHUT_RDWR); }
inline int pollSocket(pollfd *P, int Ms) { return ::poll(P, 1, Ms); }
inline SocketHandle openSocket(int Family) {
#ifdef SOCK_CLOEXEC
  return ::socket(Family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
#else
  SocketHandle S = ::socket(Family, SOCK_STREAM, 0);
  int On = 1;
  if (S != NoSocket) {
    ::fcntl(S, F_SETFD, FD_CLOEXEC);
    ::fcntl(S, F_SETFL, O_NONBLOCK);
    ::setsockopt(S, SOL_SOCKET, SO_NOSIGPIPE, &On, sizeof(On));
  }
  return S;
#endif
}
#endif
#ifdef MSG_NOSIGNAL
constexpr int SendFlags = MSG_NOSIGNAL;
#else
constexpr int SendFlags = 0;
#endif

inline std::string socketErrorText(int Code) {
  return std::system_category().message(Code);
}

} // namespace detail

/// A socket address, IPv4 or IPv6, with its port.
struct SocketAddress {
  sockaddr_storage Storage = {};
  socklen_t Size = 0;
};

/// The addresses of a name, or why there are none.
struct LookupResult {
  std::vector<SocketAddress> Addresses;
  std::string Error;            // one line; empty if there are addresses
  bool IsLocalShortage = false; // this machine lacks descriptors or memory
};

/// Looks up \p Host for TCP. The system's resolver may take minutes.
inline LookupResult lookUp(const std::string &Host, uint16_t Port,
                           int Family = AF_UNSPEC) {
  LookupResult R;
  addrinfo Hints = {}, *List = nullptr;
  Hints.ai_family = Family;
  Hints.ai_socktype = SOCK_STREAM;
  Hints.ai_flags = AI_NUMERICSERV;
  errno = 0;
  int Code =
      ::getaddrinfo(Host.c_str(), std::to_string(Port).c_str(), &Hints, &List);
  if (Code) {
#ifdef _WIN32
    R.Error = detail::socketErrorText(Code);
#else
    // A shortage may also hide behind another error of the resolver.
    R.IsLocalShortage =
        Code == EAI_MEMORY || errno == EMFILE || errno == ENFILE;
    R.Error = Code == EAI_SYSTEM ? detail::socketErrorText(errno)
                                 : ::gai_strerror(Code);
#endif
    return R;
  }
  for (addrinfo *I = List; I; I = I->ai_next)
    if (I->ai_addrlen <= sizeof(sockaddr_storage)) {
      R.Addresses.push_back({{}, socklen_t(I->ai_addrlen)});
      std::memcpy(&R.Addresses.back().Storage, I->ai_addr, I->ai_addrlen);
    }
  ::freeaddrinfo(List);
  if (R.Addresses.empty())
    R.Error = "the name has no address";
  return R;
}

/// A TCP connection. One thread, except for cancel(). Functions throw
/// SocketError, or Error with DTLTO_CANCELLED after cancel().
class Socket {
public:
  using Clock = std::chrono::steady_clock;
  using Time = Clock::time_point;

  Socket() = default;
  Socket(const Socket &) = delete;
  ~Socket() { close(); }

  /// Connects to the first address of \p Host that answers. Ends an earlier
  /// connection.
  void connect(const std::string &Host, uint16_t Port, Time Deadline) {
    close();
    startUp();
    auto Answer = std::make_shared<std::promise<LookupResult>>();
    std::future<LookupResult> Future = Answer->get_future();
    runDetached([=] { Answer->set_value(lookUp(Host, Port)); });
    while (Future.wait_for(waitTime(Deadline, "looking up the name")) !=
           std::future_status::ready)
      ;
    LookupResult Found = Future.get();
    if (!Found.Error.empty())
      throw SocketError("cannot find the host: " + Found.Error);
    for (size_t I = 0, N = Found.Addresses.size(); I != N; ++I)
      try {
        // Leaves time for the other addresses.
        Clock::duration Left = Deadline - Clock::now();
        return connectTo(Found.Addresses[I],
                         Clock::now() + Left / int64_t(N - I));
      } catch (const SocketError &E) {
        close();
        if (I + 1 == N)
          throw SocketError(std::string("cannot connect: ") + E.what(),
                            E.timedOut());
      }
  }

  /// Sends all of \p Bytes.
  void send(std::string_view Bytes, Time Deadline) {
    while (!Bytes.empty()) {
      size_t Size = std::min<size_t>(Bytes.size(), 1 << 30);
      auto N = ::send(Handle, Bytes.data(), length(Size), detail::SendFlags);
      if (N >= 0)
        Bytes.remove_prefix(size_t(N));
      else
        waitAfterError(POLLOUT, Deadline, "sending");
    }
  }

  /// Returns the number of bytes received, at least 1 and at most \p Size, or 0
  /// if the other end has ended the connection.
  size_t receive(char *To, size_t Size, Time Deadline) {
    while (true) {
      // A machine that sends without a pause must not delay the end.
      waitTime(Deadline, "waiting for a reply");
      auto N = ::recv(Handle, To, length(std::min<size_t>(Size, 1 << 30)), 0);
      checkCancelled();
      if (N >= 0)
        return size_t(N);
      waitAfterError(POLLIN, Deadline, "waiting for a reply");
    }
  }

  /// Receives exactly \p Size bytes.
  void receiveAll(char *To, size_t Size, Time Deadline) {
    while (Size) {
      size_t N = receive(To, Size, Deadline);
      if (!N)
        throw SocketError("the other end closed the connection");
      To += N;
      Size -= N;
    }
  }

  /// [any-thread] Ends all waiting, now and later, and the connection.
  void cancel() noexcept {
    std::lock_guard<std::mutex> Lock(Mutex);
    Cancelled = true;
    if (Handle != detail::NoSocket)
      detail::shutdownSocket(Handle);
  }

  void close() noexcept {
    std::lock_guard<std::mutex> Lock(Mutex);
    if (Handle != detail::NoSocket)
      detail::closeSocket(Handle);
    Handle = detail::NoSocket;
  }

private:
  // shutdown() doesn't end each kind of waiting on each system.
  static constexpr std::chrono::milliseconds MaxWait{50};

#ifdef _WIN32
  static int length(size_t Size) { return int(Size); }
  /// The resolver needs it, too.
  static void startUp() { detail::closeSocket(detail::openSocket(AF_INET)); }
#else
  static size_t length(size_t Size) { return Size; }
  static void startUp() {}
#endif

  void checkCancelled() {
    if (Cancelled)
      throw Error(DTLTO_CANCELLED, "");
  }
  /// Returns how long to wait before the next call. Throws after \p Deadline,
  /// and after cancel().
  std::chrono::milliseconds waitTime(Time Deadline, const char *Activity) {
    checkCancelled();
    auto Left =
        std::chrono::ceil<std::chrono::milliseconds>(Deadline - Clock::now());
    if (Left.count() <= 0)
      throw SocketError(std::string("timed out ") + Activity, true);
    return std::min(Left, MaxWait);
  }
  void wait(short Events, Time Deadline, const char *Activity) {
    while (true) {
      pollfd P = {Handle, Events, 0};
      int N = detail::pollSocket(&P, int(waitTime(Deadline, Activity).count()));
      if (N > 0)
        return checkCancelled();
      if (N < 0 && !detail::isInterrupted(detail::socketError()))
        throw SocketError(detail::socketErrorText(detail::socketError()));
    }
  }
  /// Waits if the last call would have blocked; throws if it failed.
  void waitAfterError(short Events, Time Deadline, const char *Activity) {
    int Code = detail::socketError();
    checkCancelled();
    if (detail::isPending(Code))
      return wait(Events, Deadline, Activity);
    if (!detail::isInterrupted(Code))
      throw SocketError(detail::socketErrorText(Code));
  }

  void connectTo(const SocketAddress &To, Time Deadline) {
    detail::SocketHandle New = detail::openSocket(To.Storage.ss_family);
    if (New == detail::NoSocket)
      throw SocketError(detail::socketErrorText(detail::socketError()));
    {
      std::lock_guard<std::mutex> Lock(Mutex);
      Handle = New;
    }
    int Value = 1;
    ::setsockopt(New, IPPROTO_TCP, TCP_NODELAY,
                 reinterpret_cast<const char *>(&Value), sizeof(Value));
    if (::connect(New, reinterpret_cast<const sockaddr *>(&To.Storage),
                  To.Size) == 0)
      return;
    waitAfterError(POLLOUT, Deadline, "connecting");
    socklen_t Length = sizeof(Value);
    ::getsockopt(New, SOL_SOCKET, SO_ERROR, reinterpret_cast<char *>(&Value),
                 &Length);
    if (Value)
      throw SocketError(detail::socketErrorText(Value));
  }

  std::mutex Mutex; // guards changes of Handle
  detail::SocketHandle Handle = detail::NoSocket;
  std::atomic<bool> Cancelled{false};
};

} // namespace dtlto::sdk

#endif // DTLTO_SDK_SOCKET_HPP
