//===- Messages.h - Messages of libicecc, safe and fast ---------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// libicecc trusts what it reads, even if that leads past the end of its buffer
// or takes all memory. So it must not get such messages. Nor may it read on its
// own: by default it looks for the other side's last words after a failed send,
// and in the rest of a message that it can't read.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_ICECC_MESSAGES_H
#define DTLTO_ICECC_MESSAGES_H

#include "ByteCache.h"
#include <icecc/comm.h>

namespace dtlto::icecc {

/// Like Service::createChannel(), but the channel reads messages only when
/// asked to. Returns null if no version is agreed on; \p Socket is closed then.
std::unique_ptr<MsgChannel> openChannel(int Socket, const void *Address,
                                        unsigned AddressSize);

/// Makes a channel that libicecc has created do the same from now on.
void disableAutoRead(MsgChannel &C);

/// Whether libicecc may read the complete message that has arrived.
bool mayRead(MsgChannel &C);

/// Sends the same bytes as FileChunkMsg, but compresses them only the first
/// time that they are sent with a protocol.
class CachedChunk : public Msg {
public:
  /// Borrows \p Size bytes, at most a megabyte, at \p Data. The address is the
  /// same in all jobs, and identifies the bytes in \p Cache.
  CachedChunk(const void *Data, size_t Size, ByteCache &Cache)
      : Msg(M_FILE_CHUNK), Data(Data), Size(Size), Cache(Cache) {}

  void send_to_channel(MsgChannel *C) const override;

private:
  const void *const Data;
  const size_t Size;
  ByteCache &Cache;
};

} // namespace dtlto::icecc

#endif // DTLTO_ICECC_MESSAGES_H
