//===- EventLog.h - The history of a plan, as text --------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What went into a plan and what came out of it, one line for each event and
// one for each action. The same events give the same actions, so that a log
// shows what a plan did without the link that it was made for.
//
//   dtlto-event-log 6
//   option cores 4
//   ...                                            each option, in one order
//   job 1.25                                       the estimate, in seconds
//   job 0.5 side-files
//   0.000000000 Start                              each step: time, event
//     Prepare job=0 attempt=1 for-plugin           and then its actions
//   0.001200000 Prepared attempt=1 bytes=4096
//     Offer job=0 attempt=1
//
// Fields that have their default may be left out. A line that begins with '#'
// is a comment. A log may end after any step, since links do as well.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_CORE_PLAN_EVENTLOG_H
#define DTLTO_CORE_PLAN_EVENTLOG_H

#include "Plan/Plan.h"

namespace dtlto::plan {

/// What a log begins with; then printStep() for each step.
std::string printHeader(const Options &O, const std::vector<JobInfo> &Jobs);
/// \p E: null for the start.
std::string printStep(Time Now, const Event *E,
                      const std::vector<Action> &Actions);
std::string print(const Action &A); // a line without its end

} // namespace dtlto::plan

#endif // DTLTO_CORE_PLAN_EVENTLOG_H
