//===- LogReader.h - Reads event logs, and decides again --------*- C++ -*-===//
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

/// An event, and what the plan made of it.
struct Step {
  Time Now = {};
  std::optional<Event> Cause; // none: the plan's start
  std::vector<Action> Actions;
  size_t Line = 0; // of the event in the text that it was read from
};

struct EventLog {
  Options O;
  std::vector<JobInfo> Jobs;
  std::vector<Step> Steps; // the first is the start
};

std::string print(const EventLog &L);

/// Reads a whole log. Returns false for anything that print() would not have
/// written, but for comments, the order of fields, and fields that have their
/// default; \p Error then says what is wrong, and in which line.
bool parse(std::string_view Text, EventLog &L, std::string &Error);

/// Makes the decisions of \p L again. Returns an empty string if they are the
/// same, else where they differ, or which rule of the plan was broken.
std::string replay(const EventLog &L);

} // namespace dtlto::plan

#endif // DTLTO_SIM_LOGREADER_H
