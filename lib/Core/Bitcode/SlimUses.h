//===- SlimUses.h - What the bodies of a slim module refer to ---*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An importer of a few functions doesn't need most of a module: the names of
// functions that no imported body calls, the values of variables that aren't
// imported, the metadata that no body refers to. The records of the bodies show
// what is used.
//
// Values have numbers. A module's own values come first: variables, functions,
// aliases, then constants. A body continues with its arguments, its constants,
// and its instructions that have a value. An instruction refers to a value by
// the distance between the two, so all instructions must be read. Their records
// are in BitcodeReader::parseFunctionBody(). Mistaking a number for a reference
// only keeps too much.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_BITCODE_SLIMUSES_H
#define DTLTO_BITCODE_SLIMUSES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Bitstream/BitstreamReader.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <vector>

namespace dtlto {

/// A module's types, as needed to determine which instructions have a value.
class SlimTypes {
public:
  /// Reads the type block at \p In and steps over it.
  llvm::Error read(llvm::BitstreamCursor &In);

  bool isVoid(uint64_t Type) const { return is(Type, Void); }
  bool isMetadata(uint64_t Type) const { return is(Type, Metadata); }
  /// The types of a function's result and parameters; empty if \p Type is not a
  /// function type.
  llvm::ArrayRef<uint64_t> function(uint64_t Type) const;

private:
  enum Kind : uint8_t { Other, Void, Metadata, Function };
  bool is(uint64_t Type, Kind K) const {
    return Type < Types.size() && Types[Type].TypeKind == K;
  }

  struct Entry {
    Kind TypeKind = Other;
    llvm::SmallVector<uint64_t, 0> Parts;
  };
  std::vector<Entry> Types;
};

/// The constants of a module with their numbers in the file.
class SlimConstants {
public:
  /// The value number of each variable's initializer, if it has one.
  std::vector<std::optional<uint64_t>> Initializers;

  /// Sets the number of the first constant.
  void begin(uint64_t ID) { First = ID; }
  /// Adds the next record of the block.
  void add(unsigned Code, llvm::ArrayRef<uint64_t> Record);

  uint64_t first() const { return First; }
  /// The constants that \p ID consists of; empty if \p ID isn't a constant.
  llvm::ArrayRef<uint64_t> operands(uint64_t ID) const;
  /// Whether \p ID may become null: a string, number or aggregate.
  bool mayBecomeNull(uint64_t ID) const;

private:
  struct Entry {
    size_t Begin, End; // in Operands
    bool MayBecomeNull;
  };
  uint64_t First = 0;
  std::vector<Entry> Entries;
  std::vector<uint64_t> Operands;
};

/// The references of bodies and variables.
class SlimUses {
public:
  llvm::DenseSet<uint64_t> Attributes; // lists, from 1
  llvm::DenseSet<uint64_t> Kinds;      // of attached metadata
  llvm::DenseSet<uint64_t> Metadata;   // strings and nodes, by number
  bool UsesAllKinds = false;           // the kinds are unknown
  bool UsesAllValues = false;          // assembly may name any value
  bool HasBundles = false;             // operand bundles

  /// \p NumValues is the number of the module's own values.
  explicit SlimUses(uint64_t NumValues) : Values(NumValues) {}

  /// Adds the references in the function block at \p In and steps over it.
  /// \p Type is the function's type.
  llvm::Error addBody(llvm::BitstreamCursor &In, uint64_t Type,
                      const SlimTypes &Types);
  /// Adds the references in the metadata block at \p In and steps over it.
  llvm::Error addMetadata(llvm::BitstreamCursor &In);
  /// Adds the value \p ID if it is one of the module's own.
  void addValue(uint64_t ID);
  /// Adds the operands of constants. Call it after the last value was added.
  void follow(const SlimConstants &Constants);
  /// Whether an importer may reach the value \p ID.
  bool reaches(uint64_t ID) const {
    return UsesAllValues || (ID < Values.size() && Values.test(ID));
  }

private:
  class Body;
  void addMetadata(uint64_t ID);
  llvm::Error addAttachments(llvm::BitstreamCursor &In);

  llvm::BitVector Values;
  std::vector<uint64_t> Worklist;
};

} // namespace dtlto

#endif // DTLTO_BITCODE_SLIMUSES_H
