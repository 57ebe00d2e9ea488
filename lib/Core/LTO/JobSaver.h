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

/// Makes \p Folder, which jobs are to be saved in. Fails, with a message that
/// names it, if nothing can be written there.
llvm::Error checkJobFolder(llvm::StringRef Folder);

/// Writes jobs as bundles that dtlto-codegen can run again. Any thread.
class JobSaver {
public:
  /// \p Folder is made if it isn't there; \p Slim as for a JobBuilder.
  JobSaver(const LinkContext &Ctx, llvm::StringRef Folder,
           SlimImports *Slim = nullptr);

  /// Writes <folder>/<path of the module>.tar, before the dot with the part
  /// and round. Fails if that can't be written, but only once.
  /// A job that can't travel isn't an error, but counted.
  llvm::Error save(const Task &T);

  size_t numSaved() const { return NumSaved; }
  size_t numLeftOut() const { return NumLeftOut; }
  /// Why the last one that was left out was.
  std::string reason() const;

private:
  JobBuilder Builder;
  const std::string Folder;
  std::atomic<size_t> NumSaved{0}, NumLeftOut{0};
  std::atomic<bool> HasFailed{false};
  mutable std::mutex Mutex; // guards Reason
  std::string Reason;
};

} // namespace dtlto

#endif // DTLTO_LTO_JOBSAVER_H
