//===- Messages.h - Messages of libicecc, safe and fast ---------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// libicecc trusts what it reads, even if that leads past the end of its buffer,
// or takes all memory. So it is given no such message. Nor may it read on its
// own account: by default it looks for the other side's last words when a send
// has failed, and in what is left of a message that it can't read.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_ICECC_MESSAGES_H
#define DTLTO_ICECC_MESSAGES_H

#include "ByteCache.h"
#include <icecc/comm.h>

namespace dtlto::icecc {

/// As Service::createChannel(), but it reads messages only when it is asked to.
/// Null if the other side agrees on no version; \p Socket is closed then.
std::unique_ptr<MsgChannel> openChannel(int Socket, const void *Address,
                                        unsigned AddressSize);

/// The same for a channel of libicecc's own making, from now on.
void readOnlyWhenAsked(MsgChannel &C);

/// Whether libicecc may read the message that is there as a whole.
bool mayRead(MsgChannel &C);

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

#endif // DTLTO_ICECC_MESSAGES_H
