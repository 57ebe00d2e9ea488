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
  void granted(const std::string &Address);
  size_t numSeen() const;
  /// Records that \p Node has compiled a job.
  void done(const std::string &Node);
  bool isAnyDone() const;
  /// Records that the linker has refuted a result of \p Node.
  void refuted(const std::string &Node);
  /// Detects nodes, or a whole cluster, whose results are all wrong.
  void countWrong(const std::string &Node, const RemoteResult &R);
  /// Detects nodes that can't be connected to, such as behind a firewall.
  void countUnreachable(const std::string &Address, const std::string &Node,
                        const Outcome &O);

  /// Whether results of \p Node are wrong and another node should be used.
  bool isWrong(const std::string &Node) const;
  /// Returns the message if results of all nodes are wrong, otherwise nothing.
  std::string allWrong() const;
  /// Whether the node can't be reached from this machine while others may be.
  bool isLeftOut(const std::string &Address, const Cluster::Numbers &N) const;

  /// Reports what wasn't reported yet. Called at the end of the link.
  void tell() const;

private:
  /// Results of a node.
  struct Results {
    unsigned Done = 0, Refuted = 0;
    unsigned Wrong = 0; // since a good one
  };
  /// A node whose connections failed.
  struct Unreached {
    unsigned Times = 0; // in a row
    std::string Node, Why;
  };
  void tellUnreachable(const Unreached &U) const;

  MessageLog &TheLog;
  mutable std::mutex Mutex;             // guards what follows
  std::set<std::string> Seen;           // addresses
  std::map<std::string, Results> Nodes; // by name
  size_t NumWithDone = 0;               // of these, with Done
  unsigned NumAllWrong = 0; // wrong results since a good one of any node
  std::string AllWrong;
  std::map<std::string, Unreached> Unreachable; // by address
};

} // namespace dtlto::icecc

#endif // DTLTO_ICECC_NODERECORD_H
