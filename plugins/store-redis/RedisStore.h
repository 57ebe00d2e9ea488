//===- RedisStore.h - Stores on Redis servers -------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A key's bytes are the value of `dtlto:KEY`, KEY in 64 lower-case hexadecimal
// digits. Works with all servers that have GETRANGE and SET, such as Valkey.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_STORE_REDIS_REDISSTORE_H
#define DTLTO_STORE_REDIS_REDISSTORE_H

#include "Connection.h"
#include "Pool.h"
#include "Settings.h"
#include "dtlto/sdk/Store.hpp"

namespace dtlto::redis {

class RedisStore final : public sdk::Store {
public:
  explicit RedisStore(const dtlto_store_params &Params);
  static const sdk::Description &description() { return redis::description(); }

  sdk::Buffer get(const uint8_t *Key, uint64_t MaxBytes,
                  std::chrono::milliseconds Limit) override;
  void put(const uint8_t *Key, std::string_view Bytes,
           std::chrono::milliseconds Limit) override;

private:
  /// Sends a command on an idle connection or a new one. Throws sdk::Error for
  /// any failure, among them a reply other than \p Expected.
  Reply run(std::initializer_list<std::string_view> Command,
            Reply::Kind Expected, size_t MaxBytes,
            std::chrono::milliseconds Limit);
  Pool<Connection>::Entry connect(Clock::time_point End);
  /// Throws if \p R is not of the kind \p Expected.
  void check(const Reply &R, Reply::Kind Expected) const;
  [[noreturn]] void fail(const std::string &Why) const;

  const Settings S;
  Pool<Connection> Idle;
};

} // namespace dtlto::redis

#endif // DTLTO_STORE_REDIS_REDISSTORE_H
