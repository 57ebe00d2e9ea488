//===- SchedulerText.h - A scheduler's text port ----------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A scheduler reports jobs to monitors when they begin, but not those that had
// begun before. Its text port, one above its own and meant for telnet, answers
// `listcs` with a line for each node,
//
//    NAME (IP:PORT) [PLATFORM] speed=N.NN jobs=N/N load=N
//
// with the number of jobs that the node has and may have. Lines of its jobs,
// indented more, follow. The last line is `200 done`.
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
  std::string Name, Address; // as the scheduler reports to monitors
  uint32_t Jobs = 0, Port = 0;
};

/// Returns the nodes in an answer to `listcs`; ignores other lines.
std::vector<NodeJobs> nodesFromText(std::string_view Answer);

/// Makes the scheduler at \p Scheduler accept waiting clients; for AF_INET.
void wakeScheduler(const sockaddr_in &Scheduler);

/// Tries to connect to all of \p Nodes at the same time, for at most \p Limit.
/// Returns for each why that failed, or an empty string: it succeeded, \p I was
/// raised, or this machine has no room for the connection.
std::vector<std::string> probe(const std::vector<NodeJobs> &Nodes,
                               Clock::duration Limit, const Interrupt &I);

/// Asks the scheduler at \p Scheduler, the address for icecream's protocol, for
/// its nodes. Waits until it answers, \p I is raised, or \p Deadline, since the
/// text port may be unreachable. Returns nothing without an answer.
std::vector<NodeJobs> queryNodes(const sockaddr_in &Scheduler,
                                 Clock::time_point Deadline,
                                 const Interrupt &I);

} // namespace dtlto::icecc

#endif // DTLTO_ICECC_SCHEDULERTEXT_H
