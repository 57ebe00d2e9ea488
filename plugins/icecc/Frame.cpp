//===- Frame.cpp - Takes a worker's object out of its frame ---------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Frame.h"
#include <algorithm>
#include <cstdlib>
#include <cstring>

using namespace dtlto::icecc;

// No object file is larger; a size that is a lie must not take all memory.
static constexpr uint64_t MaxObject = uint64_t(16) << 30;
static constexpr uint64_t FirstCapacity = 64 << 10;

FrameReader::~FrameReader() { std::free(Object); }

static uint64_t readLE(const unsigned char *Bytes, unsigned NumBytes) {
  uint64_t N = 0;
  for (unsigned I = NumBytes; I--;)
    N = N << 8 | Bytes[I];
  return N;
}

bool FrameReader::readHead() {
  if (std::memcmp(Head, "DTLTOOBJ", 8) != 0) {
    Error = "what came back is not the worker's: no frame around the object";
    return false;
  }
  uint64_t Version = readLE(Head + 8, 4), Flags = readLE(Head + 12, 4);
  if (Version != 1 || Flags != 0) {
    Error = "the worker is another version: it frames the object in version " +
            std::to_string(Version) + ", flags " + std::to_string(Flags);
    return false;
  }
  Size = readLE(Head + 16, 8);
  if (Size > MaxObject) {
    Error = "an object of " + std::to_string(Size) + " bytes is announced";
    return false;
  }
  return grow(std::min<uint64_t>(Size, FirstCapacity));
}

/// Memory grows with what has really come, so a wrong size costs nothing.
bool FrameReader::grow(uint64_t Needed) {
  if (Object && Needed <= Capacity)
    return true;
  uint64_t More = std::min(std::max(Needed, 2 * Capacity), Size);
  auto *Moved = static_cast<unsigned char *>(
      std::realloc(Object, static_cast<size_t>(std::max<uint64_t>(More, 1))));
  if (!Moved) {
    Error = "no memory for an object of " + std::to_string(Size) + " bytes";
    return false;
  }
  Object = Moved;
  Capacity = More;
  return true;
}

bool FrameReader::add(const void *Data, size_t NumBytes) {
  if (!Error.empty())
    return false;
  const auto *Bytes = static_cast<const unsigned char *>(Data);
  if (HaveHead < HeadSize) {
    size_t N = std::min(NumBytes, HeadSize - HaveHead);
    std::memcpy(Head + HaveHead, Bytes, N);
    HaveHead += N;
    if (HaveHead < HeadSize)
      return true;
    if (!readHead())
      return false;
    Bytes += N;
    NumBytes -= N;
  }
  if (NumBytes > Size - Have) {
    Error =
        "more came back than an object of " + std::to_string(Size) + " bytes";
    return false;
  }
  if (!grow(Have + NumBytes))
    return false;
  if (NumBytes)
    std::memcpy(Object + Have, Bytes, NumBytes);
  Have += NumBytes;
  return true;
}

bool FrameReader::finish() {
  if (!Error.empty())
    return false;
  if (HaveHead < HeadSize)
    Error = HaveHead == 0 ? "no object came back"
                          : "the object's frame was cut off";
  else if (Have != Size)
    Error = "the object was cut off: " + std::to_string(Have) + " of " +
            std::to_string(Size) + " bytes";
  return Error.empty();
}

dtlto_buffer FrameReader::take() {
  dtlto_buffer Buffer = {};
  Buffer.data = Buffer.owner = Object;
  Buffer.size = Size;
  Buffer.release = [](void *Owner, const void *, uint64_t) {
    std::free(Owner);
  };
  Object = nullptr;
  return Buffer;
}
