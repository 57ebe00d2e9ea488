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

#include "Fault.h"
#include "Settings.h"
#include "Stop.h"
#include "build/bazel/remote/execution/v2/remote_execution.grpc.pb.h"
#include "google/bytestream/bytestream.grpc.pb.h"
#include <atomic>
#include <memory>

namespace dtlto::reapi {

namespace re = build::bazel::remote::execution::v2;

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
  std::atomic<uint64_t> QueuedMs{0}, RunMs{0}; // by the server's clocks
};

class Server {
public:
  /// Throws sdk::Error if a file of the settings can't be read.
  explicit Server(const Settings &S);

  /// Asks what the server can do. Blocks, no longer than the settings allow.
  Fault ask(Stop &Stopping, Abilities &Can);

  /// Calls \p Fn(context), which makes the call, until it works or another try
  /// is of no use. \p Action is named in the metadata.
  template <typename F>
  Fault call(Stop &Stopping, const std::string &Action, F Fn) {
    for (uint32_t Try = 0;; ++Try) {
      Fault Found;
      {
        grpc::ClientContext Context;
        prepare(Context, Action, S.Timeout);
        Stop::Call Here(Stopping, Context);
        Found = faultOf(Fn(Context));
      }
      if (!mayRetry(Found, Try) || !pause(Stopping, Found, Try))
        return Found;
    }
  }
  /// Sets deadline and metadata.
  void prepare(grpc::ClientContext &Context, const std::string &Action,
               std::chrono::seconds Limit) const;
  /// Whether a call may be made again that failed with \p F after \p Try tries.
  bool mayRetry(const Fault &F, uint32_t Try) const;
  /// Waits for the next try. False if it is of no use any more.
  bool pause(Stop &Stopping, const Fault &F, uint32_t Try);

  const Settings &S;
  std::unique_ptr<re::Execution::Stub> Execution;
  std::unique_ptr<re::ActionCache::Stub> Cache;
  std::unique_ptr<re::ContentAddressableStorage::Stub> Cas;
  std::unique_ptr<google::bytestream::ByteStream::Stub> Bytes;
  std::unique_ptr<re::Capabilities::Stub> Capabilities, CasCapabilities;
  Traffic Sum;

private:
  std::string Invocation; // a UUID for this link
  std::string Authorization;
};

/// A random UUID, version 4.
std::string makeUuid();

} // namespace dtlto::reapi

#endif // DTLTO_REAPI_SERVER_H
