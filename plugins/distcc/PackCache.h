//===- PackCache.h - Each module is compressed once -------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_DISTCC_PACKCACHE_H
#define DTLTO_DISTCC_PACKCACHE_H

#include "Request.h"
#include <future>
#include <list>
#include <map>
#include <mutex>

namespace dtlto::distcc {

/// Compressed modules. Many jobs import the same one, and the ABI promises that
/// it then has the same address in all of them. Its path says less: as the
/// primary of its own job, a module has more in it. Any thread.
class PackCache {
public:
  /// Keeps at most \p MaxBytes, but for what jobs still hold; the least
  /// recently used goes first.
  explicit PackCache(uint64_t MaxBytes) : MaxBytes(MaxBytes) {}

  /// Compresses \p Input, unless that was done before; waits if another thread
  /// is at it. Only primary modules and imports are kept.
  Packed pack(const dtlto_input &Input);

private:
  struct Entry {
    std::shared_future<Packed> File;
    uint64_t Size = 0; // 0 until it is made
    std::list<const void *>::iterator Use;
  };

  const uint64_t MaxBytes;
  std::mutex Mutex; // guards the rest
  uint64_t Bytes = 0;
  std::map<const void *, Entry> Entries; // by the address of the contents
  std::list<const void *> Uses;          // the latest first
};

} // namespace dtlto::distcc

#endif // DTLTO_DISTCC_PACKCACHE_H
