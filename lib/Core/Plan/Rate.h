//===- Rate.h - How fast jobs run -------------------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_PLAN_RATE_H
#define DTLTO_PLAN_RATE_H

#include <algorithm>
#include <cstddef>
#include <vector>

namespace dtlto {

/// What estimated seconds have to be multiplied with for the seconds that jobs
/// really take, somewhere: the median over the jobs so far, so that a slow
/// machine among many makes no difference.
class Rate {
public:
  void add(double Estimate, double Actual) {
    if (Estimate > 0 && Actual > 0)
      Ratios.push_back(Actual / Estimate);
  }

  /// How many jobs it is from.
  size_t count() const { return Ratios.size(); }

  /// 1 before the first job. Cheap: a median of thousands isn't made anew for
  /// each of them.
  double value() const {
    if (Ratios.empty())
      return 1;
    if (CountOfMedian == 0 ||
        Ratios.size() > CountOfMedian + CountOfMedian / 8) {
      std::vector<double> Sorted = Ratios;
      auto Middle = Sorted.begin() + static_cast<ptrdiff_t>(Sorted.size() / 2);
      std::nth_element(Sorted.begin(), Middle, Sorted.end());
      Median = *Middle;
      CountOfMedian = Ratios.size();
    }
    return Median;
  }

private:
  std::vector<double> Ratios;
  mutable double Median = 1;
  mutable size_t CountOfMedian = 0;
};

} // namespace dtlto

#endif // DTLTO_PLAN_RATE_H
