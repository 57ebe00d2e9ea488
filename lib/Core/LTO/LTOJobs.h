//===- LTOJobs.h - The jobs of an LTO in this process -----------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_LTO_LTOJOBS_H
#define DTLTO_LTO_LTOJOBS_H

#include "LTO/JobBuilder.h"
#include "LTO/JobSaver.h"
#include "LTO/ObjectCache.h"
#include "Run/JobSource.h"
#include <atomic>

namespace dtlto {

/// The key of a module in the cost history: its name, its triple, and the
/// options in \p Conf that change its time.
std::string costKey(const ModuleNames &Names, llvm::StringRef Original,
                    llvm::StringRef Triple, const llvm::lto::Config &Conf);

/// The tasks that LLVM gave a backend, as jobs.
class LTOJobs : public JobSource {
public:
  /// \p JobMemory owns memory that jobs point to, in addition to that of
  /// \p TheLink: a plugin that hangs may read it after the link. May be null.
  LTOJobs(const Link &TheLink, std::vector<Task> Tasks,
          std::shared_ptr<const void> JobMemory = nullptr);

  size_t numJobs() const override { return Tasks.size(); }
  JobFacts facts(size_t J) const override;
  bool mustStayLocal(size_t J) override {
    return Builder.mustStayLocal(Tasks[J]);
  }
  bool needsThread(const plan::Action &A) const override;
  Event prepare(const plan::Action &A, size_t J, uint64_t Cost,
                llvm::StringRef Avoid) override;
  std::optional<ResultKey> resultKey(size_t J) override;
  CodegenResult compileLocally(size_t J,
                               const std::atomic<bool> *Stop) override;
  SideFiles sideFiles(size_t J) const override;
  llvm::Error check(size_t J, llvm::StringRef Object,
                    bool IsAsWritten) const override;
  llvm::Error compare(size_t J, const RemoteResult &Remote,
                      llvm::StringRef LocalObject) override;
  llvm::Error deliver(size_t J, const JobResult &R, const SideFiles &Side,
                      const llvm::AddStreamFn &Out) override;
  bool deliversToMemory() const override { return !mayHit(); }
  bool mayHit() const override { return Cache.exists(); }
  std::vector<std::string> notes() const override;
  std::vector<std::string> debugNotes() const override;

protected:
  /// Like ObjectCache::lookUp().
  virtual llvm::Error lookUpInCache(const Task &T, llvm::StringRef Key,
                                    bool IsSampled, Event &E) {
    return Cache.lookUp(T, Key, IsSampled, E);
  }

  const Link &TheLink;
  std::vector<Task> Tasks;
  const std::shared_ptr<const void> JobMemory;
  const std::unique_ptr<SlimImports> Slim; // null: imports are whole
  JobBuilder Builder;
  const ObjectCache Cache;

private:
  llvm::Error prepareFirst(Task &T, bool IsSampled, Event &E);
  bool namesObject(const Task &T) const;
  void dropPagesPeriodically(size_t J, size_t Bytes);

  const std::unique_ptr<JobSaver> Saver; // null: jobs aren't saved
  std::atomic<uint64_t> NumBytes{0};     // of modules read, shards and objects
};

} // namespace dtlto

#endif // DTLTO_LTO_LTOJOBS_H
