//===- Messages.cpp - Messages of libicecc, safe and fast -----------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Messages.h"
#include <cstdlib>
#include <new>

using namespace dtlto::icecc;

namespace {

// A channel that has failed reads the other side's last words, and has a mark
// meanwhile to prevent recursion. A channel that always has the mark reads
// none. The mark is private, but an explicit instantiation may name it.
template <bool MsgChannel::*Mark> struct Marked {
  friend void mark(MsgChannel &C) { C.*Mark = true; }
};
void mark(MsgChannel &C);
template struct Marked<&MsgChannel::set_error_recursion>;

struct QuietChannel : MsgChannel {
  QuietChannel(int Socket, sockaddr *Address, socklen_t Size)
      : MsgChannel(Socket, Address, Size) {
    mark(*this);
  }
  bool negotiate() { return wait_for_protocol(); }
};

/// Access to a channel's buffers. A derived class may name these members; it is
/// never instantiated.
struct Buffers : MsgChannel {
  static size_t messageSize(const MsgChannel &C) {
    return C.*&Buffers::inmsglen;
  }
  static const unsigned char *message(const MsgChannel &C) {
    return reinterpret_cast<const unsigned char *>(C.*&Buffers::inbuf +
                                                   C.*&Buffers::intogo);
  }
  /// Puts a NUL after all bytes that have arrived.
  static void terminate(MsgChannel &C) {
    char *&Data = C.*&Buffers::inbuf;
    size_t &Size = C.*&Buffers::inbuflen, Used = C.*&Buffers::inofs;
    if (Used == Size) {
      void *Larger = std::realloc(Data, Size + 128);
      if (!Larger)
        throw std::bad_alloc();
      Data = static_cast<char *>(Larger);
      Size += 128;
    }
    Data[Used] = 0;
  }

  // A message is assembled at the end of the channel's buffer, and sent from
  // there as a whole.
  static size_t writeEnd(const MsgChannel &C) { return C.*&Buffers::msgtogo; }
  static std::vector<uint8_t> since(const MsgChannel &C, size_t Begin) {
    const char *Data = C.*&Buffers::msgbuf;
    return {Data + Begin, Data + writeEnd(C)};
  }
  static void append(MsgChannel &C, const std::vector<uint8_t> &Bytes) {
    (C.*&Buffers::writefull)(Bytes.data(), Bytes.size());
  }
};

} // namespace

std::unique_ptr<MsgChannel> dtlto::icecc::openChannel(int Socket,
                                                      const void *Address,
                                                      unsigned AddressSize) {
  // The constructor only reads the address.
  auto *To = static_cast<sockaddr *>(const_cast<void *>(Address));
  auto C = std::make_unique<QuietChannel>(Socket, To, AddressSize);
  if (!C->negotiate())
    return nullptr;
  return C;
}

void dtlto::icecc::disableAutoRead(MsgChannel &C) { mark(C); }

bool dtlto::icecc::mayRead(MsgChannel &C) {
  // The type would be read from the bytes of the next message.
  if (Buffers::messageSize(C) < 4)
    return false;
  const unsigned char *Bytes = Buffers::message(C);
  uint32_t Type =
      uint32_t(Bytes[0]) << 24 | Bytes[1] << 16 | Bytes[2] << 8 | Bytes[3];
  switch (Type) {
  // These have lists, and libicecc allocates the size that the message states.
  // Only daemons and schedulers receive them.
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
  Buffers::terminate(C);
  return true;
}

/// libicecc has no function that writes compressed bytes. So what it writes the
/// first time is copied from its buffer, and appended to the buffer the next
/// time, whatever its format is.
void CachedChunk::send_to_channel(MsgChannel *C) const {
  Msg::send_to_channel(C);
  bool WasWritten = false;
  ByteCache::Bytes Packed =
      Cache.get({Data, static_cast<uint64_t>(C->protocol)}, [&] {
        size_t Begin = Buffers::writeEnd(*C), Compressed = 0;
        C->writecompressed(static_cast<const unsigned char *>(Data), Size,
                           Compressed);
        WasWritten = true;
        return Buffers::since(*C, Begin);
      });
  if (!WasWritten)
    Buffers::append(*C, *Packed);
}
