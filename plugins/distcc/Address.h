//===- Address.h - Where a host is ------------------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_DISTCC_ADDRESS_H
#define DTLTO_DISTCC_ADDRESS_H

#include "Mailbox.h"
#include "System.h"
#include <memory>
#include <string>
#include <vector>

namespace dtlto::distcc {

/// A socket address, IPv4 or IPv6, with its port.
struct Address {
  sockaddr_storage Storage = {};
  socklen_t Size = 0;
};

/// The addresses of a name, or why there are none.
struct Resolved {
  std::vector<Address> Addresses; // in the order in which to try them
  std::string Error;              // one line; empty if there are addresses
  bool IsOurLack = false;         // this machine had no means to look it up
};

/// Whether it is descriptors, memory or processes that are missing here.
bool isOurLack(int Errno);

/// Looks \p Name up on a thread of its own, since the system's resolver may
/// take as long as it likes, and posts a letter that calls \p Then. The thread
/// is not waited for: after Mailbox::stop() its answer is thrown away.
void resolve(const std::string &Name, uint16_t Port,
             std::shared_ptr<Mailbox> Box, std::function<void(Resolved)> Then);

/// A non-blocking socket that begins to connect to \p A, with TCP_NODELAY and
/// watchMachine(). Negative with errno set if it can't. It is connected when it
/// can be written to and os::connectError() is 0.
int beginConnect(const Address &A);

} // namespace dtlto::distcc

#endif // DTLTO_DISTCC_ADDRESS_H
