//===- JobSource.h - What the jobs of a run are -----------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// The seam between the driver (LinkRun.h), which knows when something is done
// with a job, and those who know what a job is: modules in the memory of a
// linker (LTO/LTOJobs.h), or files (Files/FileJobs.h).
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_RUN_JOBSOURCE_H
#define DTLTO_RUN_JOBSOURCE_H

#include "Host/CodegenResult.h"
#include "Host/SessionEvents.h"
#include "Plan/Plan.h"
#include "Run/JobResult.h"
#include <atomic>

namespace dtlto {

/// What the driver knows of a job.
struct JobFacts {
  std::string Name;    // of the module, for messages
  std::string Title;   // the same with the part, for people
  std::string CostKey; // CostHistory.h
  unsigned Number = 0; // in the order of the link
  // Bytes of bitcode: to compile, and those that are only loaded beside them.
  uint64_t Size = 0, SizeBeside = 0;
  size_t ImportWork = 0; // as importWork() in LLVM/Index.h
};

/// Jobs have the numbers from 0 on. What the jobs that it makes point at lives
/// as long as this does. Any thread, but where it says otherwise.
class JobSource {
public:
  virtual ~JobSource() = default;

  virtual size_t numJobs() const = 0;
  virtual JobFacts facts(size_t J) const = 0;
  /// Whether \p J is compiled in this process, whatever becomes of the plugin.
  virtual bool staysHere(size_t J) = 0;

  /// Whether prepare() is worth a thread of its own.
  virtual bool isWork(const plan::Action &A) const = 0;
  /// Does what \p A says for \p J; \p Cost is what the plugin is told.
  /// \p Avoid is the name of a worker, or empty. One thread at a time for a
  /// job. Returns Prepared, CacheHit or Broken.
  virtual Event prepare(const plan::Action &A, size_t J, uint64_t Cost,
                        llvm::StringRef Avoid) = 0;

  /// Compiles \p J on this machine. Once \p Stop is true, which may be null,
  /// nobody needs the object: the result has failed, as soon as that can be.
  virtual CodegenResult compileHere(size_t J,
                                    const std::atomic<bool> *Stop) = 0;

  /// The files that \p J makes beside its object.
  virtual SideFiles sideFiles(size_t J) const = 0;
  /// Fails, with a reason, if \p Object is none that \p J could have. What is
  /// known to be as a compiler wrote it, \p IsAsWritten, can be as odd as its
  /// program.
  virtual llvm::Error check(size_t J, llvm::StringRef Object,
                            bool IsAsWritten) const = 0;
  /// Fails, with one line, if the object of \p J or the files beside it differ
  /// from \p Here and what was made here with it.
  virtual llvm::Error compare(size_t J, const Made &There,
                              llvm::StringRef Here) = 0;
  /// Brings the object of \p J, and what comes with it, to where they belong:
  /// \p Out if it isn't null, and else where \p J's objects always go.
  virtual llvm::Error deliver(size_t J, const JobResult &R,
                              const SideFiles &Side,
                              const llvm::AddStreamFn &Out) = 0;
  /// Whether that is no more than a copy in memory.
  virtual bool deliversToMemory() const = 0;
  /// Whether objects may be there already.
  virtual bool mayHit() const = 0;

  /// At the end, what there is to tell of the whole run, and to those who want
  /// to know all.
  virtual std::vector<std::string> notes() const { return {}; }
  virtual std::vector<std::string> debugNotes() const { return {}; }
};

} // namespace dtlto

#endif // DTLTO_RUN_JOBSOURCE_H
