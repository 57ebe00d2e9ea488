//===- Cas.cpp - The server's content store -------------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Cas.h"
#include <cassert>

using namespace dtlto::reapi;

// The most digests in one request, well below the limit of a message.
static constexpr size_t MaxQueryBlobs = 10000;
static constexpr unsigned MaxQueries = 2;
// The most transfers at a time, each with a message or two in memory.
static constexpr unsigned MaxTransfers = 8;

//===----------------------------------------------------------------------===//
// Claims on uploads
//===----------------------------------------------------------------------===//

/// The blobs that this call uploads. Those that it has not uploaded by its end
/// are released for other calls.
struct Cas::Claims {
  explicit Claims(Cas &C) : C(C) {}
  ~Claims() {
    std::lock_guard<std::mutex> Lock(C.Mutex);
    for (const BlobName &N : Open)
      C.BlobStates.erase(N);
    C.Changed.notify_all();
  }
  void done(const BlobName &N) {
    std::lock_guard<std::mutex> Lock(C.Mutex);
    C.BlobStates[N] = true;
    Open.erase(N);
    C.Changed.notify_all();
  }
  Cas &C;
  Names Open;
};

void Cas::wake() {
  std::lock_guard<std::mutex> Lock(Mutex);
  Changed.notify_all();
}

void Cas::forget(const std::vector<BlobName> &Names) {
  std::lock_guard<std::mutex> Lock(Mutex);
  for (const BlobName &N : Names) {
    auto It = BlobStates.find(N);
    if (It != BlobStates.end() && It->second)
      BlobStates.erase(It);
  }
}

void Cas::reportProgress(Uploader &U) {
  auto Now = std::chrono::steady_clock::now();
  uint64_t Sent = S.Sum.BytesUp;
  if (Now < U.LastReport + ProgressInterval || Sent == U.Sent)
    return;
  U.LastReport = Now;
  U.Sent = Sent;
  U.OnProgress();
}

template <typename F>
void Cas::wait(std::unique_lock<std::mutex> &Lock, Uploader &U, F Until) {
  assert(Lock.owns_lock());
  while (!Changed.wait_for(Lock, std::min(ProgressInterval, U.Stopping.left()),
                           Until)) {
    Lock.unlock();
    reportProgress(U);
    Lock.lock();
  }
}

Fault Cas::upload(Stop &Stopping, const std::vector<Blob> &Blobs,
                  const std::function<void()> &OnProgress) {
  Uploader U{Stopping, OnProgress};
  U.Sent = S.Sum.BytesUp;
  while (true) {
    Claims UploadClaims(*this);
    std::vector<const Blob *> ClaimedBlobs;
    bool MustWait = false;
    {
      std::lock_guard<std::mutex> Lock(Mutex);
      for (const Blob &B : Blobs) {
        auto [It, IsNew] = BlobStates.try_emplace(B.Name, false);
        if (IsNew) {
          UploadClaims.Open.insert(B.Name);
          ClaimedBlobs.push_back(&B);
        } else if (!It->second && !UploadClaims.Open.count(B.Name)) {
          MustWait = true;
        }
      }
    }
    if (!ClaimedBlobs.empty()) {
      auto Q = std::make_shared<Query>();
      for (const Blob *B : ClaimedBlobs)
        Q->Blobs.push_back(B->Name);
      if (Fault F = find(Stopping, Q))
        return F;
      std::vector<const Blob *> Missing;
      for (const Blob *B : ClaimedBlobs) {
        if (Q->Missing.count(B->Name)) {
          Missing.push_back(B);
        } else {
          ++S.Sum.BlobsPresent;
          UploadClaims.done(B->Name);
        }
      }
      if (Fault F = send(U, Missing, UploadClaims))
        return F;
    }
    if (!MustWait)
      return {};
    std::unique_lock<std::mutex> Lock(Mutex);
    wait(Lock, U, [&] {
      if (Stopping.raised())
        return true;
      for (const Blob &B : Blobs) {
        auto It = BlobStates.find(B.Name);
        if (It != BlobStates.end() && !It->second)
          return false;
      }
      return true;
    });
    if (Stopping.raised())
      return Fault::cancelled();
  }
}

//===----------------------------------------------------------------------===//
// FindMissingBlobs
//===----------------------------------------------------------------------===//

/// The first thread asks for the blobs of all waiting threads.
Fault Cas::find(Stop &Stopping, const std::shared_ptr<Query> &Q) {
  std::unique_lock<std::mutex> Lock(Mutex);
  Waiting.push_back(Q);
  while (!Q->Done) {
    auto It = std::find(Waiting.begin(), Waiting.end(), Q);
    if (Stopping.raised()) {
      if (It != Waiting.end())
        Waiting.erase(It);
      return Fault::cancelled();
    }
    if (NumQueries == MaxQueries || It == Waiting.end()) {
      Changed.wait_for(Lock, Stopping.left());
      continue;
    }
    std::vector<std::shared_ptr<Query>> Now = {Q};
    Waiting.erase(It);
    size_t Size = Q->Blobs.size();
    while (!Waiting.empty() &&
           Size + Waiting.front()->Blobs.size() <= MaxQueryBlobs) {
      Size += Waiting.front()->Blobs.size();
      Now.push_back(Waiting.front());
      Waiting.erase(Waiting.begin());
    }
    ++NumQueries;
    Lock.unlock();
    Fault F = findMissing(Stopping, Now);
    Lock.lock();
    --NumQueries;
    for (const std::shared_ptr<Query> &Other : Now) {
      // Only this caller is stopped: let the others ask again.
      if (F && Stopping.raised() && Other != Q) {
        Waiting.push_back(Other);
        continue;
      }
      Other->QueryFault = F;
      Other->Done = true;
    }
    Changed.notify_all();
  }
  return Q->QueryFault;
}

Fault Cas::findMissing(Stop &Stopping,
                       const std::vector<std::shared_ptr<Query>> &Queries) {
  auto Request = S.request<re::FindMissingBlobsRequest>(Features.Digest);
  re::FindMissingBlobsResponse Response;
  for (const auto &Q : Queries)
    for (const BlobName &N : Q->Blobs)
      setDigest(*Request.add_blob_digests(), N);
  Fault F = S.call(Stopping, S.S.Cas, "", [&](grpc::ClientContext &C) {
    Response.Clear();
    return S.Cas->FindMissingBlobs(&C, Request, &Response);
  });
  Names Missing;
  for (const re::Digest &D : Response.missing_blob_digests())
    Missing.insert({D.hash(), uint64_t(D.size_bytes())});
  // Only the thread that asks uses a query that is neither waiting nor done.
  for (const auto &Q : Queries)
    for (const BlobName &N : Q->Blobs)
      if (Missing.count(N))
        Q->Missing.insert(N);
  return F;
}

std::string Cas::resource(const std::string &Upload, bool Packed,
                          const BlobName &Name) const {
  // SHA-256 is the default for hashes of this length.
  return (S.S.Instance.empty() ? "" : S.S.Instance + "/") + Upload +
         (Packed ? "compressed-blobs/zstd/" : "blobs/") +
         (Features.Digest == DigestKind::Blake3 ? "blake3/" : "") + Name.path();
}

//===----------------------------------------------------------------------===//
// Writing; the calls are in CasUpload.cpp, and reading is in CasDownload.cpp
//===----------------------------------------------------------------------===//

Fault Cas::send(Uploader &U, const std::vector<const Blob *> &Blobs,
                Claims &UploadClaims) {
  std::vector<const Blob *> Batch;
  uint64_t Size = 0;
  auto InTransfer = [&](auto Fn) {
    {
      std::unique_lock<std::mutex> Lock(Mutex);
      wait(Lock, U,
           [&] { return NumTransfers < MaxTransfers || U.Stopping.raised(); });
      if (U.Stopping.raised())
        return Fault::cancelled();
      ++NumTransfers;
    }
    // Also after an exception.
    std::shared_ptr<void> Leave(nullptr, [this](void *) {
      std::lock_guard<std::mutex> Lock(Mutex);
      --NumTransfers;
      Changed.notify_all();
    });
    return Fault(Fn());
  };
  auto Flush = [&]() -> Fault {
    if (Batch.empty())
      return {};
    Fault F = InTransfer([&] { return sendBatch(U.Stopping, Batch); });
    if (!F)
      for (const Blob *B : Batch)
        UploadClaims.done(B->Name);
    reportProgress(U);
    Batch.clear();
    Size = 0;
    return F;
  };
  // An upper bound for a digest and its framing in the message.
  constexpr uint64_t Overhead = 256;
  for (const Blob *B : Blobs) {
    uint64_t BlobSize = B->Name.Size + Overhead;
    if (BlobSize > Features.MaxBatch) {
      if (Fault F = InTransfer([&] { return sendStream(U, *B); }))
        return F;
      UploadClaims.done(B->Name);
      continue;
    }
    if (Size + BlobSize > Features.MaxBatch)
      if (Fault F = Flush())
        return F;
    Batch.push_back(B);
    Size += BlobSize;
  }
  return Flush();
}
