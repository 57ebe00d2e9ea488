//===- JobSource.h - The jobs of a run --------------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The interface between the driver (LinkRun.h), which decides when to work on a
// job, and the code that knows what a job is: a module in the linker's memory
// (LTO/LTOJobs.h) or files (Files/FileJobs.h).
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_RUN_JOBSOURCE_H
#define DTLTO_RUN_JOBSOURCE_H

#include "Host/CodegenResult.h"
#include "Host/SessionEvents.h"
#include "Plan/Plan.h"
#include "Report/Observer.h"
#include "Run/JobResult.h"
#include <atomic>

namespace dtlto {

/// A source of jobs, numbered from 0. What jobs point to lives as long as the
/// source. Functions are thread-safe unless they say otherwise.
class JobSource {
public:
  virtual ~JobSource() = default;

  virtual size_t numJobs() const = 0;
  virtual JobFacts facts(size_t J) const = 0;
  /// Whether \p J is compiled in this process, whatever the plugin does.
  virtual bool mustStayLocal(size_t J) = 0;

  /// Whether prepare() is enough work for a thread of its own.
  virtual bool needsThread(const plan::Action &A) const = 0;
  /// Does what \p A says for \p J; \p Cost is passed to the plugin. \p Avoid is
  /// the name of a worker, or empty. Calls for one job must not overlap.
  /// Returns Prepared, CacheHit or Broken.
  virtual Event prepare(const plan::Action &A, size_t J, uint64_t Cost,
                        llvm::StringRef Avoid) = 0;

  /// The key of \p J's result in a store that machines share: a digest of all
  /// that the result depends on, independent of the folder of the link. Unset
  /// if the result is not one for other links. May be called next to prepare().
  virtual std::optional<ResultKey> resultKey(size_t J) = 0;

  /// Compiles \p J on this machine. Once \p Stop is true, the object isn't
  /// needed, and the compile fails as soon as it can. \p Stop may be null.
  virtual CodegenResult compileLocally(size_t J,
                                       const std::atomic<bool> *Stop) = 0;

  /// The files that \p J makes in addition to its object.
  virtual SideFiles sideFiles(size_t J) const = 0;
  /// Fails, with a reason, if \p Object can't be an object of \p J. With
  /// \p IsAsWritten, the object is exactly what a compiler wrote, and may be as
  /// unusual as its program.
  virtual llvm::Error check(size_t J, llvm::StringRef Object,
                            bool IsAsWritten) const = 0;
  /// Fails, with one line, if the object of \p J or the files that came with
  /// it differ from the local object \p LocalObject and its files.
  virtual llvm::Error compare(size_t J, const RemoteResult &Remote,
                              llvm::StringRef LocalObject) = 0;
  /// Writes the object of \p J and its side files: to \p Out unless it is null,
  /// otherwise to the usual place of \p J's objects.
  virtual llvm::Error deliver(size_t J, const JobResult &R,
                              const SideFiles &Side,
                              const llvm::AddStreamFn &Out) = 0;
  /// Whether deliver() only copies to memory.
  virtual bool deliversToMemory() const = 0;
  /// Whether the cache may have objects.
  virtual bool mayHit() const = 0;

  /// Notes on the whole run, for the user and for debug messages. Called once,
  /// at the end.
  virtual std::vector<std::string> notes() const { return {}; }
  virtual std::vector<std::string> debugNotes() const { return {}; }
};

} // namespace dtlto

#endif // DTLTO_RUN_JOBSOURCE_H
