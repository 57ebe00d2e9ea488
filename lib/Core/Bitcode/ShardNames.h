//===- ShardNames.h - The modules that an index shard names -----*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_BITCODE_SHARDNAMES_H
#define DTLTO_BITCODE_SHARDNAMES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <string>
#include <vector>

namespace dtlto {

using ShardBytes = llvm::SmallVector<char, 0>;

/// Returns \p Shard with each module's name replaced by the result of
/// \p NewName. Fails if \p Shard is not a combined index or \p NewName returns
/// nullopt.
llvm::Expected<ShardBytes> renameShardModules(
    llvm::StringRef Shard,
    llvm::function_ref<std::optional<std::string>(llvm::StringRef)> NewName);

/// A module in a shard's table of modules.
struct ShardModule {
  std::string Name;
  llvm::ArrayRef<uint32_t> Hash; // all zero or empty: the table has no hash
};

/// Returns \p Shard with its table of modules, which may be damaged, replaced
/// by \p Modules in the order of their numbers. Fails if \p Shard is not a
/// combined index.
llvm::Expected<ShardBytes>
replaceShardModules(llvm::StringRef Shard, llvm::ArrayRef<ShardModule> Modules);

/// Returns the names of the modules in \p Shard in order. Fails if \p Shard is
/// not a combined index.
llvm::Expected<std::vector<std::string>> shardModules(llvm::StringRef Shard);

} // namespace dtlto

#endif // DTLTO_BITCODE_SHARDNAMES_H
