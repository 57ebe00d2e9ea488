//===- Connection.h - A connection to a Redis server ------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_STORE_REDIS_CONNECTION_H
#define DTLTO_STORE_REDIS_CONNECTION_H

#include "ReplyReader.h"
#include "dtlto/sdk/Socket.hpp"
#include <chrono>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>

namespace dtlto::redis {

using Clock = std::chrono::steady_clock;

/// Thrown if a connection fails; what() is one line.
class ConnectionError : public std::runtime_error {
public:
  ConnectionError(const std::string &Why, bool IsClosed = false)
      : runtime_error(Why), IsClosed(IsClosed) {}
  /// Whether the other end had closed the connection before it answered.
  const bool IsClosed;
};

/// A connection over TCP. Functions throw ConnectionError or InvalidReply, and
/// the connection must then not be used any more. One thread.
class Connection {
public:
  /// Connects before \p End.
  Connection(const std::string &Host, uint16_t Port, Clock::time_point End);

  /// Sends a command, and returns its reply of at most \p MaxBytes.
  Reply call(std::initializer_list<std::string_view> Command, size_t MaxBytes,
             Clock::time_point End);

private:
  void send(std::initializer_list<std::string_view> Command,
            Clock::time_point End);

  sdk::Socket Line;
};

} // namespace dtlto::redis

#endif // DTLTO_STORE_REDIS_CONNECTION_H
