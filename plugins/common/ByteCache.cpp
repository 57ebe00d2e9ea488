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
  std::promise<Bytes> Promise;
  std::shared_future<Bytes> Future;
  bool MustMake = false;
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    auto [It, Inserted] = Entries.try_emplace(K);
    Entry &E = It->second;
    if (Inserted) {
      E.Future = Promise.get_future().share();
      Uses.push_front(K);
      E.Use = Uses.begin();
      MustMake = true;
    } else {
      Uses.splice(Uses.begin(), Uses, E.Use);
    }
    Future = E.Future;
  }
  if (!MustMake)
    return Future.get();

  Bytes B;
  try {
    B = std::make_shared<const std::vector<uint8_t>>(Make());
  } catch (...) {
    // Waiting threads fail as well; later calls try again.
    Promise.set_exception(std::current_exception());
    std::lock_guard<std::mutex> Lock(Mutex);
    auto FailedEntry = Entries.find(K);
    Uses.erase(FailedEntry->second.Use);
    Entries.erase(FailedEntry);
    throw;
  }
  Promise.set_value(B);
  std::lock_guard<std::mutex> Lock(Mutex);
  Entry &E = Entries[K];
  E.Size = B->size();
  NumBytes += B->size();
  // Skip entries that are still being made: they have no size yet.
  for (auto It = Uses.end(); NumBytes > MaxBytes && It != Uses.begin();) {
    --It;
    auto Victim = Entries.find(*It);
    if (Victim->second.Size == 0)
      continue;
    NumBytes -= Victim->second.Size;
    Entries.erase(Victim);
    It = Uses.erase(It);
  }
  return B;
}
