//===- RecordPacker.cpp - Abbreviations that fit the records --------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bitcode/RecordPacker.h"
#include "Bitcode/BitstreamCopy.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;
using namespace dtlto;

/// Longer records are packed only as arrays.
static constexpr size_t MaxOps = 24;
/// The approximate size of the definition of one operand.
static constexpr uint64_t OpBits = 10;

static unsigned width(uint64_t Value) { return Log2_64(Value | 1) + 1; }

/// Returns the size in bits of a value of \p Width bits as VBR of \p Chunk.
static constexpr uint64_t vbrBits(unsigned Width, unsigned Chunk) {
  return (Width + Chunk - 2) / (Chunk - 1) * Chunk;
}

void RecordPacker::Widths::add(uint64_t Value) {
  IsConstant &= !std::exchange(HasValue, true) || Value == First;
  if (IsConstant)
    First = Value;
  ++Count[width(Value)];
}

void RecordPacker::count(unsigned Code, ArrayRef<uint64_t> Ops) {
  Shape &S = Shapes[{Code, std::min(Ops.size(), MaxOps + 1)}];
  if (++S.Number == 1) {
    S.FirstOps.assign(Ops.begin(), Ops.end());
    return;
  }
  const bool IsLong = Ops.size() > MaxOps;
  auto Add = [&](ArrayRef<uint64_t> Values) {
    for (size_t I = 0; I != Values.size(); ++I)
      S.Ops[IsLong ? 0 : I].add(Values[I]);
  };
  if (S.Number == 2) {
    S.Ops.resize(IsLong ? 1 : Ops.size());
    Add(S.FirstOps);
  }
  Add(Ops);
}

RecordPacker::Counts RecordPacker::Widths::counts() const {
  Counts Result;
  for (unsigned W = 1; W != Count.size(); ++W)
    if (Count[W])
      Result.emplace_back(W, Count[W]);
  return Result;
}

/// Returns the total size in bits of the counted values in the encoding \p Op.
uint64_t RecordPacker::bits(const Counts &Of, const BitCodeAbbrevOp &Op) {
  if (Op.isLiteral())
    return 0;
  uint64_t Sum = 0;
  const unsigned Data = Op.getEncodingData();
  const bool IsFixed = Op.getEncoding() == BitCodeAbbrevOp::Fixed;
  for (const auto &[Width, Number] : Of)
    Sum += Number * (IsFixed ? Data : vbrBits(Width, Data));
  return Sum;
}

/// Returns the shortest encoding of the counted values.
BitCodeAbbrevOp RecordPacker::best(const Counts &Of) {
  const unsigned Widest = Of.back().first;
  BitCodeAbbrevOp Best(BitCodeAbbrevOp::VBR, 6);
  if (Widest <= 32)
    Best = BitCodeAbbrevOp(BitCodeAbbrevOp::Fixed, Widest);
  uint64_t MinBits = bits(Of, Best);
  for (unsigned Chunk = 2; Chunk <= 16; ++Chunk) {
    BitCodeAbbrevOp Op(BitCodeAbbrevOp::VBR, Chunk);
    if (uint64_t Bits = bits(Of, Op); Bits < MinBits) {
      MinBits = Bits;
      Best = Op;
    }
  }
  return Best;
}

struct RecordPacker::Choice {
  uint64_t SavedBits;
  unsigned Code;
  Shape *Of; // null: an array, for all records of the code
  SmallVector<BitCodeAbbrevOp, 8> Ops;

  /// Adds an abbreviation to \p Choices if it saves bits. Records take \p
  /// OldBits bits without it and \p Bits with it.
  static void consider(std::vector<Choice> &Choices, unsigned Code, Shape *Of,
                       uint64_t OldBits, uint64_t Bits,
                       ArrayRef<BitCodeAbbrevOp> Ops) {
    Bits += OpBits * (Ops.size() + 1);
    if (Bits >= OldBits)
      return;
    Choices.push_back(
        {OldBits - Bits, Code, Of, SmallVector<BitCodeAbbrevOp, 8>(Ops)});
  }
};

/// The encoding of an operand in a record without an abbreviation.
static BitCodeAbbrevOp plain() {
  return BitCodeAbbrevOp(BitCodeAbbrevOp::VBR, 6);
}

/// Considers an array for all records of each code. Returns the elements'
/// encodings.
RecordPacker::Elements
RecordPacker::chooseArrays(std::vector<Choice> &Choices) {
  std::map<unsigned, std::pair<Widths, uint64_t>> Codes; // values, records
  for (const auto &[TheKey, S] : Shapes) {
    auto &[Values, Number] = Codes[TheKey.first];
    Number += S.Number;
    for (const Widths &Op : S.Ops)
      for (size_t I = 0; I != Op.Count.size(); ++I)
        Values.Count[I] += Op.Count[I];
    if (S.Number == 1)
      for (uint64_t Op : S.FirstOps)
        ++Values.Count[width(Op)];
  }
  Elements Result;
  for (const auto &[Code, Of] : Codes) {
    const auto &[Values, Number] = Of;
    const Counts Count = Values.counts();
    if (Count.empty())
      continue;
    BitCodeAbbrevOp Op = best(Count);
    Result.emplace(Code, Op);
    Choice::consider(Choices, Code, nullptr, bits(Count, plain()) + Number * 6,
                     bits(Count, Op),
                     {BitCodeAbbrevOp(BitCodeAbbrevOp::Array), Op});
  }
  return Result;
}

/// Considers an abbreviation for the records of each code and length if it is
/// shorter than an array of \p ElementOf.
void RecordPacker::chooseShapes(std::vector<Choice> &Choices,
                                const Elements &ElementOf) {
  for (auto &[TheKey, S] : Shapes) {
    const auto &[Code, NumOps] = TheKey;
    if (NumOps > MaxOps || S.Number == 1)
      continue;
    uint64_t OldBits = S.Number * (6 + vbrBits(width(NumOps), 6)), Bits = 0;
    SmallVector<Counts, 0> Ops;
    for (const Widths &Op : S.Ops) {
      Ops.push_back(Op.counts());
      OldBits += bits(Ops.back(), plain());
    }
    // Most shapes are so rare that a definition can't pay even at 0 bits a
    // record.
    if (OldBits <= OpBits * (NumOps + 1))
      continue;
    SmallVector<BitCodeAbbrevOp, 8> Abbrev;
    uint64_t AsArray = S.Number * vbrBits(width(NumOps), 6);
    auto Element = ElementOf.find(Code);
    for (auto [Op, Count] : zip_equal(S.Ops, Ops)) {
      Abbrev.push_back(Op.IsConstant ? BitCodeAbbrevOp(Op.First) : best(Count));
      Bits += bits(Count, Abbrev.back());
      AsArray += bits(Count, Element->second);
    }
    if (Element != ElementOf.end())
      OldBits = std::min(OldBits, AsArray);
    Choice::consider(Choices, Code, &S, OldBits, Bits, Abbrev);
  }
}

void RecordPacker::define(BitstreamWriter &W, unsigned Max) {
  std::vector<Choice> Choices;
  chooseShapes(Choices, chooseArrays(Choices));
  // Sort stably, in the order of codes: equal modules must give equal bytes.
  stable_sort(Choices, [](const Choice &A, const Choice &B) {
    return A.SavedBits > B.SavedBits;
  });
  if (Choices.size() > Max)
    Choices.resize(Max);
  for (const Choice &C : Choices) {
    unsigned ID = emitAbbrev(W, C.Code, C.Ops);
    if (C.Of)
      C.Of->Abbrev = ID;
    else
      Arrays[C.Code] = ID;
  }
}

void RecordPacker::emit(BitstreamWriter &W, unsigned Code,
                        ArrayRef<uint64_t> Ops) const {
  auto ShapeIt = Shapes.find({Code, std::min(Ops.size(), MaxOps + 1)});
  assert(ShapeIt != Shapes.end() && "the record was counted");
  unsigned Abbrev = ShapeIt == Shapes.end() ? 0 : ShapeIt->second.Abbrev;
  if (!Abbrev)
    if (auto It = Arrays.find(Code); It != Arrays.end())
      Abbrev = It->second;
  W.EmitRecord(Code, Ops, Abbrev);
}

Error dtlto::repackBlock(BitstreamCursor &In, BitstreamWriter &W, unsigned ID,
                         ChangeRecord Change) {
  if (Error E = In.EnterSubBlock(ID))
    return E;
  RecordList Records;
  auto OnRecord = [&](unsigned Code, ArrayRef<uint64_t> Ops) -> Error {
    Records.add(Code, Ops);
    return Error::success();
  };
  if (Error E = readBlock(In, OnRecord))
    return E;
  repackBlock(Records, W, ID, Change);
  return Error::success();
}

void dtlto::repackBlock(const RecordList &Records, BitstreamWriter &W,
                        unsigned ID, ChangeRecord Change) {
  RecordPacker Packer;
  RecordList Changed;
  SmallVector<uint64_t, 64> Ops;
  for (size_t I = 0; I != Records.size(); ++I) {
    auto [Code, Original] = Records[I];
    Ops.assign(Original.begin(), Original.end());
    if (Change && !Change(Code, Ops))
      continue;
    Packer.count(Code, Ops);
    Changed.add(Code, Ops);
  }
  // Each record starts with its abbreviation's number; keep the numbers short.
  W.EnterSubblock(ID, 4);
  Packer.define(W, /*Max=*/7);
  for (size_t I = 0; I != Changed.size(); ++I)
    Packer.emit(W, Changed[I].Code, Changed[I].Ops);
  W.ExitBlock();
}
