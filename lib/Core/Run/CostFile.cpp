//===- CostFile.cpp - A file of module times ------------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Run/CostFile.h"
#include "Support/AtomicFile.h"
#include "Support/Failure.h"
#include "LLVM/Version.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"

using namespace llvm;
using namespace dtlto;

static constexpr StringLiteral Magic = "dtlto-costs ";
static constexpr StringLiteral Version = "1 ";

//===----------------------------------------------------------------------===//
// Bytes
//===----------------------------------------------------------------------===//

/// LLVM 19's utohexstr() with a width makes 17 digits of 0.
static std::string hex(uint64_t N) {
  std::string Digits = utohexstr(N, /*LowerCase=*/true);
  return std::string(16 - Digits.size(), '0') + Digits;
}

static bool takeHex(StringRef &Text, uint64_t &N) {
  StringRef Digits = Text.take_front(16);
  Text = Text.drop_front(Digits.size());
  return Digits.size() == 16 && none_of(Digits, isUpper) &&
         !Digits.getAsInteger(16, N);
}

static bool takeNumber(StringRef &Text, uint64_t &N, uint64_t Max) {
  return !Text.starts_with("0") && !Text.consumeInteger(10, N) && N <= Max;
}

static bool takeEntry(StringRef &Text, CostEntry &Entry) {
  return takeHex(Text, Entry.Key) && Text.consume_front(" ") &&
         takeNumber(Text, Entry.Bytes, MaxCostBytes) &&
         Text.consume_front(" ") &&
         takeNumber(Text, Entry.Microseconds, MaxCostMicroseconds) &&
         (!Text.consume_front(" ") ||
          takeNumber(Text, Entry.KiB, MaxCostBytes / 1024)) &&
         Text.consume_front("\n");
}

Expected<std::vector<CostEntry>> dtlto::parseCosts(StringRef Text) {
  if (!Text.consume_front(Magic))
    return failure("it is not a cost history");
  if (!Text.consume_front(Version))
    return failure("it is a cost history of another version");
  uint64_t Checksum = 0;
  if (!takeHex(Text, Checksum) || !Text.consume_front("\n") ||
      Checksum != xxh3_64bits(Text))
    return failure("it is damaged");

  std::vector<CostEntry> Entries;
  std::vector<uint64_t> Keys;
  while (!Text.empty()) {
    CostEntry Entry;
    if (Entries.size() == MaxCostEntries)
      return failure("it has more than " + Twine(MaxCostEntries) + " entries");
    if (!takeEntry(Text, Entry))
      return failure("entry " + Twine(Entries.size() + 1) + " is invalid");
    Entries.push_back(Entry);
    Keys.push_back(Entry.Key);
  }
  llvm::sort(Keys);
  if (std::adjacent_find(Keys.begin(), Keys.end()) != Keys.end())
    return failure("an entry is repeated");
  return Entries;
}

std::string dtlto::formatCosts(ArrayRef<CostEntry> Entries) {
  std::string Body;
  for (const CostEntry &E : Entries) {
    Body += hex(E.Key) + " " + utostr(E.Bytes) + " " + utostr(E.Microseconds);
    Body += (E.KiB ? " " + utostr(E.KiB) : "") + "\n";
  }
  return (Magic + Version).str() + hex(xxh3_64bits(Body)) + "\n" + Body;
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

static constexpr FileKind CostFile = {
    "a cost history", Magic, "it is not a cost history", MaxCostFileSize};

Expected<std::string> dtlto::readCostText(StringRef Path) {
  auto Text = readTextFile(Path, CostFile.MaxSize, CostFile.Content);
  if (!Text)
    return Text.takeError();
  if (*Text && (*Text)->empty())
    return failure(CostFile.Other);
  return Text->value_or("");
}

Error dtlto::updateCostFile(
    StringRef Path, function_ref<void(std::vector<CostEntry> &)> Change) {
  return updateFile(Path, CostFile, std::chrono::milliseconds(500),
                    [&](StringRef Text) {
                      std::vector<CostEntry> Entries;
                      // A damaged file has none.
                      consumeError(parseCosts(Text).moveInto(Entries));
                      Change(Entries);
                      return formatCosts(Entries);
                    });
}
