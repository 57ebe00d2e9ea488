//===- Lzo.cpp - LZO1X, the compression of distcc's protocol --------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lzo.h"
#include "System.h"
#include <algorithm>
#include <lzo/lzo1x.h>
#include <memory>
#include <new>

using namespace dtlto;
using namespace dtlto::distcc;

static bool isInitialized() {
  static const bool Ok = lzo_init() == LZO_E_OK;
  return Ok;
}

static const unsigned char *bytes(std::string_view Text) {
  return reinterpret_cast<const unsigned char *>(Text.data());
}

std::vector<uint8_t> dtlto::distcc::lzoCompress(std::string_view In) {
  if (In.empty())
    return {};
  if (!isInitialized())
    throw std::bad_alloc();
  // Neither needs to be cleared. LZO1X-1 produces at most this many bytes.
  std::unique_ptr<uint8_t[]> Room(
      new uint8_t[In.size() + In.size() / 16 + 64 + 3]);
  std::unique_ptr<uint8_t[]> Work(new uint8_t[LZO1X_1_MEM_COMPRESS]);
  lzo_uint Size = 0;
  lzo1x_1_compress(bytes(In), In.size(), Room.get(), &Size, Work.get());
  return std::vector<uint8_t>(Room.get(), Room.get() + Size);
}

static std::string sizeText(size_t Size) {
  size_t MiB = Size >> 20;
  return MiB ? std::to_string(MiB) + " MiB" : std::to_string(Size) + " bytes";
}

static void release(void *, const void *Pages, uint64_t Size) {
  os::shrink(const_cast<void *>(Pages), static_cast<size_t>(Size), 0);
}

bool dtlto::distcc::lzoDecompress(std::string_view In, size_t MaxSize,
                                  sdk::Buffer &Out, std::string &Error) {
  Out = {};
  if (In.empty())
    return true;
  // A byte of the stream stands for at most 255 bytes: lengths are written as
  // a run of zeros, each of which adds 255.
  size_t MaxOutput = MaxSize;
  if (In.size() < (MaxSize >> 8))
    MaxOutput = std::min(MaxSize, In.size() * 256 + 64);
  auto NoRoom = [&] {
    Error = "no address space for " + sizeText(MaxOutput);
    return false;
  };
  if (!isInitialized())
    return NoRoom();
  // A mapping can't have 0 bytes, but the result of a stream can.
  size_t Room = std::max<size_t>(MaxOutput, 1);
  void *Pages = os::reserve(Room);
  // If address space is scarce, reserve a size that nearly all objects fit
  // into.
  if (!Pages && In.size() < MaxOutput / 16) {
    Room = In.size() * 16;
    Pages = os::reserve(Room);
  }
  if (!Pages)
    return NoRoom();
  lzo_uint Size = std::min(Room, MaxOutput);
  int Status = lzo1x_decompress_safe(
      bytes(In), In.size(), static_cast<uint8_t *>(Pages), &Size, nullptr);
  if (Status != LZO_E_OK)
    Size = 0;
  os::shrink(Pages, Room, Size);
  if (Size != 0)
    Out = sdk::Buffer(dtlto_buffer{Pages, Size, nullptr, release});

  if (Status == LZO_E_OK)
    return true;
  if (Status == LZO_E_OUTPUT_OVERRUN && Room < MaxOutput)
    return NoRoom();
  Error = "damaged LZO data";
  if (Status == LZO_E_OUTPUT_OVERRUN && Room >= MaxSize)
    Error = "becomes larger than " + sizeText(MaxSize);
  else if (Status == LZO_E_INPUT_NOT_CONSUMED)
    Error = "damaged LZO data: bytes after its end";
  return false;
}
