//===- SlimUses.h - What the bodies of a slim module refer to ---*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An importer of a few functions doesn't need most of a module: names of
// functions that no imported body calls, values of variables that aren't
// imported, metadata that no body refers to. The records of the bodies tell
// what is used.
//
// Values have numbers. A module's own come first: variables, functions,
// aliases, then constants. A body continues with its arguments, its constants,
// and its instructions that have a value. An instruction refers to a value by
// the distance to it, so all instructions must be read. Their records are in
// BitcodeReader::parseFunctionBody(). A number taken for a reference only keeps
// too much.
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

/// The types of a module that say which instructions have a value.
class SlimTypes {
public:
  /// Takes the block that \p In stands before, and steps over it.
  llvm::Error read(llvm::BitstreamCursor &In);

  bool isVoid(uint64_t Type) const { return is(Type, Void); }
  bool isMetadata(uint64_t Type) const { return is(Type, Metadata); }
  /// The types of a function's result and its parameters; empty if it is
  /// another type.
  llvm::ArrayRef<uint64_t> function(uint64_t Type) const;

private:
  enum Kind : uint8_t { Other, Void, Metadata, Function };
  bool is(uint64_t Type, Kind K) const {
    return Type < Types.size() && Types[Type].What == K;
  }

  struct Entry {
    Kind What = Other;
    llvm::SmallVector<uint64_t, 0> Parts;
  };
  std::vector<Entry> Types;
};

/// The constants of a module, as its file numbers them.
class SlimConstants {
public:
  /// The number of each variable's value, if it has one.
  std::vector<std::optional<uint64_t>> Initializers;

  /// \p ID: the number of the first one.
  void begin(uint64_t ID) { First = ID; }
  /// Takes the next record of the block.
  void add(unsigned Code, llvm::ArrayRef<uint64_t> Record);

  uint64_t first() const { return First; }
  /// The constants that \p ID consists of; empty also if it isn't a constant.
  llvm::ArrayRef<uint64_t> operands(uint64_t ID) const;
  /// Whether \p ID may become null: texts, numbers and aggregates may.
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
  llvm::DenseSet<uint64_t> Attributes; // lists, from 1 on
  llvm::DenseSet<uint64_t> Kinds;      // of attached metadata
  llvm::DenseSet<uint64_t> Metadata;   // strings and nodes
  bool AllKinds = false;               // kinds are unknown
  bool AllValues = false;              // assembly may name any
  bool Bundles = false;                // operand bundles

  /// \p NumValues: the number of the module's own values.
  explicit SlimUses(uint64_t NumValues) : Values(NumValues) {}

  /// Adds the references in the function block that \p In stands before, of a
  /// function of the type \p Type, and steps over it.
  llvm::Error addBody(llvm::BitstreamCursor &In, uint64_t Type,
                      const SlimTypes &Types);
  /// The same for the block of metadata that \p In stands before.
  llvm::Error addMetadata(llvm::BitstreamCursor &In);
  /// Adds the value with this number, if it is one of the module's.
  void addValue(uint64_t ID);
  /// Adds the operands of constants. After the last value.
  void follow(const SlimConstants &Constants);
  /// Whether an importer may reach a value.
  bool reaches(uint64_t ID) const {
    return AllValues || (ID < Values.size() && Values.test(ID));
  }

private:
  class Body;
  void addMetadata(uint64_t ID);
  llvm::Error addAttachments(llvm::BitstreamCursor &In);

  llvm::BitVector Values;
  std::vector<uint64_t> Worklist;
};

/// Whether readers skip unused metadata, as they do by default.
bool readsMetadataOnDemand();

/// The same, and whether importers read declarations of types.
bool readsLittleMetadata();

} // namespace dtlto

#endif // DTLTO_BITCODE_SLIMUSES_H
