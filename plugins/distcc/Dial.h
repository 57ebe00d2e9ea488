//===- Dial.h - A connection to one of several addresses --------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A name often has an address that doesn't answer next to one that does: IPv6
// without a route, a server that listens on IPv4 only. As in RFC 8305, the next
// address is tried 250 ms after the one before, or once that one has failed,
// and the first connection that is established wins.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_DISTCC_DIAL_H
#define DTLTO_DISTCC_DIAL_H

#include "Address.h"
#include "Poller.h"

namespace dtlto::distcc {

/// Connects to one of several addresses. Belongs to the I/O thread.
class Dial {
public:
  using Clock = std::chrono::steady_clock;

  /// Begins with the first of \p Addresses. Each address has \p Limit to
  /// answer.
  Dial(std::vector<Address> Addresses, Clock::duration Limit);
  ~Dial();
  Dial(const Dial &) = delete;

  void prepare(Poller &P);
  void checkTime(Clock::time_point Now);

  /// There is a connection, or an error.
  bool ended() const { return Winner >= 0 || Errno != 0; }
  /// Returns the connected socket, which is the caller's then; -1 if there is
  /// none.
  int take();
  /// The address of that connection; without one, the last that was tried.
  const Address &address() const { return Addresses[Which]; }
  /// Why there is no connection. ETIMEDOUT: no answer. ECONNRESET, EPIPE: it
  /// was connected for a moment.
  int error() const { return Errno; }

private:
  struct Attempt {
    int Fd;
    size_t Index; // in Addresses
    Clock::time_point Deadline;
  };
  void startNext(Clock::time_point Now);
  void ready(size_t Index);
  void failed(Attempt &A, int Why);
  bool isPending() const;
  void closeAll();

  const std::vector<Address> Addresses;
  const Clock::duration Limit;
  std::vector<Attempt> Attempts; // Fd is -1 once one has failed
  Clock::time_point NextStart;   // of the next address
  int Winner = -1, Errno = 0;
  int LastErrno = 0; // of an attempt
  size_t Which = 0;
};

} // namespace dtlto::distcc

#endif // DTLTO_DISTCC_DIAL_H
