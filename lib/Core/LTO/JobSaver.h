//===- JobSaver.h - Saves the jobs of a link --------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_LTO_JOBSAVER_H
#define DTLTO_LTO_JOBSAVER_H

#include "LTO/JobBuilder.h"

namespace dtlto {

/// Creates \p Folder, for saved jobs. Fails, with a message that names it, if
/// it can't be written to.
llvm::Error checkJobFolder(llvm::StringRef Folder);

/// Writes jobs as bundles that dtlto-codegen can run again. Thread-safe.
class JobSaver {
public:
  /// Creates \p Folder if necessary; \p Slim is as for a JobBuilder.
  JobSaver(const LinkContext &Ctx, llvm::StringRef Folder,
           SlimImports *Slim = nullptr);

  /// Writes <folder>/<path of the module><suffix of its spec>.tar. Counts a job
  /// that a bundle can't express as left out. Fails if a file can't be written,
  /// but only the first time.
  llvm::Error save(const Task &T);

  size_t numSaved() const { return NumSaved; }
  size_t numSkipped() const { return NumSkipped; }
  /// Why the last job that was left out can't be expressed.
  std::string reason() const;

private:
  JobBuilder Builder;
  const std::string Folder;
  std::atomic<size_t> NumSaved{0}, NumSkipped{0};
  std::atomic<bool> HasFailed{false};
  mutable std::mutex Mutex; // guards Reason
  std::string Reason;
};

} // namespace dtlto

#endif // DTLTO_LTO_JOBSAVER_H
