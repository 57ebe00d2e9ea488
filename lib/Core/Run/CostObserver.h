//===- CostObserver.h - Steps teach the cost history ------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_RUN_COSTOBSERVER_H
#define DTLTO_RUN_COSTOBSERVER_H

#include "Run/CostHistory.h"
#include "Run/Observer.h"
#include "llvm/ADT/DenseMap.h"

namespace dtlto {

/// Records how long modules took: those that have an object, of those that the
/// plugin ran only where it tells when they began.
class CostObserver : public Observer {
public:
  CostObserver(const LinkFacts &Run, CostHistory &Costs)
      : Run(Run), Costs(Costs) {}

  void saw(const Step &S) override;

private:
  struct Times {
    std::optional<plan::Time> Running, Receiving;
  };

  const LinkFacts &Run;
  CostHistory &Costs;
  llvm::DenseMap<plan::AttemptId, Times> Seen;
};

} // namespace dtlto

#endif // DTLTO_RUN_COSTOBSERVER_H
