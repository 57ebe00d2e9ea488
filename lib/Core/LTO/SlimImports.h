//===- SlimImports.h - What jobs of a link import from ----------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Keeps, for each module that jobs of this link import from, a file with what
// any of them imports (SlimModule.h). All jobs share it: one file for each
// module costs next to nothing to make, and one for each job would hardly be
// smaller, since most of it is what all need.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_LTO_SLIMIMPORTS_H
#define DTLTO_LTO_SLIMIMPORTS_H

#include "Bitcode/SlimModule.h"
#include "LTO/LinkContext.h"
#include "LLVM/Index.h"
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace dtlto {

/// The slim modules of one link. Any thread. Their memory is less than that of
/// the modules themselves, and lives as long as this.
class SlimImports {
public:
  /// \p Tasks are all that will ever be asked for. Modules of less than \p From
  /// bytes aren't worth the time: it takes more of it than their bytes would.
  explicit SlimImports(llvm::ArrayRef<Task> Tasks, size_t From = 0);

  struct Import {
    llvm::StringRef Bytes;
    bool IsWhole = false;
    /// Its assembly (Bitcode/Assembly.h). A whole file is not looked into.
    bool MayReadFiles = false;
  };

  /// Returns \p Module with what jobs import from it, or \p Whole, its file,
  /// where it can't be slimmed or that would win nothing. Made when it is first
  /// asked for; other modules aren't held up. The bytes of a module are the
  /// same each time.
  Import slim(const llvm::BitcodeModule &Module, llvm::StringRef Whole);

  /// Makes what slim() will return, unless a thread has begun to: jobs that are
  /// prepared side by side import from the same modules, and who waits for one
  /// of them can make the next meanwhile.
  void start(const llvm::BitcodeModule &Module, llvm::StringRef Whole);

  /// Says in lines, for display, what became of the modules asked for.
  std::vector<std::string> describe() const;

private:
  struct Slice {
    bool IsBegun = false; // guarded by Mutex
    std::once_flag Made;
    SlimBitcode Slim;
    Import Result;
  };
  void plan();
  Slice &sliceOf(const llvm::BitcodeModule &Module, bool &WasBegun);
  void make(Slice &S, const llvm::BitcodeModule &Module, llvm::StringRef Whole);

  const std::vector<Task> Tasks;
  const size_t From;
  std::once_flag Planned;
  std::optional<ImportsByModule> Imported; // once one is slimmed
  mutable std::mutex Mutex;                // guards what follows
  llvm::StringMap<std::unique_ptr<Slice>> Slices;
  size_t NumSlim = 0, NumWhole = 0;       // modules
  uint64_t WholeBytes = 0, SlimBytes = 0; // of all of them
  std::map<std::string, size_t> WhyWhole; // and how often
};

} // namespace dtlto

#endif // DTLTO_LTO_SLIMIMPORTS_H
