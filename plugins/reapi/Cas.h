//===- Cas.h - The server's content store -----------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   FindMissingBlobs    for the blobs of all jobs that wait
//   BatchUpdateBlobs    for small ones, several at a time
//   ByteStream.Write    for each large one; resumes where it was interrupted
//   BatchReadBlobs, ByteStream.Read    for downloads
//
// A blob of many jobs is looked up and uploaded once: the first job claims the
// blob, and the others wait for it. Nothing is written to disk, and only a few
// messages are in memory at a time.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_REAPI_CAS_H
#define DTLTO_REAPI_CAS_H

#include "Server.h"
#include "dtlto/sdk/ResultMemory.hpp"
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace dtlto::reapi {

/// Bytes that belong to the caller.
struct Blob {
  BlobName Name;
  std::string_view Bytes;
};

/// Uploads and downloads blobs. Any thread.
class Cas {
public:
  /// \p ProgressInterval is how often uploads report progress.
  Cas(Server &S, const ServerFeatures &Features,
      std::chrono::milliseconds ProgressInterval)
      : S(S), Features(Features), ProgressInterval(ProgressInterval) {}
  Cas(const Cas &) = delete;

  /// Uploads those of \p Blobs that are missing. Calls \p OnProgress now and
  /// then while bytes are sent, even those of other jobs while this one waits
  /// for its turn.
  Fault upload(
      Stop &Stopping, const std::vector<Blob> &Blobs,
      const std::function<void()> &OnProgress = [] {});
  /// Records that the server has lost these blobs.
  void forget(const std::vector<BlobName> &Names);
  /// Reads and verifies a blob, with memory of \p Share.
  Fault read(Stop &Stopping, const BlobName &Name,
             sdk::ResultMemory::Share &Share, std::string &Bytes);
  /// Makes waiting threads check their stops.
  void wake();

private:
  using Names = std::unordered_set<BlobName, BlobNameHash>;
  struct Query {
    std::vector<BlobName> Blobs;
    Names Missing;
    Fault QueryFault;
    bool Done = false;
  };
  struct Claims;
  /// The state of one upload(), on one thread.
  struct Uploader {
    Stop &Stopping;
    const std::function<void()> &OnProgress;
    std::chrono::steady_clock::time_point LastReport =
        std::chrono::steady_clock::now();
    uint64_t Sent = 0; // bytes of all uploads at that time
  };

  /// Reports progress of \p U if there is any and a report is due.
  void reportProgress(Uploader &U);
  /// Waits until \p Until() returns true; it is called with the lock.
  template <typename F>
  void wait(std::unique_lock<std::mutex> &Lock, Uploader &U, F Until);
  Fault find(Stop &Stopping, const std::shared_ptr<Query> &Q);
  Fault findMissing(Stop &Stopping,
                    const std::vector<std::shared_ptr<Query>> &Queries);
  Fault send(Uploader &U, const std::vector<const Blob *> &Blobs,
             Claims &UploadClaims);
  Fault sendBatch(Stop &Stopping, const std::vector<const Blob *> &Blobs);
  Fault sendStream(Uploader &U, const Blob &B);
  Fault writeOnce(Uploader &U, const Blob &B, const std::string &Resource,
                  uint64_t From, bool Packed, bool &Complete);
  Fault readSmall(Stop &Stopping, const BlobName &Name, std::string &Bytes);
  Fault readStream(Stop &Stopping, const BlobName &Name, std::string &Bytes);
  /// Returns the name of a blob for ByteStream. \p Upload is "uploads/UUID/" or
  /// empty.
  std::string resource(const std::string &Upload, bool Packed,
                       const BlobName &Name) const;

  Server &S;
  const ServerFeatures Features;
  const std::chrono::milliseconds ProgressInterval;
  std::mutex Mutex; // guards what follows
  std::condition_variable Changed;
  std::unordered_map<BlobName, bool, BlobNameHash>
      BlobStates; // true: server has it
  // Shared with the query that a thread makes for several, which a caller may
  // leave.
  std::vector<std::shared_ptr<Query>> Waiting;
  unsigned NumQueries = 0, NumTransfers = 0;
};

} // namespace dtlto::reapi

#endif // DTLTO_REAPI_CAS_H
