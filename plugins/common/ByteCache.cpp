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
  std::shared_future<Bytes> Made;
  bool Ours = false;
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    auto [It, Inserted] = Entries.try_emplace(K);
    Entry &E = It->second;
    if (Inserted) {
      E.Made = Promise.get_future().share();
      Uses.push_front(K);
      E.Use = Uses.begin();
      Ours = true;
    } else {
      Uses.splice(Uses.begin(), Uses, E.Use);
    }
    Made = E.Made;
  }
  if (!Ours)
    return Made.get();

  Bytes B;
  try {
    B = std::make_shared<const std::vector<uint8_t>>(Make());
  } catch (...) {
    // Waiting threads fail as well; later calls try again.
    Promise.set_exception(std::current_exception());
    std::lock_guard<std::mutex> Lock(Mutex);
    auto Failed = Entries.find(K);
    Uses.erase(Failed->second.Use);
    Entries.erase(Failed);
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
    auto Found = Entries.find(*It);
    if (Found->second.Size == 0)
      continue;
    NumBytes -= Found->second.Size;
    Entries.erase(Found);
    It = Uses.erase(It);
  }
  return B;
}
