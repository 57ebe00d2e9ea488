//===- Server.h - The services, and how they are called ---------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One connection for each endpoint, for all threads. Each call has a deadline,
// the user's headers and the API's own, which names the tool and the link; what
// may work later is tried again, longer and longer apart.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_REAPI_SERVER_H
#define DTLTO_REAPI_SERVER_H

#include "Credentials.h"
#include "TokenFile.h"
#include "build/bazel/remote/execution/v2/remote_execution.grpc.pb.h"
#include "google/bytestream/bytestream.grpc.pb.h"
#include "google/longrunning/operations.grpc.pb.h"
#include <atomic>
#include <grpcpp/channel.h>
#include <memory>

namespace dtlto::reapi {

namespace re = build::bazel::remote::execution::v2;

inline void setDigest(re::Digest &D, const BlobName &N) {
  D.set_hash(N.Hash);
  D.set_size_bytes(int64_t(N.Size));
}

/// What the server said of itself, as far as it matters.
struct Abilities {
  DigestKind Digest = DigestKind::Sha256;
  uint64_t MaxBatch = 0; // bytes of all blobs in a call
  bool Zstd = false;     // for streams
  bool ZstdInBatch = false;
  bool Executes = false;
  bool TakesResults = false; // clients may write to the action cache
  std::string Text;          // for display
};

/// What went over the network, and what came of it; for display.
struct Traffic {
  std::atomic<uint64_t> BytesUp{0}, BytesDown{0}; // of blobs, as they were sent
  std::atomic<uint64_t> BlobsUp{0}, BlobsThere{0};
  std::atomic<uint64_t> Hits{0}, Misses{0}, Executed{0}, Retried{0};
  // Microseconds, by the server's clocks.
  std::atomic<uint64_t> Queued{0}, Fetched{0}, Ran{0}, Stored{0};
};

class Server {
public:
  /// Throws sdk::Error if a file of the settings can't be read.
  explicit Server(const Settings &S);

  /// Asks what the server can do. Blocks, no longer than the settings allow.
  Fault ask(Stop &Stopping, Abilities &Can);

  /// One try of a call to \p To. \p Action is named in its metadata.
  class Call {
  public:
    /// May wait for the credential helper, or, if it may not, fails where that
    /// would have to be run.
    Call(Server &S, Stop &Stopping, const Endpoint &To,
         const std::string &Action, std::chrono::seconds Limit,
         bool MayWait = true)
        : S(S), Stopping(Stopping), To(To),
          Failed(S.prepare(*this, Action, Limit, MayWait)),
          Here(Stopping, Context) {}
    /// Why it can't be made.
    const Fault &failed() const { return Failed; }
    /// What its status means. To be said once.
    Fault end(const grpc::Status &Status);

    grpc::ClientContext Context;

  private:
    friend class Server;
    Server &S;
    Stop &Stopping;
    const Endpoint &To;
    uint64_t Stamp = 0; // of the helper's headers
    std::string Token;  // that it has; empty: none
    const Fault Failed;
    Stop::Call Here;
  };

  /// Calls \p Fn(context), which calls \p To, until it works or another try is
  /// of no use.
  /// \p Size: the bytes that go either way, if they are many.
  template <typename F>
  Fault call(Stop &Stopping, const Endpoint &To, const std::string &Action,
             F Fn, uint64_t Size = 0) {
    for (uint32_t Try = 0;; ++Try) {
      Fault Found;
      {
        Call C(*this, Stopping, To, Action, limit(Size));
        Found = C.failed();
        if (!Found)
          Found = C.end(Fn(C.Context));
      }
      if (!mayRetry(Found, Try) || !pause(Stopping, Found, Try))
        return Found;
    }
  }
  /// How long a call may take that sends or fetches \p Size bytes: a slow line
  /// is shared by several.
  std::chrono::seconds limit(uint64_t Size) const {
    return S.Timeout + std::chrono::seconds(Size >> 16);
  }
  /// Whether a call may be made again that failed with \p F after \p Try
  /// tries, and that does no harm if it is made twice.
  bool mayRetry(const Fault &F, uint32_t Try) const;
  /// Waits for the next try. False if it is of no use any more.
  bool pause(Stop &Stopping, const Fault &F, uint32_t Try);

  const Settings &S;
  /// Called for the first call that is made again because nobody answers; on
  /// the thread that makes it. May be empty.
  std::function<void(const Fault &)> WhenUnavailable;
  /// Each in turn, of a connection of its own. Any thread.
  re::Execution::Stub &execution() {
    return *Executions[NextExecution++ % Executions.size()];
  }
  std::vector<std::unique_ptr<re::Execution::Stub>> Executions;
  std::atomic<unsigned> NextExecution{0};
  std::unique_ptr<google::longrunning::Operations::Stub> Operations;
  std::unique_ptr<re::ActionCache::Stub> Cache;
  std::unique_ptr<re::ContentAddressableStorage::Stub> Cas;
  std::unique_ptr<google::bytestream::ByteStream::Stub> Bytes;
  std::unique_ptr<re::Capabilities::Stub> Capabilities, CasCapabilities;
  Traffic Sum;

private:
  /// Sets deadline and metadata.
  Fault prepare(Call &C, const std::string &Action, std::chrono::seconds Limit,
                bool MayWait);

  /// Waits until \p C is connected, but no longer than \p Time. False if the
  /// call is of no use any more.
  static bool waitForConnection(Stop &Stopping, grpc::Channel &C,
                                std::chrono::milliseconds Time);

  std::map<std::string, std::shared_ptr<grpc::Channel>> Channels; // by address
  std::atomic<bool> WasUnavailable{false};
  std::string Invocation; // a UUID for this link
  TokenFile Token;
  std::unique_ptr<CredentialHelper> Helper; // null: there is none
};

/// A random UUID, version 4.
std::string makeUuid();

} // namespace dtlto::reapi

#endif // DTLTO_REAPI_SERVER_H
