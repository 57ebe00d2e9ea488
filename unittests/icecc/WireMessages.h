//===- WireMessages.h - icecream's messages, byte by byte -------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For malformed messages, which libicecc's channels can't send.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_UNITTESTS_ICECC_WIREMESSAGES_H
#define DTLTO_UNITTESTS_ICECC_WIREMESSAGES_H

#include <icecc/comm.h>
#include <lzo/lzo1x.h>
#include <string>
#include <zstd.h>

namespace dtlto::test {

inline std::string wireNumber(size_t N) {
  return {char(N >> 24), char(N >> 16), char(N >> 8), char(N)};
}

inline std::string wireMessage(const std::string &Inside) {
  return wireNumber(Inside.size()) + Inside;
}

/// Compresses less than 1000 \p Bytes as \p Kind says: C_LZO or C_ZSTD.
inline std::string packChunk(const std::string &Bytes, uint32_t Kind) {
  std::string Packed(1000, 0), Work(LZO1X_1_MEM_COMPRESS, 0);
  size_t Size = Packed.size();
  if (Kind == C_ZSTD)
    Size = ZSTD_compress(Packed.data(), Size, Bytes.data(), Bytes.size(), 1);
  else
    lzo1x_1_compress(reinterpret_cast<const lzo_byte *>(Bytes.data()),
                     Bytes.size(), reinterpret_cast<lzo_byte *>(&Packed[0]),
                     &Size, Work.data());
  Packed.resize(Size);
  return Packed;
}

/// Returns the contents of a chunk whose size field is \p ClaimedSize.
inline std::string wireChunk(const std::string &Packed, size_t ClaimedSize,
                             uint32_t Kind, int Protocol) {
  return wireNumber(M_FILE_CHUNK) + wireNumber(ClaimedSize) +
         wireNumber(Packed.size()) + (Protocol >= 40 ? wireNumber(Kind) : "") +
         Packed;
}

} // namespace dtlto::test

#endif // DTLTO_UNITTESTS_ICECC_WIREMESSAGES_H
