//===- Chunk.h - A piece of a file, compressed once -------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_ICECC_CHUNK_H
#define DTLTO_ICECC_CHUNK_H

#include "ByteCache.h"
#include <icecc/comm.h>

namespace dtlto::icecc {

/// What FileChunkMsg sends, but compressed only the first time that these bytes
/// are sent with a protocol.
class KeptChunk : public Msg {
public:
  /// Borrows \p Size bytes, at most a megabyte, at \p Data: the address that
  /// they have in all jobs, under which they are kept in \p Kept.
  KeptChunk(const void *Data, size_t Size, ByteCache &Kept)
      : Msg(M_FILE_CHUNK), Data(Data), Size(Size), Kept(Kept) {}

  void send_to_channel(MsgChannel *C) const override;

private:
  const void *const Data;
  const size_t Size;
  ByteCache &Kept;
};

} // namespace dtlto::icecc

#endif // DTLTO_ICECC_CHUNK_H
