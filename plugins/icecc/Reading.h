//===- Reading.h - What libicecc is given to read ---------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// libicecc takes what it reads at its word, even if that leads behind its
// buffer, or takes all memory. So it is given no such message. Nor may it read
// on its own account: left alone, it looks for the other side's last words when
// a send has failed, and in what is left of a message that it can't read.
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
