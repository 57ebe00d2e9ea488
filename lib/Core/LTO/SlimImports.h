//===- SlimImports.h - What jobs of a link import from ----------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Keeps one file for each module that jobs import from, with all that any of
// them imports (SlimModule.h). All jobs share it. One file for each module
// costs next to nothing; one for each job would hardly be smaller, since most
// jobs need most of it.
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

/// The slim modules of one link. Thread-safe. They take less memory than the
/// modules themselves, and live as long as this object.
class SlimImports {
public:
  /// \p Tasks are all tasks that import. Modules of less than \p MinSize bytes
  /// stay whole: slimming would take longer than sending them.
  explicit SlimImports(llvm::ArrayRef<Task> Tasks, size_t MinSize = 0);

  struct Import {
    llvm::StringRef Bytes;
    bool IsWhole = false;
    /// Whether its assembly may read files (Bitcode/Assembly.h). False for a
    /// whole file, which isn't examined.
    bool MayReadFiles = false;
  };

  /// Returns \p Module reduced to what jobs import from it. Returns \p Whole,
  /// its file, if slimming isn't possible or saves nothing. The first call
  /// makes the result, without blocking calls for other modules. Each call
  /// returns the same bytes.
  Import getImportFile(const llvm::BitcodeModule &Module,
                       llvm::StringRef Whole);

  /// Makes what getImportFile() will return, unless a thread has begun to. Jobs
  /// that are prepared side by side import from the same modules: instead of
  /// waiting for one, a thread can make the next.
  void start(const llvm::BitcodeModule &Module, llvm::StringRef Whole);

  /// Returns lines for display: how many modules were slimmed, and why the
  /// others weren't.
  std::vector<std::string> describe() const;

private:
  struct Slice {
    bool IsStarted = false; // guarded by Mutex
    std::once_flag MakeOnce;
    SlimBitcode Slim;
    Import Result;
  };
  void plan();
  Slice &sliceOf(const llvm::BitcodeModule &Module, bool &WasStarted);
  void make(Slice &S, const llvm::BitcodeModule &Module, llvm::StringRef Whole);

  const std::vector<Task> Tasks;
  const size_t MinSize;
  std::once_flag PlanOnce;
  std::optional<ImportsByModule> Imported; // set by plan()
  mutable std::mutex Mutex;                // guards the following members
  llvm::StringMap<std::unique_ptr<Slice>> Slices;
  size_t NumSlim = 0, NumWhole = 0;       // modules
  uint64_t WholeBytes = 0, SlimBytes = 0; // of all of them
  std::map<std::string, size_t>
      WholeReasons; // number of modules for each reason
};

} // namespace dtlto

#endif // DTLTO_LTO_SLIMIMPORTS_H
