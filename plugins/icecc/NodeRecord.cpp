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

void NodeRecord::recordGrant(const std::string &Address) {
  std::lock_guard<std::mutex> Lock(Mutex);
  UsedAddresses.insert(Address);
}

size_t NodeRecord::numUsed() const {
  std::lock_guard<std::mutex> Lock(Mutex);
  return UsedAddresses.size();
}

void NodeRecord::recordSuccess(const std::string &Node) {
  std::lock_guard<std::mutex> Lock(Mutex);
  NumGoodNodes += Nodes[Node].NumDone++ == 0;
}

bool NodeRecord::hasAnySuccess() const {
  std::lock_guard<std::mutex> Lock(Mutex);
  return NumGoodNodes != 0;
}

void NodeRecord::refuted(const std::string &Node) {
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    if (++Nodes[Node].NumRefuted != MaxRefuted)
      return;
  }
  TheLog.warning("node " + Node + ": " + std::to_string(MaxRefuted) +
                 " of its results were wrong; it is not used with this "
                 "worker any more");
}

void NodeRecord::countWrong(const std::string &Node, const RemoteResult &R) {
  bool MustWarn = false;
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    for (const Outcome &O : R.Jobs) {
      if (O.Kind == Outcome::Compiled)
        NumAllWrong = Nodes[Node].NumWrong = 0;
      if (!O.WasWrong)
        continue;
      MustWarn |= ++Nodes[Node].NumWrong == MaxWrong;
      std::string Why = "the last " + std::to_string(MaxAllWrong) +
                        " results of all nodes were wrong; " + Node + ": " +
                        O.Text;
      if (++NumAllWrong == MaxAllWrong)
        AllWrongError = std::move(Why);
    }
  }
  if (MustWarn)
    TheLog.warning("node " + Node + ": " + std::to_string(MaxWrong) +
                   " results in a row were wrong; it is not used with this "
                   "worker any more if there are others");
}

void NodeRecord::countUnreachable(const std::string &Address,
                                  const std::string &Node, const Outcome &O) {
  UnreachableNode Copy;
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    if (!O.Unreachable) {
      Unreachable.erase(Address);
      return;
    }
    UnreachableNode &U = Unreachable[Address];
    U = {U.NumFailures + 1, Node, O.Text};
    Copy = U;
  }
  if (Copy.NumFailures == MaxUnreachable)
    warnUnreachable(Copy);
}

void NodeRecord::warnUnreachable(const UnreachableNode &U) const {
  TheLog.warning("node " + U.Node + " cannot be reached from this machine (" +
                 U.Why +
                 "); a link leaves out such a node after two tries if "
                 "there are others");
}

bool NodeRecord::hasWrongResults(const std::string &Node) const {
  std::lock_guard<std::mutex> Lock(Mutex);
  auto It = Nodes.find(Node);
  if (It == Nodes.end())
    return false;
  const Results &R = It->second;
  // Without another node, jobs would wait for one.
  bool HasOther = NumGoodNodes > (R.NumDone != 0);
  return R.NumRefuted >= MaxRefuted || (R.NumWrong >= MaxWrong && HasOther);
}

std::string NodeRecord::allWrongError() const {
  std::lock_guard<std::mutex> Lock(Mutex);
  return AllWrongError;
}

bool NodeRecord::isExcluded(const std::string &Address,
                            const Cluster::Numbers &N) const {
  std::lock_guard<std::mutex> Lock(Mutex);
  size_t NumExcluded = 0;
  for (const auto &[OtherAddress, U] : Unreachable)
    NumExcluded += U.NumFailures >= MaxUnreachable;
  auto It = Unreachable.find(Address);
  return It != Unreachable.end() && It->second.NumFailures >= MaxUnreachable &&
         (N.IsKnown ? N.Nodes : UsedAddresses.size()) > NumExcluded;
}

void NodeRecord::reportResults() const {
  std::lock_guard<std::mutex> Lock(Mutex);
  for (const auto &[Node, R] : Nodes)
    if (R.NumDone)
      TheLog.debug(Node + ": " + std::to_string(R.NumDone) + " modules");
  for (const auto &[Address, U] : Unreachable)
    if (U.NumFailures < MaxUnreachable)
      warnUnreachable(U);
}
