//===- Batch.h - Small jobs that make one trip ------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A trip to a node has a grant, a connection, a handshake and a process there,
// and takes the node's slot for several round trips. Small jobs take less than
// that, so several of them go together (docs/BUNDLE.md, Batches).
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

/// How many jobs are worth one trip. Learns what trips take beside code
/// generation, and how long that takes for what a job is said to cost
/// (dtlto_job.cost). Not for several threads.
class Pace {
public:
  static constexpr size_t MaxJobs = 16;

  /// \p Fixed: so many whatever they take, 1 to MaxJobs; 0: it is learnt.
  explicit Pace(size_t Fixed = 0) : Fixed(Fixed) {}

  /// A trip took \p Trip seconds, of which \p Work were its jobs', whose costs
  /// are \p Cost together; for one job, \p Work isn't known, and 0.
  void learn(double Trip, double Work, uint64_t Cost);
  /// A batch came to nothing that one job alone might not have. After a few,
  /// there are no more.
  void failed() { ++NumFailed; }

  /// How many of such jobs are worth one trip: 1 to MaxJobs.
  size_t jobs(uint64_t Cost) const;
  /// The same for one trip whose jobs so far are \p N and cost \p Before.
  bool mayAdd(size_t N, uint64_t Before, uint64_t Cost) const;

private:
  size_t Fixed;
  double Shortest = 0; // trip of one job; 0: there was none
  uint64_t CostOfShortest = 0;
  double Overhead = 0;        // the least of all batches
  double Work = 0, Costs = 0; // of all batches
  unsigned NumFailed = 0;
};

/// What comes before a bundle of \p Size bytes in a batch.
std::string batchHead(uint64_t Size);

/// One job's part of what a node sent for a batch.
struct BatchEntry {
  std::string_view Frame;
  double Seconds; // as the node says
};

/// Takes apart what came for a batch of \p N jobs, which may be any bytes, and
/// is borrowed. False if it isn't that.
bool readBatchReply(std::string_view Bytes, size_t N,
                    std::vector<BatchEntry> &Entries);

} // namespace dtlto::icecc

#endif // DTLTO_ICECC_BATCH_H
