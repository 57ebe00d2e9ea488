//===- RecordPacker.h - Abbreviations made to measure -----------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LLVM's writer has abbreviations for few kinds of records; the others take six
// bits and more for each operand. A reader takes any abbreviation, and sees the
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

/// Writes the records of one block with abbreviations that were chosen by
/// looking at all of them before.
class RecordPacker {
public:
  /// Looks at a record that will be written.
  void count(unsigned Code, llvm::ArrayRef<uint64_t> Ops);
  /// Defines at most \p Max abbreviations in the block that \p W is in.
  void define(llvm::BitstreamWriter &W, unsigned Max);
  /// Writes a record, one of those that were counted.
  void emit(llvm::BitstreamWriter &W, unsigned Code,
            llvm::ArrayRef<uint64_t> Ops) const;

private:
  /// Widths in bits, rising, and how many values have each.
  using Counts = llvm::SmallVector<std::pair<unsigned, uint64_t>, 4>;
  /// How many of the values of an operand need how many bits.
  struct Widths {
    std::array<uint32_t, 65> Count = {};
    uint64_t First = 0;
    bool Any = false, AllSame = true;

    void add(uint64_t Value);
    void add(const Widths &Other);
    Counts counts() const;
  };
  /// Records of one code and one number of operands.
  struct Shape {
    uint64_t Number = 0;
    // Most are those of one record. It never pays to define something for it.
    std::vector<uint64_t> FirstOps;
    std::vector<Widths> Ops; // of two and more
    unsigned Abbrev = 0;     // 0: none
  };
  using Key = std::pair<unsigned, size_t>; // code, operands
  struct Choice;

  static llvm::BitCodeAbbrevOp best(const Counts &Of);
  static uint64_t bits(const Counts &Of, const llvm::BitCodeAbbrevOp &Op);

  std::map<Key, Shape> Shapes;
  std::map<unsigned, unsigned> Arrays; // abbreviations for any length, by code
};

/// Records in a row, out of their bitstream.
class RecordList {
  struct Record {
    unsigned Code;
    size_t NumOps;
  };

public:
  void add(unsigned Code, llvm::ArrayRef<uint64_t> Ops) {
    Records.push_back({Code, Ops.size()});
    AllOps.insert(AllOps.end(), Ops.begin(), Ops.end());
  }
  /// Hands out the records one by one, in order. The list outlives it.
  class Reader {
  public:
    explicit Reader(const RecordList &List)
        : Records(List.Records), Ops(List.AllOps) {}
    bool atEnd() const { return Records.empty(); }
    unsigned code() const { return Records.front().Code; }
    llvm::ArrayRef<uint64_t> ops() const {
      return Ops.take_front(Records.front().NumOps);
    }
    void next() {
      Ops = Ops.drop_front(Records.front().NumOps);
      Records = Records.drop_front();
    }

  private:
    llvm::ArrayRef<Record> Records;
    llvm::ArrayRef<uint64_t> Ops;
  };
  size_t size() const { return Records.size(); }

private:
  std::vector<Record> Records;
  std::vector<uint64_t> AllOps;
};

/// Changes a record, and returns whether to keep it.
using ChangeRecord = llvm::function_ref<bool(
    unsigned &Code, llvm::SmallVectorImpl<uint64_t> &Ops)>;

/// As copyBlock(), but through a RecordPacker; each record goes through
/// \p Change first, if it is given. \p ID is that of a block without blocks and
/// blobs in it, with at most five abbreviations in BLOCKINFO, which \p W knows.
llvm::Error repackBlock(llvm::BitstreamCursor &In, llvm::BitstreamWriter &W,
                        unsigned ID, ChangeRecord Change = nullptr);
/// Writes such a block that was read into \p Records before.
void repackBlock(const RecordList &Records, llvm::BitstreamWriter &W,
                 unsigned ID, ChangeRecord Change = nullptr);

} // namespace dtlto

#endif // DTLTO_BITCODE_RECORDPACKER_H
