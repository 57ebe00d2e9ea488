//===- Frame.h - Takes a worker's object out of its frame ----- -*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The worker writes, with --frame: "DTLTOOBJ", version 1 and flags 0 (32 bits
// each), the object's size (64 bits), its BLAKE3 (32 bytes), the object.
// Numbers are little-endian; nothing follows.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_ICECC_FRAME_H
#define DTLTO_ICECC_FRAME_H

#include "dtlto/PluginAPI.h"
#include <string>

namespace dtlto::icecc {

/// Takes the frame in pieces, as they come. The digest is left to the host,
/// which checks the object itself.
class FrameReader {
public:
  FrameReader() = default;
  ~FrameReader();
  FrameReader(const FrameReader &) = delete;

  /// Takes the next piece. False, with error(), if this is no frame; then the
  /// rest need not come.
  bool add(const void *Data, size_t Size);
  /// Nothing more comes. False, with error(), unless the frame is whole.
  bool finish();
  const std::string &error() const { return Error; }

  /// The object, after finish(); the caller owns it then.
  dtlto_buffer take();

private:
  bool readHead();
  bool grow(uint64_t Needed);

  static constexpr size_t HeadSize = 56;
  unsigned char Head[HeadSize];
  size_t HaveHead = 0;
  uint64_t Size = 0, Have = 0, Capacity = 0;
  unsigned char *Object = nullptr; // from malloc
  std::string Error;
};

} // namespace dtlto::icecc

#endif // DTLTO_ICECC_FRAME_H
