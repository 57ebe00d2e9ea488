//===- ReplyReader.cpp - Replies of a Redis server ------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ReplyReader.h"
#include <algorithm>
#include <hiredis/read.h>
#include <new>

using namespace dtlto::redis;

// A status or an error, and what surrounds a text.
static constexpr size_t MaxLine = size_t(8) << 10;

// What hiredis calls for a part of a reply. Null makes it fail. Commands have
// no replies with parts, so that arrays are refused before their memory is
// allocated.

static Reply *newReply(Reply::Kind What, std::string_view Bytes = {}) noexcept {
  try {
    return new Reply{What, std::string(Bytes)};
  } catch (const std::bad_alloc &) {
    return nullptr;
  }
}

static void *newText(const redisReadTask *Task, char *Bytes, size_t Size) {
  if (Task->type == REDIS_REPLY_STRING)
    return newReply(Reply::Text, {Bytes, Size});
  if (Task->type == REDIS_REPLY_ERROR)
    return newReply(Reply::Error, {Bytes, Size});
  if (Task->type == REDIS_REPLY_STATUS)
    return newReply(Reply::Status, {Bytes, Size});
  return nullptr;
}

// Its type differs between the versions of hiredis.
template <typename Count>
static void *refuseArray(const redisReadTask *, Count) {
  return nullptr;
}

static redisReplyObjectFunctions makeFunctions() {
  redisReplyObjectFunctions F = {};
  F.createString = newText;
  F.createArray = refuseArray;
  F.createInteger = [](const redisReadTask *, long long) -> void * {
    return newReply(Reply::Number);
  };
  F.createNil = [](const redisReadTask *) -> void * {
    return newReply(Reply::Nil);
  };
#ifdef REDIS_REPLY_DOUBLE // hiredis 1.0
  F.createDouble = [](const redisReadTask *, double, char *, size_t) -> void * {
    return nullptr;
  };
  F.createBool = [](const redisReadTask *, int) -> void * { return nullptr; };
#endif
  F.freeObject = [](void *Raw) { delete static_cast<Reply *>(Raw); };
  return F;
}

void ReplyReader::Free::operator()(redisReader *R) const { redisReaderFree(R); }

ReplyReader::ReplyReader() {
  static redisReplyObjectFunctions Functions = makeFunctions();
  Parser.reset(redisReaderCreateWithFunctions(&Functions));
  if (!Parser)
    throw std::bad_alloc();
}

std::optional<Reply> ReplyReader::add(std::string_view Bytes, size_t MaxBytes) {
  redisReader &P = *Parser;
  if (!First)
    First = Bytes.front();
  if (redisReaderFeed(&P, Bytes.data(), Bytes.size()) != REDIS_OK)
    throw std::bad_alloc();
  void *Raw = nullptr;
  if (redisReaderGetReply(&P, &Raw) != REDIS_OK)
    throw InvalidReply(P.err == REDIS_ERR_OOM ? "an unexpected kind of reply"
                                              : P.errstr);
  const size_t NumUnread = P.len - P.pos;
  if (Raw) {
    std::unique_ptr<Reply> Complete(static_cast<Reply *>(Raw));
    if (NumUnread)
      throw InvalidReply("more replies than commands");
    if (Complete->Bytes.size() >
        (Complete->What == Reply::Text ? MaxBytes : MaxLine))
      throw InvalidReply("a longer reply than requested");
    return std::move(*Complete);
  }
  // The parser keeps all bytes of a text until it is complete.
  if (NumUnread > MaxLine &&
      NumUnread - MaxLine > (First == '$' ? MaxBytes : 0))
    throw InvalidReply("a longer reply than requested");
  return std::nullopt;
}
