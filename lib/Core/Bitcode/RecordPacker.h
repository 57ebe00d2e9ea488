//===- RecordPacker.h - Abbreviations that fit the records ------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LLVM's writer has abbreviations for few kinds of records. All others take at
// least six bits per operand. A reader accepts any abbreviation and sees the
// same records.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_BITCODE_RECORDPACKER_H
#define DTLTO_BITCODE_RECORDPACKER_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Bitstream/BitstreamReader.h"
#include "llvm/Bitstream/BitstreamWriter.h"
#include <array>
#include <map>
#include <vector>

namespace dtlto {

/// Writes the records of one block with abbreviations chosen for these records.
class RecordPacker {
public:
  /// Counts a record that emit() will write.
  void count(unsigned Code, llvm::ArrayRef<uint64_t> Ops);
  /// Defines at most \p Max abbreviations in the current block of \p W.
  void define(llvm::BitstreamWriter &W, unsigned Max);
  /// Writes a record that was counted.
  void emit(llvm::BitstreamWriter &W, unsigned Code,
            llvm::ArrayRef<uint64_t> Ops) const;

private:
  /// Widths in bits, ascending, and the number of values of each.
  using Counts = llvm::SmallVector<std::pair<unsigned, uint64_t>, 4>;
  /// The widths of an operand's values.
  struct Widths {
    std::array<uint32_t, 65> Count = {};
    // Not set for sums.
    uint64_t First = 0;
    bool HasValue = false, IsConstant = true;

    void add(uint64_t Value);
    Counts counts() const;
  };
  /// Records of one code and one number of operands.
  struct Shape {
    uint64_t Number = 0;
    // Most shapes have one record, which never pays for a definition.
    std::vector<uint64_t> FirstOps;
    std::vector<Widths> Ops; // empty for one record
    unsigned Abbrev = 0;     // 0: none
  };
  using Key = std::pair<unsigned, size_t>; // code, operands
  struct Choice;
  using Elements = std::map<unsigned, llvm::BitCodeAbbrevOp>; // by code

  static llvm::BitCodeAbbrevOp best(const Counts &Of);
  static uint64_t bits(const Counts &Of, const llvm::BitCodeAbbrevOp &Op);
  Elements chooseArrays(std::vector<Choice> &Choices);
  void chooseShapes(std::vector<Choice> &Choices, const Elements &ElementOf);

  std::map<Key, Shape> Shapes;
  std::map<unsigned, unsigned> Arrays; // abbreviations for any length, by code
};

/// Records that were read, in order.
class RecordList {
public:
  struct Record {
    unsigned Code;
    llvm::ArrayRef<uint64_t> Ops;
  };

  void add(unsigned Code, llvm::ArrayRef<uint64_t> Ops) {
    Begins.push_back({Code, AllOps.size()});
    AllOps.insert(AllOps.end(), Ops.begin(), Ops.end());
  }
  size_t size() const { return Begins.size(); }
  /// Returns a record whose operands are valid until the next add().
  Record operator[](size_t I) const {
    size_t Begin = Begins[I].second,
           End = I + 1 == size() ? AllOps.size() : Begins[I + 1].second;
    return {Begins[I].first,
            llvm::ArrayRef<uint64_t>(AllOps).slice(Begin, End - Begin)};
  }

private:
  std::vector<std::pair<unsigned, size_t>> Begins; // code, place in AllOps
  std::vector<uint64_t> AllOps;
};

/// Changes a record; returns whether to keep it.
using ChangeRecord = llvm::function_ref<bool(
    unsigned &Code, llvm::SmallVectorImpl<uint64_t> &Ops)>;

/// Like copyBlock(), but passes records through \p Change, if not null, and
/// writes them with a RecordPacker. The block \p ID must have no nested blocks,
/// no blobs, and at most five abbreviations in the BLOCKINFO of \p W.
llvm::Error repackBlock(llvm::BitstreamCursor &In, llvm::BitstreamWriter &W,
                        unsigned ID, ChangeRecord Change = nullptr);
/// Writes such a block of \p Records.
void repackBlock(const RecordList &Records, llvm::BitstreamWriter &W,
                 unsigned ID, ChangeRecord Change = nullptr);

} // namespace dtlto

#endif // DTLTO_BITCODE_RECORDPACKER_H
