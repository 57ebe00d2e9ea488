//===- InputBuffers.h - The whole file behind a bitcode module --*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LLVM hands a backend a BitcodeModule: a slice of a bitcode file that lacks
// the file's string table, so it is not a file that a compiler can read. The
// linker has the whole file in memory (mapped, an archive's member, or a
// section of a fat object); this remembers where, so that jobs can borrow it
// and nothing is copied.
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

/// The bitcode files of a link, by address. Any thread.
class InputBuffers {
public:
  struct File {
    llvm::StringRef Bytes;
    llvm::StringRef Triple; // lives as long as the InputBuffers
  };

  /// Remembers a file that LLVM has read. Its memory must stay as long as jobs
  /// of the link run; \p Triple is copied.
  void add(llvm::MemoryBufferRef File, llvm::StringRef Triple);

  /// Of each file, in bytes.
  std::vector<size_t> sizes() const;

  /// Takes mapped files out of this process's memory. Who reads them gets them
  /// from the system again, which has most likely kept them.
  void drop() const;

  /// Returns the file that \p Module is a slice of.
  std::optional<File> find(const llvm::BitcodeModule &Module) const;

  /// That of the file that \p Module is a slice of; empty if there is none.
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
