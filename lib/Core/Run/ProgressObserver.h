//===- ProgressObserver.h - Steps move the progress line --------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_RUN_PROGRESSOBSERVER_H
#define DTLTO_RUN_PROGRESSOBSERVER_H

#include "Report/Progress.h"
#include "Run/Observer.h"
#include "Run/RunContext.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace dtlto {

class ProgressObserver : public Observer {
public:
  ProgressObserver(const LinkFacts &Run, const RunContext &L);

  void saw(const Step &S) override;
  void finish() override { Line.clear(); }
  Clock::time_point due() const override { return Line.due(); }
  void tick() override { Line.showDue(); }

private:
  void started(plan::JobId J, llvm::StringRef Worker);
  void finished(plan::JobId J);

  const LinkFacts &Run;
  Progress Line;
  const bool Verifies;     // jobs end together, when all are compared
  llvm::BitVector IsShown; // jobs, as started
  llvm::BitVector IsFinished, IsSampled;
  llvm::DenseSet<plan::AttemptId> Running;
  llvm::DenseMap<plan::JobId, plan::AttemptId> Winner;
};

} // namespace dtlto

#endif // DTLTO_RUN_PROGRESSOBSERVER_H
