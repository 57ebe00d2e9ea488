//===- Shards.h - The index shards of a link's jobs -------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A shard takes LLVM half a millisecond to write (LLD's modules). Parts of one
// module have the same and are mostly prepared one after the other, so it is
// made once, and lives as long as one of their jobs.
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

  /// The shard of \p T, of which \p Imports is imported: if that is what the
  /// thin link says, the same for all parts of a module. \p Paths: the names
  /// that travel, by those in the linker, of the module and all that \p Imports
  /// names. Fails if one is missing. Any thread.
  llvm::Expected<Shard> get(const Task &T,
                            const llvm::FunctionImporter::ImportMapTy &Imports,
                            const llvm::StringMap<llvm::StringRef> &Paths);

private:
  llvm::Expected<Shard>
  make(const Task &T, const llvm::FunctionImporter::ImportMapTy &Imports,
       const llvm::StringMap<llvm::StringRef> &Paths) const;

  struct OfParts {
    std::mutex Mutex; // held while it is made
    std::weak_ptr<const ShardBytes> Made;
  };

  const LinkContext &Ctx;
  std::mutex Mutex; // guards the map, not its values
  llvm::StringMap<OfParts> Shared;
};

} // namespace dtlto

#endif // DTLTO_LTO_SHARDS_H
