//===- CostMatch.h - How well estimates matched -----------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Estimates put jobs in order, so what counts is whether the order was right:
// Spearman's rank correlation is 1 where it was, 0 where chance would have done
// as well, and -1 where it was reversed. Next to it stands by how much a time
// was off, once all estimates are multiplied with the same factor: a machine
// that is twice as fast as the one before is no mistake.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_JOB_COSTMATCH_H
#define DTLTO_JOB_COSTMATCH_H

#include <optional>
#include <string>
#include <vector>

namespace dtlto {

/// Compares estimates of a link's jobs with what they took. One thread at a
/// time.
class CostMatch {
public:
  /// Both in seconds. Leaves out pairs that can't be compared: not over 0, or
  /// not finite.
  void add(double Estimate, double Actual);

  size_t size() const { return Pairs.size(); }

  /// Spearman's, -1 to 1. Nothing if there is no order: fewer than two pairs,
  /// or all the same on a side.
  std::optional<double> rankCorrelation() const;

  /// What estimates have to be multiplied with: the median of actual by
  /// estimated. Nothing without pairs.
  std::optional<double> factor() const;

  /// The median of how far off estimates were, as part of the actual time,
  /// after the factor. Nothing without pairs.
  std::optional<double> medianError() const;

  /// All of it in one line, for people; empty without pairs.
  std::string text() const;

private:
  struct Pair {
    double Estimate, Actual;
  };
  std::vector<Pair> Pairs;
};

} // namespace dtlto

#endif // DTLTO_JOB_COSTMATCH_H
