//===- EnvironmentTable.cpp - Which node has which environment ------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EnvironmentTable.h"
#include <cassert>

using namespace dtlto::icecc;

void EnvironmentTable::set(List Environments, std::string TheError) {
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    IsReady = true;
    All = std::move(Environments);
    Error = std::move(TheError);
  }
  Changed.notify_all();
}

const EnvironmentTable::List *EnvironmentTable::get(const Interrupt &I,
                                                    std::string &Why) {
  std::unique_lock<std::mutex> Lock(Mutex);
  Changed.wait(Lock, [&] { return IsReady || I.isRaised(); });
  if (!IsReady || All.empty()) {
    Why = IsReady ? Error : "cancelled";
    return nullptr;
  }
  return &All;
}

void EnvironmentTable::waitFor(Clock::duration Limit) {
  std::unique_lock<std::mutex> Lock(Mutex);
  Changed.wait_for(Lock, Limit, [&] { return IsReady; });
}

bool EnvironmentTable::mustSend(const std::string &Node, const Interrupt &I) {
  std::unique_lock<std::mutex> Lock(Mutex);
  // The sender has time limits, and always calls recordSent().
  Changed.wait(Lock, [&] {
    auto It = Nodes.find(Node);
    return I.isRaised() || It == Nodes.end() || It->second;
  });
  return !I.isRaised() && Nodes.emplace(Node, false).second;
}

void EnvironmentTable::recordSent(const std::string &Node, bool IsGood) {
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    assert(Nodes.count(Node) && !Nodes[Node] && "mustSend() has not said so");
    if (IsGood)
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
