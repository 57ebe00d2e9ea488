//===- TimelineObserver.h - Steps become a record ---------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_RUN_TIMELINEOBSERVER_H
#define DTLTO_RUN_TIMELINEOBSERVER_H

#include "Report/Timeline.h"
#include "Run/Observer.h"
#include "Run/RunContext.h"
#include "llvm/ADT/DenseSet.h"

namespace dtlto {

/// Records a link for reports and time traces. At its end it writes the report
/// and leaves the record with the linker, as the user asked. Two rounds have
/// one report, by the last one that there is.
class TimelineObserver : public Observer {
public:
  TimelineObserver(const LinkFacts &Run, const RunContext &L);

  void saw(const Step &S) override;
  void finish() override;

private:
  void sawEvent(const Step &S);
  void sawAction(const Step &S, const plan::Action &A);

  const LinkFacts &Run;
  const RunContext &L;
  Timeline Record;
  std::string PluginFailure;
  llvm::DenseSet<plan::AttemptId> IsVerify;
};

} // namespace dtlto

#endif // DTLTO_RUN_TIMELINEOBSERVER_H
