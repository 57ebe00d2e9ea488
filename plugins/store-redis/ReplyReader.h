//===- ReplyReader.h - Replies of a Redis server ----------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// hiredis's parser, with a limit: by itself, it collects any number of bytes
// until a reply is complete, and allocates whatever a reply's header says.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_STORE_REDIS_REPLYREADER_H
#define DTLTO_STORE_REDIS_REPLYREADER_H

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

struct redisReader;

namespace dtlto::redis {

struct Reply {
  enum Kind { Status, Error, Text, Number, Nil } What = Nil;
  std::string Bytes; // of the first three, binary
};

/// Thrown for bytes that are no expected reply; what() is one line.
class InvalidReply : public std::runtime_error {
  using runtime_error::runtime_error;
};

/// Reads one reply.
class ReplyReader {
public:
  ReplyReader();

  /// Adds \p Bytes, of which there must be some, of a reply that has at most
  /// \p MaxBytes. Returns the reply if it is complete. Throws InvalidReply if
  /// it isn't of a Kind, is longer, or is followed by another one.
  std::optional<Reply> add(std::string_view Bytes, size_t MaxBytes);

private:
  struct Free {
    void operator()(redisReader *R) const;
  };
  std::unique_ptr<redisReader, Free> Parser;
  char First = 0; // of all bytes
};

} // namespace dtlto::redis

#endif // DTLTO_STORE_REDIS_REPLYREADER_H
