//===- StoreRedisReplyFuzz.cpp - Replies of a Redis, of any bytes ---------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Input: one byte for the limit, one for the size of pieces, and what the
// server sends.
//
//===----------------------------------------------------------------------===//

#include "Fuzz.h"
#include "ReplyReader.h"

using namespace dtlto;
using redis::Reply;
using test::check;

std::vector<std::string> test::fuzzSeeds() {
  std::vector<std::string> Seeds;
  for (std::string Text :
       {"+OK\r\n", "-ERR no\r\n", "$5\r\na\r\nbc\r\n", "$-1\r\n", "$0\r\n\r\n",
        ":12\r\n", "*1\r\n$1\r\nx\r\n", "$99999999999\r\nx", "+OK\r\n+OK\r\n",
        "*2147483647\r\n", "$9223372036854775807\r\n", "_\r\n", ",1.5\r\n",
        "#t\r\n", "%1\r\n+a\r\n+b\r\n", "=7\r\ntxt:abc\r\n", "(123\r\n"})
    for (const char *Head : {"\x40\xff", "\x01\x01"})
      Seeds.push_back(Head + Text);
  return Seeds;
}

/// Checks a reply to \p All, of at most \p MaxBytes.
static void checkReply(const Reply &R, std::string_view All, size_t MaxBytes) {
  // By Reply::Kind. There are three ways to write nil.
  const std::string_view Kinds[] = {"+", "-", "$", ":", "$*_"};
  check(Kinds[R.What].find(All[0]) != std::string_view::npos);
  check(R.What != Reply::Text || R.Bytes.size() <= MaxBytes);
  // hiredis doesn't look at the two bytes after a text.
  if (R.What <= Reply::Text)
    check(All.size() > R.Bytes.size() + 2 &&
          All.substr(All.size() - R.Bytes.size() - 2, R.Bytes.size()) ==
              R.Bytes);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  if (Size < 3)
    return 0;
  const size_t MaxBytes = Data[0], Piece = 1 + Data[1];
  std::string_view Rest(reinterpret_cast<const char *>(Data + 2), Size - 2);
  // What the server sends later. No reply may take more memory.
  constexpr size_t MaxLine = size_t(8) << 10;
  const std::string Later(1000, 'x');
  redis::ReplyReader Reader;
  std::string All;
  try {
    while (All.size() <= Size + MaxBytes + MaxLine + Later.size()) {
      std::string_view Next = Rest.empty() ? Later : Rest.substr(0, Piece);
      Rest.remove_prefix(std::min(Piece, Rest.size()));
      All += Next;
      if (std::optional<Reply> R = Reader.add(Next, MaxBytes)) {
        checkReply(*R, All, MaxBytes);
        return 0;
      }
    }
    abort();
  } catch (const redis::InvalidReply &E) {
    check(*E.what());
  }
  return 0;
}
