//===- Shards.cpp - The index shards of a link's jobs ---------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LTO/Shards.h"
#include "Bitcode/ShardNames.h"
#include "Support/Failure.h"
#include "Support/Text.h"

using namespace llvm;
using namespace dtlto;

Expected<Shards::Shard>
Shards::make(const Task &T, const FunctionImporter::ImportMapTy &Imports,
             const StringMap<StringRef> &Paths) const {
  std::vector<ShardModule> Modules;
  ShardBytes Original =
      writeShard(Ctx.Index, Ctx.Defined, T.name(), Imports, &Modules);
  for (ShardModule &M : Modules) {
    auto It = Paths.find(M.Name);
    if (It == Paths.end())
      return failure("module '" + printable(M.Name) + "' has no encoded name");
    M.Name = It->second.str();
  }
  Expected<ShardBytes> Renamed =
      replaceShardModules(StringRef(Original.data(), Original.size()), Modules);
  if (!Renamed)
    return Renamed.takeError();
  return std::make_shared<const ShardBytes>(std::move(*Renamed));
}

Expected<Shards::Shard>
Shards::get(const Task &T, const FunctionImporter::ImportMapTy &Imports,
            const StringMap<StringRef> &Paths) {
  if (T.Spec.Part.isWhole() || &Imports != T.ImportList)
    return make(T, Imports, Paths);
  SharedShard *Parts;
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    Parts = &Shared[T.name()];
  }
  std::lock_guard<std::mutex> Lock(Parts->Mutex);
  if (Shard Bytes = Parts->Bytes.lock())
    return Bytes;
  Expected<Shard> New = make(T, Imports, Paths);
  if (New)
    Parts->Bytes = *New;
  return New;
}
