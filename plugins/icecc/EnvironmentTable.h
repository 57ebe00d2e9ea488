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

/// Any thread may use it.
class EnvironmentTable {
public:
  using List = std::vector<std::unique_ptr<Environment>>;

  /// Ends the wait of get(). With an empty list, \p Error is the reason.
  void set(List Found, std::string Error);
  /// Waits until set(). Null, with \p Error, if there are no environments or
  /// \p I is raised.
  const List *get(const Interrupt &I, std::string &Error);
  /// Waits until set(), but for no longer than \p Limit.
  void waitFor(Clock::duration Limit);

  /// For a node without an environment, as the scheduler knows it. Another job
  /// of this link may have sent it meanwhile; waits while one sends it. True:
  /// the caller must send it, and then call sent().
  bool mustSend(const std::string &Node, const Interrupt &I);
  void sent(const std::string &Node, bool Good);
  /// A job failed at the node; the environment may be the reason.
  void distrust(const std::string &Node);
  /// Wakes all waits, which check their conditions again.
  void wake();

private:
  std::mutex Mutex; // guards the rest
  std::condition_variable Changed;
  bool Ready = false;
  List All;
  std::string Error;
  std::map<std::string, bool> Nodes; // false: it is being sent; true: was sent
};

} // namespace dtlto::icecc

#endif // DTLTO_ICECC_ENVIRONMENTTABLE_H
