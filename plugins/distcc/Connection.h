//===- Connection.h - One request, and its reply ----------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A connection to a distccd carries one request. Nothing here blocks: each turn
// of the I/O thread calls prepare(), polls, and calls checkTime().
//
// The end of file is no reliable sign of a server's death: a compiler that
// outlives its distccd keeps the socket open and answers nothing. So silence
// has a limit at each step. The sending side is never closed before the reply
// has come, since the server takes that for a client that is gone.
//
// A job that is sent may pause for as long as all else: a server with more jobs
// than it runs at the same time reads nothing of the others. A reply may not:
// it is all there when it begins. And neither may be slower than Network.h
// says.
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
    Waiting, // all is sent, nothing has come back
    Receiving,
    Done,  // take reply()
    Failed // see failure() and error()
  };
  enum FailureTy {
    Unreachable, // no connection at all
    Dropped,     // closed or reset by the other side
    Silent,      // nothing, or too little, happened for too long
    Lost,        // its machine, or the network to it, is gone
    Nonsense,    // what came is no reply
    Exhausted    // this machine has no descriptor or memory for it
  };

  /// Begins to connect. \p Silence is how long nothing may happen, \p MaxReply
  /// how much is read, which \p Results counts. Processes that are started are
  /// left to \p Children.
  Connection(const HostSpec &Host, const std::vector<Address> &Addresses,
             std::shared_ptr<const Request> Req, const Settings &S,
             Clock::duration Silence, Reaper &Children,
             uint64_t MaxReply = UINT64_MAX,
             sdk::ResultMemory *Results = nullptr);
  ~Connection(); // closes it, which ends a compiler at the other end
  Connection(const Connection &) = delete;

  void prepare(Poller &P);
  void checkTime(Clock::time_point Now);

  /// Fails it as one whose deadline has passed.
  void giveUp(Clock::time_point Now);

  StateTy state() const { return State; }
  bool ended() const { return State == Done || State == Failed; }
  FailureTy failure() const { return Failure; }
  /// One line, without the host's name.
  const std::string &error() const { return Error; }
  /// While what was it that it failed.
  StateTy failedIn() const { return FailedIn; }
  /// The address that it is connected to, or was last tried. Not over ssh.
  const Address &address() const { return Where; }
  /// There is a connection, and the other machine answers on it.
  bool isHeard() const {
    return State != Connecting && Fd >= 0 && !ended() && !machineIsSilent(Fd);
  }
  /// It failed without a sign that the server has it: no answer to the request
  /// for a connection, or to the first bytes. A server whose queue of
  /// connections is full does the same as a machine that is off.
  bool wasIgnored() const { return Ignored; }
  /// Why there is no connection yet, in the words of error().
  std::string whyNotConnected(int Errno) const;
  /// By a reset, not by an orderly end: what distccd's access list does.
  bool wasReset() const { return Reset; }
  Reply reply() { return Parser.take(); }
  /// What the reply takes of the memory for results; null if nobody counts.
  std::shared_ptr<sdk::ResultMemory::Share> share() { return Share; }

  uint64_t bytesSent() const { return Sent; }
  uint64_t bytesReceived() const { return Received; }

private:
  void connect(Clock::time_point Now);
  void ready(short Events);
  short events() const;
  void send();
  void receive();
  void enter(StateTy Next);
  void look(Clock::time_point Now);
  void fail(FailureTy F, std::string Why);
  void broken(const char *What, int Errno);

  const HostSpec &Host;
  const std::shared_ptr<const Request> Req;
  const Clock::duration Silence;
  const uint64_t MaxReply;
  Reaper &Children;

  std::unique_ptr<Dial> Dialing; // while Connecting
  Address Where;
  int Fd = -1;
  SshProcess Ssh;
  bool Ignored = false;
  StateTy State = Connecting, FailedIn = Connecting;
  FailureTy Failure = Unreachable;
  bool Reset = false;
  std::string Error;
  Clock::time_point Deadline;
  // When to see whether it reads what it was sent.
  Clock::time_point NextLook = Clock::time_point::max();
  Transfer Moving; // in this state
  Clock::time_point LastSent;
  size_t Segment = 0, Offset = 0; // the next byte to be sent
  uint64_t Sent = 0, Received = 0;
  ReplyParser Parser;
  std::shared_ptr<sdk::ResultMemory::Share> Share;
};

} // namespace dtlto::distcc

#endif // DTLTO_DISTCC_CONNECTION_H
