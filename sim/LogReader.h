//===- LogReader.h - Reads and replays event logs ---------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_SIM_LOGREADER_H
#define DTLTO_SIM_LOGREADER_H

#include "Plan/EventLog.h"
#include <string_view>

namespace dtlto::plan {

/// An event, and the plan's actions.
struct Step {
  Time Now = {};
  std::optional<Event> Cause; // none: the start of the plan
  std::vector<Action> Actions;
  size_t Line = 0; // the event's line in the text
};

struct EventLog {
  Options O;
  std::vector<JobInfo> Jobs;
  std::vector<Step> Steps; // the first is the start
};

std::string print(const EventLog &Log);

/// Reads a whole log. Accepts only what print() would write, but also comments,
/// fields in any order, and fields with default values. Otherwise returns
/// false, and \p Error says what is wrong, and in which line.
bool parse(std::string_view Text, EventLog &Log, std::string &Error);

/// Makes the decisions of \p Log again. Returns an empty string if they are
/// equal; otherwise where they differ, or which rule of the plan was broken.
std::string replay(const EventLog &Log);

} // namespace dtlto::plan

#endif // DTLTO_SIM_LOGREADER_H
