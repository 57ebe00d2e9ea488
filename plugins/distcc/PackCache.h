//===- PackCache.h - Each module is compressed once -------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_DISTCC_PACKCACHE_H
#define DTLTO_DISTCC_PACKCACHE_H

#include "ByteCache.h"
#include "Request.h"

namespace dtlto::distcc {

/// Compressed modules. Any thread.
class PackCache {
public:
  /// Keeps at most \p MaxBytes, but for what jobs still hold; the least
  /// recently used goes first.
  explicit PackCache(uint64_t MaxBytes) : Kept(MaxBytes) {}

  /// Compresses \p Input, unless that was done before; waits if another thread
  /// is at it. Only imports are kept.
  Packed pack(const dtlto_input &Input);

private:
  ByteCache Kept;
};

} // namespace dtlto::distcc

#endif // DTLTO_DISTCC_PACKCACHE_H
