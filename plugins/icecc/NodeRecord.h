//===- NodeRecord.h - What a link has learnt of the nodes ------ -*- C++
//-*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_ICECC_NODERECORD_H
#define DTLTO_ICECC_NODERECORD_H

#include "Cluster.h"
#include "Log.h"
#include "RemoteJob.h"
#include <set>

namespace dtlto::icecc {

/// Counts good and wrong results and failed connections, warns of them, and
/// says which nodes are to be avoided. Any thread.
class NodeRecord {
public:
  explicit NodeRecord(Log &TheLog) : TheLog(TheLog) {}

  /// A job is sent to the node at \p Address.
  void granted(const std::string &Address);
  size_t numSeen() const;
  /// \p Node has compiled a job.
  void done(const std::string &Node);
  bool isAnyDone() const;
  /// The linker has found a result of \p Node to be wrong.
  void refuted(const std::string &Node);
  /// Looks for nodes, or a whole cluster, whose results are wrong each time.
  void countWrong(const std::string &Node, const RemoteResult &R);
  /// Looks for nodes that can't be connected to, as behind a firewall.
  void countUnreachable(const std::string &Address, const std::string &Node,
                        const Outcome &O);

  /// Whether results of \p Node are wrong, and another node should be used.
  bool isWrong(const std::string &Node) const;
  /// Not empty: results of all nodes are wrong, and this is the message.
  std::string allWrong() const;
  /// Whether the node can't be reached from this machine, and others may be.
  bool isLeftOut(const std::string &Address, const Cluster::Numbers &N) const;

  /// Tells the user what wasn't told yet. At the end of the link.
  void tell() const;

private:
  /// A node whose connections failed.
  struct Unreached {
    unsigned Times = 0; // in a row
    std::string Node, Why;
  };
  void tellUnreachable(const Unreached &U) const;

  Log &TheLog;
  mutable std::mutex Mutex;   // guards what follows
  std::set<std::string> Seen; // addresses
  std::map<std::string, unsigned> NumDone, NumRefuted;
  std::map<std::string, unsigned> NumWrong; // since a good one
  unsigned NumAllWrong = 0;                 // since a good one of any
  std::string AllWrong;
  std::map<std::string, Unreached> Unreachable; // by address
};

} // namespace dtlto::icecc

#endif // DTLTO_ICECC_NODERECORD_H
