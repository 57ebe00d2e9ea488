//===- MockIcecream.h - A cluster inside of a test ------------ -*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A local daemon and nodes that do what a test says, message by message, on
// threads of the test's own process.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_UNITTESTS_ICECC_MOCKICECREAM_H
#define DTLTO_UNITTESTS_ICECC_MOCKICECREAM_H

#include "SocketServer.h"
#include <condition_variable>
#include <icecc/comm.h>
#include <map>
#include <memory>

namespace dtlto::test {

/// A server whose connections are libicecc's channels.
class MockServer : public SocketServer {
public:
  using Session = std::function<void(MsgChannel &)>;
  MockServer(const std::string &Path, Session Serve);
};

/// What a node does with a job.
enum class Behaviour {
  Good,            // sends the bundle back, in a frame, and a warning
  Silent,          // reads the job and never answers
  Deaf,            // reads nothing
  SlowReader,      // reads a bit of the job now and then
  SlowEnvironment, // the same with the environment
  DribbledResult,  // sends a byte of the result now and then
  DribbledObject,  // the same with the object, in messages
  Close,           // hangs up instead of a result
  CutObject,       // hangs up in the middle of the object
  ShortObject,     // ends the object early
  LongObject,      // appends to it
  NoObject,        // the end, and no object
  OddMessage,      // a Ping in place of the result
  OddObject,       // a Ping in place of the object
  LyingChunk,      // a piece of the object is longer than it says
  Text,            // a status text in place of the result
  Crash,           // status 105
  CompileError,    // status 1, and LLVM's words
  WorkerError,     // status 1, and the worker's
  WrongEntry       // of a batch: no frame around the first object
};

/// The whole cluster: a local daemon, and nodes.
class MockCluster {
public:
  explicit MockCluster(const std::string &Folder);
  ~MockCluster();

  /// What the next tries meet, in this order; the rest is Good.
  void expect(std::vector<Behaviour> B);
  /// The same for batches.
  void expectOfBatches(std::vector<Behaviour> B);
  // To be set before jobs begin.
  enum class Grants { Nodes, Here, HereByNoCS, Never, Text, Hangup };
  Grants Answer = Grants::Nodes;
  bool HasEnvironment = false; // what the scheduler thinks
  bool Verifies = true;
  unsigned NumFails = 0; // grants that are answered by Hangup first
  /// So many of the next grants are of a node that takes no connections.
  void setNumDead(unsigned N) {
    std::lock_guard<std::mutex> Lock(Mutex);
    NumDead = N;
  }

  std::string socket() const { return Socket; }
  /// The same while jobs run, for what is asked for from now on.
  void setAnswer(Grants How) {
    std::lock_guard<std::mutex> Lock(Mutex);
    Answer = How;
  }
  void stopDaemon() { Daemon->stop(); }
  uint16_t port() const { return Node->port(); } // of the node
  unsigned numOpen() const { return Daemon->numOpen() + Node->numOpen(); }

  // What was seen. Each waits until it is so.
  bool waitForRequests(unsigned N);
  bool waitForJobs(unsigned N); // at nodes
  bool waitForClosed();         // all connections
  struct Seen {
    std::vector<std::string> Files, Preferred;
    unsigned Requests = 0;
    unsigned Environments = 0, Jobs = 0, Ends = 0, Blacklisted = 0;
    unsigned ClientJobs = 0, LocalDone = 0;
    std::vector<std::string> Flags, Compilers;
    size_t EnvironmentBytes = 0, EnvironmentHead = 0, LargestChunk = 0;
    std::vector<size_t> Chunks;       // of the last job's bundle
    std::vector<std::string> Bundles; // of batches; all other jobs have one
    unsigned Batches = 0;
  };
  Seen seen() const;

private:
  void serveClient(MsgChannel &C);
  void serveJob(MsgChannel &C);
  bool answer(MsgChannel &C, Behaviour B, const std::string &Bundle,
              bool IsBatch);
  template <typename T> bool waitFor(T What);

  std::string Socket;
  mutable std::mutex Mutex; // guards the rest
  std::condition_variable Changed;
  Seen S;
  unsigned NextJob = 0, NumDead = 0;
  std::vector<Behaviour> Next, NextOfBatches;
  std::unique_ptr<MockServer> Daemon, Node;
};

} // namespace dtlto::test

#endif // DTLTO_UNITTESTS_ICECC_MOCKICECREAM_H
