//===- CostFile.cpp - A file of module times ------------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Run/CostFile.h"
#include "Support/AtomicFile.h"
#include "Support/Failure.h"
#include "Support/System.h"
#include "LLVM/Version.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"
#include <chrono>

using namespace llvm;
using namespace dtlto;

static constexpr StringLiteral Magic = "dtlto-costs ";
static constexpr StringLiteral Version = "1 ";

//===----------------------------------------------------------------------===//
// Bytes
//===----------------------------------------------------------------------===//

static void appendHex(std::string &Text, uint64_t N) {
  for (int Shift = 60; Shift >= 0; Shift -= 4)
    Text += hexdigit(N >> Shift & 15, /*LowerCase=*/true);
}

static bool takeHex(StringRef &Text, uint64_t &N) {
  if (Text.size() < 16)
    return false;
  N = 0;
  for (char C : Text.take_front(16)) {
    if (!isHexDigit(C) || isUpper(C))
      return false;
    N = N << 4 | hexDigitValue(C);
  }
  Text = Text.drop_front(16);
  return true;
}

static bool takeNumber(StringRef &Text, uint64_t &N, uint64_t Max) {
  size_t Length = Text.find_if_not(isDigit);
  StringRef Digits = Text.take_front(Length);
  if (Digits.empty() || Digits.front() == '0' || Digits.getAsInteger(10, N) ||
      N > Max)
    return false;
  Text = Text.drop_front(Digits.size());
  return true;
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
    appendHex(Body, E.Key);
    Body += " " + utostr(E.Bytes) + " " + utostr(E.Microseconds);
    Body += (E.KiB ? " " + utostr(E.KiB) : "") + "\n";
  }
  std::string Text = (Magic + Version).str();
  appendHex(Text, xxh3_64bits(Body));
  return Text + "\n" + Body;
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

/// Returns the bytes of the file at \p Path, or nothing if there is none.
static Expected<std::optional<std::string>> readBytes(const std::string &Path) {
  auto Text = readSmallFile(Path, MaxCostFileSize);
  if (Text && *Text && (*Text)->size() > MaxCostFileSize)
    return failure("it is larger than a cost history can be");
  return Text;
}

Expected<std::string> dtlto::readCostText(StringRef Path) {
  Expected<std::optional<std::string>> Text = readBytes(Path.str());
  if (!Text)
    return Text.takeError();
  if (*Text && (*Text)->empty())
    return parseCosts("").takeError();
  return Text->value_or("");
}

Expected<std::vector<CostEntry>> dtlto::readCostFile(StringRef Path) {
  Expected<std::string> Text = readCostText(Path);
  if (!Text)
    return Text.takeError();
  if (Text->empty())
    return std::vector<CostEntry>();
  return parseCosts(*Text);
}

/// Returns the entries of the file at \p Path, which is about to be replaced.
/// Fails if the file may be something that the user wants to keep.
static Expected<std::vector<CostEntry>> readToReplace(const std::string &Path) {
  Expected<std::optional<std::string>> Text = readBytes(Path);
  if (!Text)
    return Text.takeError();
  if (!*Text)
    return std::vector<CostEntry>();
  // A failed file system may leave a file empty, or full of zeros.
  bool IsCostFile = StringRef(**Text).starts_with(Magic) ||
                    (*Text)->find_first_not_of('\0') == std::string::npos;
  if (!IsCostFile)
    return failure("it is not a cost history");
  Expected<std::vector<CostEntry>> Entries = parseCosts(**Text);
  if (Entries)
    return Entries;
  consumeError(Entries.takeError());
  return std::vector<CostEntry>();
}

Error dtlto::updateCostFile(
    StringRef PathRef, function_ref<void(std::vector<CostEntry> &)> Change) {
  std::string Path = PathRef.str();
  StringRef Folder = sys::path::parent_path(Path);
  if (!Folder.empty())
    if (std::error_code EC = sys::fs::create_directories(Folder))
      return failure("its folder cannot be created: " + EC.message());
  // Check before the lock file is made: /dev/null must not get one.
  if (Expected<std::vector<CostEntry>> Entries = readToReplace(Path); !Entries)
    return Entries.takeError();

  auto Lock = lockFile(Path + ".lock", std::chrono::milliseconds(500));
  if (!Lock)
    return Lock.takeError();
  Expected<std::vector<CostEntry>> Entries = readToReplace(Path);
  if (!Entries)
    return Entries.takeError();
  Change(*Entries);
  if (Error E = replaceFile(
          Path, [&](raw_ostream &OS) { OS << formatCosts(*Entries); }))
    return failure("it cannot be written: " + toString(std::move(E)));
  return Error::success();
}
