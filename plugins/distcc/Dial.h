//===- Dial.h - Connects to a host by name ----------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A name often has an address that doesn't answer and one that does: IPv6
// without a route, or a server that listens on IPv4 only. As in RFC 8305, the
// next address is tried 250 ms after the previous one, or once that one has
// failed. The first established connection wins.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_DISTCC_DIAL_H
#define DTLTO_DISTCC_DIAL_H

#include "Mailbox.h"
#include "Poller.h"
#include "dtlto/sdk/Socket.hpp"
#include <memory>
#include <string>

namespace dtlto::distcc {

using sdk::LookupResult;
using sdk::SocketAddress;

/// Resolves \p Name on a detached thread, since the system's resolver may be
/// slow, and posts a letter that calls \p Callback. The addresses are in the
/// order in which to try them. After Mailbox::stop(), the answer is dropped.
void resolve(const std::string &Name, uint16_t Port,
             std::shared_ptr<Mailbox> Box,
             std::function<void(LookupResult)> Callback);

/// Returns a non-blocking socket that begins to connect to \p A, with
/// TCP_NODELAY and watchMachine(); or a negative number with errno set. The
/// socket is connected when it is writable and os::connectError() is 0.
int beginConnect(const SocketAddress &A);

/// Connects to one of several addresses. I/O thread only.
class Dial {
public:
  using Clock = std::chrono::steady_clock;

  /// Begins with the first of \p Addresses. Each has \p Limit to answer.
  Dial(std::vector<SocketAddress> Addresses, Clock::duration Limit);
  ~Dial();
  Dial(const Dial &) = delete;

  void prepare(Poller &P);
  void checkTime(Clock::time_point Now);

  /// Whether there is a connection or an error.
  bool ended() const { return Winner >= 0 || Errno != 0; }
  /// Returns the connected socket, which the caller then owns; -1 if there is
  /// none.
  int take();
  /// The address of the connection, or the last one tried.
  const SocketAddress &address() const { return Addresses[CurrentIndex]; }
  /// Why there is no connection. ETIMEDOUT means no answer; ECONNRESET and
  /// EPIPE mean that the connection broke at once.
  int error() const { return Errno; }

private:
  struct Attempt {
    int Fd; // -1 once it has failed
    Clock::time_point Deadline;
  };
  void startNext(Clock::time_point Now);
  void onReady(size_t Index);
  void onFailure(Attempt &A, int Code);
  bool isPending() const;
  void closeAll();

  const std::vector<SocketAddress> Addresses;
  const Clock::duration Limit;
  std::vector<Attempt> Attempts; // of the first Addresses
  Clock::time_point NextStart;   // of the next address
  int Winner = -1, Errno = 0;
  int LastErrno = 0; // of an attempt
  size_t CurrentIndex = 0;
};

} // namespace dtlto::distcc

#endif // DTLTO_DISTCC_DIAL_H
