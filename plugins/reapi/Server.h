//===- Server.h - Connections and calls to the services ---------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Connections for all threads: one for each endpoint, and more for executions.
// Each call has a deadline, the user's headers, and the API's own, which names
// the tool and the link. Calls that may work later are retried with increasing
// pauses.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_REAPI_SERVER_H
#define DTLTO_REAPI_SERVER_H

#include "Credentials.h"
#include "build/bazel/remote/execution/v2/remote_execution.grpc.pb.h"
#include "google/bytestream/bytestream.grpc.pb.h"
#include "google/longrunning/operations.grpc.pb.h"
#include <atomic>
#include <grpcpp/channel.h>
#include <grpcpp/completion_queue.h>
#include <grpcpp/security/credentials.h>
#include <memory>
#include <mutex>

namespace dtlto::reapi {

namespace re = build::bazel::remote::execution::v2;

inline void setDigest(re::Digest &D, const BlobName &N) {
  D.set_hash(N.Hash);
  D.set_size_bytes(int64_t(N.Size));
}

/// The server's capabilities, as far as the client uses them.
struct ServerFeatures {
  DigestKind Digest = DigestKind::Sha256;
  uint64_t MaxBatch = 0; // bytes of all blobs in a call
  bool Zstd = false;     // for streams
  bool ZstdInBatch = false;
  bool Executes = false;
  bool TakesResults = false; // clients may write to the action cache
  std::string Text;          // for display
};

/// Keeps gRPC's library initialized. Its threads end with the last of these
/// objects.
struct Library {
  /// Throws sdk::Error if too few threads may still start.
  Library();
  ~Library();
  Library(const Library &) = delete;
};

/// Sums of all calls, for display.
struct Traffic {
  std::atomic<uint64_t> BytesUp{0}, BytesDown{0}; // of blobs, as they were sent
  std::atomic<uint64_t> BlobsUp{0}, BlobsPresent{0};
  std::atomic<uint64_t> Hits{0}, Misses{0}, NumExecuted{0}, NumRetried{0};
  // Microseconds, by the server's clocks.
  std::atomic<uint64_t> Queued{0}, Fetched{0}, Ran{0}, Stored{0};
};

class Server {
  const Library TheLibrary;
  struct Connection;

public:
  /// Throws sdk::Error if a file of the settings can't be read.
  explicit Server(const Settings &S);
  ~Server();

  /// Asks for the server's capabilities. Blocks at most as long as the settings
  /// allow.
  Fault queryFeatures(Stop &Stopping, ServerFeatures &Features);

  /// One try of a call to \p To. Its metadata names \p Action.
  class Call {
  public:
    /// Unless it \p MayWait, it fails if the credential helper must run.
    Call(Server &S, Stop &Stopping, const Endpoint &To,
         const std::string &Action, std::chrono::seconds Limit,
         bool MayWait = true)
        : Call(S, Stopping, S.connectionTo(To), Action, Limit, MayWait) {}
    Call(Server &S, Stop &Stopping, Connection &By, const std::string &Action,
         std::chrono::seconds Limit, bool MayWait = true, bool IsPing = false);
    ~Call();
    /// Records that the server has sent or accepted something.
    void onActivity();
    /// Returns why the call can't be made.
    const Fault &fault() const { return StartFault; }
    /// Translates the call's status. Must be called once.
    Fault end(const grpc::Status &Status);

    grpc::ClientContext Context;

  private:
    friend class Server;
    /// Sets who reported \p F, and updates the connection's state.
    void recordFault(Fault &F);

    Server &S;
    Stop &Stopping;
    Connection &By;
    const Endpoint &To;
    const bool IsPing;
    uint64_t Stamp = 0; // of the helper's headers
    std::string Token;  // the token sent; empty: none
    const Fault StartFault;
    Stop::Call CancelRegistration;
  };

  /// Calls \p Fn(context), which calls \p To, until it succeeds or a retry does
  /// not help. \p Size is the number of bytes that it transfers, if there are
  /// many.
  template <typename F>
  Fault call(Stop &Stopping, const Endpoint &To, const std::string &Action,
             F Fn, uint64_t Size = 0) {
    for (uint32_t Try = 0;; ++Try) {
      Fault Result;
      {
        Call C(*this, Stopping, To, Action, limit(Size));
        Result = C.fault();
        if (!Result)
          Result = C.end(Fn(C.Context));
      }
      if (!mayRetry(Result, Try) || !pause(Stopping, Result, Try))
        return Result;
    }
  }
  /// Returns the time limit of a call that transfers \p Size bytes. Several
  /// calls may share a slow line.
  std::chrono::seconds limit(uint64_t Size) const {
    return S.Timeout + std::chrono::seconds(Size >> 16);
  }
  /// Whether to retry a call that failed with \p F after \p Try tries. The call
  /// must be safe to repeat.
  bool mayRetry(const Fault &F, uint32_t Try) const;
  /// Returns how long to wait after \p F and \p Try tries before it.
  std::chrono::milliseconds pauseAfter(const Fault &F, uint32_t Try) const;
  /// Waits for the next try. Returns false if \p Stopping is raised.
  bool pause(Stop &Stopping, const Fault &F, uint32_t Try);

  /// Returns a request with the fields that all requests have.
  template <typename T> T request(DigestKind Kind) const {
    T Request;
    Request.set_instance_name(S.Instance);
    Request.set_digest_function(re::DigestFunction::Value(Kind));
    return Request;
  }

  /// Must be called each pulse(). Pings connections on which calls only wait.
  /// Returns why the server is given up, or nothing.
  std::string watch();
  /// How often watch() has something to do.
  std::chrono::milliseconds pulse() const;
  /// How long a server may be unreachable.
  std::chrono::milliseconds silence() const;
  /// Returns \p F with advice for the user. May block for a few seconds.
  std::string explain(const Fault &F);

  const Settings &S;
  /// Called on the first retry because the server is unreachable, on the call's
  /// thread. May be empty.
  std::function<void(const Fault &)> OnUnavailable;
  /// Connections for executions, used in turn. Any thread.
  struct Executor {
    Connection *By;
    std::unique_ptr<re::Execution::Stub> Stub;
  };
  const Executor &executor() {
    return Executors[NextExecutor++ % Executors.size()];
  }
  std::unique_ptr<google::longrunning::Operations::Stub> Operations;
  std::unique_ptr<re::ActionCache::Stub> Cache;
  std::unique_ptr<re::ContentAddressableStorage::Stub> Cas;
  std::unique_ptr<google::bytestream::ByteStream::Stub> Bytes;
  Traffic Sum;

private:
  using Clock = std::chrono::steady_clock;
  /// A call that only tests the connection.
  struct Ping;
  struct Peer;
  struct Connection {
    Connection(const Endpoint &To, Peer &Of, std::shared_ptr<grpc::Channel> C);
    ~Connection();
    const Endpoint &To;
    Peer &Of;
    const std::shared_ptr<grpc::Channel> Channel;
    const std::unique_ptr<re::Capabilities::Stub> Capabilities;
    unsigned NumCalls = 0; // in progress, without the ping
    Clock::time_point LastActivity{};
    std::unique_ptr<Ping> PendingPing; // a ping without an answer yet
  };
  struct Peer {
    /// The first isn't for executions.
    std::vector<std::unique_ptr<Connection>> Connections;
    unsigned NumCalls = 0;  // in progress, on all of them
    bool IsFailing = false; // the last call found no server
    Clock::time_point LastActivity{}, LastCallEnd{}; // of a call
  };

  Connection &connectionTo(const Endpoint &To) {
    return *Peers.at(To.name()).Connections.front();
  }
  Connection &connect(const Endpoint &To, const grpc::SslCredentialsOptions &O);
  void ping(Connection &C);
  /// Handles the answers to pings that have arrived; with \p All, waits for
  /// all.
  void handlePings(bool All);
  /// Sets the deadline and the metadata.
  Fault prepare(Call &C, const std::string &Action, std::chrono::seconds Limit,
                bool MayWait);

  /// Waits until \p C is connected, but at most \p Time. Returns false if \p
  /// Stopping is raised.
  static bool waitForConnection(Stop &Stopping, grpc::Channel &C,
                                std::chrono::milliseconds Time);

  std::map<std::string, Peer> Peers; // by the endpoint's name
  std::vector<Executor> Executors;
  std::atomic<unsigned> NextExecutor{0};
  std::mutex PulseMutex; // guards the calls' state of connections
  grpc::CompletionQueue PingQueue;
  std::mutex ExplainMutex;                      // guards what follows
  std::map<std::string, std::string> Explained; // by the endpoint's name
  std::atomic<bool> WasUnavailable{false};
  std::string Invocation; // a UUID for this link
  TokenFile Token;
  std::unique_ptr<ServerHelper> Helper; // null: there is none
};

/// A random UUID, version 4.
std::string makeUuid();

} // namespace dtlto::reapi

#endif // DTLTO_REAPI_SERVER_H
