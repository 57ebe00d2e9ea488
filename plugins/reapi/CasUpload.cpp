//===- CasUpload.cpp - The calls that send contents -----------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Cas.h"
#include <memory>
#include <zstd.h>

using namespace dtlto::reapi;

static constexpr size_t PartSize = size_t(1) << 20;
// Smaller blobs are not packed.
static constexpr size_t MinPacked = 1024;
// Fast, since a link waits for it.
static constexpr int Level = 1;

/// Returns \p Bytes packed, or nothing if that isn't smaller.
static std::string pack(std::string_view Bytes) {
  std::string Packed;
  if (Bytes.size() < MinPacked)
    return Packed;
  Packed.resize(ZSTD_compressBound(Bytes.size()));
  size_t Size = ZSTD_compress(Packed.data(), Packed.size(), Bytes.data(),
                              Bytes.size(), Level);
  Packed.resize(ZSTD_isError(Size) || Size >= Bytes.size() ? 0 : Size);
  return Packed;
}

Fault Cas::sendBatch(Stop &Stopping, const std::vector<const Blob *> &Blobs) {
  std::vector<const Blob *> Remaining = Blobs;
  for (uint32_t Try = 0;; ++Try) {
    auto Request = S.request<re::BatchUpdateBlobsRequest>(Features.Digest);
    re::BatchUpdateBlobsResponse Response;
    uint64_t Size = 0;
    for (const Blob *B : Remaining) {
      auto *R = Request.add_requests();
      setDigest(*R->mutable_digest(), B->Name);
      std::string Packed = Features.ZstdInBatch ? pack(B->Bytes) : "";
      if (Packed.empty()) {
        R->set_data(B->Bytes.data(), B->Bytes.size());
      } else {
        R->set_data(std::move(Packed));
        R->set_compressor(re::Compressor::ZSTD);
      }
      Size += R->data().size();
    }
    Fault F = S.call(
        Stopping, S.S.Cas, "",
        [&](grpc::ClientContext &C) {
          Response.Clear();
          return S.Cas->BatchUpdateBlobs(&C, Request, &Response);
        },
        Size);
    if (F)
      return F;
    S.Sum.BytesUp += Size;
    // Each blob has its own status.
    Names Good;
    Fault LastFault =
        Fault(Fault::Failed, "the server's answer lacks blobs that were sent");
    for (const auto &R : Response.responses()) {
      if (Fault BlobFault = faultOf(R.status())) {
        LastFault = BlobFault;
        LastFault.By = &S.S.Cas;
      } else {
        Good.insert({R.digest().hash(), uint64_t(R.digest().size_bytes())});
      }
    }
    std::vector<const Blob *> ToResend;
    for (const Blob *B : Remaining)
      if (!Good.count(B->Name))
        ToResend.push_back(B);
    S.Sum.BlobsUp += Remaining.size() - ToResend.size();
    if (ToResend.empty())
      return {};
    Remaining.swap(ToResend);
    if (!S.mayRetry(LastFault, Try) || !S.pause(Stopping, LastFault, Try))
      return LastFault;
  }
}

/// Makes one call, from byte \p From, which is 0 if \p Packed. Sets \p Complete
/// to whether the server has the blob.
Fault Cas::writeOnce(Uploader &U, const Blob &B, const std::string &Resource,
                     uint64_t From, bool Packed, bool &Complete) {
  Server::Call Call(S, U.Stopping, S.S.Cas, "", S.limit(B.Name.Size));
  if (Call.fault())
    return Call.fault();
  google::bytestream::WriteResponse Response;
  auto Writer = S.Bytes->Write(&Call.Context, &Response);
  google::bytestream::WriteRequest Part;
  Part.set_resource_name(Resource);
  uint64_t Offset = From;
  bool AllSent = false;
  auto Send = [&](std::string_view Bytes, bool IsLast) {
    Part.set_write_offset(int64_t(Offset));
    Part.set_data(Bytes.data(), Bytes.size());
    Part.set_finish_write(IsLast);
    // On failure, the server has ended the call, and Finish() returns why.
    if (!Writer->Write(Part))
      return false;
    Part.clear_resource_name();
    Offset += Bytes.size();
    AllSent = IsLast;
    S.Sum.BytesUp += Bytes.size();
    Call.onActivity();
    reportProgress(U);
    return true;
  };
  std::string_view Rest = B.Bytes.substr(From);
  if (!Packed) {
    while (Send(Rest.substr(0, PartSize), Rest.size() <= PartSize) &&
           Rest.size() > PartSize)
      Rest.remove_prefix(PartSize);
  } else {
    std::unique_ptr<ZSTD_CCtx, size_t (*)(ZSTD_CCtx *)> Context(
        ZSTD_createCCtx(), ZSTD_freeCCtx);
    ZSTD_CCtx_setParameter(Context.get(), ZSTD_c_compressionLevel, Level);
    ZSTD_inBuffer In = {Rest.data(), Rest.size(), 0};
    std::string Buffer(PartSize, '\0');
    for (bool More = true; More;) {
      ZSTD_outBuffer Out = {Buffer.data(), Buffer.size(), 0};
      size_t Remaining =
          ZSTD_compressStream2(Context.get(), &Out, &In, ZSTD_e_end);
      More = Remaining != 0 && !ZSTD_isError(Remaining);
      if (!Send(std::string_view(Buffer.data(), Out.pos), !More))
        break;
    }
  }
  Writer->WritesDone();
  Fault F = Call.end(Writer->Finish());
  // A server that already has the blob ends the call early. For a packed one,
  // its size may be -1.
  int64_t CommittedSize = Response.committed_size();
  if (F.Code == grpc::StatusCode::ALREADY_EXISTS) {
    Complete = true;
    return {};
  }
  Complete = !F && (CommittedSize == int64_t(B.Name.Size) ||
                    (AllSent && CommittedSize == int64_t(Offset)) ||
                    (Packed && CommittedSize == -1));
  return F;
}

Fault Cas::sendStream(Uploader &U, const Blob &B) {
  bool Packed = Features.Zstd;
  std::string Resource;
  uint64_t From = 0;
  for (uint32_t Try = 0;; ++Try) {
    bool Complete = false;
    // Restart under a new name: the server may keep a part of the old one.
    if (From == 0)
      Resource = resource("uploads/" + makeUuid() + "/", Packed, B.Name);
    Fault F = writeOnce(U, B, Resource, From, Packed, Complete);
    if (Complete) {
      ++S.Sum.BlobsUp;
      return {};
    }
    if (!F)
      F = Fault(Fault::Later, "the server received only a part of a blob");
    if (!S.mayRetry(F, Try) || !S.pause(U.Stopping, F, Try))
      return F;
    From = 0;
    if (Packed)
      continue;
    google::bytestream::QueryWriteStatusRequest Request;
    google::bytestream::QueryWriteStatusResponse Response;
    Request.set_resource_name(Resource);
    Server::Call Call(S, U.Stopping, S.S.Cas, "", S.S.Timeout);
    // If the server doesn't know how much it has, start again.
    if (Call.fault() ||
        !S.Bytes->QueryWriteStatus(&Call.Context, Request, &Response).ok())
      continue;
    if (Response.complete()) {
      ++S.Sum.BlobsUp;
      return {};
    }
    if (Response.committed_size() > 0 &&
        uint64_t(Response.committed_size()) < B.Name.Size)
      From = uint64_t(Response.committed_size());
  }
}
