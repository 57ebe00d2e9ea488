//===- Batch.h - Several small jobs in one trip -----------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A trip to a node needs a grant, a connection, a handshake and a process. It
// occupies the node's slot for several round trips. Small jobs take less time
// than that, so several of them share a trip (docs/BUNDLE.md, Batches).
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_ICECC_BATCH_H
#define DTLTO_ICECC_BATCH_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dtlto::icecc {

/// Decides how many jobs share a trip. Learns the overhead of trips, and the
/// time of code generation for a job's cost (dtlto_job.cost). One thread.
class Pace {
public:
  static constexpr size_t MaxJobs = 16;

  /// \p Fixed is the number of jobs in each trip, 1 to MaxJobs. 0: it is
  /// learned.
  explicit Pace(size_t Fixed = 0) : Fixed(Fixed) {}

  /// Records a trip of \p Trip seconds, \p Work of which were code generation
  /// for jobs of a total cost of \p Cost. For one job, \p Work is unknown, and
  /// 0.
  void learn(double Trip, double Work, uint64_t Cost);
  /// Records that a batch failed where a single job might not have. After a few
  /// failures, jobs are no longer batched.
  void recordFailure() { ++NumFailed; }

  /// Returns how many jobs of this cost should share a trip: 1 to MaxJobs.
  size_t jobs(uint64_t Cost) const;
  /// Whether a trip with \p N jobs, which cost \p TotalCost, should take one
  /// more.
  bool mayAdd(size_t N, uint64_t TotalCost, uint64_t Cost) const;

private:
  size_t Fixed;
  double Shortest = 0; // trip of one job; 0: none yet
  uint64_t CostOfShortest = 0;
  double Overhead = 0;        // the least of all batches
  double Work = 0, Costs = 0; // of all batches
  unsigned NumFailed = 0;
};

/// Returns the bytes that precede a bundle of \p Size bytes in a batch.
std::string batchHeader(uint64_t Size);

/// One job's part of the answer to a batch.
struct BatchEntry {
  std::string_view Frame;
  double Seconds; // of code generation
};

/// Parses an untrusted answer to a batch of \p N jobs. The entries borrow its
/// bytes. Returns false if the answer is invalid.
bool readBatchReply(std::string_view Bytes, size_t N,
                    std::vector<BatchEntry> &Entries);

} // namespace dtlto::icecc

#endif // DTLTO_ICECC_BATCH_H
