//===- BitstreamRepack.cpp - Shorter records of a bitstream ---------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bitcode/BitstreamRepack.h"
#include "Bitcode/BitstreamCopy.h"
#include "Bitcode/PrefixAbbrevs.h"
#include "Bitcode/RecordPacker.h"

using namespace llvm;
using namespace dtlto;

Error dtlto::repackBlock(BitstreamCursor &In, BitstreamWriter &W, unsigned ID,
                         ChangeRecord Change,
                         std::optional<unsigned> TextCode) {
  if (Error E = In.EnterSubBlock(ID))
    return E;
  PrefixAbbrevs Texts(TextCode.value_or(0));
  bool AreTexts = TextCode.has_value();
  RecordPacker Packer;
  std::vector<std::pair<unsigned, SmallVector<uint64_t, 8>>> Records;
  SmallVector<uint64_t, 64> Ops;
  while (true) {
    Expected<BitstreamEntry> Entry = In.advance();
    if (!Entry)
      return Entry.takeError();
    if (Entry->Kind == BitstreamEntry::EndBlock)
      break;
    if (Entry->Kind != BitstreamEntry::Record)
      return createStringError(inconvertibleErrorCode(), MalformedBitcode);
    Ops.clear();
    StringRef Blob;
    Expected<unsigned> Code = In.readRecord(Entry->ID, Ops, &Blob);
    if (!Code)
      return Code.takeError();
    if (Blob.data())
      return createStringError(inconvertibleErrorCode(), MalformedBitcode);
    if (Change && !Change(*Code, Ops))
      continue;
    if (TextCode == *Code)
      AreTexts &= Texts.count(Ops);
    else
      Packer.count(*Code, Ops);
    Records.emplace_back(*Code, ArrayRef<uint64_t>(Ops));
  }
  // Each bit of the abbreviations' numbers is one in each record.
  W.EnterSubblock(ID, AreTexts ? 6 : 4);
  Packer.define(W, /*Max=*/7);
  if (AreTexts)
    Texts.define(W, /*Max=*/48);
  for (const auto &[Code, Values] : Records)
    if (TextCode != Code)
      Packer.emit(W, Code, Values);
    else if (AreTexts)
      Texts.emit(W, Values);
    else
      W.EmitRecord(Code, Values);
  W.ExitBlock();
  return Error::success();
}
