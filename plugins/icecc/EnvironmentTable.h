//===- EnvironmentTable.h - Which node has which environment -- -*- C++ -*-===//
//-*-===//
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

  /// Ends the wait of get(). An empty list stands for \p Error.
  void set(List Found, std::string Error);
  /// Waits until set(). Null, with \p Error, if there are no environments or
  /// \p I is raised.
  const List *get(const Interrupt &I, std::string &Error);
  /// Waits until set(), but for no longer than \p Limit.
  void waitFor(Clock::duration Limit);

  /// A node that the scheduler says has no environment: it may have got it a
  /// moment ago, from another job of ours. Waits while one sends it. True: the
  /// caller has to send it, and to call sent() then.
  bool mustSend(const std::string &Node, const Interrupt &I);
  void sent(const std::string &Node, bool Good);
  /// Something went wrong there; it may be the environment.
  void distrust(const std::string &Node);
  /// Wakes all waits, to look at what they wait for.
  void wake();

private:
  std::mutex Mutex; // guards the rest
  std::condition_variable Changed;
  bool Ready = false;
  List All;
  std::string Error;
  std::map<std::string, bool> Nodes; // there: it is sent now, or (true) was
};

} // namespace dtlto::icecc

#endif // DTLTO_ICECC_ENVIRONMENTTABLE_H
