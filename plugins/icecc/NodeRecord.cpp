//===- NodeRecord.cpp - What a link has learned about nodes ---------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NodeRecord.h"

using namespace dtlto::icecc;

// A node gets no more jobs after the linker has refuted this many results.
static constexpr unsigned MaxRefuted = 2;
// The same after this many wrong results in a row, if another node has good
// ones.
static constexpr unsigned MaxWrong = 3;
// After this many wrong results of all nodes in a row, the plugin gives up.
static constexpr unsigned MaxAllWrong = 8;
// A link leaves a node out after this many failed connections in a row, if
// there is another node.
static constexpr unsigned MaxUnreachable = 2;

void NodeRecord::granted(const std::string &Address) {
  std::lock_guard<std::mutex> Lock(Mutex);
  Seen.insert(Address);
}

size_t NodeRecord::numSeen() const {
  std::lock_guard<std::mutex> Lock(Mutex);
  return Seen.size();
}

void NodeRecord::done(const std::string &Node) {
  std::lock_guard<std::mutex> Lock(Mutex);
  NumWithDone += Nodes[Node].Done++ == 0;
}

bool NodeRecord::isAnyDone() const {
  std::lock_guard<std::mutex> Lock(Mutex);
  return NumWithDone != 0;
}

void NodeRecord::refuted(const std::string &Node) {
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    if (++Nodes[Node].Refuted != MaxRefuted)
      return;
  }
  TheLog.warning("node " + Node + ": " + std::to_string(MaxRefuted) +
                 " of its results were wrong; it is not used with this "
                 "worker any more");
}

void NodeRecord::countWrong(const std::string &Node, const RemoteResult &R) {
  bool Tell = false;
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    for (const Outcome &O : R.Jobs) {
      if (O.Kind == Outcome::Compiled)
        NumAllWrong = Nodes[Node].Wrong = 0;
      if (!O.WasWrong)
        continue;
      Tell |= ++Nodes[Node].Wrong == MaxWrong;
      std::string Why = "the last " + std::to_string(MaxAllWrong) +
                        " results of all nodes were wrong; " + Node + ": " +
                        O.Text;
      if (++NumAllWrong == MaxAllWrong)
        AllWrong = std::move(Why);
    }
  }
  if (Tell)
    TheLog.warning("node " + Node + ": " + std::to_string(MaxWrong) +
                   " results in a row were wrong; it is not used with this "
                   "worker any more if there are others");
}

void NodeRecord::countUnreachable(const std::string &Address,
                                  const std::string &Node, const Outcome &O) {
  Unreached Copy;
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    if (!O.Unreachable) {
      Unreachable.erase(Address);
      return;
    }
    Unreached &U = Unreachable[Address];
    U = {U.Times + 1, Node, O.Text};
    Copy = U;
  }
  if (Copy.Times == MaxUnreachable)
    tellUnreachable(Copy);
}

void NodeRecord::tellUnreachable(const Unreached &U) const {
  TheLog.warning("node " + U.Node + " cannot be reached from this machine (" +
                 U.Why +
                 "); a link leaves out such a node after two tries if "
                 "there are others");
}

bool NodeRecord::isWrong(const std::string &Node) const {
  std::lock_guard<std::mutex> Lock(Mutex);
  auto It = Nodes.find(Node);
  if (It == Nodes.end())
    return false;
  const Results &R = It->second;
  // Without another node, jobs would wait for one.
  bool HasOther = NumWithDone > (R.Done != 0);
  return R.Refuted >= MaxRefuted || (R.Wrong >= MaxWrong && HasOther);
}

std::string NodeRecord::allWrong() const {
  std::lock_guard<std::mutex> Lock(Mutex);
  return AllWrong;
}

bool NodeRecord::isLeftOut(const std::string &Address,
                           const Cluster::Numbers &N) const {
  std::lock_guard<std::mutex> Lock(Mutex);
  size_t NumOut = 0;
  for (const auto &[Of, U] : Unreachable)
    NumOut += U.Times >= MaxUnreachable;
  auto It = Unreachable.find(Address);
  return It != Unreachable.end() && It->second.Times >= MaxUnreachable &&
         (N.Known ? N.Nodes : Seen.size()) > NumOut;
}

void NodeRecord::tell() const {
  std::lock_guard<std::mutex> Lock(Mutex);
  for (const auto &[Node, R] : Nodes)
    if (R.Done)
      TheLog.debug(Node + ": " + std::to_string(R.Done) + " modules");
  for (const auto &[Address, U] : Unreachable)
    if (U.Times < MaxUnreachable)
      tellUnreachable(U);
}
