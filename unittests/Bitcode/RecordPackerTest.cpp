//===- RecordPackerTest.cpp - Abbreviations chosen to fit the records -----===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bitcode/RecordPacker.h"
#include "Modules.h"
#include "gtest/gtest.h"
#include <random>

using namespace llvm;
using namespace dtlto;
using namespace dtlto::test;

namespace {

constexpr unsigned BlockID = 17;

using Record = std::pair<unsigned, std::vector<uint64_t>>;
using Records = std::vector<Record>;

/// Writes a stream of one block, without abbreviations.
Bytes write(const Records &In) {
  Bytes Out;
  BitstreamWriter W(Out);
  W.EnterSubblock(BlockID, 3);
  for (const auto &[Code, Ops] : In)
    W.EmitRecord(Code, Ops);
  W.ExitBlock();
  return Out;
}

/// Returns a cursor that is positioned before the block.
BitstreamCursor before(const Bytes &Stream) {
  BitstreamCursor In(ref(Stream));
  BitstreamEntry Entry = must(In.advance());
  EXPECT_EQ(Entry.Kind, BitstreamEntry::SubBlock);
  EXPECT_EQ(Entry.ID, BlockID);
  return In;
}

Records read(const Bytes &Stream) {
  BitstreamCursor In = before(Stream);
  EXPECT_FALSE(In.EnterSubBlock(BlockID));
  Records Out;
  SmallVector<uint64_t, 16> Ops;
  while (true) {
    BitstreamEntry Entry = must(In.advance());
    if (Entry.Kind != BitstreamEntry::Record) {
      EXPECT_EQ(Entry.Kind, BitstreamEntry::EndBlock);
      EXPECT_TRUE(In.AtEndOfStream());
      return Out;
    }
    Ops.clear();
    unsigned Code = must(In.readRecord(Entry.ID, Ops));
    Out.emplace_back(Code, std::vector<uint64_t>(Ops.begin(), Ops.end()));
  }
}

Bytes repack(const Bytes &Stream, ChangeRecord Change = nullptr) {
  BitstreamCursor In = before(Stream);
  Bytes Out;
  BitstreamWriter W(Out);
  Error E = repackBlock(In, W, BlockID, Change);
  EXPECT_FALSE(bool(E)) << toString(std::move(E));
  W.FlushToWord();
  return Out;
}

} // namespace

TEST(RecordPackerTest, Empty) { EXPECT_EQ(read(repack(write({}))), Records()); }

TEST(RecordPackerTest, TheSameRecordsInFewerBytes) {
  Records In;
  for (uint64_t I = 0; I != 500; ++I) {
    In.push_back({8, {I * 40, 20, 7, 0, 0, 0, 1, 0, 0}}); // One shape.
    In.push_back({2, {}});
    In.push_back({7, std::vector<uint64_t>(I % 40, I)}); // Many shapes.
  }
  Bytes Was = write(In), Is = repack(Was);
  EXPECT_EQ(read(Is), In);
  EXPECT_LT(Is.size() * 4, Was.size() * 3);
}

TEST(RecordPackerTest, WideValues) {
  const Records In = {
      {1, {UINT64_MAX}},
      {1, {0}},
      {1, {uint64_t(1) << 32}},
      {1, {UINT32_MAX}},
      {2, {UINT64_MAX, 0}},
      {2, {UINT64_MAX, 1}},
      {2, {UINT64_MAX, 2}},
      {3, std::vector<uint64_t>(100, UINT32_MAX)},
      {3, {}},
  };
  Records Many;
  for (int I = 0; I != 50; ++I)
    Many.insert(Many.end(), In.begin(), In.end());
  EXPECT_EQ(read(repack(write(Many))), Many);
}

TEST(RecordPackerTest, Random) {
  std::mt19937_64 Random(1);
  for (int Round = 0; Round != 200; ++Round) {
    Records In;
    const unsigned Codes = 1 + Random() % 20, Lengths = 1 + Random() % 40;
    for (size_t I = Random() % 300; I; --I) {
      Record R(Random() % Codes, {});
      for (size_t N = Random() % Lengths; N; --N)
        R.second.push_back(Random() >> (Random() % 64));
      In.push_back(R);
    }
    Bytes Was = write(In), Is = repack(Was);
    EXPECT_EQ(read(Is), In);
    EXPECT_EQ(ref(repack(Was)), ref(Is));
    // Packing again drops the old abbreviations.
    EXPECT_EQ(read(repack(Is)), In);
  }
}

TEST(RecordPackerTest, Changes) {
  Bytes Was = write({{1, {1, 2, 3}}, {2, {4}}, {3, {5}}, {1, {}}});
  auto Change = [](unsigned &Code, SmallVectorImpl<uint64_t> &Ops) {
    if (Code == 3) {
      Code = 4;
      Ops.clear();
    }
    return Code != 2;
  };
  EXPECT_EQ(read(repack(Was, Change)),
            Records({{1, {1, 2, 3}}, {4, {}}, {1, {}}}));
}

TEST(RecordPackerTest, BlocksInside) {
  Bytes Stream;
  {
    BitstreamWriter W(Stream);
    W.EnterSubblock(BlockID, 3);
    W.EnterSubblock(9, 3);
    W.ExitBlock();
    W.ExitBlock();
  }
  BitstreamCursor In = before(Stream);
  Bytes Out;
  BitstreamWriter W(Out);
  EXPECT_EQ(toString(repackBlock(In, W, BlockID)), "malformed bitcode");
  W.FlushToWord();
}

TEST(RecordPackerTest, Blobs) {
  Bytes Stream;
  {
    BitstreamWriter W(Stream);
    W.EnterSubblock(BlockID, 3);
    auto Abbrev = std::make_shared<BitCodeAbbrev>();
    Abbrev->Add(BitCodeAbbrevOp(1));
    Abbrev->Add(BitCodeAbbrevOp(BitCodeAbbrevOp::Blob));
    unsigned ID = W.EmitAbbrev(std::move(Abbrev));
    W.EmitRecordWithBlob(ID, ArrayRef<unsigned>({1}), "blob");
    W.ExitBlock();
  }
  BitstreamCursor In = before(Stream);
  Bytes Out;
  BitstreamWriter W(Out);
  EXPECT_EQ(toString(repackBlock(In, W, BlockID)), "malformed bitcode");
  W.FlushToWord();
}
