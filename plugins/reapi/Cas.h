//===- Cas.h - Contents at the server ---------------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   FindMissingBlobs    for the blobs of all jobs that ask meanwhile
//   BatchUpdateBlobs    small ones, several at a time
//   ByteStream.Write    each large one; goes on where it was cut
//   BatchReadBlobs, ByteStream.Read    the way back
//
// A blob that many jobs have is asked for and goes up once: the first that
// needs it claims it, and the others wait for that one. Nothing is on disk, and
// no more than a few messages are in memory at a time.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_REAPI_CAS_H
#define DTLTO_REAPI_CAS_H

#include "Server.h"
#include "dtlto/sdk/ResultMemory.hpp"
#include <condition_variable>
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

/// Any thread.
class Cas {
public:
  Cas(Server &S, const Abilities &Can) : S(S), Can(Can) {}
  Cas(const Cas &) = delete;

  /// Sees to it that all of \p Blobs are there.
  Fault upload(Stop &Stopping, const std::vector<Blob> &Blobs);
  /// The server doesn't have them, whatever it said.
  void forget(const std::vector<BlobName> &Names);
  /// Reads a blob, and checks it. It takes memory of \p Share.
  Fault read(Stop &Stopping, const BlobName &Name,
             sdk::ResultMemory::Share &Share, std::string &Bytes);
  /// Those that wait for other jobs' blobs look whether they are stopped.
  void wake();

private:
  using Names = std::unordered_set<BlobName, BlobNameHash>;
  struct Query {
    std::vector<BlobName> Asked;
    Names Missing;
    Fault Failed;
    bool Done = false;
  };
  struct Claims;

  Fault find(Stop &Stopping, Query &Q);
  Fault ask(Stop &Stopping, const std::vector<Query *> &Queries);
  Fault send(Stop &Stopping, const std::vector<const Blob *> &Blobs,
             Claims &Mine);
  Fault sendBatch(Stop &Stopping, const std::vector<const Blob *> &Blobs);
  Fault sendStream(Stop &Stopping, const Blob &B);
  Fault writeOnce(Stop &Stopping, const Blob &B, const std::string &Resource,
                  uint64_t From, bool Packed, bool &Complete);
  Fault readSmall(Stop &Stopping, const BlobName &Name, std::string &Bytes);
  Fault readStream(Stop &Stopping, const BlobName &Name, std::string &Bytes);
  std::string prefix() const;
  std::string blobPath(const BlobName &Name) const;

  Server &S;
  const Abilities Can;
  std::mutex Mutex; // guards what follows
  std::condition_variable Changed;
  std::unordered_map<BlobName, bool, BlobNameHash> Known; // true: is there
  std::vector<Query *> Waiting;
  unsigned NumAsking = 0, NumSending = 0;
};

} // namespace dtlto::reapi

#endif // DTLTO_REAPI_CAS_H
