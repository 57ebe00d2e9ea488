//===- SlimUses.h - What the bodies of a slim module refer to ---*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Most of a module is of no use to an importer of a few functions: names of
// functions that no imported body calls, values of variables that aren't
// imported, metadata that none refers to. Which these are, LLVM itself decides:
// the module is loaded as an importer loads it, and what can't be reached from
// there isn't looked at. The records of the bodies say what is used of the
// tables in front of them.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_BITCODE_SLIMUSES_H
#define DTLTO_BITCODE_SLIMUSES_H

#include "Bitcode/SlimModule.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Bitstream/BitstreamReader.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <vector>

namespace dtlto {

/// The constants of a module, as its file numbers them.
struct SlimConstants {
  /// The number of each variable's value; nothing: it has none.
  std::vector<std::optional<uint64_t>> Initializers;
  /// What may become null: texts and numbers, which consist of nothing, and
  /// aggregates, with what they consist of.
  llvm::DenseMap<uint64_t, std::vector<uint64_t>> Parts;
};

/// What an importer of a slim module may look at.
struct SlimUses {
  /// The names of all functions that have a use. Nothing: they are all used.
  std::optional<llvm::StringSet<>> Functions;
  /// The texts of all metadata strings that can be reached. Nothing: all.
  std::optional<llvm::StringSet<>> Strings;
  /// Whether a body has debug info as an argument of a call.
  bool HasDebugArguments = false;
  /// Constants that only belong to variables that aren't imported.
  llvm::DenseSet<uint64_t> Unread;
  /// Whether the variable, by its place among them, is more than a name and a
  /// type to an importer. It doesn't look at what is attached to it otherwise.
  std::vector<bool> UsesVariable;
};

/// Finds the uses in \p Module, whose functions called \p Bodies may be
/// imported, and variables that are in \p Imported. Fails if LLVM can't read
/// it. Any thread.
llvm::Expected<SlimUses> findUses(llvm::BitcodeModule Module,
                                  llvm::ArrayRef<llvm::StringRef> Bodies,
                                  const GUIDSet &Imported,
                                  const SlimConstants &Constants);

/// What bodies and variables refer to of the tables in front of them.
struct BodyUses {
  llvm::DenseSet<uint64_t> Attributes; // lists, from 1 on
  llvm::DenseSet<uint64_t> Kinds;      // of attached metadata
  llvm::DenseSet<uint64_t> Metadata;   // but for arguments of calls
  bool AllKinds = false;               // they aren't known
  bool Bundles = false;                // operand bundles

  /// Adds what the function block has that \p In stands before.
  llvm::Error add(llvm::BitstreamCursor In);

private:
  llvm::Error addAttachments(llvm::BitstreamCursor In);
  llvm::Error addMetadata(llvm::BitstreamCursor In);
  void addMetadata(uint64_t ID);
};

/// Whether importers read metadata on demand and declarations of types, as they
/// do by default.
bool readsLittleMetadata();

} // namespace dtlto

#endif // DTLTO_BITCODE_SLIMUSES_H
