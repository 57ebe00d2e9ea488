//===- Reading.h - What libicecc is given to read ---------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// libicecc takes daemons and schedulers at their word, where it could read
// behind its buffer or take all memory. So it is given no such message, and
// reads none on its own account: as it comes, after a failed send, it would
// look for the other side's last words, also in what is left of a message.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_ICECC_READING_H
#define DTLTO_ICECC_READING_H

#include <icecc/comm.h>
#include <memory>

namespace dtlto::icecc {

/// As Service::createChannel(), but it reads messages only when it is asked to.
/// Null if the other side agrees on no version; \p Socket is closed then.
std::unique_ptr<MsgChannel> openChannel(int Socket, const void *Address,
                                        unsigned AddressSize);

/// The same for a channel of libicecc's own making, from now on.
void readOnlyWhenAsked(MsgChannel &C);

/// Whether libicecc may read the message that is there as a whole.
bool mayRead(MsgChannel &C);

} // namespace dtlto::icecc

#endif // DTLTO_ICECC_READING_H
