//===- Rate.h - How fast jobs run -------------------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_CORE_RATE_H
#define DTLTO_CORE_RATE_H

#include <cstddef>

namespace dtlto {

/// What estimated seconds have to be multiplied with for the seconds that jobs
/// really take, somewhere. The mean over the jobs so far, the long ones
/// counting more.
class Rate {
public:
  void add(double Estimate, double Actual) {
    if (!(Estimate > 0) || !(Actual > 0))
      return;
    ++Count;
    Estimated += Estimate;
    Took += Actual;
  }

  /// How many jobs it is from.
  size_t count() const { return Count; }

  /// 1 before the first job.
  double value() const { return Count ? Took / Estimated : 1; }

private:
  size_t Count = 0;
  double Estimated = 0, Took = 0;
};

} // namespace dtlto

#endif // DTLTO_CORE_RATE_H
