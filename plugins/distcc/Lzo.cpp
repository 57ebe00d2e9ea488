//===- Lzo.cpp - LZO1X, the compression of distcc's protocol --------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lzo.h"
#include <algorithm>
#include <lzo/lzo1x.h>
#include <memory>
#include <new>

using namespace dtlto::distcc;

static bool initialized() {
  static const bool Ok = lzo_init() == LZO_E_OK;
  return Ok;
}

std::vector<uint8_t> dtlto::distcc::lzoCompress(ByteView In) {
  if (In.Size == 0)
    return {};
  // What LZO1X-1 makes of bytes that don't compress.
  Pages Room = Pages::reserve(In.Size + In.Size / 16 + 64 + 3);
  if (!Room.data() || !initialized())
    throw std::bad_alloc();
  // No need to clear it.
  std::unique_ptr<uint8_t[]> Work(new uint8_t[LZO1X_1_MEM_COMPRESS]);
  lzo_uint Size = 0;
  lzo1x_1_compress(In.Data, In.Size, Room.data(), &Size, Work.get());
  return std::vector<uint8_t>(Room.data(), Room.data() + Size);
}

static std::string sizeText(size_t Size) {
  size_t MiB = Size >> 20;
  return MiB ? std::to_string(MiB) + " MiB" : std::to_string(Size) + " bytes";
}

bool dtlto::distcc::lzoDecompress(ByteView In, size_t MaxSize, Pages &Out,
                                  std::string &Error) {
  Out = Pages();
  if (In.Size == 0)
    return true;
  // A byte of the stream stands for at most 255 bytes: lengths are written as
  // a run of zeros, each of which adds 255.
  size_t Most = MaxSize;
  if (In.Size < (MaxSize >> 8))
    Most = std::min(MaxSize, In.Size * 256 + 64);
  size_t Room = Most;
  // A mapping of 0 bytes can't be made, but even the empty stream is one.
  Pages Result = Pages::reserve(std::max<size_t>(Room, 1));
  // Where addresses are scarce, what nearly all objects take will do.
  if (!Result.data() && In.Size < Most / 16) {
    Room = In.Size * 16;
    Result = Pages::reserve(Room);
  }
  auto NoRoom = [&] {
    Error = "no address space for " + sizeText(Most);
    return false;
  };
  if (!Result.data() || !initialized())
    return NoRoom();
  lzo_uint Size = Room;
  int Status =
      lzo1x_decompress_safe(In.Data, In.Size, Result.data(), &Size, nullptr);
  if (Status == LZO_E_OUTPUT_OVERRUN && Room != Most)
    return NoRoom();
  if (Status == LZO_E_OUTPUT_OVERRUN && Room == MaxSize) {
    Error = "becomes larger than " + sizeText(MaxSize);
    return false;
  }
  if (Status == LZO_E_INPUT_NOT_CONSUMED) {
    Error = "damaged LZO data: bytes after its end";
    return false;
  }
  if (Status != LZO_E_OK) {
    Error = "damaged LZO data";
    return false;
  }
  Result.shrink(Size);
  Out = std::move(Result);
  return true;
}
