//===- Channel.cpp - A connection with time limits ------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Channel.h"
#include "Messages.h"
#include "System.h"
#include "dtlto/sdk/Result.hpp"
#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <icecc/comm.h>
#include <poll.h>
#include <sys/un.h>
#include <unistd.h>

using namespace dtlto;
using namespace dtlto::icecc;
using namespace std::chrono_literals;

/// A send that fails after this time was waiting for the other side to read.
/// The system's limit is twice as long (watchMachine()).
static Clock::duration sendStall() { return TheNetworkLimits.AckTimeout / 2; }

Interrupt::Interrupt() : Signal(os::openSignal()) {}

void Interrupt::raise() {
  std::lock_guard<std::mutex> Lock(Mutex);
  IsRaised = true;
  os::raise(Signal.get());
  // Wake the waits inside libicecc.
  for (int Socket : Sockets)
    ::shutdown(Socket, SHUT_RDWR);
}

void Interrupt::add(int Socket) {
  std::lock_guard<std::mutex> Lock(Mutex);
  Sockets.push_back(Socket);
  if (IsRaised)
    ::shutdown(Socket, SHUT_RDWR);
}

void Interrupt::remove(int Socket) {
  std::lock_guard<std::mutex> Lock(Mutex);
  Sockets.erase(std::find(Sockets.begin(), Sockets.end(), Socket));
}

Wait dtlto::icecc::waitFor(int Fd, short Events, Clock::time_point End,
                           const Interrupt &TheInterrupt) {
  while (!TheInterrupt.isRaised()) {
    auto Remaining =
        std::chrono::ceil<std::chrono::milliseconds>(End - Clock::now());
    if (Remaining.count() <= 0)
      return Wait::TimedOut;
    pollfd Fds[2] = {{Fd, Events, 0}, {TheInterrupt.fd(), POLLIN, 0}};
    int N = ::poll(Fds, 2, int(std::min<int64_t>(Remaining.count(), 1 << 30)));
    if (N > 0 && Fds[0].revents && !TheInterrupt.isRaised())
      return Wait::Ready;
  }
  return Wait::Interrupted;
}

OutOfDescriptors::OutOfDescriptors(int Errno)
    : std::runtime_error(
          std::string("this machine cannot open a connection: ") +
          std::strerror(Errno)) {}

Channel::Channel(Interrupt &TheInterrupt) : TheInterrupt(TheInterrupt) {}

Channel::~Channel() {
  if (Socket == -1)
    return;
  // Remove it before it is closed: the number may be reused after that.
  TheInterrupt.remove(Socket);
  // Reset the connection: otherwise a node that doesn't read would see the end
  // only after all data that is on its way.
  if (TheInterrupt.isRaised())
    os::setResetOnClose(Socket, true);
  if (!Impl)
    ::close(Socket);
}

std::unique_ptr<Channel>
Channel::connectTo(int Socket, const void *Address, unsigned AddressSize,
                   Clock::duration Limit, const std::string &Name,
                   Interrupt &TheInterrupt, std::string &Error) {
  std::unique_ptr<Channel> Result(new Channel(TheInterrupt));
  Result->Socket = Socket;
  TheInterrupt.add(Socket);
  auto *To = static_cast<const sockaddr *>(Address);
  Clock::time_point End = Clock::now() + Limit;
  if (::connect(Socket, To, AddressSize) == -1) {
    int Code = errno;
    // The queue of a daemon at a path is full: try again.
    while (Code == EAGAIN && Clock::now() < End && !TheInterrupt.isRaised()) {
      pollfd Pause = {TheInterrupt.fd(), POLLIN, 0};
      ::poll(&Pause, 1, 10);
      Code = ::connect(Socket, To, AddressSize) == 0 ? 0 : errno;
    }
    if (Code == EINPROGRESS)
      Code = waitFor(Socket, POLLOUT, End, TheInterrupt) == Wait::Ready
                 ? os::connectError(Socket)
                 : ETIMEDOUT;
    if (Code != 0) {
      Error = Name + ": cannot connect: " + std::strerror(Code);
      return nullptr;
    }
  }
  // openChannel() waits some seconds for the other side's version. If it fails,
  // it closes the socket, and another thread may get its number. So the
  // interrupt gets a duplicate, if a descriptor is left.
  int Duplicate = ::fcntl(Socket, F_DUPFD_CLOEXEC, 0);
  if (Duplicate != -1) {
    TheInterrupt.add(Duplicate);
    TheInterrupt.remove(Socket);
  }
  Result->Impl = openChannel(Socket, To, AddressSize);
  if (Duplicate != -1) {
    if (Result->Impl)
      TheInterrupt.add(Socket);
    TheInterrupt.remove(Duplicate);
    ::close(Duplicate);
  }
  if (!Result->Impl) {
    if (Duplicate == -1)
      TheInterrupt.remove(Socket);
    Result->Socket = -1;
    Error = Name + ": no icecream daemon answers";
    return nullptr;
  }
  watchMachine(Socket); // after libicecc has set limits of its own
  return Result;
}

/// Opens a non-blocking socket, since a daemon that hangs accepts no
/// connection.
static int newSocket(int Family) {
  int Socket = os::openSocket(Family);
  if (Socket == -1)
    throw OutOfDescriptors(errno);
  return Socket;
}

Descriptor dtlto::icecc::openTcpSocket() {
  Descriptor S(newSocket(AF_INET));
  int On = 1;
  ::setsockopt(S.get(), IPPROTO_TCP, TCP_NODELAY, &On, sizeof(On));
  return S;
}

std::unique_ptr<Channel> Channel::connectUnix(const std::string &Path,
                                              Interrupt &TheInterrupt,
                                              std::string &Error) {
  sockaddr_un Address = {};
  Address.sun_family = AF_UNIX;
  if (Path.size() >= sizeof(Address.sun_path)) {
    Error = Path + ": too long for the path of a socket";
    return nullptr;
  }
  std::memcpy(Address.sun_path, Path.c_str(), Path.size());
  return connectTo(newSocket(AF_UNIX), &Address, sizeof(Address), 10s, Path,
                   TheInterrupt, Error);
}

std::unique_ptr<Channel> Channel::connect(const std::string &Host,
                                          uint16_t Port, Clock::duration Limit,
                                          Interrupt &TheInterrupt,
                                          std::string &Error, Descriptor S) {
  std::string Name = Host + ":" + std::to_string(Port);
  sockaddr_in Address = {};
  Address.sin_family = AF_INET;
  Address.sin_port = htons(Port);
  if (::inet_pton(AF_INET, Host.c_str(), &Address.sin_addr) != 1) {
    Error = Name + ": not a numeric IPv4 address";
    return nullptr;
  }
  return connectTo(S.release(), &Address, sizeof(Address), Limit, Name,
                   TheInterrupt, Error);
}

bool Channel::send(const Msg &M) {
  Clock::time_point Began = Clock::now();
  bool Sent = !TheInterrupt.isRaised() && Impl->send_msg(M);
  bool Failed = !Sent && !TheInterrupt.isRaised();
  bool TooSlow = false;
  if (CurrentTransfer) {
    CurrentTransfer->recordBytes(wireBytes(Socket).Acknowledged -
                                 InitialBytes.Acknowledged);
    TooSlow = Sent && Clock::now() >= CurrentTransfer->deadline();
  }
  // libicecc doesn't report why it gave up. A broken connection would fail
  // sooner.
  MachineLost = Failed && isMachineSilent(Socket);
  TimedOut = TooSlow ||
             (Failed && !MachineLost && Clock::now() - Began >= sendStall());
  return Sent && !TooSlow;
}

void Channel::beginTransfer(const char *What) {
  TransferName = What;
  InitialBytes = wireBytes(Socket);
  CurrentTransfer.emplace(Pause);
}

std::unique_ptr<Msg> Channel::receive(Clock::time_point End,
                                      std::string &Error) {
  InitialBytes = wireBytes(Socket);
  CurrentTransfer.reset();
  std::unique_ptr<Msg> M = next(End, Error);
  CurrentTransfer.reset();
  return M;
}

std::unique_ptr<Msg> Channel::receivePart(std::string &Error) {
  return next(Clock::time_point::max(), Error);
}

std::unique_ptr<Msg> Channel::next(Clock::time_point End, std::string &Error) {
  auto Fail = [&](std::string Why) {
    Error = std::move(Why);
    return nullptr;
  };
  TimedOut = false;
  while (!Impl->has_msg()) {
    Clock::time_point Deadline =
        CurrentTransfer ? std::min(End, CurrentTransfer->deadline()) : End;
    switch (waitFor(Socket, POLLIN, Deadline, TheInterrupt)) {
    case Wait::TimedOut:
      TimedOut = true;
      return Fail(Deadline == End ? "no answer within the time limit"
                                  : "it sent only " + CurrentTransfer->text());
    case Wait::Interrupted:
      return Fail("cancelled");
    case Wait::Ready:
      break;
    }
    // libicecc doesn't report why a connection broke.
    char Byte;
    if (::recv(Socket, &Byte, 1, MSG_PEEK | MSG_DONTWAIT) == -1 &&
        errno != EAGAIN && errno != EINTR)
      return Fail("the connection was lost: " + connectionErrorText(errno));
    if (!Impl->read_a_bit())
      return Fail("the connection was lost");
    if (!CurrentTransfer)
      CurrentTransfer.emplace(Pause);
    CurrentTransfer->recordBytes(wireBytes(Socket).Received -
                                 InitialBytes.Received);
  }
  if (Impl->at_eof())
    return Fail("the connection was closed");
  std::unique_ptr<Msg> M(mayRead(*Impl) ? Impl->get_msg(0, true) : nullptr);
  if (!M)
    return Fail("it sent a message that cannot be read");
  if (M->type != M_STATUS_TEXT)
    return M;
  StatusText = sdk::oneLine(static_cast<StatusTextMsg &>(*M).text);
  return Fail(StatusText.empty() ? "it sent an empty text instead of an answer"
                                 : StatusText);
}

std::string Channel::sendErrorText() {
  std::string Why = std::string("cannot send ") + TransferName;
  if (MachineLost)
    Why = connectionErrorText(ETIMEDOUT);
  else if (TimedOut && CurrentTransfer)
    Why = "it read only " + CurrentTransfer->text() + " of " + TransferName;
  // By this time, everything that the other side says has arrived.
  bool HadTime = TimedOut || MachineLost;
  Clock::time_point End = Clock::now() + (HadTime ? 100ms : 2000ms);
  std::string Error;
  bool WasTimedOut = TimedOut;
  while (std::unique_ptr<Msg> M = receive(End, Error))
    ;
  TimedOut = WasTimedOut;
  return StatusText.empty() ? Why : StatusText;
}

std::unique_ptr<Channel> Channel::adopt(MsgChannel *Impl,
                                        Interrupt &TheInterrupt) {
  std::unique_ptr<Channel> Result(new Channel(TheInterrupt));
  Result->Impl.reset(Impl);
  disableAutoRead(*Impl);
  Result->Socket = Impl->fd;
  watchMachine(Impl->fd);
  TheInterrupt.add(Impl->fd);
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

int Channel::protocol() const { return Impl->protocol; }
