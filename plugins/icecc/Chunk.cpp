//===- Chunk.cpp - A piece of a file, compressed once ---------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Chunk.h"

using namespace dtlto::icecc;

namespace {

/// A message is put together at the end of the channel's buffer, and sent from
/// there as a whole. libicecc leaves each message to write itself, but offers
/// it nothing to write bytes that are compressed already. So what it writes the
/// first time is read from its buffer, and written there the next time: how it
/// compresses, and what stands before the bytes, stays its own business. A
/// derived class may name these members; no object of it is ever made.
struct Buffer : MsgChannel {
  static size_t end(const MsgChannel &C) { return C.*&Buffer::msgtogo; }
  static std::vector<uint8_t> since(const MsgChannel &C, size_t Begin) {
    const char *Data = C.*&Buffer::msgbuf;
    return {Data + Begin, Data + end(C)};
  }
  static void append(MsgChannel &C, const std::vector<uint8_t> &Bytes) {
    (C.*&Buffer::writefull)(Bytes.data(), Bytes.size());
  }
};

} // namespace

void KeptChunk::send_to_channel(MsgChannel *C) const {
  Msg::send_to_channel(C);
  bool Written = false;
  ByteCache::Bytes Packed =
      Kept.get({Data, static_cast<uint64_t>(C->protocol)}, [&] {
        size_t Begin = Buffer::end(*C), Compressed = 0;
        C->writecompressed(static_cast<const unsigned char *>(Data), Size,
                           Compressed);
        Written = true;
        return Buffer::since(*C, Begin);
      });
  if (!Written)
    Buffer::append(*C, *Packed);
}
