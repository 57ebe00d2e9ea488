//===- Shards.h - The index shards of a link's jobs -------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LLVM takes half a millisecond to write a shard (LLD's modules). The parts of
// a module have the same shard and are mostly prepared one after the other. So
// their shard is made once, and lives as long as one of their jobs.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_LTO_SHARDS_H
#define DTLTO_LTO_SHARDS_H

#include "Bitcode/IndexShard.h"
#include "LTO/LinkContext.h"
#include "llvm/ADT/StringMap.h"
#include <memory>
#include <mutex>

namespace dtlto {

class Shards {
public:
  using Shard = std::shared_ptr<const ShardBytes>;

  /// \p Ctx must live as long as this.
  explicit Shards(const LinkContext &Ctx) : Ctx(Ctx) {}

  /// Returns the shard of \p T with \p Imports. All parts of a module share it
  /// if \p Imports is the thin link's list. \p Paths maps each module's name in
  /// the linker to its name on other machines, for the module and all its
  /// imports. Fails if one is missing. Thread-safe.
  llvm::Expected<Shard> get(const Task &T,
                            const llvm::FunctionImporter::ImportMapTy &Imports,
                            const llvm::StringMap<llvm::StringRef> &Paths);

private:
  llvm::Expected<Shard>
  make(const Task &T, const llvm::FunctionImporter::ImportMapTy &Imports,
       const llvm::StringMap<llvm::StringRef> &Paths) const;

  struct SharedShard {
    std::mutex Mutex; // held while the shard is made
    std::weak_ptr<const ShardBytes> Bytes;
  };

  const LinkContext &Ctx;
  std::mutex Mutex; // guards the map, not its values
  llvm::StringMap<SharedShard> Shared;
};

} // namespace dtlto

#endif // DTLTO_LTO_SHARDS_H
