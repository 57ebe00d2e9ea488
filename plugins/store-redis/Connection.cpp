//===- Connection.cpp - A connection to a Redis server --------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Connection.h"

using namespace dtlto;
using namespace dtlto::redis;

static constexpr size_t ChunkSize = size_t(64) << 10;

void Connection::send(std::initializer_list<std::string_view> Command,
                      Clock::time_point End) {
  // An array of binary strings. The last one may be long.
  std::string Text = "*" + std::to_string(Command.size()) + "\r\n";
  for (std::string_view Word : Command) {
    Text += "$" + std::to_string(Word.size()) + "\r\n";
    if (Word.size() > ChunkSize) { // not copied
      Line.send(std::exchange(Text, {}), End);
      Line.send(Word, End);
    } else
      Text += Word;
    Text += "\r\n";
  }
  Line.send(Text, End);
}

Reply Connection::call(std::initializer_list<std::string_view> Command,
                       size_t MaxBytes, Clock::time_point End) {
  HasReply = false;
  send(Command, End);
  const std::unique_ptr<char[]> Chunk(new char[ChunkSize]);
  // For each call: the parser keeps the memory of its longest reply.
  ReplyReader Reader;
  for (;; HasReply = true) {
    size_t N = Line.receive(Chunk.get(), ChunkSize, End);
    if (N == 0)
      throw sdk::SocketError("the server closed the connection");
    if (std::optional<Reply> R = Reader.add({Chunk.get(), N}, MaxBytes))
      return std::move(*R);
  }
}
