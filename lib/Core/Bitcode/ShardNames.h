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

/// Returns \p Shard with each module's name replaced by what \p NewName returns
/// for it. Fails if \p Shard is not a combined index or NewName returns
/// nothing.
llvm::Expected<ShardBytes> renameShardModules(
    llvm::StringRef Shard,
    llvm::function_ref<std::optional<std::string>(llvm::StringRef)> NewName);

/// A module in a shard's table of modules.
struct ShardModule {
  std::string Name;
  llvm::ArrayRef<uint32_t> Hash; // all zero, or empty: the table has none
};

/// Returns \p Shard with a table of \p Modules, in the order of their numbers,
/// in place of its own, which may be damaged. Fails if \p Shard is not a
/// combined index.
llvm::Expected<ShardBytes>
replaceShardModules(llvm::StringRef Shard, llvm::ArrayRef<ShardModule> Modules);

/// Returns the names of the modules in \p Shard, in its order. Fails if it is
/// not a combined index.
llvm::Expected<std::vector<std::string>> shardModules(llvm::StringRef Shard);

} // namespace dtlto

#endif // DTLTO_BITCODE_SHARDNAMES_H
