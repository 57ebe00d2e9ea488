//===- SchedulerText.h - A scheduler's text port ----------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A scheduler tells monitors of jobs that begin, but not of those that have
// begun before they came. At the port above its own, which is meant for telnet,
// it answers `listcs` with a line for each node,
//
//    NAME (IP:PORT) [PLATFORM] speed=N.NN jobs=N/N load=N
//
// the jobs that it has and may have, each followed by lines of its jobs with
// more space in front, and at the end `200 done`.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_ICECC_SCHEDULERTEXT_H
#define DTLTO_ICECC_SCHEDULERTEXT_H

#include "Channel.h"
#include <netinet/in.h>
#include <string>
#include <string_view>
#include <vector>

namespace dtlto::icecc {

struct NodeJobs {
  std::string Name, Address; // as the scheduler tells monitors
  uint32_t Jobs = 0, Port = 0;
};

/// The nodes in an answer to `listcs`; other lines are left out.
std::vector<NodeJobs> nodesFromText(std::string_view Answer);

/// Lets the scheduler at \p Scheduler look whether clients wait; for AF_INET.
void wakeScheduler(const sockaddr_in &Scheduler);

/// Tries to connect to each of \p Nodes, to all at once, for at most \p Limit.
/// Returns for each why that failed; empty: it didn't, or \p I was raised, or
/// this machine has no room for the connection.
std::vector<std::string> probe(const std::vector<NodeJobs> &Nodes,
                               Clock::duration Limit, const Interrupt &I);

/// Asks the scheduler at \p Scheduler, which is where it speaks icecream's
/// protocol, for its nodes. Waits until it answers, or \p I is raised. None if
/// it doesn't answer until \p End: not each one may be reached there.
std::vector<NodeJobs> askForNodes(const sockaddr_in &Scheduler,
                                  Clock::time_point End, const Interrupt &I);

} // namespace dtlto::icecc

#endif // DTLTO_ICECC_SCHEDULERTEXT_H
