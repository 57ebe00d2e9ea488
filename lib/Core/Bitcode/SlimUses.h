//===- SlimUses.h - What the bodies of a slim module refer to ---*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Most of a module is of no use to an importer of a few functions: names of
// functions that no imported body calls, values of variables that aren't
// imported, metadata that none refers to. The records of the bodies say what is
// used.
//
// Values are known by number. A module's own come first: variables, functions,
// aliases, then constants. A body goes on with its arguments, its constants and
// its instructions, as far as these have a value; an instruction refers to a
// value by the distance to it. So all instructions are looked at, also those
// that refer to nothing: BitcodeReader::parseFunctionBody() has their records.
// To take a number for a reference keeps something too much, which nobody sees.
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
  /// The types of a function's result and then of its parameters; nothing: it
  /// is no function's type.
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
  /// The number of each variable's value; nothing: it has none.
  std::vector<std::optional<uint64_t>> Initializers;

  /// \p ID: the number of the first one.
  void begin(uint64_t ID) { First = ID; }
  /// Takes the next record of the block.
  void add(unsigned Code, llvm::ArrayRef<uint64_t> Record);

  uint64_t first() const { return First; }
  /// Constants that \p ID consists of; nothing: none, or it is no constant.
  llvm::ArrayRef<uint64_t> operands(uint64_t ID) const;
  /// Whether it may become null: texts and numbers, and aggregates.
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

/// What bodies and variables refer to.
class SlimUses {
public:
  llvm::DenseSet<uint64_t> Attributes; // lists, from 1 on
  llvm::DenseSet<uint64_t> Kinds;      // of attached metadata
  llvm::DenseSet<uint64_t> Metadata;   // strings and nodes
  bool AllKinds = false;               // they aren't known
  bool AllValues = false;              // assembly may name any
  bool Bundles = false;                // operand bundles

  /// \p NumValues: how many the module itself has.
  explicit SlimUses(uint64_t NumValues) : Values(NumValues) {}

  /// Adds what the function block has that \p In stands before, of a function
  /// of the type \p Type.
  llvm::Error addBody(llvm::BitstreamCursor &In, uint64_t Type,
                      const SlimTypes &Types);
  /// Adds what the block of metadata has that \p In stands before. Both step
  /// over it.
  llvm::Error addMetadata(llvm::BitstreamCursor &In);
  /// Adds the value with this number, if it is one of the module's.
  void addValue(uint64_t ID);
  /// Adds what constants consist of. After the last value.
  void follow(const SlimConstants &Constants);
  /// Whether an importer may come to a value.
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

/// Whether readers skip metadata that nobody asks for, as they do by default.
bool readsMetadataOnDemand();

/// Whether importers do that, and read declarations of types, likewise.
bool readsLittleMetadata();

} // namespace dtlto

#endif // DTLTO_BITCODE_SLIMUSES_H
