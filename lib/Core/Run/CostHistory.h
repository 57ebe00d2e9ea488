//===- CostHistory.h - The cost of modules in earlier links -----*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The cost of a job is its expected time; the longest jobs start first. A
// module's name predicts its time better than its contents do: after an edit, a
// module takes about as long as before. So times are kept by name, with the
// size of the bitcode, and estimates grow with the module. A module that is
// unknown, or whose size has changed a lot, gets the rate (time for each byte)
// of the last links, so that all estimates are comparable.
//
// The memory of a backend compile is kept in the same way if it can be
// measured, which needs a process of its own. Otherwise it is estimated from
// the size.
//
// A history only orders jobs: it can't fail a link or change its output.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_RUN_COSTHISTORY_H
#define DTLTO_RUN_COSTHISTORY_H

#include "Host/ModuleNames.h"
#include "Run/CostFile.h"
#include "Support/Messages.h"
#include <memory>
#include <mutex>

namespace dtlto {

struct CostEstimate {
  double Seconds;  // more than 0, and finite
  uint64_t Memory; // bytes, without memory that all processes share
  bool IsMeasured; // whether Seconds is from its own earlier times
};

/// Returns \p Original, a module's name in LLD, without what depends on other
/// modules: the place of a member in its archive.
std::string costName(llvm::StringRef Original);

/// Returns the identity of a module across links: \p Original, its name in LLD
/// (as costName(), and as other machines know it, so it is the same on each
/// machine and in each folder), its target \p Triple, and the \p Settings that
/// change its time a lot. Modules of two projects, or archive members of the
/// same name, may share a key; their estimates then get less accurate.
std::string costKey(const ModuleNames &Names, llvm::StringRef Original,
                    llvm::StringRef Triple, llvm::StringRef Settings);

/// Thread-safe, except load(). Times are wall-clock seconds.
class CostHistory {
public:
  /// Reads the file at \p Path. The history is empty if the file is missing,
  /// damaged or of another version, or if its folder doesn't respond
  /// (FileTask.h). Sets \p Note, if given, to a text for debug messages.
  /// Without a path, nothing is known or kept.
  static std::unique_ptr<CostHistory> load(llvm::StringRef Path,
                                           std::string *Note = nullptr);

  /// Returns the estimate for the module of \p Key, with \p Bytes of bitcode to
  /// compile and \p LoadedBytes that are only loaded, such as the rest of
  /// the job's module. Recorded times count only after save(): a link's
  /// estimates don't change while it runs.
  CostEstimate estimate(llvm::StringRef Key, uint64_t Bytes,
                        uint64_t LoadedBytes = 0) const;

  /// Records that the module of \p Key took \p Seconds, and \p Memory bytes
  /// without what all processes share; 0 if unknown. Of several records before
  /// save(), that of the largest module counts, of equally large ones the last.
  /// Ignores impossible times: negative, infinite, weeks.
  void record(llvm::StringRef Key, uint64_t Bytes, double Seconds,
              uint64_t Memory = 0);

  /// Merges the records into the file, which another link may have changed
  /// meanwhile. Each module's time becomes the mean of the new and the known
  /// one. Keeps the MaxCostEntries that were used last. Returns a text for
  /// debug messages if that failed, otherwise ""; after a failure, it may be
  /// tried again. Takes at most about a second.
  std::string save();

  /// Whether load() or save() has just timed out on the folder: report it.
  /// False if that was known before.
  bool hasTimedOut() const { return HasTimedOut; }
  MessageLevel noteLevel() const {
    return HasTimedOut ? MessageLevel::Note : MessageLevel::Debug;
  }

  /// The number of known modules.
  size_t size() const;

private:
  /// The data that save() copies, so that it can abandon the file task.
  struct Contents {
    std::vector<CostEntry> KnownEntries; // by key
    mutable std::vector<bool> IsUsed;    // those with estimates
    std::vector<CostEntry> NewTimes;     // in chronological order

    const CostEntry *find(uint64_t Key) const;
    std::vector<CostEntry> newTimesByKey() const;
    void merge(std::vector<CostEntry> &Entries) const;
  };

  explicit CostHistory(llvm::StringRef Path) : Path(Path) {}
  void setKnown(std::vector<CostEntry> Entries);
  llvm::StringRef folder() const;

  const std::string Path;
  bool HasTimedOut = false;
  mutable std::mutex Mutex; // guards the following members
  Contents Data;
  double Rate; // seconds for each byte
};

} // namespace dtlto

#endif // DTLTO_RUN_COSTHISTORY_H
