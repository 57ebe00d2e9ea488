//===- Stats.h - The statistics of a replay ---------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Numbers for bench/replay. Points in time are seconds of CLOCK_MONOTONIC, the
// same clock in all processes.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_BENCH_STATS_H
#define DTLTO_BENCH_STATS_H

#include "Recording.h"
#include "Settings.h"

namespace dtlto {
namespace replay {

/// The CPU time of the calling thread, in seconds.
double threadCpu();

/// Not thread-safe.
class Stats {
public:
  void noteOpen();
  void noteSubmit(const RecordedJob &J);
  void note(const Cluster::Report &R, const RecordedJob &J);
  void noteThread(); // on the cluster's thread, at its end
  void noteClose();
  /// Writes the file that \p S names.
  bool write(const Settings &S, const Recording &R, const Cluster &C,
             std::string &Error) const;

  uint64_t BytesDistinct = 0; // of all inputs, each content once
  double SubmitCpu = 0;       // CPU time in submit(), in seconds

private:
  struct Tries {
    uint32_t Active = 0, All = 0;
    bool Done = false;
  };
  double OpenAt = 0, FirstSubmitAt = 0, CloseAt = 0;
  double CpuAtOpen = 0, CpuAtClose = 0, ThreadCpu = 0;
  uint64_t NumMoved = 0, NumDuplicated = 0, NumFinished = 0;
  std::unordered_map<const RecordedJob *, Tries> TriesByJob;
};

} // namespace replay
} // namespace dtlto

#endif // DTLTO_BENCH_STATS_H
