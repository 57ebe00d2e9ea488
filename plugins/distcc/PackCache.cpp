//===- PackCache.cpp - Each module is compressed once ---------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PackCache.h"
#include "Lzo.h"

using namespace dtlto::distcc;

Packed PackCache::pack(const dtlto_input &Input) {
  auto Compress = [&] {
    return lzoCompress({static_cast<const uint8_t *>(Input.bytes.data),
                        static_cast<size_t>(Input.bytes.size)});
  };
  // A primary is sent once, or once for each part.
  if (Input.role != DTLTO_ROLE_IMPORT)
    return std::make_shared<const std::vector<uint8_t>>(Compress());
  return Kept.get({Input.bytes.data, 0}, Compress);
}
