//===- RemoteCache.h - Results that machines share --------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Looks for the results of a run's jobs in a store, next to everything else:
// the run waits for no answer, and takes an object that is found while its job
// waits or is under way. Results of this run are stored after their delivery.
//
// A value is a frame (Bundle/ObjectFrame.h) whose job is the key. Its result is
//
//   size of the outputs    64 bits, little-endian
//   the outputs            the object, or all outputs (Bundle/JobOutputs.h) if
//                          the job writes further files; compressed with zstd
//                          if that makes them smaller
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_RUN_REMOTECACHE_H
#define DTLTO_RUN_REMOTECACHE_H

#include "Host/RemoteStore.h"
#include "Run/JobResult.h"
#include "Run/JobSource.h"
#include "Run/RunContext.h"

namespace dtlto {

/// What reports and messages call the maker of an object that was found.
inline constexpr const char *RemoteCacheName = "remote cache";

/// Opens the store that \p Opts name, of \p Plugin from loadStorePlugin(); null
/// if that is null.
llvm::Expected<std::shared_ptr<RemoteStore>>
openRemoteStore(const Options &Opts, const dtlto_plugin *Plugin, Messages &Msg);

/// Returns the value of \p Outputs under \p Key.
std::string writeCacheValue(llvm::StringRef Outputs, const ResultKey &Key);

/// Returns the outputs in the untrusted \p Value. Fails with one line if they
/// are damaged, of another key, or have more than \p MaxBytes.
llvm::Expected<llvm::SmallVector<char, 0>>
readCacheValue(llvm::StringRef Value, const ResultKey &Key, uint64_t MaxBytes);

/// The remote cache of one run. The functions belong to the run's thread unless
/// they say otherwise.
class RemoteCache {
public:
  /// \p Numbers are the jobs' numbers at \p Source, by rank. A Found event in
  /// \p Events reports the rank of each job that was found.
  RemoteCache(const RunContext &Ctx, JobSource &Source,
              llvm::SmallVector<size_t> Numbers,
              std::shared_ptr<EventQueue> Events);
  ~RemoteCache() { stop(); }

  /// Begins to look for all jobs, in their order.
  void lookUp();
  /// Returns the result of job \p J, which was found.
  JobResult take(plan::JobId J);
  /// Job \p J has ended: its result isn't needed.
  void drop(plan::JobId J);
  /// Stores the result \p R of job \p J, unless it was found. Any thread.
  void put(plan::JobId J, const JobResult &R);
  /// Waits until no thread uses the jobs any more; that takes no longer than
  /// the check of an object. Calls of the plugin may go on.
  void stop();

private:
  struct State;
  static void run(std::shared_ptr<State> S);

  // Shared with threads that may be in the plugin for longer than the run.
  const std::shared_ptr<State> TheState;
};

} // namespace dtlto

#endif // DTLTO_RUN_REMOTECACHE_H
