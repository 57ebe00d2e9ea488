//===- ByteCache.h - A cache of derived bytes -------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_PLUGINS_BYTECACHE_H
#define DTLTO_PLUGINS_BYTECACHE_H

#include <cstdint>
#include <functional>
#include <future>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace dtlto {

/// Caches bytes that are derived from other bytes, such as compressed modules.
/// Many jobs import the same module, and the ABI promises the same address in
/// all of them. The module's path can't be the key: as the primary input of its
/// own job, a module contains more. Any thread.
class ByteCache {
public:
  using Bytes = std::shared_ptr<const std::vector<uint8_t>>;
  /// The address of the source bytes, and a number for the kind of result.
  using Key = std::pair<const void *, uint64_t>;

  /// Keeps at most \p MaxBytes, not counting bytes that only jobs hold. Evicts
  /// the least recently used first.
  explicit ByteCache(uint64_t MaxBytes) : MaxBytes(MaxBytes) {}

  /// Returns the bytes of \p K. If they aren't cached, calls \p Make, or waits
  /// for the thread that is calling it.
  Bytes get(Key K, const std::function<std::vector<uint8_t>()> &Make);

private:
  struct Entry {
    std::shared_future<Bytes> Future;
    uint64_t Size = 0; // 0 until it is made
    std::list<Key>::iterator Use;
  };

  const uint64_t MaxBytes;
  std::mutex Mutex; // guards the rest
  uint64_t NumBytes = 0;
  std::map<Key, Entry> Entries;
  std::list<Key> Uses; // most recent first
};

} // namespace dtlto

#endif // DTLTO_PLUGINS_BYTECACHE_H
