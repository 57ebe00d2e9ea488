//===- RedisStore.cpp - Stores on Redis servers ---------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RedisStore.h"
#include "Text.h"
#include <algorithm>
#include <cstdlib>

using namespace dtlto;
using namespace dtlto::redis;
using namespace std::chrono_literals;
using std::chrono::milliseconds;

static constexpr size_t KeySize = 32;
static constexpr milliseconds MaxConnect = 2s;
static constexpr size_t MaxMessage = 300;
// No server has longer values.
static constexpr uint64_t MaxValue = uint64_t(1) << 40;

RedisStore::RedisStore(const dtlto_store_params &Params)
    : S(readSettings(Params, std::getenv)), Idle(Params.max_calls) {}

static std::string keyName(const uint8_t *Key) {
  return "dtlto:" + hexDigits(Key, KeySize);
}

void RedisStore::fail(const std::string &Why) const {
  std::string Text = Why;
  // Some errors repeat the command.
  for (size_t At = 0;
       !S.Password.empty() && (At = Text.find(S.Password, At)) != Text.npos;
       At += 3)
    Text.replace(At, S.Password.size(), "...");
  for (char &C : Text)
    if (C < 0x20 || C > 0x7e)
      C = ' ';
  throw sdk::Error(DTLTO_ERROR_INFRASTRUCTURE,
                   S.To.url() + ": " + Text.substr(0, MaxMessage));
}

void RedisStore::check(const Reply &R, Reply::Kind Expected) const {
  if (R.What == Reply::Error)
    fail(R.Bytes);
  if (R.What != Expected)
    fail("an unexpected kind of reply");
}

Pool<Connection>::Entry RedisStore::connect(Clock::time_point End) {
  auto C = std::make_unique<Connection>(
      S.To.Host, S.To.Port, std::min(End, Clock::now() + MaxConnect));
  if (!S.User.empty())
    check(C->call({"AUTH", S.User, S.Password}, 0, End), Reply::Status);
  else if (!S.Password.empty())
    check(C->call({"AUTH", S.Password}, 0, End), Reply::Status);
  if (S.To.Database)
    check(C->call({"SELECT", std::to_string(S.To.Database)}, 0, End),
          Reply::Status);
  return C;
}

Reply RedisStore::run(std::initializer_list<std::string_view> Command,
                      Reply::Kind Expected, size_t MaxBytes,
                      milliseconds Limit) try {
  const Clock::time_point End = Clock::now() + Limit;
  while (true) {
    Pool<Connection>::Entry C = Idle.take();
    const bool IsNew = !C;
    if (IsNew)
      C = connect(End);
    try {
      Reply R = C->call(Command, MaxBytes, End);
      check(R, Expected);
      Idle.give(std::move(C));
      return R;
    } catch (const sdk::SocketError &E) {
      // Servers close idle connections.
      if (IsNew || E.timedOut() || C->hasReply())
        throw;
    }
  }
} catch (const sdk::SocketError &E) {
  fail(E.what());
} catch (const InvalidReply &E) {
  fail(std::string("invalid reply: ") + E.what());
}

sdk::Buffer RedisStore::get(const uint8_t *Key, uint64_t MaxBytes,
                            milliseconds Limit) {
  // Asks for one more byte, so that a longer value is recognized without its
  // rest being sent.
  MaxBytes = std::min(MaxBytes, MaxValue);
  Reply R = run({"GETRANGE", keyName(Key), "0", std::to_string(MaxBytes)},
                Reply::Text, size_t(MaxBytes) + 1, Limit);
  if (R.Bytes.size() > MaxBytes)
    return {};
  return std::move(R.Bytes);
}

void RedisStore::put(const uint8_t *Key, std::string_view Bytes,
                     milliseconds Limit) {
  run({"SET", keyName(Key), Bytes}, Reply::Status, 0, Limit);
}
