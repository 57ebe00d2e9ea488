//===- JobPreparer.h - What comes before a job's first attempt --*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Once for each job: LLVM's cache is asked, the job is saved, and its index
// files are written, if somebody wants that. For each attempt at the plugin:
// the job of the ABI is built.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_LINK_JOBPREPARER_H
#define DTLTO_LINK_JOBPREPARER_H

#include "Host/SessionEvents.h"
#include "Job/JobBuilder.h"
#include "Job/JobSaver.h"
#include "Link/FirstRoundCache.h"
#include "Link/Linker.h"
#include "Plan/Plan.h"
#include "LLVM/Cache.h"

namespace dtlto {

class JobPreparer {
public:
  /// \p Tasks are all jobs of the link.
  JobPreparer(const Link &L, llvm::ArrayRef<Task> Tasks);

  /// Does what \p A says for the job \p T; \p Cost is what the plugin is told.
  /// \p Avoid is the name of a worker, or empty. Any thread, but one at a time
  /// for a task.
  Event prepare(const plan::Action &A, Task &T, uint64_t Cost,
                llvm::StringRef Avoid);

  /// Whether prepare() is worth a thread of its own.
  bool isWork(const plan::Action &A) const;

  JobBuilder &builder() { return Builder; }
  const JobBuilder &builder() const { return Builder; }
  /// Null: modules are imported from whole.
  SlimImports *slim() const { return Slim.get(); }
  /// Null: jobs aren't saved.
  const JobSaver *saver() const { return Saver.get(); }
  /// Null: it isn't the first round of two, or there is no cache.
  FirstRoundCache *firstRound() const { return FirstRound.get(); }

private:
  llvm::Error prepareFirst(Task &T, bool IsSampled, Event &E);
  llvm::Error askCache(const Task &T, llvm::StringRef Key, bool IsSampled,
                       Event &E);
  std::string cacheEntry(llvm::StringRef Key) const;

  const Link &L;
  std::unique_ptr<SlimImports> Slim;
  JobBuilder Builder;
  std::unique_ptr<JobSaver> Saver;
  std::unique_ptr<FirstRoundCache> FirstRound;
  CfiFunctions Cfi;
};

} // namespace dtlto

#endif // DTLTO_LINK_JOBPREPARER_H
