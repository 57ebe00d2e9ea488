//===- EnvironmentTable.cpp - Which node has which environment ------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EnvironmentTable.h"
#include <cassert>

using namespace dtlto::icecc;

void EnvironmentTable::set(List Found, std::string TheError) {
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    Ready = true;
    All = std::move(Found);
    Error = std::move(TheError);
  }
  Changed.notify_all();
}

const EnvironmentTable::List *EnvironmentTable::get(const Interrupt &I,
                                                    std::string &Why) {
  std::unique_lock<std::mutex> Lock(Mutex);
  Changed.wait(Lock, [&] { return Ready || I.raised(); });
  if (!Ready || All.empty()) {
    Why = Ready ? Error : "cancelled";
    return nullptr;
  }
  return &All;
}

void EnvironmentTable::waitFor(Clock::duration Limit) {
  std::unique_lock<std::mutex> Lock(Mutex);
  Changed.wait_for(Lock, Limit, [&] { return Ready; });
}

bool EnvironmentTable::mustSend(const std::string &Node, const Interrupt &I) {
  std::unique_lock<std::mutex> Lock(Mutex);
  // The sender has time limits, and always calls sent().
  Changed.wait(Lock, [&] {
    auto It = Nodes.find(Node);
    return I.raised() || It == Nodes.end() || It->second;
  });
  return !I.raised() && Nodes.emplace(Node, false).second;
}

void EnvironmentTable::sent(const std::string &Node, bool Good) {
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    assert(Nodes.count(Node) && !Nodes[Node] && "mustSend() has not said so");
    if (Good)
      Nodes[Node] = true;
    else
      Nodes.erase(Node);
  }
  Changed.notify_all();
}

void EnvironmentTable::distrust(const std::string &Node) {
  std::lock_guard<std::mutex> Lock(Mutex);
  auto It = Nodes.find(Node);
  if (It != Nodes.end() && It->second)
    Nodes.erase(It);
}

void EnvironmentTable::wake() {
  std::lock_guard<std::mutex> Lock(Mutex);
  Changed.notify_all();
}
