//===- MockServer.h - A server of the API in a test -------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Content, action cache and execution in memory. It does what stock servers
// can't be made to do: cut streams, forget blobs, be full, return wrong data,
// or hang. It checks clients against the API: the digests of blobs are
// verified, actions are read from the content, and folders must be canonical.
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

/// What happens to an execution.
enum class Fate {
  Good,
  CutEarly,    // UNAVAILABLE before the first message
  CutLate,     // UNAVAILABLE once it runs; WaitExecution has the rest
  Forgotten,   // UNAVAILABLE once it runs; WaitExecution: NOT_FOUND
  Full,        // RESOURCE_EXHAUSTED
  Lost,        // one of its blobs is MISSING, and is really removed
  NotFound,    // the action itself is removed; returns NOT_FOUND
  OtherBytes,  // the object doesn't match its digest
  OtherObject, // the linker refuses the object
  NoObject,
  CompileError,
  NotRead, // an object, and clang's message that it lacks an import
  WorkerError,
  NoTarget,    // the worker lacks the module's target
  Refused,     // PERMISSION_DENIED
  NoWorkers,   // FAILED_PRECONDITION, and nothing is missing
  NoneExist,   // UNAVAILABLE, as from Buildbarn without such workers
  Silent,      // sends nothing until the client cancels
  Stuck,       // runs until the client cancels
  Held,        // waits in the queue until release(), also in WaitExecution
  LaterInside, // ends with UNAVAILABLE, and RetryInfo of a second
  Cached       // as Good, from the server's action cache
};

class MockServer {
public:
  struct Options {
    int64_t MaxBatch = 0; // 0: not announced
    bool Zstd = false, Blake3 = false;
    bool InlinesObjects = true;
    /// The action cache also keeps failures of workers.
    bool KeepsFailures = false;
    int CapabilitiesCode = 0;  // a gRPC status
    bool TakesResults = false; // of clients, and announces it
    int MaxStreams = 0;        // of a connection
    uint64_t MaxRead = 0;      // bytes of BatchReadBlobs; not announced
    /// PEM, for TLS. Clients need a certificate that `Ca` has signed.
    std::string Certificate, Key, Ca;
  };
  explicit MockServer(const Options &O);
  ~MockServer();
  MockServer(const MockServer &) = delete;

  std::string url() const; // grpc://127.0.0.1:PORT

  /// Returns the fate of execution N, from 0. Default: Good.
  std::function<Fate(unsigned)> FateOf;
  /// Returns whether a call of that method with that authorization is allowed.
  /// Called on any thread. Default: all are.
  std::function<bool(const std::string &Method, const std::string &Auth)>
      IsAllowed;
  /// RetryInfo of a full server, in milliseconds.
  unsigned RetryAfterMs = 1;
  /// The number of calls of ByteStream to cut after their first message.
  unsigned CutWrites = 0, CutReads = 0;
  /// The number of calls of BatchReadBlobs whose blobs are UNAVAILABLE.
  unsigned UnavailableReads = 0;
  /// The duration of BatchUpdateBlobs.
  std::chrono::milliseconds SlowBatches{0};
  /// Called for each message of Write, which continues when the hook returns.
  std::function<void()> OnWrite;
  /// Compressed data is damaged, or decompresses to far too much.
  bool DamagesPacked = false, Bomb = false;
  /// The number of calls of FindMissingBlobs and GetActionResult that fail with
  /// the gRPC status FailCode (default: UNAVAILABLE).
  unsigned FailFinds = 0, FailLookups = 0;
  int FailCode = 14;
  /// The output of a compiler's --version. Such actions have no fate.
  std::string CompilerVersion = "Debian clang version 19.1.7 (3+b1)\n";
  /// FindMissingBlobs blocks while this is true.
  std::atomic<bool> HoldsFinds{false};
  /// The gRPC status of UpdateActionResult.
  int UpdateCode = 0;
  /// GetCapabilities blocks until the client cancels.
  std::atomic<bool> SilentCapabilities{false};
  /// The gRPC status of actions that ask for a compiler's version.
  int QuestionCode = 0;
  /// GetActionResult blocks until the client cancels.
  bool SilentLookups = false;

  /// Releases all held operations, and later ones.
  void release();
  /// Removes all content.
  void loseBlobs();
  /// Empties the action cache.
  void forgetResults();
  /// Replaces all results in the action cache by results with this object and
  /// the digest of \p Named; empty: of the object.
  void forgeResults(const std::string &Object, const std::string &Named = "");

  struct Statistics {
    std::vector<std::chrono::steady_clock::time_point> Executed;
    unsigned CancelledOperations = 0;
    unsigned HeldFinds = 0, FailedFinds = 0;
    unsigned Finds = 0, FoundDigests = 0, Batches = 0, Writes = 0, Queries = 0;
    unsigned PackedReads = 0; // blobs sent compressed
    unsigned Lookups = 0, Executions = 0, Waits = 0, MostRunning = 0;
    unsigned Questions = 0; // for a compiler's version
    unsigned CapabilityCalls = 0;
    unsigned Updates = 0;                    // of the action cache, by clients
    uint64_t BytesWritten = 0;               // by ByteStream
    std::map<std::string, unsigned> Uploads; // by hash
    std::vector<std::string> Actions;        // hashes, in order of execution
    std::vector<std::string> Problems;       // violations of the API
    std::string Authorization, Tool;
    std::string Instance;                     // of the last GetCapabilities
    std::map<std::string, std::string> Files; // of the last action's tree
    std::vector<std::string> Arguments;
    std::map<std::string, std::string> Platform;
    bool DoNotCache = false, SkipCache = false;
  };
  Statistics statistics() const;
  /// Returns whether the content has a blob with this hash.
  bool has(const std::string &Hash) const;

private:
  struct Impl;
  std::unique_ptr<Impl> TheImpl;
};

} // namespace dtlto::test

#endif // DTLTO_UNITTESTS_REAPI_MOCKSERVER_H
