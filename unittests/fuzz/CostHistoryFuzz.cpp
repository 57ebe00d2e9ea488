//===- CostHistoryFuzz.cpp - Cost histories of any bytes ------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Input: a file. It is read as it is, and again with a correct checksum,
// because the checksum would detect all changes of the entries.
//
//===----------------------------------------------------------------------===//

#include "Fuzz.h"
#include "Run/CostFile.h"
#include "Run/CostHistory.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"
#include <cmath>
#include <cstdlib>

using namespace llvm;
using namespace dtlto;

static constexpr size_t HeaderSize = 31; // with the line feed

std::vector<std::string> dtlto::test::fuzzSeeds() {
  return {formatCosts({}), formatCosts({{xxh3_64bits("a"), 1000, 2000000}}),
          formatCosts({{0, 1, 1},
                       {~uint64_t(0), MaxCostBytes, MaxCostMicroseconds,
                        MaxCostBytes / 1024},
                       {xxh3_64bits("a"), 7, 8},
                       {~uint64_t(1), 123456, 123456, 789}})};
}

static void check(bool Condition) {
  if (!Condition)
    abort();
}

static std::string withChecksum(StringRef Text) {
  StringRef Body = Text.drop_front(HeaderSize);
  std::string Sum = utohexstr(xxh3_64bits(Body), /*LowerCase=*/true);
  return "dtlto-costs 1 " + std::string(16 - Sum.size(), '0') + Sum + "\n" +
         Body.str();
}

static const std::string &path() {
  // Never destroyed, because the function passed to atexit() below uses it.
  static const std::string &Path = *new std::string([] {
    SmallString<128> P;
    check(!sys::fs::createTemporaryFile("dtlto-fuzz", "costs", P));
    atexit([] {
      sys::fs::remove(path());
      sys::fs::remove(path() + ".lock");
    });
    return P.str().str();
  }());
  return Path;
}

/// Returns all entries except that of "a", sorted by key.
static std::vector<CostEntry>
others(Expected<std::vector<CostEntry>> MaybeEntries) {
  if (errorToBool(MaybeEntries.takeError()))
    return {};
  std::vector<CostEntry> Entries = std::move(*MaybeEntries);
  llvm::erase_if(Entries,
                 [](const CostEntry &E) { return E.Key == xxh3_64bits("a"); });
  llvm::sort(Entries, [](const CostEntry &A, const CostEntry &B) {
    return A.Key < B.Key;
  });
  return Entries;
}

/// Simulates a link with \p Text as its history.
static void use(StringRef Text, size_t NumEntries) {
  {
    std::error_code EC;
    raw_fd_ostream OS(path(), EC);
    check(!EC);
    OS << Text;
  }
  std::string Note;
  auto History = CostHistory::load(path(), &Note);
  check(!Note.empty() && History->size() == NumEntries);
  for (StringRef Key : {"a", "b"})
    for (uint64_t Bytes : {uint64_t(0), uint64_t(1000), ~uint64_t(0)}) {
      CostEstimate E = History->estimate(Key, Bytes);
      check(std::isfinite(E.Seconds) && E.Seconds > 0 && E.Memory > 0);
    }
  History->record("a", 1000, 3);
  if (!History->save().empty())
    return;
  // The compiled module comes first, and the other entries are unchanged.
  Expected<std::vector<CostEntry>> After =
      parseCosts(cantFail(readCostText(path())));
  check(bool(After));
  check(!After->empty() && After->front().Key == xxh3_64bits("a"));
  check(others(std::move(After)) == others(parseCosts(Text)));
  auto Again = CostHistory::load(path());
  check(Again->size() >= NumEntries && Again->size() <= NumEntries + 1);
  check(Again->estimate("a", 1000).IsMeasured);
}

static bool read(StringRef Text, size_t &NumEntries) {
  Expected<std::vector<CostEntry>> Entries = parseCosts(Text);
  if (!Entries) {
    check(!toString(Entries.takeError()).empty());
    return false;
  }
  for (const CostEntry &E : *Entries)
    check(E.Bytes >= 1 && E.Bytes <= MaxCostBytes && E.Microseconds >= 1 &&
          E.Microseconds <= MaxCostMicroseconds);
  // Entries have only one text.
  check(formatCosts(*Entries) == Text);
  NumEntries = Entries->size();
  return true;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  StringRef Text(reinterpret_cast<const char *>(Data), Size);
  size_t NumEntries = 0;
  // File accesses are slow, so only some of the unreadable inputs are used.
  if (read(Text, NumEntries) || Size % 16 == 0)
    use(Text, NumEntries);
  if (Size < HeaderSize)
    return 0;
  std::string Right = withChecksum(Text);
  if (read(Right, NumEntries))
    use(Right, NumEntries);
  return 0;
}
