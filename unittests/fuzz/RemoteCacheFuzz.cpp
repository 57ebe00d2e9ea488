//===- RemoteCacheFuzz.cpp - Values of the remote cache, of any bytes -----===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Input: what follows the header of a value's frame. A writer of the cache can
// give it a correct digest.
//
//===----------------------------------------------------------------------===//

#include "Bundle/ObjectFrame.h"
#include "Fuzz.h"
#include "Run/RemoteCache.h"
#include "llvm/Support/Endian.h"
#include <cstdlib>

using namespace llvm;
using namespace dtlto;

static constexpr uint64_t MaxBytes = 1 << 16;

static std::string value(StringRef Result) {
  return (frameHead(Result, {}) + Result).str();
}

static std::string sized(uint64_t Size, StringRef Bytes) {
  char Text[8];
  support::endian::write64le(Text, Size);
  return std::string(Text, 8) + Bytes.str();
}

std::vector<std::string> dtlto::test::fuzzSeeds() {
  std::string Packed = writeCacheValue(std::string(5000, 'a'), {});
  return {"",
          sized(3, "abc"),
          sized(4, "abc"),
          sized(UINT64_MAX, "abc"),
          Packed.substr(88),
          Packed.substr(88, 20),
          sized(MaxBytes, StringRef(Packed).drop_front(96)),
          sized(4999, StringRef(Packed).drop_front(96))};
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  StringRef Bytes(reinterpret_cast<const char *>(Data), Size);
  // What is written is read again, unless it is larger than the limit.
  Expected<SmallVector<char, 0>> Same =
      readCacheValue(writeCacheValue(Bytes, {}), {}, Size);
  if (!Same || StringRef(Same->data(), Same->size()) != Bytes)
    abort();
  if (Size &&
      !errorToBool(
          readCacheValue(writeCacheValue(Bytes, {}), {}, Size - 1).takeError()))
    abort();
  // Without its frame, nothing is a value.
  Expected<SmallVector<char, 0>> Raw = readCacheValue(Bytes, {}, MaxBytes);
  if (!Raw && toString(Raw.takeError()).empty())
    abort();
  Expected<SmallVector<char, 0>> Result =
      readCacheValue(value(Bytes), {}, MaxBytes);
  if (!Result) {
    if (toString(Result.takeError()).empty())
      abort();
    return 0;
  }
  // The result has the size that the value states.
  if (Size < 8 || Result->size() > MaxBytes ||
      Result->size() != support::endian::read64le(Data))
    abort();
  return 0;
}
