//===- IceccFrameFuzz.cpp - Objects of nodes, of any bytes ----------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Input: one byte, the size of the pieces in which the rest arrives; the rest.
//
//===----------------------------------------------------------------------===//

#include "Frame.h"
#include "Fuzz.h"
#include <algorithm>
#include <cstdlib>
#include <cstring>

using dtlto::icecc::FrameReader;

/// A frame whose size says \p Says, around \p Object.
static std::string frame(const std::string &Object, uint64_t Says) {
  std::string Bytes("\7DTLTOOBJ\1\0\0\0\0\0\0\0", 17);
  for (unsigned I = 0; I != 8; ++I)
    Bytes += static_cast<char>(Says >> (8 * I));
  return Bytes + std::string(32, 'd') + Object;
}

std::vector<std::string> dtlto::test::fuzzSeeds() {
  return {frame("object", 6), frame("", 0), frame("short", 6), frame("long", 3),
          frame("much", uint64_t(1) << 62)};
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  if (Size == 0)
    return 0;
  size_t Piece = Data[0] + size_t(1);
  const uint8_t *Rest = Data + 1;
  size_t RestSize = Size - 1;
  FrameReader R;
  bool Good = true;
  for (size_t I = 0; Good && I < RestSize; I += Piece)
    Good = R.add(Rest + I, std::min(Piece, RestSize - I));
  Good = Good && R.finish();
  if (!Good) {
    if (R.error().empty())
      abort();
    return 0;
  }
  // What is taken for whole is all that came after the head, and nothing else.
  dtlto_buffer Object = R.take();
  if (Object.size != RestSize - 56 ||
      (Object.size && std::memcmp(Object.data, Rest + 56, Object.size) != 0))
    abort();
  if (Object.release)
    Object.release(Object.owner, Object.data, Object.size);
  return 0;
}
