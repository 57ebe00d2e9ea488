//===- CostHistory.h - What modules took in earlier links -------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The cost of a job is the time that it is expected to take, so that the
// largest can be started first. A module's name says more about it than its
// contents do: after an edit it takes about as long as before. So times are
// kept by name, and the size of the bitcode with them: the estimate grows as
// the module does. A module that isn't known, or whose size is no more the same
// by far, is expected to take as long for each byte as those of the last links
// did, so that both can be compared.
//
// The memory that a backend compile takes is kept in the same way, where it can
// be measured: that of a process of its own. For others, it is estimated from
// the size.
//
// Nothing here can fail a link, or change what it makes: all that a history
// does is to put jobs in order.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_RUN_COSTHISTORY_H
#define DTLTO_RUN_COSTHISTORY_H

#include "Host/ModuleNames.h"
#include "Run/CostFile.h"
#include <memory>
#include <mutex>

namespace dtlto {

struct CostEstimate {
  double Seconds;  // more than 0, and finite
  uint64_t Memory; // bytes that it takes, without what all processes share
  bool Learnt;     // Seconds, from its own time, not from its size alone
};

/// \p Original, a module's name in LLD, without what changes when another
/// module does: the place of a member in its archive.
std::string costName(llvm::StringRef Original);

/// What identifies a module across links: \p Original, its name in LLD
/// (as costName(), and as it travels: so it is the same on each machine and in
/// each folder), its target \p Triple, and what of \p Conf changes the time a
/// lot. Modules of two projects, or members of one archive that have the same
/// name, may have the same key; then they spoil each other's estimates, no
/// more.
std::string costKey(const ModuleNames &Names, llvm::StringRef Original,
                    llvm::StringRef Triple, llvm::StringRef Settings);

/// Any thread, but for load(). Times are of the wall clock, in seconds.
class CostHistory {
public:
  /// Reads the file at \p Path. One that is missing, damaged or of another
  /// version, or whose folder doesn't answer (FileTask.h), is an empty history.
  /// \p Note, if given, becomes a text for debug messages in each case. Without
  /// a path, nothing is known or kept.
  static std::unique_ptr<CostHistory> load(llvm::StringRef Path,
                                           std::string *Note = nullptr);

  /// What the module of \p Key will take, with \p Bytes of bitcode to compile
  /// and \p BytesBeside that are only loaded, as the rest of a part's module
  /// is. What is recorded counts once it is saved: a link's estimates don't
  /// change while it runs.
  CostEstimate estimate(llvm::StringRef Key, uint64_t Bytes,
                        uint64_t BytesBeside = 0) const;

  /// The module of \p Key took \p Seconds, and \p Memory bytes without what all
  /// processes share; 0 if that is unknown. If that is said twice before
  /// save(), the larger module counts, or else what was said last. Leaves out
  /// what can't be a time: less than 0, infinite, weeks.
  void record(llvm::StringRef Key, uint64_t Bytes, double Seconds,
              uint64_t Memory = 0);

  /// Writes what was recorded to the file, on top of what is there now: another
  /// link may have written meanwhile. Each module's time is the mean of the new
  /// one and of what was known. Keeps the MaxCostEntries that were used last.
  /// Returns a text for debug messages if it couldn't, and nothing otherwise;
  /// it may then be tried again. Takes at most about a second.
  std::string save();

  /// Whether load() or save() has just found that the folder doesn't answer:
  /// the user should know. False if that was known before.
  bool hasTimedOut() const { return HasTimedOut; }

  /// How many modules are known.
  size_t size() const;

private:
  struct Time {
    uint64_t Key, Bytes;
    double Seconds;
    uint64_t KiB;
  };

  /// What save() needs, and copies, so that it can abandon the file.
  struct Contents {
    std::vector<CostEntry> Known;     // by key
    mutable std::vector<bool> IsUsed; // those that were asked for
    std::vector<Time> Recorded;       // in the order of time

    const CostEntry *find(uint64_t Key) const;
    std::vector<Time> recordedByKey() const;
    void merge(std::vector<CostEntry> &Entries) const;
  };

  explicit CostHistory(llvm::StringRef Path) : Path(Path) {}
  void know(std::vector<CostEntry> Entries);
  llvm::StringRef folder() const;

  const std::string Path;
  bool HasTimedOut = false;
  mutable std::mutex Mutex; // guards all that follows
  Contents C;
  double Rate; // seconds for each byte
};

} // namespace dtlto

#endif // DTLTO_RUN_COSTHISTORY_H
