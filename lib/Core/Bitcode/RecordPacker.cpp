//===- RecordPacker.cpp - Abbreviations made to measure -------------------===//
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

// Longer records are packed as arrays only.
static constexpr size_t MaxOps = 24;
// About what the definition of one operand takes.
static constexpr uint64_t OpBits = 10;

static unsigned width(uint64_t Value) { return Log2_64(Value | 1) + 1; }

/// How many bits a value of \p Width bits takes as VBR of \p Chunk.
static constexpr uint64_t vbrBits(unsigned Width, unsigned Chunk) {
  return (Width + Chunk - 2) / (Chunk - 1) * Chunk;
}

void RecordPacker::Widths::add(uint64_t Value) {
  AllSame &= !Any || Value == First;
  if (!Any)
    First = Value;
  Any = true;
  ++Count[width(Value)];
}

void RecordPacker::Widths::add(const Widths &Other) {
  if (!Other.Any)
    return;
  AllSame &= Other.AllSame && (!Any || Other.First == First);
  if (!Any)
    First = Other.First;
  Any = true;
  for (size_t I = 0; I != Count.size(); ++I)
    Count[I] += Other.Count[I];
}

void RecordPacker::count(unsigned Code, ArrayRef<uint64_t> Ops) {
  Shape &S = Shapes[{Code, std::min(Ops.size(), MaxOps + 1)}];
  if (++S.Number == 1) {
    S.FirstOps.assign(Ops.begin(), Ops.end());
    return;
  }
  const bool Long = Ops.size() > MaxOps;
  auto Add = [&](ArrayRef<uint64_t> Values) {
    for (size_t I = 0; I != Values.size(); ++I)
      S.Ops[Long ? 0 : I].add(Values[I]);
  };
  if (S.Number == 2) {
    S.Ops.resize(Long ? 1 : Ops.size());
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

/// What such values take with the encoding \p Op.
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

/// The shortest encoding of such values.
BitCodeAbbrevOp RecordPacker::best(const Counts &Of) {
  const unsigned Widest = Of.back().first;
  BitCodeAbbrevOp Best(BitCodeAbbrevOp::VBR, 6);
  if (Widest <= 32)
    Best = BitCodeAbbrevOp(BitCodeAbbrevOp::Fixed, Widest);
  uint64_t Least = bits(Of, Best);
  for (unsigned Chunk = 2; Chunk <= 16; ++Chunk) {
    BitCodeAbbrevOp Op(BitCodeAbbrevOp::VBR, Chunk);
    if (uint64_t Bits = bits(Of, Op); Bits < Least) {
      Least = Bits;
      Best = Op;
    }
  }
  return Best;
}

struct RecordPacker::Choice {
  uint64_t Saved;
  unsigned Code;
  Shape *Of; // null: an array, for all of the code
  std::shared_ptr<BitCodeAbbrev> Abbrev;
};

void RecordPacker::define(BitstreamWriter &W, unsigned Max) {
  std::vector<Choice> Choices;
  auto Consider = [&](unsigned Code, Shape *Of, uint64_t Was, uint64_t Bits,
                      std::shared_ptr<BitCodeAbbrev> Abbrev) {
    Bits += OpBits * Abbrev->getNumOperandInfos();
    if (Bits < Was)
      Choices.push_back({Was - Bits, Code, Of, std::move(Abbrev)});
  };
  const BitCodeAbbrevOp Plain(BitCodeAbbrevOp::VBR, 6);

  // One for all records of a code, as arrays.
  std::map<unsigned, std::pair<Widths, uint64_t>> Codes; // values, records
  for (const auto &[TheKey, S] : Shapes) {
    auto &[Values, Number] = Codes[TheKey.first];
    Number += S.Number;
    for (const Widths &Op : S.Ops)
      Values.add(Op);
    if (S.Number == 1)
      for (uint64_t Op : S.FirstOps)
        Values.add(Op);
  }
  std::map<unsigned, BitCodeAbbrevOp> Elements;
  for (const auto &[Code, Of] : Codes) {
    const auto &[Values, Number] = Of;
    if (!Values.Any)
      continue;
    const Counts Count = Values.counts();
    BitCodeAbbrevOp Op = best(Count);
    Elements.emplace(Code, Op);
    auto Abbrev = std::make_shared<BitCodeAbbrev>();
    Abbrev->Add(BitCodeAbbrevOp(Code));
    Abbrev->Add(BitCodeAbbrevOp(BitCodeAbbrevOp::Array));
    Abbrev->Add(Op);
    Consider(Code, nullptr, bits(Count, Plain) + Number * 6, bits(Count, Op),
             std::move(Abbrev));
  }
  // And for those of one length, if it is shorter than that.
  for (auto &[TheKey, S] : Shapes) {
    const auto &[Code, NumOps] = TheKey;
    if (NumOps > MaxOps || S.Number == 1)
      continue;
    uint64_t Was = S.Number * (6 + vbrBits(width(NumOps), 6)), Bits = 0;
    SmallVector<Counts, 0> Ops;
    for (const Widths &Op : S.Ops) {
      Ops.push_back(Op.counts());
      Was += bits(Ops.back(), Plain);
    }
    // Most are so few that even records of no bits would not be worth it.
    if (Was <= OpBits * (NumOps + 1))
      continue;
    auto Abbrev = std::make_shared<BitCodeAbbrev>();
    Abbrev->Add(BitCodeAbbrevOp(Code));
    uint64_t AsArray = S.Number * vbrBits(width(NumOps), 6);
    auto Element = Elements.find(Code);
    for (auto [Op, Count] : zip_equal(S.Ops, Ops)) {
      BitCodeAbbrevOp New =
          Op.AllSame ? BitCodeAbbrevOp(Op.First) : best(Count);
      Abbrev->Add(New);
      Bits += bits(Count, New);
      AsArray += bits(Count, Element->second);
    }
    if (Element != Elements.end())
      Was = std::min(Was, AsArray);
    Consider(Code, &S, Was, Bits, std::move(Abbrev));
  }
  // Equal ones in the order of codes, so that equal modules are equal bytes.
  stable_sort(Choices, [](const Choice &A, const Choice &B) {
    return A.Saved > B.Saved;
  });
  if (Choices.size() > Max)
    Choices.resize(Max);
  for (Choice &C : Choices) {
    unsigned ID = W.EmitAbbrev(std::move(C.Abbrev));
    if (C.Of)
      C.Of->Abbrev = ID;
    else
      Arrays[C.Code] = ID;
  }
}

void RecordPacker::emit(BitstreamWriter &W, unsigned Code,
                        ArrayRef<uint64_t> Ops) const {
  unsigned Abbrev = 0;
  if (Ops.size() <= MaxOps)
    if (auto It = Shapes.find({Code, Ops.size()}); It != Shapes.end())
      Abbrev = It->second.Abbrev;
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
  for (RecordList::Reader R(Records); !R.atEnd(); R.next()) {
    unsigned Code = R.code();
    Ops.assign(R.ops().begin(), R.ops().end());
    if (Change && !Change(Code, Ops))
      continue;
    Packer.count(Code, Ops);
    Changed.add(Code, Ops);
  }
  // Each bit of the abbreviations' numbers is one in each record.
  W.EnterSubblock(ID, 4);
  Packer.define(W, /*Max=*/7);
  for (RecordList::Reader R(Changed); !R.atEnd(); R.next())
    Packer.emit(W, R.code(), R.ops());
  W.ExitBlock();
}
