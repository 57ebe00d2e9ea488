//===- CostFile.h - Times of modules, in a file -----------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The file that cost histories (CostHistory.h) are kept in. It is text:
//
//   dtlto-costs 1 <checksum of all that follows, 16 hex digits>
//   <key, 16 hex digits> <bytes> <microseconds> [<KiB of memory>]
//   ...
//
// The checksum is XXH3's, of 64 bits. Hex digits are lower case, numbers are
// decimal and without leading zeros, lines end with one line feed, no key comes
// twice: so the same entries are the same bytes. The first entry is the one
// that was used last, and the last one is the first to be dropped. There is no
// time in the file, so a clock that is wrong can't spoil it.
//
// Several links may read and write it at once. A writer holds a lock on
// `<file>.lock`, reads what is there now, writes a temporary file next to it
// and renames that; so readers need no lock and see a whole file or none. The
// lock is flock(), which ends with its process. Where a file system has no such
// locks, writers go on without: then the last of two that write at once wins.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_RUN_COSTFILE_H
#define DTLTO_RUN_COSTFILE_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <string>
#include <vector>

namespace dtlto {

struct CostEntry {
  uint64_t Key;          // a hash of the module's identity
  uint64_t Bytes;        // the bitcode's, 1 to MaxCostBytes
  uint64_t Microseconds; // 1 to MaxCostMicroseconds
  uint64_t KiB = 0;      // of memory, up to MaxCostBytes / 1024; 0: not known

  bool operator==(const CostEntry &O) const {
    return Key == O.Key && Bytes == O.Bytes && Microseconds == O.Microseconds &&
           KiB == O.KiB;
  }
};

constexpr size_t MaxCostEntries = 100000;
constexpr uint64_t MaxCostBytes = uint64_t(1) << 40;
constexpr uint64_t MaxCostMicroseconds = 1000000000000; // 11 days
/// No file that formatCosts() makes is larger.
constexpr size_t MaxCostFileSize = 8 << 20;

/// The entries of a file's \p Text in their order. Fails with what is wrong;
/// nothing of a damaged file is used.
llvm::Expected<std::vector<CostEntry>> parseCosts(llvm::StringRef Text);

/// The text of a file with \p Entries: with no key twice, numbers in their
/// bounds, and at most MaxCostEntries.
std::string formatCosts(llvm::ArrayRef<CostEntry> Entries);

/// Reads the file at \p Path. No file is no entries. Fails if there is one that
/// can't be used. Never waits for anything but the disk.
llvm::Expected<std::vector<CostEntry>> readCostFile(llvm::StringRef Path);
/// The same, before parseCosts(): empty if there is no file.
llvm::Expected<std::string> readCostText(llvm::StringRef Path);

/// Lets \p Change work on the entries of the file at \p Path (none, if it can't
/// be used), and writes them, while no other link writes. Makes folders that
/// are missing. Fails, and leaves all as it was, if that can't be done within
/// half a second of waiting for others, or if \p Path is anything else than a
/// cost history.
llvm::Error
updateCostFile(llvm::StringRef Path,
               llvm::function_ref<void(std::vector<CostEntry> &)> Change);

} // namespace dtlto

#endif // DTLTO_RUN_COSTFILE_H
