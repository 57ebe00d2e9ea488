//===- InputBuffers.h - The whole file behind a bitcode module --*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LLVM hands a backend a BitcodeModule: a slice of a bitcode file that lacks
// the file's string table, so a compiler can't read it. The linker has the
// whole file in memory (mapped, an archive's member, or a section of a fat
// object). InputBuffers remembers where, so that jobs can borrow it without a
// copy.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_LTO_INPUTBUFFERS_H
#define DTLTO_LTO_INPUTBUFFERS_H

#include "llvm/ADT/StringSet.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Support/MemoryBufferRef.h"
#include <map>
#include <mutex>
#include <optional>

namespace dtlto {

/// The bitcode files of a link, by address. Thread-safe.
class InputBuffers {
public:
  struct File {
    llvm::StringRef Bytes;
    llvm::StringRef Triple; // lives as long as the InputBuffers
  };

  /// Remembers a file that LLVM has read. Its memory must outlive the jobs of
  /// the link; \p Triple is copied.
  void add(llvm::MemoryBufferRef File, llvm::StringRef Triple);

  /// The size of each file, in bytes.
  std::vector<size_t> sizes() const;

  /// Drops the pages of mapped files from this process's memory. A later read
  /// faults them in again, most likely from the page cache.
  void drop() const;

  /// Returns the file that \p Module is a slice of.
  std::optional<File> find(const llvm::BitcodeModule &Module) const;

  /// The triple of the file that \p Module is a slice of; empty if there is
  /// none.
  llvm::StringRef triple(const llvm::BitcodeModule &Module) const {
    std::optional<File> TheFile = find(Module);
    return TheFile ? TheFile->Triple : "";
  }

private:
  mutable std::mutex Mutex;
  std::map<const char *, File> Files; // by address of the first byte
  llvm::StringSet<> Triples;
};

} // namespace dtlto

#endif // DTLTO_LTO_INPUTBUFFERS_H
