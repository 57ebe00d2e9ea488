//===- CostFile.h - A file of module times ----------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The file format of cost histories (CostHistory.h). It is text:
//
//   dtlto-costs 1 <checksum of all that follows, 16 hex digits>
//   <key, 16 hex digits> <bytes> <microseconds> [<KiB of memory>]
//   ...
//
// The checksum is 64-bit XXH3. Hex digits are lower case, numbers are decimal
// without leading zeros, lines end with a line feed, and keys are unique, so
// equal entries give equal bytes. Entries are in order of last use, the latest
// first; the last one is dropped first. The file has no times of day, so a
// wrong clock can't spoil it. Links share the file as AtomicFile.h says.
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
  uint64_t Bytes;        // of bitcode, 1 to MaxCostBytes
  uint64_t Microseconds; // 1 to MaxCostMicroseconds
  uint64_t KiB = 0;      // of memory, up to MaxCostBytes / 1024; 0: unknown

  bool operator==(const CostEntry &O) const {
    return Key == O.Key && Bytes == O.Bytes && Microseconds == O.Microseconds &&
           KiB == O.KiB;
  }
};

constexpr size_t MaxCostEntries = 100000;
constexpr uint64_t MaxCostBytes = uint64_t(1) << 40;
constexpr uint64_t MaxCostMicroseconds = 1000000000000; // 11 days
/// The largest size of a file from formatCosts().
constexpr size_t MaxCostFileSize = 8 << 20;

/// Returns the entries of a file's \p Text, in order. Fails with a reason if
/// the file is damaged.
llvm::Expected<std::vector<CostEntry>> parseCosts(llvm::StringRef Text);

/// Returns the text of a file with \p Entries: keys must be unique, numbers
/// within their bounds, and at most MaxCostEntries entries.
std::string formatCosts(llvm::ArrayRef<CostEntry> Entries);

/// Returns the text of the file at \p Path, for parseCosts(); "" if there is no
/// file. Fails if an existing file can't be used.
llvm::Expected<std::string> readCostText(llvm::StringRef Path);

/// Reads the entries of the file at \p Path (none if it can't be used), lets
/// \p Change modify them, and writes them, under a lock. Creates missing
/// folders. Fails, and changes nothing, if the lock isn't free within half a
/// second, or if \p Path is anything but a cost history.
llvm::Error
updateCostFile(llvm::StringRef Path,
               llvm::function_ref<void(std::vector<CostEntry> &)> Change);

} // namespace dtlto

#endif // DTLTO_RUN_COSTFILE_H
