//===- PackCache.cpp - Each module is compressed once ---------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PackCache.h"
#include "Lzo.h"

using namespace dtlto::distcc;

static Packed compress(const dtlto_input &Input) {
  return std::make_shared<const std::vector<uint8_t>>(
      lzoCompress({static_cast<const uint8_t *>(Input.bytes.data),
                   static_cast<size_t>(Input.bytes.size)}));
}

Packed PackCache::pack(const dtlto_input &Input) {
  if (Input.role != DTLTO_ROLE_PRIMARY && Input.role != DTLTO_ROLE_IMPORT)
    return compress(Input);

  const void *Key = Input.bytes.data;
  std::promise<Packed> Promise;
  std::shared_future<Packed> File;
  bool Ours = false;
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    auto [It, Inserted] = Entries.try_emplace(Key);
    Entry &E = It->second;
    if (Inserted) {
      E.File = Promise.get_future().share();
      Uses.push_front(Key);
      E.Use = Uses.begin();
      Ours = true;
    } else {
      Uses.splice(Uses.begin(), Uses, E.Use);
    }
    File = E.File;
  }
  if (!Ours)
    return File.get();

  Packed P = compress(Input);
  Promise.set_value(P);
  std::lock_guard<std::mutex> Lock(Mutex);
  Entry &E = Entries[Key];
  E.Size = P->size();
  Bytes += P->size();
  // From the least recently used on; what is being made has no size yet.
  for (auto It = Uses.end(); Bytes > MaxBytes && It != Uses.begin();) {
    --It;
    auto Found = Entries.find(*It);
    if (Found->second.Size == 0)
      continue;
    Bytes -= Found->second.Size;
    Entries.erase(Found);
    It = Uses.erase(It);
  }
  return P;
}
