//===- BatchFuzz.cpp - Batches, and replies to them -----------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Input: a batch of bundles, or the reply to one. Each has only one encoding.
//
//===----------------------------------------------------------------------===//

#include "Batch.h"
#include "Bundle/ObjectFrame.h"
#include "Fuzz.h"
#include <cstdlib>
#include <cstring>

using namespace llvm;
using namespace dtlto;

static std::string batch(ArrayRef<StringRef> Bundles) {
  std::string All;
  for (StringRef Bundle : Bundles)
    All += icecc::batchHeader(Bundle.size()) + Bundle.str();
  return All;
}

static std::string reply(ArrayRef<StringRef> Frames) {
  std::string All;
  for (StringRef Frame : Frames)
    All += (batchEntryHead(Frame.size(), 1000) + Frame).str();
  return All;
}

std::vector<std::string> dtlto::test::fuzzSeeds() {
  std::string Much = batch({"much"});
  Much[7] = '\x7f';
  std::vector<StringRef> Many(MaxBatch + 1);
  return {batch({"one"}),
          batch({"first", "", "third"}),
          batch(Many),
          batch({"cut"}).substr(0, 10),
          batch({"more"}) + "x",
          Much,
          reply({"one"}),
          reply({"first", "", "third"}),
          reply({"cut", "here"}).substr(0, 30)};
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  StringRef Bytes(reinterpret_cast<const char *>(Data), Size);
  Expected<SmallVector<StringRef, 0>> Bundles = readBatch(Bytes);
  if (!Bundles) {
    if (toString(Bundles.takeError()).empty())
      abort();
  } else if (Bundles->empty() || Bundles->size() > MaxBatch ||
             batch(*Bundles) != Bytes) {
    abort();
  }
  std::vector<icecc::BatchEntry> Entries;
  for (size_t N = 1; N != 5; ++N) {
    if (!icecc::readBatchReply({Bytes.data(), Size}, N, Entries))
      continue;
    // Times may have any value, so they aren't compared.
    size_t At = 0;
    for (const icecc::BatchEntry &E : Entries) {
      std::string Head = icecc::batchHeader(E.Frame.size());
      if (E.Seconds < 0 || Bytes.substr(At, 8) != Head ||
          Bytes.substr(At + 16, E.Frame.size()) != StringRef(E.Frame))
        abort();
      At += 16 + E.Frame.size();
    }
    if (Entries.size() != N || At != Size)
      abort();
  }
  return 0;
}
