//===- PrefixAbbrevs.cpp - Abbreviations for texts that begin alike -------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bitcode/PrefixAbbrevs.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace llvm;
using namespace dtlto;

// In bits: of a character in an array, of one in a definition (a mark and
// VBR8), and what else a definition takes.
static constexpr size_t CharBits = 7, LiteralBits = 9, DefinitionBits = 40;

static bool isText(ArrayRef<uint64_t> Ops) {
  return all_of(Ops, [](uint64_t V) { return V < 128; });
}

bool PrefixAbbrevs::count(ArrayRef<uint64_t> Ops) {
  if (!isText(Ops))
    return false;
  Texts.emplace_back(Ops.begin(), Ops.end());
  return true;
}

/// All prefixes that two neighbours share, and no more than there are texts.
std::vector<PrefixAbbrevs::Range> PrefixAbbrevs::ranges() const {
  std::vector<Range> Ranges, Open; // each in the one before it
  for (size_t I = 0; I <= Texts.size(); ++I) {
    size_t Common = 0;
    if (I && I != Texts.size()) {
      const std::string &A = Texts[I - 1], &B = Texts[I];
      while (Common < std::min(A.size(), B.size()) && A[Common] == B[Common])
        ++Common;
    }
    size_t First = I ? I - 1 : 0;
    while (!Open.empty() && Open.back().Length > Common) {
      Open.back().Last = I;
      First = Open.back().First;
      Ranges.push_back(Open.back());
      Open.pop_back();
    }
    if (Common && (Open.empty() || Open.back().Length < Common))
      Open.push_back({Common, First, 0});
  }
  return Ranges;
}

void PrefixAbbrevs::define(BitstreamWriter &W, unsigned Max) {
  if (Texts.empty() || !Max)
    return;
  sort(Texts);
  std::vector<Range> Ranges = ranges();
  std::vector<size_t> Covered(Texts.size(), 0); // characters
  std::vector<std::string> Chosen = {""};
  while (Chosen.size() < Max) {
    const Range *Best = nullptr;
    size_t MostSaved = 0;
    for (const Range &R : Ranges) {
      size_t Saved = 0;
      for (size_t I = R.First; I != R.Last; ++I)
        if (Covered[I] < R.Length)
          Saved += (R.Length - Covered[I]) * CharBits;
      size_t Cost = R.Length * LiteralBits + DefinitionBits;
      if (Saved > Cost && Saved - Cost > MostSaved) {
        MostSaved = Saved - Cost;
        Best = &R;
      }
    }
    if (!Best)
      break;
    Chosen.push_back(Texts[Best->First].substr(0, Best->Length));
    for (size_t I = Best->First; I != Best->Last; ++I)
      Covered[I] = std::max(Covered[I], Best->Length);
  }
  for (const std::string &Prefix : Chosen) {
    auto Abbrev = std::make_shared<BitCodeAbbrev>();
    Abbrev->Add(BitCodeAbbrevOp(Code));
    for (char C : Prefix)
      Abbrev->Add(BitCodeAbbrevOp(static_cast<uint64_t>(C)));
    Abbrev->Add(BitCodeAbbrevOp(BitCodeAbbrevOp::Array));
    Abbrev->Add(BitCodeAbbrevOp(BitCodeAbbrevOp::Fixed, CharBits));
    Abbrevs.emplace_back(Prefix, W.EmitAbbrev(std::move(Abbrev)));
  }
  stable_sort(Abbrevs, [](const auto &A, const auto &B) {
    return A.first.size() > B.first.size();
  });
}

void PrefixAbbrevs::emit(BitstreamWriter &W, ArrayRef<uint64_t> Ops) const {
  for (const auto &[Prefix, ID] : Abbrevs)
    if (Prefix.size() <= Ops.size() &&
        std::equal(Prefix.begin(), Prefix.end(), Ops.begin(),
                   [](char C, uint64_t V) { return uint64_t(C) == V; }))
      return W.EmitRecord(Code, Ops, ID);
  W.EmitRecord(Code, Ops);
}
