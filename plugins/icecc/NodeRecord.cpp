//===- NodeRecord.cpp - What a link has learnt of the nodes ---------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NodeRecord.h"

using namespace dtlto::icecc;

// A node with so many results that the linker has refuted gets no more jobs.
static constexpr unsigned MaxRefuted = 2;
// The same for so many wrong ones in a row, if another node has good ones.
static constexpr unsigned MaxWrong = 3;
// Of all nodes: there is no use in going on.
static constexpr unsigned MaxAllWrong = 8;
// A node that couldn't be connected to so often in a row is left out by this
// link, if there is another node.
static constexpr unsigned MaxUnreachable = 2;

using Guard = std::lock_guard<std::mutex>;

void NodeRecord::granted(const std::string &Address) {
  Guard Lock(Mutex);
  Seen.insert(Address);
}

size_t NodeRecord::numSeen() const {
  Guard Lock(Mutex);
  return Seen.size();
}

void NodeRecord::done(const std::string &Node) {
  Guard Lock(Mutex);
  ++NumDone[Node];
}

bool NodeRecord::isAnyDone() const {
  Guard Lock(Mutex);
  return !NumDone.empty();
}

static unsigned count(const std::map<std::string, unsigned> &Of,
                      const std::string &Node) {
  auto It = Of.find(Node);
  return It == Of.end() ? 0 : It->second;
}

void NodeRecord::refuted(const std::string &Node) {
  {
    Guard Lock(Mutex);
    if (++NumRefuted[Node] != MaxRefuted)
      return;
  }
  TheLog.warning("node " + Node + ": " + std::to_string(MaxRefuted) +
                 " of its results were wrong; it is not used with this "
                 "worker any more");
}

void NodeRecord::countWrong(const std::string &Node, const RemoteResult &R) {
  bool Tell = false;
  {
    Guard Lock(Mutex);
    for (const Outcome &O : R.Jobs) {
      if (O.Kind == Outcome::Compiled)
        NumAllWrong = NumWrong[Node] = 0;
      if (!O.WasWrong)
        continue;
      Tell |= ++NumWrong[Node] == MaxWrong;
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
    Guard Lock(Mutex);
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
                 "); a link leaves it out after two tries if there "
                 "are other nodes");
}

bool NodeRecord::isWrong(const std::string &Node) const {
  Guard Lock(Mutex);
  // Without another node, jobs would wait for one.
  bool HasOther = NumDone.size() > NumDone.count(Node);
  return count(NumRefuted, Node) >= MaxRefuted ||
         (count(NumWrong, Node) >= MaxWrong && HasOther);
}

std::string NodeRecord::allWrong() const {
  Guard Lock(Mutex);
  return AllWrong;
}

bool NodeRecord::isLeftOut(const std::string &Address,
                           const Cluster::Numbers &N) const {
  Guard Lock(Mutex);
  size_t NumOut = 0;
  for (const auto &[Of, U] : Unreachable)
    NumOut += U.Times >= MaxUnreachable;
  auto It = Unreachable.find(Address);
  return It != Unreachable.end() && It->second.Times >= MaxUnreachable &&
         (N.Known ? N.Nodes : Seen.size()) > NumOut;
}

void NodeRecord::tell() const {
  Guard Lock(Mutex);
  for (const auto &[Node, N] : NumDone)
    TheLog.debug(Node + ": " + std::to_string(N) + " modules");
  for (const auto &[Address, U] : Unreachable)
    if (U.Times < MaxUnreachable)
      tellUnreachable(U);
}
