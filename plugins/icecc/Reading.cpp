//===- Reading.cpp - What libicecc is given to read -----------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Reading.h"
#include <cstdlib>
#include <new>

using namespace dtlto::icecc;

namespace {

// A channel that has failed reads the other side's last words, and is marked as
// doing so meanwhile, lest it begin again. One that always has the mark reads
// none. The mark is private; naming it here is what the language allows.
template <bool MsgChannel::*Mark> struct Marked {
  friend void mark(MsgChannel &C) { C.*Mark = true; }
};
void mark(MsgChannel &C);
template struct Marked<&MsgChannel::set_error_recursion>;

struct OwnChannel : MsgChannel {
  OwnChannel(int Socket, sockaddr *Address, socklen_t Size)
      : MsgChannel(Socket, Address, Size) {
    mark(*this);
  }
  bool agree() { return wait_for_protocol(); }
};

/// A derived class may name these members; no object of it is ever made.
struct Buffer : MsgChannel {
  static size_t messageSize(const MsgChannel &C) {
    return C.*&Buffer::inmsglen;
  }
  static const unsigned char *message(const MsgChannel &C) {
    return reinterpret_cast<const unsigned char *>(C.*&Buffer::inbuf +
                                                   C.*&Buffer::intogo);
  }
  /// A NUL behind all that has come.
  static void end(MsgChannel &C) {
    char *&Data = C.*&Buffer::inbuf;
    size_t &Size = C.*&Buffer::inbuflen, Used = C.*&Buffer::inofs;
    if (Used == Size) {
      void *Larger = std::realloc(Data, Size + 128);
      if (!Larger)
        throw std::bad_alloc();
      Data = static_cast<char *>(Larger);
      Size += 128;
    }
    Data[Used] = 0;
  }
};

} // namespace

std::unique_ptr<MsgChannel> dtlto::icecc::openChannel(int Socket,
                                                      const void *Address,
                                                      unsigned AddressSize) {
  // It only reads the address.
  auto *To = static_cast<sockaddr *>(const_cast<void *>(Address));
  auto C = std::make_unique<OwnChannel>(Socket, To, AddressSize);
  if (!C->agree())
    return nullptr;
  return C;
}

void dtlto::icecc::readOnlyWhenAsked(MsgChannel &C) { mark(C); }

bool dtlto::icecc::mayRead(MsgChannel &C) {
  // The type would be that of what comes next.
  if (Buffer::messageSize(C) < 4)
    return false;
  const unsigned char *Bytes = Buffer::message(C);
  uint32_t Type =
      uint32_t(Bytes[0]) << 24 | Bytes[1] << 16 | Bytes[2] << 8 | Bytes[3];
  switch (Type) {
  // They have lists: as many elements are made as such a message says. Only
  // daemons and schedulers are sent them.
  case M_GET_CS:
  case M_COMPILE_FILE:
  case M_GET_NATIVE_ENV:
  case M_LOGIN:
    return false;
  case M_MON_GET_CS:
    if (!IS_PROTOCOL_29(&C))
      return false;
    break;
  default:
    break;
  }
  // Texts are read up to a NUL, wherever that is.
  Buffer::end(C);
  return true;
}
