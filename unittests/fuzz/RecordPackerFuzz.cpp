//===- RecordPackerFuzz.cpp - Any records, packed -------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Input: choices of the records of one block.
//
//===----------------------------------------------------------------------===//

#include "Bitcode/RecordPacker.h"
#include "Fuzz.h"
#include "Modules.h"

using namespace llvm;
using namespace dtlto;
using namespace dtlto::test;

static constexpr unsigned BlockID = 17;

using Records = std::vector<std::pair<unsigned, std::vector<uint64_t>>>;

std::vector<std::string> dtlto::test::fuzzSeeds() {
  std::string Mixed, Same;
  for (int I = 0; I != 300; ++I) {
    Mixed += char(I * 37);
    Same += "\x08\x03\x02\x07\x01";
  }
  return {Mixed, Same, "\x01\x28" + std::string(40, '\x3f') + Same};
}

static BitstreamCursor before(const Bytes &Stream) {
  BitstreamCursor In(ref(Stream));
  BitstreamEntry Entry = must(In.advance());
  check(Entry.Kind == BitstreamEntry::SubBlock && Entry.ID == BlockID);
  return In;
}

static Records read(const Bytes &Stream) {
  BitstreamCursor In = before(Stream);
  cantFail(In.EnterSubBlock(BlockID));
  Records Out;
  SmallVector<uint64_t, 16> Ops;
  while (true) {
    BitstreamEntry Entry = must(In.advance());
    if (Entry.Kind != BitstreamEntry::Record) {
      check(Entry.Kind == BitstreamEntry::EndBlock && In.AtEndOfStream());
      return Out;
    }
    Ops.clear();
    unsigned Code = must(In.readRecord(Entry.ID, Ops));
    Out.emplace_back(Code, std::vector<uint64_t>(Ops.begin(), Ops.end()));
  }
}

static Bytes repack(const Bytes &Stream) {
  BitstreamCursor In = before(Stream);
  Bytes Out;
  BitstreamWriter W(Out);
  cantFail(repackBlock(In, W, BlockID));
  W.FlushToWord();
  return Out;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  Choices C(Data, Size);
  Records In;
  while (!C.empty() && In.size() != 2000) {
    unsigned Code = C.below(24);
    std::vector<uint64_t> Ops(C.below(44));
    // Numbers of all widths, because the width determines the encoding.
    for (uint64_t &Op : Ops)
      if (uint8_t Byte = C.take(); Byte < 64)
        Op = Byte;
      else
        Op = uint64_t(Byte) * 0x0101010101010101 >> C.below(64);
    In.emplace_back(Code, Ops);
  }
  Bytes Was;
  {
    BitstreamWriter W(Was);
    W.EnterSubblock(BlockID, 3);
    for (const auto &[Code, Ops] : In)
      W.EmitRecord(Code, Ops);
    W.ExitBlock();
  }
  // LLVM reads the same records, also after packing twice.
  Bytes Is = repack(Was);
  check(read(Is) == In);
  check(read(repack(Is)) == In);
  check(ref(repack(Was)) == ref(Is));
  return 0;
}
