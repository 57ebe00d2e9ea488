//===- CostHistory.cpp - The cost of modules in earlier links -------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Run/CostHistory.h"
#include "Support/FileTask.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/xxhash.h"
#include <cmath>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

using namespace llvm;
using namespace dtlto;

// Seconds for each byte if nothing is known: about the rate of LLD's own 114
// modules at O2. All estimates use it then, so the order doesn't depend on it.
static constexpr double DefaultRate = 5e-6;

// Default memory estimates, in bytes: for each job, for each byte of bitcode
// that is compiled, and for each that is only loaded. docs/design/scheduling.md
// says how accurate they are.
static constexpr uint64_t BaseMemory = uint64_t(10) << 20;
static constexpr uint64_t MemoryRate = 60;
static constexpr uint64_t LoadedRate = 25;

// A module that has become this much larger or smaller counts as unknown.
static constexpr uint64_t MaxGrowth = 4;

// Merging an entry takes the time of reading or writing this many bytes.
static constexpr uint64_t WorkOfEntry = 256;

// The number of latest modules that determine the rate for unknown ones.
static constexpr size_t NumForRate = 1000;

// An edit of one member moves all members after it.
std::string dtlto::costName(StringRef Original) {
  std::optional<MemberName> M = MemberName::parse(Original);
  if (!M)
    return Original.str();
  M->Front.consume_back(" at ");
  return (M->Front + M->End).str();
}

std::string dtlto::costKey(const ModuleNames &Names, StringRef Original,
                           StringRef Triple, StringRef Settings) {
  std::string Name = costName(Original);
  std::string Key = Names.encode(Name).value_or(Name);
  Key += '\0';
  Key += Triple;
  Key += '\0';
  Key += Settings;
  return Key;
}

static double seconds(const CostEntry &E) {
  return double(E.Microseconds) / 1e6;
}

static uint64_t inMicroseconds(double Seconds) {
  return uint64_t(
      std::clamp(std::round(Seconds * 1e6), 1.0, double(MaxCostMicroseconds)));
}

static uint64_t boundedBytes(uint64_t Bytes) {
  return std::clamp<uint64_t>(Bytes, 1, MaxCostBytes);
}

static bool haveSimilarSize(uint64_t A, uint64_t B) {
  return A / MaxGrowth <= B && B / MaxGrowth <= A;
}

/// Scales \p Seconds of a module from \p OldBytes to \p NewBytes bytes.
static double scale(double Seconds, uint64_t OldBytes, uint64_t NewBytes) {
  return Seconds * (double(NewBytes) / double(OldBytes));
}

/// Returns the median of seconds for each byte, weighted by module size, since
/// the rate of small modules doesn't predict large ones. Outliers don't matter.
static double rate(ArrayRef<CostEntry> Entries) {
  if (Entries.empty())
    return DefaultRate;
  std::vector<std::pair<double, uint64_t>> Rates;
  double Total = 0;
  for (const CostEntry &E : Entries.take_front(NumForRate)) {
    Rates.push_back({seconds(E) / double(E.Bytes), E.Bytes});
    Total += double(E.Bytes);
  }
  llvm::sort(Rates);
  double Sum = 0;
  for (const auto &[Rate, Bytes] : Rates)
    if ((Sum += double(Bytes)) * 2 >= Total)
      return Rate;
  return Rates.back().first;
}

StringRef CostHistory::folder() const {
  StringRef Folder = sys::path::parent_path(Path);
  return Folder.empty() ? "." : Folder;
}

std::unique_ptr<CostHistory> CostHistory::load(StringRef Path,
                                               std::string *Note) {
  std::unique_ptr<CostHistory> History(new CostHistory(Path));
  FileAccess Access = FileAccess::Done;
  std::vector<CostEntry> Entries;
  auto Text = std::make_shared<std::string>();
  Error E = Path.empty() ? Error::success()
                         : tryFileTask(
                               History->folder(),
                               [Text, Path = Path.str()] {
                                 return readCostText(Path).moveInto(*Text);
                               },
                               /*Bytes=*/0, &Access);
  if (!E && !Text->empty())
    E = parseCosts(*Text).moveInto(Entries);
  History->HasTimedOut = Access == FileAccess::TimedOut;
  std::string Result = "no cost history";
  if (E)
    Result = "cost history '" + Path.str() +
             "' is not used: " + toString(std::move(E));
  else if (!Path.empty())
    Result = "cost history '" + Path.str() + "': " + utostr(Entries.size()) +
             " modules";
  if (Note)
    *Note = Result;
  History->setKnown(std::move(Entries));
  return History;
}

void CostHistory::setKnown(std::vector<CostEntry> Entries) {
  Rate = rate(Entries);
  Data.KnownEntries = std::move(Entries);
  llvm::sort(Data.KnownEntries, [](const CostEntry &A, const CostEntry &B) {
    return A.Key < B.Key;
  });
  Data.IsUsed.assign(Data.KnownEntries.size(), false);
}

const CostEntry *CostHistory::Contents::find(uint64_t Key) const {
  auto It =
      llvm::lower_bound(KnownEntries, Key, [](const CostEntry &E, uint64_t K) {
        return E.Key < K;
      });
  return It != KnownEntries.end() && It->Key == Key ? &*It : nullptr;
}

size_t CostHistory::size() const {
  std::lock_guard<std::mutex> Lock(Mutex);
  return Data.KnownEntries.size();
}

CostEstimate CostHistory::estimate(StringRef KeyText, uint64_t Bytes,
                                   uint64_t LoadedBytes) const {
  uint64_t Key = xxh3_64bits(KeyText);
  Bytes = boundedBytes(Bytes);
  std::lock_guard<std::mutex> Lock(Mutex);
  uint64_t Memory = BaseMemory + MemoryRate * Bytes +
                    LoadedRate * std::min(LoadedBytes, MaxCostBytes);
  if (const CostEntry *E = Data.find(Key)) {
    Data.IsUsed[E - Data.KnownEntries.data()] = true;
    if (haveSimilarSize(E->Bytes, Bytes)) {
      if (E->KiB)
        Memory = static_cast<uint64_t>(
            scale(double(E->KiB) * 1024, E->Bytes, Bytes));
      return {scale(seconds(*E), E->Bytes, Bytes), Memory, true};
    }
  }
  return {Rate * double(Bytes), Memory, false};
}

void CostHistory::record(StringRef KeyText, uint64_t Bytes, double Seconds,
                         uint64_t Memory) {
  // Also false for NaN.
  if (!(Seconds >= 0 && Seconds <= double(MaxCostMicroseconds) / 1e6))
    return;
  if (Path.empty())
    return;
  std::lock_guard<std::mutex> Lock(Mutex);
  Data.NewTimes.push_back({xxh3_64bits(KeyText), boundedBytes(Bytes),
                           inMicroseconds(Seconds),
                           std::min(Memory, MaxCostBytes) / 1024});
}

/// Returns the recorded time that counts for each module.
std::vector<CostEntry> CostHistory::Contents::newTimesByKey() const {
  std::vector<CostEntry> Times = NewTimes;
  // The first of each key is the largest and, of equally large ones, the last.
  std::reverse(Times.begin(), Times.end());
  llvm::stable_sort(Times, [](const CostEntry &A, const CostEntry &B) {
    return std::tie(A.Key, B.Bytes) < std::tie(B.Key, A.Bytes);
  });
  Times.erase(std::unique(Times.begin(), Times.end(),
                          [](const CostEntry &A, const CostEntry &B) {
                            return A.Key == B.Key;
                          }),
              Times.end());
  return Times;
}

/// Updates the entries of the file, some of which another link may have
/// written.
void CostHistory::Contents::merge(std::vector<CostEntry> &Entries) const {
  std::unordered_map<uint64_t, const CostEntry *> InFile(Entries.size());
  for (const CostEntry &E : Entries)
    InFile[E.Key] = &E;
  auto findOld = [&](uint64_t Key) {
    auto It = InFile.find(Key);
    return It != InFile.end() ? It->second : find(Key);
  };

  std::vector<CostEntry> Merged;
  std::unordered_set<uint64_t> Done(Entries.size() + NewTimes.size());
  auto add = [&](const CostEntry &E) {
    if (Merged.size() != MaxCostEntries && Done.insert(E.Key).second)
      Merged.push_back(E);
  };
  for (CostEntry &T : newTimesByKey()) {
    const CostEntry *Old = findOld(T.Key);
    if (Old && haveSimilarSize(Old->Bytes, T.Bytes)) {
      T.Microseconds = inMicroseconds(
          (seconds(T) + scale(seconds(*Old), Old->Bytes, T.Bytes)) / 2);
      if (T.KiB == 0)
        T.KiB = std::min(
            static_cast<uint64_t>(scale(double(Old->KiB), Old->Bytes, T.Bytes)),
            MaxCostBytes / 1024);
    }
    add(T);
  }
  for (size_t I = 0; I != KnownEntries.size(); ++I)
    if (IsUsed[I])
      add(*findOld(KnownEntries[I].Key));
  for (const CostEntry &E : Entries)
    add(E);
  Entries = std::move(Merged);
}

std::string CostHistory::save() {
  std::lock_guard<std::mutex> Lock(Mutex);
  if (Data.NewTimes.empty())
    return "";
  struct File {
    Contents Snapshot;
    std::vector<CostEntry> NewEntries;
  };
  auto Update = std::make_shared<File>();
  Update->Snapshot = Data;
  // Merging takes time as well.
  const uint64_t Work =
      (Data.KnownEntries.size() + Data.NewTimes.size()) * WorkOfEntry;
  FileAccess Access;
  Error E = tryFileTask(
      folder(),
      [Update, Path = Path] {
        return updateCostFile(Path, [&](std::vector<CostEntry> &Entries) {
          Update->Snapshot.merge(Entries);
          Update->NewEntries = Entries;
        });
      },
      Work, &Access);
  HasTimedOut = Access == FileAccess::TimedOut;
  if (E) {
    std::string Why = toString(std::move(E));
    if (Access == FileAccess::Skipped) // already reported
      return "";
    return "cost history '" + Path + "' was not written: " + Why;
  }
  setKnown(std::move(Update->NewEntries));
  Data.NewTimes.clear();
  return "";
}
