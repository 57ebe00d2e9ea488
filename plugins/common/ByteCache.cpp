//===- ByteCache.cpp - A cache of derived bytes ---------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ByteCache.h"

using namespace dtlto;

ByteCache::Bytes
ByteCache::get(Key K, const std::function<std::vector<uint8_t>()> &Make) {
  std::unique_lock<std::mutex> Lock(Mutex);
  auto [It, IsNew] = Entries.try_emplace(K);
  Entry &E = It->second; // not evicted while it is being made
  if (!IsNew) {
    Uses.splice(Uses.begin(), Uses, E.Use);
    std::shared_future<Bytes> Future = E.Future;
    Lock.unlock();
    return Future.get();
  }
  std::promise<Bytes> Promise;
  E.Future = Promise.get_future().share();
  E.Use = Uses.insert(Uses.begin(), K);
  Lock.unlock();

  Bytes B;
  try {
    B = std::make_shared<const std::vector<uint8_t>>(Make());
  } catch (...) {
    // Waiting threads fail as well; later calls try again.
    Promise.set_exception(std::current_exception());
    Lock.lock();
    Uses.erase(E.Use);
    Entries.erase(K);
    throw;
  }
  Promise.set_value(B);
  Lock.lock();
  E.Size = B->size();
  NumBytes += B->size();
  // Skip entries that are still being made: they have no size yet.
  for (auto Use = Uses.end(); NumBytes > MaxBytes && Use != Uses.begin();) {
    auto Victim = Entries.find(*--Use);
    if (Victim->second.Size == 0)
      continue;
    NumBytes -= Victim->second.Size;
    Entries.erase(Victim);
    Use = Uses.erase(Use);
  }
  return B;
}
