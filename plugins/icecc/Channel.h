//===- Channel.h - One connection, with limits ---------------- -*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// libicecc's channels wait by themselves, some of the time without a limit.
// Here each wait has an end, and another thread can end it at once.
//
// A message that comes in pieces is a transfer, as Network.h has them, from its
// first byte on; beginTransfer() makes one of many messages. What is sent is
// looked at between messages: inside of one, libicecc gives up by itself when
// the other side makes no room for half a minute, and the system sooner.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_ICECC_CHANNEL_H
#define DTLTO_ICECC_CHANNEL_H

#include "Network.h"
#include "Process.h"
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <netinet/in.h>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

class Msg;
class MsgChannel;

namespace dtlto::icecc {

using Clock = std::chrono::steady_clock;

/// Ends all waits of one job.
class Interrupt {
public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt &) = delete;

  /// Any thread may call it. Connections of this job are of no use afterwards.
  void raise();
  bool raised() const { return Raised; }
  /// Readable once it is raised; for poll().
  int fd() const { return Fd; }

private:
  friend class Channel;
  /// \p Socket is shut down by raise(), from now until remove().
  void add(int Socket);
  void remove(int Socket);

  int Fd;
  std::atomic<bool> Raised{false};
  std::mutex Mutex;
  std::vector<int> Sockets;
};

/// Thrown where this machine has no descriptor for a connection.
class NoRoom : public std::runtime_error {
public:
  explicit NoRoom(int Errno);
};

/// A socket that is connected later. Throws NoRoom.
Descriptor openTcpSocket();

/// A connection to an iceccd or a scheduler, for one thread.
class Channel {
public:
  ~Channel();
  Channel(const Channel &) = delete;

  /// Connect and agree on the version of the protocol, within \p Limit for the
  /// first. Null, with one line in \p Error, if that fails, or NoRoom. \p Host
  /// of connect() is a numeric IPv4 address, as schedulers tell them.
  static std::unique_ptr<Channel> connectUnix(const std::string &Path,
                                              Interrupt &I, std::string &Error);
  static std::unique_ptr<Channel> connect(const std::string &Host,
                                          uint16_t Port, Clock::duration Limit,
                                          Interrupt &I, std::string &Error,
                                          Descriptor S = openTcpSocket());

  /// Takes \p C over.
  static std::unique_ptr<Channel> adopt(MsgChannel *C, Interrupt &I);

  /// The longest pause of a transfer, for those that begin later.
  void setPause(Clock::duration P) { Pause = P; }
  /// What is sent from now on, or what receivePart() receives, is one transfer,
  /// of \p What, until the next receive().
  void beginTransfer(const char *What);
  /// False if the connection is of no use any more.
  bool send(const Msg &M);
  /// The next message. Null, with one line in \p Error, if none has come at
  /// \p End, the connection is lost, or the other side says what is wrong.
  std::unique_ptr<Msg> receive(Clock::time_point End, std::string &Error);
  /// The same; its end is the transfer's.
  std::unique_ptr<Msg> receivePart(std::string &Error);
  /// Whether time was all that the last send() or receive() lacked: nothing
  /// else was wrong, as far as can be told.
  bool timedOut() const { return TimedOut; }
  /// After a send() of a transfer that failed: why, or what the other side said
  /// of it, if anything. timedOut() stays as it is.
  std::string whySendFailed();

  /// The version of the protocol.
  int protocol() const;
  /// The other side's address; of another family than AF_INET if there is none.
  sockaddr_in peer() const;

private:
  explicit Channel(Interrupt &I);
  static std::unique_ptr<Channel> connectTo(int Socket, const void *Address,
                                            unsigned AddressSize,
                                            Clock::duration Limit,
                                            const std::string &Name,
                                            Interrupt &I, std::string &Error);
  std::unique_ptr<Msg> next(Clock::time_point End, std::string &Error);

  Interrupt &I;
  std::unique_ptr<MsgChannel> C;
  int Socket = -1;
  bool TimedOut = false, MachineLost = false;
  Clock::duration Pause = TheNetworkLimits.Pause;
  WireBytes AtBegin; // of what Moving counts
  std::optional<Transfer> Moving;
  const char *MovingWhat = "";
  std::string Words; // what the other side said last, as text
};

} // namespace dtlto::icecc

#endif // DTLTO_ICECC_CHANNEL_H
