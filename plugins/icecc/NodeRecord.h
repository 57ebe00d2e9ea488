//===- NodeRecord.h - What a link has learned about nodes -------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_ICECC_NODERECORD_H
#define DTLTO_ICECC_NODERECORD_H

#include "Cluster.h"
#include "MessageLog.h"
#include "RemoteJob.h"
#include <set>

namespace dtlto::icecc {

/// Counts good and wrong results and failed connections, warns about them, and
/// decides which nodes to avoid. Any thread.
class NodeRecord {
public:
  explicit NodeRecord(MessageLog &TheLog) : TheLog(TheLog) {}

  /// Records that a job is sent to the node at \p Address.
  void recordGrant(const std::string &Address);
  size_t numUsed() const;
  /// Records that \p Node has compiled a job.
  void recordSuccess(const std::string &Node);
  bool hasAnySuccess() const;
  /// Records that the linker has refuted a result of \p Node.
  void refuted(const std::string &Node);
  /// Detects nodes, or a whole cluster, whose results are all wrong.
  void countWrong(const std::string &Node, const RemoteResult &R);
  /// Detects nodes that can't be connected to, such as behind a firewall.
  void countUnreachable(const std::string &Address, const std::string &Node,
                        const Outcome &O);

  /// Whether results of \p Node are wrong and another node should be used.
  bool hasWrongResults(const std::string &Node) const;
  /// Returns the message if results of all nodes are wrong, otherwise nothing.
  std::string allWrongError() const;
  /// Whether the node can't be reached from this machine while others may be.
  bool isExcluded(const std::string &Address, const Cluster::Numbers &N) const;

  /// Reports what wasn't reported yet. Called at the end of the link.
  void reportResults() const;

private:
  /// Results of a node.
  struct Results {
    unsigned NumDone = 0, NumRefuted = 0;
    unsigned NumWrong = 0; // since a good one
  };
  /// A node whose connections failed.
  struct UnreachableNode {
    unsigned NumFailures = 0; // in a row
    std::string Node, Why;
  };
  void warnUnreachable(const UnreachableNode &U) const;

  MessageLog &TheLog;
  mutable std::mutex Mutex;             // guards what follows
  std::set<std::string> UsedAddresses;  // addresses
  std::map<std::string, Results> Nodes; // by name
  size_t NumGoodNodes = 0;              // of these, with NumDone > 0
  unsigned NumAllWrong = 0; // wrong results since a good one of any node
  std::string AllWrongError;
  std::map<std::string, UnreachableNode> Unreachable; // by address
};

} // namespace dtlto::icecc

#endif // DTLTO_ICECC_NODERECORD_H
