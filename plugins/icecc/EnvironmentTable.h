//===- EnvironmentTable.h - Which node has which environment ----*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_ICECC_ENVIRONMENTTABLE_H
#define DTLTO_ICECC_ENVIRONMENTTABLE_H

#include "Channel.h"
#include "Environment.h"
#include <condition_variable>
#include <map>

namespace dtlto::icecc {

/// Any thread.
class EnvironmentTable {
public:
  using List = std::vector<std::unique_ptr<Environment>>;

  /// Ends the wait of get(). If \p Environments is empty, \p Error is the
  /// reason.
  void set(List Environments, std::string Error);
  /// Waits for set(). Returns null with \p Error if there are no environments
  /// or \p I is raised.
  const List *get(const Interrupt &I, std::string &Error);
  /// Waits for set(), but at most \p Limit.
  void waitFor(Clock::duration Limit);

  /// For a node that has no environment according to the scheduler. Waits while
  /// another job of this link sends it. Returns true if the caller must send
  /// it, and then call recordSent().
  bool mustSend(const std::string &Node, const Interrupt &I);
  void recordSent(const std::string &Node, bool IsGood);
  /// Records that a job failed at the node, perhaps due to the environment.
  void distrust(const std::string &Node);
  /// Wakes all waits, which check their conditions again.
  void wake();

private:
  std::mutex Mutex; // guards the rest
  std::condition_variable Changed;
  bool IsReady = false;
  List All;
  std::string Error;
  std::map<std::string, bool> Nodes; // false: it is being sent; true: was sent
};

} // namespace dtlto::icecc

#endif // DTLTO_ICECC_ENVIRONMENTTABLE_H
