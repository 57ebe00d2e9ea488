//===- Connection.h - One request, and its reply ----------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A connection to a distccd carries one request. Nothing blocks: each turn of
// the I/O thread calls prepare(), polls, and calls checkTime().
//
// A dead server doesn't always close the connection: a compiler that outlives
// its distccd keeps the socket open. So each step has a limit for silence. The
// sending side stays open until the reply, because the server takes a closed
// one for a client that is gone.
//
// A server with more jobs than it runs at a time reads nothing of the others,
// so sending may pause as long as other steps. A reply may not: it is complete
// when it begins. Neither may be slower than Network.h allows.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_DISTCC_CONNECTION_H
#define DTLTO_DISTCC_CONNECTION_H

#include "Dial.h"
#include "Network.h"
#include "Reply.h"
#include "Request.h"
#include "Settings.h"
#include "SshProcess.h"
#include "dtlto/sdk/ResultMemory.hpp"
#include <algorithm>
#include <chrono>
#include <memory>

namespace dtlto::distcc {

using Clock = std::chrono::steady_clock;

class Connection {
public:
  enum StateTy {
    Connecting,
    Sending,
    Waiting, // all is sent, no reply yet
    Receiving,
    Done,  // take reply()
    Failed // see failure() and error()
  };
  enum FailureTy {
    Unreachable,   // no connection was established
    Dropped,       // closed or reset by the server
    Silent,        // no progress, or too little, for too long
    MachineLost,   // the machine, or the network to it, is gone
    InvalidReply,  // the reply is invalid
    OutOfResources // this machine lacks a descriptor or memory
  };

  /// Begins to connect. Fails after Settings::IoTimeout without progress, or
  /// when the reply has more than \p MaxReply bytes. \p Results accounts for
  /// the reply's memory. \p Children reaps ssh.
  Connection(const HostSpec &Host, const std::vector<SocketAddress> &Addresses,
             std::shared_ptr<const Request> Req, const Settings &S,
             Reaper &Children, uint64_t MaxReply = UINT64_MAX,
             sdk::ResultMemory *Results = nullptr);
  ~Connection(); // closing it ends a remote compiler
  Connection(const Connection &) = delete;

  void prepare(Poller &P);
  void checkTime(Clock::time_point Now);

  /// Fails the connection as if its deadline had passed.
  void giveUp(Clock::time_point Now);

  StateTy state() const { return State; }
  bool ended() const { return State == Done || State == Failed; }
  FailureTy failure() const { return Failure; }
  /// Describes the failure in one line, without the host's name.
  const std::string &error() const { return Error; }
  /// The address of the connection, or the last one tried. Unset over ssh.
  const SocketAddress &address() const { return PeerAddress; }
  /// Whether the other machine acknowledges what is sent.
  bool isAlive() const {
    return State != Connecting && Fd >= 0 && !ended() && !isMachineSilent(Fd);
  }
  /// Whether the connection failed without any answer, neither to connecting
  /// nor to the first bytes. A server whose queue of connections is full looks
  /// like a machine that is off.
  bool wasIgnored() const { return WasIgnored; }
  /// Explains why there is no connection yet, for error().
  std::string connectErrorText(int Errno) const;
  /// Whether a reset rather than an orderly end broke the connection. distccd's
  /// access list resets connections.
  bool wasReset() const { return WasReset; }
  Reply reply() { return Parser.take(); }
  /// The reply's share of the memory for results; null without \p Results.
  std::shared_ptr<sdk::ResultMemory::Share> share() { return Share; }

  uint64_t bytesSent() const { return BytesSent; }
  uint64_t bytesReceived() const { return BytesReceived; }

private:
  void connect(Clock::time_point Now);
  void onReady(short Events);
  void send();
  void receive();
  void enter(StateTy Next);
  void checkStall(Clock::time_point Now);
  void fail(FailureTy F, std::string Why);
  void onBreak(const char *What, int Errno);

  const HostSpec &Host;
  const std::shared_ptr<const Request> Req;
  const Clock::duration Silence;
  const uint64_t MaxReply;
  Reaper &Children;

  std::unique_ptr<Dial> Dialing; // while Connecting
  SocketAddress PeerAddress;
  int Fd = -1;
  SshProcess Ssh;
  bool WasIgnored = false;
  StateTy State = Connecting;
  FailureTy Failure = Unreachable;
  bool WasReset = false;
  std::string Error;
  Clock::time_point Deadline;
  // When to check whether the server reads what was sent.
  Clock::time_point NextStallCheck = Clock::time_point::max();
  Transfer CurrentTransfer; // of this state
  Clock::time_point LastSent;
  size_t Segment = 0, Offset = 0; // the next byte to be sent
  uint64_t BytesSent = 0, BytesReceived = 0;
  ReplyParser Parser;
  std::shared_ptr<sdk::ResultMemory::Share> Share;
};

} // namespace dtlto::distcc

#endif // DTLTO_DISTCC_CONNECTION_H
