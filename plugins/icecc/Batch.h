//===- Batch.h - Small jobs that make one trip ------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A trip to a node needs a grant, a connection, a handshake and a process, and
// occupies the node's slot for several round trips. Small jobs take less time
// than that, so several of them go together (docs/BUNDLE.md, Batches).
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

/// Decides how many jobs go on one trip. Learns the overhead of trips, and the
/// time of code generation for a job's cost (dtlto_job.cost). One thread.
class Pace {
public:
  static constexpr size_t MaxJobs = 16;

  /// \p Fixed: always so many, 1 to MaxJobs; 0: the number is learnt.
  explicit Pace(size_t Fixed = 0) : Fixed(Fixed) {}

  /// A trip took \p Trip seconds, \p Work of which for its jobs, with the sum
  /// \p Cost of costs. For one job, \p Work isn't known, and 0.
  void learn(double Trip, double Work, uint64_t Cost);
  /// A batch failed where a single job might not have. After a few failures
  /// there are no more batches.
  void failed() { ++NumFailed; }

  /// How many jobs of this cost should go on one trip: 1 to MaxJobs.
  size_t jobs(uint64_t Cost) const;
  /// Whether a trip with \p N jobs, which cost \p Before, should take one more.
  bool mayAdd(size_t N, uint64_t Before, uint64_t Cost) const;

private:
  size_t Fixed;
  double Shortest = 0; // trip of one job; 0: there was none
  uint64_t CostOfShortest = 0;
  double Overhead = 0;        // the least of all batches
  double Work = 0, Costs = 0; // of all batches
  unsigned NumFailed = 0;
};

/// The bytes before a bundle of \p Size bytes in a batch.
std::string batchHead(uint64_t Size);

/// One job's part of the answer to a batch.
struct BatchEntry {
  std::string_view Frame;
  double Seconds; // of code generation
};

/// Parses an untrusted answer to a batch of \p N jobs; the entries borrow its
/// bytes. False if the answer is invalid.
bool readBatchReply(std::string_view Bytes, size_t N,
                    std::vector<BatchEntry> &Entries);

} // namespace dtlto::icecc

#endif // DTLTO_ICECC_BATCH_H
