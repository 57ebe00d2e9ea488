//===- MockIcecream.h - A cluster in a test ---------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A local daemon and nodes that do what a test says, message by message, on
// threads of the test's process.
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

/// A node's reaction to a job.
enum class Behaviour {
  Good,            // returns the bundle in a frame, with a warning
  Silent,          // reads the job and never answers
  Deaf,            // reads nothing
  SlowReader,      // reads a bit of the job at a time
  SlowEnvironment, // reads a bit of the environment at a time
  DribbledResult,  // sends the result byte by byte
  DribbledObject,  // sends the object byte by byte, in messages
  Close,           // hangs up instead of a result
  CutObject,       // hangs up in the middle of the object
  ShortObject,     // ends the object early
  LongObject,      // appends a byte to the object
  NoObject,        // ends without an object
  OddMessage,      // sends a Ping instead of the result
  OddObject,       // sends a Ping instead of the object
  WrongChunkSize,  // a chunk is longer than its size field
  Text,            // sends a status text instead of the result
  Crash,           // status 105
  CompileError,    // status 1, with a message of LLVM
  WorkerError,     // status 1, with a message of the worker
  WrongEntry       // a batch without a frame around its first object
};

/// The whole cluster: a local daemon, and nodes.
class MockCluster {
public:
  explicit MockCluster(const std::string &Folder);
  ~MockCluster();

  /// Sets the reactions to the next jobs, in this order. Later jobs are Good.
  void expect(std::vector<Behaviour> B);
  /// The same for batches.
  void expectBatches(std::vector<Behaviour> B);
  // Set these before the jobs.
  enum class Grants { Nodes, Local, LocalByNoCS, Never, Text, Hangup };
  Grants Answer = Grants::Nodes;
  bool HasEnvironment = false; // what the scheduler assumes
  bool Verifies = true;
  unsigned NumFails = 0; // requests that are answered by Hangup first
  /// Makes the next \p N grants name a node that can't be reached.
  void setNumDead(unsigned N) {
    std::lock_guard<std::mutex> Lock(Mutex);
    NumDead = N;
  }

  std::string socket() const { return Socket; }
  /// Sets Answer for later requests, while jobs run.
  void setAnswer(Grants Grant) {
    std::lock_guard<std::mutex> Lock(Mutex);
    Answer = Grant;
  }
  void stopDaemon() { Daemon->stop(); }
  uint16_t port() const { return Node->port(); } // of the node
  unsigned numOpen() const { return Daemon->numOpen() + Node->numOpen(); }

  // Records. The functions wait until the condition is true.
  bool waitForRequests(unsigned N);
  bool waitForJobs(unsigned N); // at nodes
  bool waitForClosed();         // all connections
  struct Records {
    std::vector<std::string> Files, Preferred;
    unsigned Requests = 0;
    unsigned Environments = 0, Jobs = 0, Ends = 0, Blacklisted = 0;
    unsigned ClientJobs = 0, LocalDone = 0;
    std::vector<std::string> Flags, Compilers;
    size_t EnvironmentBytes = 0, EnvironmentHead = 0, LargestChunk = 0;
    std::vector<size_t> Chunks;       // of the last job's bundle
    std::vector<std::string> Bundles; // in batches of several jobs
    unsigned Batches = 0;
  };
  Records records() const;

private:
  void serveClient(MsgChannel &C);
  void serveJob(MsgChannel &C);
  bool answer(MsgChannel &C, Behaviour B, const std::string &Bundle,
              bool IsBatch);
  template <typename T> bool waitFor(T What);

  std::string Socket;
  mutable std::mutex Mutex; // guards the members below
  std::condition_variable Changed;
  Records TheRecords;
  unsigned NextJob = 0, NumDead = 0;
  std::vector<Behaviour> Next, NextBatches;
  std::unique_ptr<MockServer> Daemon, Node;
};

} // namespace dtlto::test

#endif // DTLTO_UNITTESTS_ICECC_MOCKICECREAM_H
