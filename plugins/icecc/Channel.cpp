//===- Channel.cpp - One connection, with limits --------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Channel.h"
#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
#include <icecc/comm.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/un.h>
#include <unistd.h>

using namespace dtlto::icecc;
using namespace std::chrono_literals;

// A send that fails after so long has waited for the other side to read. The
// socket's own limit for that, which libicecc sets, is about twice as long.
static constexpr Clock::duration SendStall = 5s;

Interrupt::Interrupt() : Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

Interrupt::~Interrupt() {
  if (Fd >= 0)
    ::close(Fd);
}

void Interrupt::raise() {
  std::lock_guard<std::mutex> Lock(Mutex);
  Raised = true;
  uint64_t One = 1;
  (void)!::write(Fd, &One, sizeof(One));
  // Wakes the waits inside of libicecc.
  for (int Socket : Sockets)
    ::shutdown(Socket, SHUT_RDWR);
}

void Interrupt::add(int Socket) {
  std::lock_guard<std::mutex> Lock(Mutex);
  Sockets.push_back(Socket);
  if (Raised)
    ::shutdown(Socket, SHUT_RDWR);
}

void Interrupt::remove(int Socket) {
  std::lock_guard<std::mutex> Lock(Mutex);
  Sockets.erase(std::find(Sockets.begin(), Sockets.end(), Socket));
}

namespace {
enum class Wait { Ready, TimedOut, Interrupted };
} // namespace

static Wait waitFor(int Fd, short Events, Clock::time_point End,
                    const Interrupt &I) {
  while (!I.raised()) {
    auto Left =
        std::chrono::ceil<std::chrono::milliseconds>(End - Clock::now());
    if (Left.count() <= 0)
      return Wait::TimedOut;
    pollfd Fds[2] = {{Fd, Events, 0}, {I.fd(), POLLIN, 0}};
    int N = ::poll(Fds, 2, int(std::min<int64_t>(Left.count(), 1 << 30)));
    if (N > 0 && Fds[0].revents && !I.raised())
      return Wait::Ready;
  }
  return Wait::Interrupted;
}

Channel::Channel(Interrupt &I) : I(I) {}

Channel::~Channel() {
  if (Socket == -1)
    return;
  // Not after it is closed: the number may be another's by then.
  I.remove(Socket);
  if (I.raised()) {
    // A node that doesn't read would learn of the end only after all that is on
    // its way.
    linger Reset = {1, 0};
    ::setsockopt(Socket, SOL_SOCKET, SO_LINGER, &Reset, sizeof(Reset));
  }
  if (!C)
    ::close(Socket);
}

std::unique_ptr<Channel> Channel::connectTo(int Socket, const void *Address,
                                            unsigned AddressSize,
                                            Clock::duration Limit,
                                            const std::string &Name,
                                            Interrupt &I, std::string &Error) {
  std::unique_ptr<Channel> Result(new Channel(I));
  if (Socket == -1) {
    Error = Name + ": " + std::strerror(errno);
    return nullptr;
  }
  Result->Socket = Socket;
  I.add(Socket);
  auto *To = static_cast<const sockaddr *>(Address);
  Clock::time_point End = Clock::now() + Limit;
  if (::connect(Socket, To, AddressSize) == -1) {
    int Code = errno;
    // Too many wait already to be let in by a daemon at a path.
    while (Code == EAGAIN && Clock::now() < End && !I.raised()) {
      pollfd Pause = {I.fd(), POLLIN, 0};
      ::poll(&Pause, 1, 10);
      Code = ::connect(Socket, To, AddressSize) == 0 ? 0 : errno;
    }
    if (Code == EINPROGRESS) {
      socklen_t Size = sizeof(Code);
      if (waitFor(Socket, POLLOUT, End, I) != Wait::Ready)
        Code = ETIMEDOUT;
      else if (::getsockopt(Socket, SOL_SOCKET, SO_ERROR, &Code, &Size) == -1)
        Code = errno;
    }
    if (Code != 0) {
      Error = Name + ": can't connect: " + std::strerror(Code);
      return nullptr;
    }
  }
  // Waits for the other side's version for some seconds. If it gives up, it
  // closes the socket.
  Result->C.reset(
      Service::createChannel(Socket, const_cast<sockaddr *>(To), AddressSize));
  if (!Result->C) {
    I.remove(Socket);
    Result->Socket = -1;
    Error = Name + ": no icecream daemon answers there";
    return nullptr;
  }
  return Result;
}

std::unique_ptr<Channel> Channel::connectUnix(const std::string &Path,
                                              Interrupt &I,
                                              std::string &Error) {
  sockaddr_un Address = {};
  Address.sun_family = AF_UNIX;
  if (Path.size() >= sizeof(Address.sun_path)) {
    Error = Path + ": too long for the path of a socket";
    return nullptr;
  }
  std::memcpy(Address.sun_path, Path.c_str(), Path.size());
  // Non-blocking: a daemon that hangs lets nobody in.
  int Socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  return connectTo(Socket, &Address, sizeof(Address), 10s, Path, I, Error);
}

std::unique_ptr<Channel> Channel::connect(const std::string &Host,
                                          uint16_t Port, Clock::duration Limit,
                                          Interrupt &I, std::string &Error) {
  std::string Name = Host + ":" + std::to_string(Port);
  sockaddr_in Address = {};
  Address.sin_family = AF_INET;
  Address.sin_port = htons(Port);
  if (::inet_pton(AF_INET, Host.c_str(), &Address.sin_addr) != 1) {
    Error = Name + ": no numeric IPv4 address";
    return nullptr;
  }
  int Socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  int On = 1;
  ::setsockopt(Socket, IPPROTO_TCP, TCP_NODELAY, &On, sizeof(On));
  return connectTo(Socket, &Address, sizeof(Address), Limit, Name, I, Error);
}

bool Channel::send(const Msg &M) {
  Clock::time_point Began = Clock::now();
  bool Sent = !I.raised() && C->send_msg(M);
  // libicecc doesn't say why it gave up. What breaks a connection shows sooner.
  TimedOut = !Sent && !I.raised() && Clock::now() - Began >= SendStall;
  return Sent;
}

std::unique_ptr<Msg> Channel::receive(Clock::time_point End,
                                      std::string &Error) {
  TimedOut = false;
  while (!C->has_msg()) {
    switch (waitFor(Socket, POLLIN, End, I)) {
    case Wait::TimedOut:
      TimedOut = true;
      Error = "no answer within the time limit";
      return nullptr;
    case Wait::Interrupted:
      Error = "cancelled";
      return nullptr;
    case Wait::Ready:
      break;
    }
    if (!C->read_a_bit()) {
      Error = "the connection was lost";
      return nullptr;
    }
  }
  std::unique_ptr<Msg> M(C->get_msg(0, true));
  if (!M) {
    Error = "the connection was closed";
    return nullptr;
  }
  if (M->type == M_STATUS_TEXT) {
    Error = Words = static_cast<StatusTextMsg &>(*M).text;
    return nullptr;
  }
  return M;
}

std::string Channel::lastWords(const std::string &Otherwise) {
  Clock::time_point End = Clock::now() + 2s;
  std::string Error;
  bool WasTimedOut = TimedOut;
  while (std::unique_ptr<Msg> M = receive(End, Error))
    ;
  TimedOut = WasTimedOut;
  return Words.empty() ? Otherwise : Words;
}

std::unique_ptr<Channel> Channel::adopt(MsgChannel *C, Interrupt &I) {
  std::unique_ptr<Channel> Result(new Channel(I));
  Result->C.reset(C);
  Result->Socket = C->fd;
  I.add(C->fd);
  return Result;
}

sockaddr_in Channel::peer() const {
  sockaddr_in Address = {};
  socklen_t Size = sizeof(Address);
  if (::getpeername(Socket, reinterpret_cast<sockaddr *>(&Address), &Size) ==
      -1)
    Address.sin_family = AF_UNSPEC;
  return Address;
}

int Channel::protocol() const { return C->protocol; }
