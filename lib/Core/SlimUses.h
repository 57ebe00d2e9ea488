//===- SlimUses.h - What the bodies of a slim module refer to ---*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Most of a slim module is names: of functions that no imported body calls, and
// in metadata that none refers to. Which these are, LLVM tells: the module is
// loaded as an importer loads it, and what has no use then has none there.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_CORE_SLIMUSES_H
#define DTLTO_CORE_SLIMUSES_H

#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Error.h"
#include <optional>

namespace dtlto {

/// What an importer of a slim module may look at.
struct SlimUses {
  /// The names of all functions that have a use. Nothing: they are all used.
  std::optional<llvm::StringSet<>> Functions;
  /// The texts of all metadata strings that can be reached. Nothing: all.
  std::optional<llvm::StringSet<>> Strings;
};

/// Finds the uses in \p File, a module whose functions called \p Bodies may be
/// imported. Fails if LLVM can't read it. Any thread.
llvm::Expected<SlimUses> findUses(llvm::StringRef File,
                                  llvm::ArrayRef<llvm::StringRef> Bodies);

} // namespace dtlto

#endif // DTLTO_CORE_SLIMUSES_H
