//===- Channel.h - A connection with time limits ----------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// libicecc's channels can wait without a limit. In this class, each wait has a
// limit, and another thread can end it at once.
//
// A message that arrives in pieces is a transfer (Network.h) from its first
// byte on. beginTransfer() makes several messages one transfer. Limits of
// sending are checked between messages. Within a message, libicecc gives up
// after half a minute without progress, and the system sooner.
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
  Interrupt(const Interrupt &) = delete;

  /// Ends the waits, and breaks the connections of this job. Any thread.
  void raise();
  bool isRaised() const { return IsRaised; }
  /// Readable once raised; for poll().
  int fd() const { return Signal.get(); }

private:
  friend class Channel;
  /// From now until remove(), raise() shuts \p Socket down.
  void add(int Socket);
  void remove(int Socket);

  const Descriptor Signal;
  std::atomic<bool> IsRaised{false};
  std::mutex Mutex;
  std::vector<int> Sockets;
};

enum class Wait { Ready, TimedOut, Interrupted };
/// Waits for \p Events of \p Fd.
Wait waitFor(int Fd, short Events, Clock::time_point End,
             const Interrupt &TheInterrupt);

/// Thrown if this machine has no descriptor for a connection.
class OutOfDescriptors : public std::runtime_error {
public:
  explicit OutOfDescriptors(int Errno);
};

/// Opens a socket that is connected later. Throws OutOfDescriptors.
Descriptor openTcpSocket();

/// A connection to an iceccd or a scheduler, for one thread.
class Channel {
public:
  ~Channel();
  Channel(const Channel &) = delete;

  /// Connect, which takes at most \p Limit, and agree on the version of the
  /// protocol. Return null with one line in \p Error on failure, or throw
  /// OutOfDescriptors. \p Host of connect() is a numeric IPv4 address, as
  /// schedulers send them.
  static std::unique_ptr<Channel> connectUnix(const std::string &Path,
                                              Interrupt &TheInterrupt,
                                              std::string &Error);
  static std::unique_ptr<Channel> connect(const std::string &Host,
                                          uint16_t Port, Clock::duration Limit,
                                          Interrupt &TheInterrupt,
                                          std::string &Error,
                                          Descriptor S = openTcpSocket());

  /// Takes ownership of \p Impl.
  static std::unique_ptr<Channel> adopt(MsgChannel *Impl,
                                        Interrupt &TheInterrupt);

  /// Sets the longest pause of the transfers that begin later.
  void setPause(Clock::duration P) { Pause = P; }
  /// Until the next receive(), everything that is sent, or received by
  /// receivePart(), is one transfer. \p What names it in messages.
  void beginTransfer(const char *What);
  /// Returns false if the connection is broken.
  bool send(const Msg &M);
  /// Returns the next message. Returns null with one line in \p Error if none
  /// has arrived by \p End, the connection is lost, or the other side reports
  /// an error.
  std::unique_ptr<Msg> receive(Clock::time_point End, std::string &Error);
  /// Like receive(), but with the deadline of the transfer.
  std::unique_ptr<Msg> receivePart(std::string &Error);
  /// Whether the last send() or receive() failed only for lack of time, as far
  /// as known.
  bool hasTimedOut() const { return TimedOut; }
  /// Returns why a send() of a transfer has failed, if possible in the other
  /// side's words. Doesn't change hasTimedOut().
  std::string sendErrorText();

  /// The version of the protocol.
  int protocol() const;
  /// The other side's address. Its family is not AF_INET if there is none.
  sockaddr_in peer() const;

private:
  explicit Channel(Interrupt &TheInterrupt);
  static std::unique_ptr<Channel>
  connectTo(int Socket, const void *Address, unsigned AddressSize,
            Clock::duration Limit, const std::string &Name,
            Interrupt &TheInterrupt, std::string &Error);
  std::unique_ptr<Msg> next(Clock::time_point End, std::string &Error);

  Interrupt &TheInterrupt;
  std::unique_ptr<MsgChannel> Impl;
  int Socket = -1;
  bool TimedOut = false, MachineLost = false;
  Clock::duration Pause = TheNetworkLimits.Pause;
  WireBytes InitialBytes; // the counts when CurrentTransfer began
  std::optional<Transfer> CurrentTransfer;
  const char *TransferName = "";
  std::string StatusText; // the last text of the other side
};

} // namespace dtlto::icecc

#endif // DTLTO_ICECC_CHANNEL_H
