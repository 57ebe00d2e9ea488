//===- Cluster.h - What the scheduler reports on nodes ----------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A scheduler reports each node, its slots, and the jobs that begin and end on
// it to monitors such as icemon. This class listens like a monitor, if it finds
// a scheduler. Jobs themselves go through the local iceccd.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_ICECC_CLUSTER_H
#define DTLTO_ICECC_CLUSTER_H

#include "Channel.h"
#include "Settings.h"
#include "dtlto/sdk/Status.hpp"
#include <condition_variable>
#include <functional>
#include <map>

namespace dtlto::icecc {

/// Any thread may use it.
class Cluster : public std::enable_shared_from_this<Cluster> {
public:
  /// Looks for the scheduler that \p S names. Only nodes whose platform is one
  /// of \p Platforms count.
  Cluster(const Settings &S, std::vector<std::string> Platforms);
  /// Begins to look and to listen. Calls \p OnChange on another thread when the
  /// result of numbers() changes. Must be called once, on a shared object.
  void start(std::function<void()> OnChange);
  /// Afterwards, \p OnChange isn't called any more. Waits at most a second,
  /// until a scheduler has answered a pending login. Doesn't wait for the
  /// lookup of a name, which can be slow and can't be interrupted.
  void stop();

  struct Numbers {
    bool IsKnown = false;
    uint32_t Nodes = 0, Slots = 0, Free = 0;
  };
  Numbers numbers();
  /// Lists all nodes by name; those that take none of our jobs with the reason.
  /// \p Compiler is what the others compile with. Waits at most \p Limit for
  /// the scheduler, and for what only its text port reports: a node's number of
  /// jobs, and its port, which is probed. Throws sdk::Error if there is no
  /// scheduler.
  std::vector<sdk::Worker> report(std::chrono::milliseconds Limit,
                                  const std::string &Compiler);
  /// Returns the name of the node at an address, or the address if unknown.
  std::string nodeName(const std::string &Address, uint32_t Port);

  /// Handles a message of the scheduler.
  void handle(const Msg &M);

private:
  void run();
  std::unique_ptr<Channel> findScheduler(std::string &Why);
  std::unique_ptr<Channel> discover(int Seconds);
  std::string explainUnknown(std::chrono::milliseconds Waited) const;
  bool beginLogin();
  void notifyChanged();

  const std::string Scheduler, SchedulerSource, NetName;
  const std::vector<std::string> Platforms;
  Interrupt Stop;

  std::mutex OnChangeMutex; // guards OnChange, and is held while it is called
  std::function<void()> OnChange;

  std::mutex Mutex; // guards the rest
  struct Node {
    std::string Name, Address;
    uint32_t Slots = 0, LoadPermille = UINT32_MAX;
    std::string UnusableReason; // why it takes none of our jobs, or empty
    bool isUsable() const { return UnusableReason.empty(); }
  };
  bool IsStopping = false;
  bool IsLoggingIn = false; // the scheduler hasn't answered yet
  bool IsConnected = false;
  bool HasAllNodes = false; // the scheduler has reported all nodes it knew
  bool IsResolved = false;  // the name of Scheduler
  std::string Problem;      // why there is no connection to a scheduler
  sockaddr_in SchedulerAddress = {};    // AF_INET once it was found
  std::condition_variable NodesChanged; // or the scheduler was lost
  std::map<uint32_t, Node> Nodes;       // by the scheduler's number
  std::map<uint32_t, uint32_t> Running; // job -> node
};

} // namespace dtlto::icecc

#endif // DTLTO_ICECC_CLUSTER_H
