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
#include <string>
#include <string_view>

namespace dtlto::redis {

using Clock = std::chrono::steady_clock;

/// A connection over TCP. Functions throw sdk::SocketError or InvalidReply, and
/// the connection must then not be used any more. One thread.
class Connection {
public:
  /// Connects before \p End.
  Connection(const std::string &Host, uint16_t Port, Clock::time_point End) {
    Line.connect(Host, Port, End);
  }

  /// Sends a command, and returns its reply of at most \p MaxBytes.
  Reply call(std::initializer_list<std::string_view> Command, size_t MaxBytes,
             Clock::time_point End);
  /// Whether a part of the last call's reply has arrived.
  bool hasReply() const { return HasReply; }

private:
  void send(std::initializer_list<std::string_view> Command,
            Clock::time_point End);

  sdk::Socket Line;
  bool HasReply = false;
};

} // namespace dtlto::redis

#endif // DTLTO_STORE_REDIS_CONNECTION_H
