//===- MockServer.h - A server of the API inside of a test ------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Content, action cache and execution in memory, for what stock servers can't
// be made to do: cut streams, forget blobs, be full, lie, say nothing. It holds
// clients to the API: digests of what comes are checked, actions are read from
// the content, folders must be canonical.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_UNITTESTS_REAPI_MOCKSERVER_H
#define DTLTO_UNITTESTS_REAPI_MOCKSERVER_H

#include "Digest.h"
#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace dtlto::test {

/// What becomes of one execution.
enum class Fate {
  Good,
  CutEarly,    // UNAVAILABLE before a word
  CutLate,     // UNAVAILABLE once it runs; WaitExecution has the rest
  Forgotten,   // likewise, but WaitExecution says NOT_FOUND
  Full,        // RESOURCE_EXHAUSTED
  Lost,        // a blob of it is MISSING, and really gone
  NotFound,    // the action itself is gone, and the server says NOT_FOUND
  OtherBytes,  // the object isn't what its digest names
  OtherObject, // the object isn't what the linker takes
  NoObject,
  CompileError,
  NotRead, // the object is there, and clang's words that it lacks an import
  WorkerError,
  NoTarget,    // the worker has no code generation for the module
  Refused,     // PERMISSION_DENIED
  NoWorkers,   // FAILED_PRECONDITION, and nothing is missing
  NoneExist,   // UNAVAILABLE, as Buildbarn says that it has no such workers
  Silent,      // nothing comes until the client cancels
  Stuck,       // it runs until the client cancels
  Held,        // waits in the queue until release(), also with WaitExecution
  LaterInside, // it has ended with UNAVAILABLE, and RetryInfo of a second
  Cached       // as Good, from the server's action cache
};

class MockServer {
public:
  struct Options {
    int64_t MaxBatch = 0; // 0: not said
    bool Zstd = false, Blake3 = false;
    bool InlinesObjects = true;
    /// Failures of workers are in the action cache, too.
    bool KeepsFailures = false;
    int CapabilitiesCode = 0;  // a gRPC status
    bool TakesResults = false; // of clients, as it says
    int MaxStreams = 0;        // of a connection
    uint64_t MaxRead = 0;      // of BatchReadBlobs, bytes; it isn't told
    /// PEM, for TLS; clients must have a certificate that `Ca` vouches for.
    std::string Certificate, Key, Ca;
  };
  explicit MockServer(const Options &O);
  ~MockServer();
  MockServer(const MockServer &) = delete;

  std::string url() const; // grpc://127.0.0.1:PORT

  /// The fate of the N-th execution, from 0. Good if there is none.
  std::function<Fate(unsigned)> FateOf;
  /// Whether a call of that method may be made with that authorization; any
  /// thread. All if there is none.
  std::function<bool(const std::string &Method, const std::string &Is)> Admits;
  /// RetryInfo of a server that is full, in milliseconds.
  unsigned RetryAfterMs = 1;
  /// So many calls of ByteStream are cut after their first message.
  unsigned CutWrites = 0, CutReads = 0;
  /// So many calls of BatchReadBlobs say UNAVAILABLE, of the blob.
  unsigned UnavailableReads = 0;
  /// How long BatchUpdateBlobs takes.
  std::chrono::milliseconds SlowBatches{0};
  /// Called with each message of Write, which goes on when it returns.
  std::function<void()> OnWrite;
  /// What it packs is damaged, or unpacks to much more than it should.
  bool DamagesPacked = false, Bomb = false;
  /// So many calls of FindMissingBlobs and GetActionResult fail with
  /// FailCode, a gRPC status: UNAVAILABLE.
  unsigned FailFinds = 0, FailLookups = 0;
  int FailCode = 14;
  /// What a compiler writes that is asked for --version; no fate.
  std::string CompilerSays = "Debian clang version 19.1.7 (3+b1)\n";
  /// FindMissingBlobs answers nothing while this is so.
  std::atomic<bool> HoldsFinds{false};
  /// UpdateActionResult fails with this gRPC status.
  int UpdateCode = 0;
  /// GetCapabilities answers nothing until the client cancels.
  std::atomic<bool> SilentCapabilities{false};
  /// What a compiler's question fails with, a gRPC status; 0: nothing.
  int QuestionCode = 0;
  /// GetActionResult answers nothing until the client cancels.
  bool SilentLookups = false;

  /// Lets those that are held go on, and all that come.
  void release();
  /// No content is there any more.
  void loseBlobs();
  /// The action cache has nothing any more.
  void forgetResults();
  /// All that the action cache has become results with this object.
  void forgeResults(const std::string &Object);

  struct Seen {
    std::vector<std::chrono::steady_clock::time_point> Executed;
    unsigned CancelledOperations = 0;
    unsigned HeldFinds = 0, FailedFinds = 0;
    unsigned Finds = 0, FoundDigests = 0, Batches = 0, Writes = 0, Queries = 0;
    unsigned PackedReads = 0; // blobs that went out so
    unsigned Lookups = 0, Executions = 0, Waits = 0, MostRunning = 0;
    unsigned Questions = 0;                  // for a compiler's version
    unsigned Updates = 0;                    // of the action cache, by clients
    uint64_t BytesWritten = 0;               // by ByteStream
    std::map<std::string, unsigned> Uploads; // by hash
    std::vector<std::string> Actions;        // hashes, as they were executed
    std::vector<std::string> Problems;       // what no client may do
    std::string Authorization, Tool;
    std::map<std::string, std::string> Files; // of the last action's tree
    std::vector<std::string> Arguments;
    std::map<std::string, std::string> Platform;
    bool DoNotCache = false, SkipCache = false;
  };
  Seen seen() const;
  /// Whether a hash is there.
  bool has(const std::string &Hash) const;

private:
  struct Impl;
  std::unique_ptr<Impl> I;
};

} // namespace dtlto::test

#endif // DTLTO_UNITTESTS_REAPI_MOCKSERVER_H
