//===- Addresses.h - The addresses of a host --------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_PLUGINS_ADDRESSES_H
#define DTLTO_PLUGINS_ADDRESSES_H

#include "System.h"
#include <string>
#include <vector>

namespace dtlto {

/// A socket address, IPv4 or IPv6, with its port.
struct SocketAddress {
  sockaddr_storage Storage = {};
  socklen_t Size = 0;
};

/// The addresses of a name, or why there are none.
struct LookupResult {
  std::vector<SocketAddress> Addresses; // in the order in which to try them
  std::string Error;            // one line; empty if there are addresses
  bool IsLocalShortage = false; // this machine lacks descriptors or memory
};

/// Looks up \p Name for TCP. The system's resolver may take minutes.
LookupResult lookUpAddresses(const std::string &Name, uint16_t Port);

} // namespace dtlto

#endif // DTLTO_PLUGINS_ADDRESSES_H
