//===- CasDownload.cpp - The calls that fetch contents --------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Cas.h"
#include <memory>
#include <zstd.h>

using namespace dtlto::reapi;

// Smaller blobs are not packed.
static constexpr uint64_t MinPackedRead = 1024;

static Fault fault(std::string Text) {
  return {Fault::Failed, std::move(Text)};
}

namespace {
/// Unpacks a zstd stream piece by piece.
class Unpacker {
public:
  /// \p Size is the limit of all unpacked bytes.
  explicit Unpacker(uint64_t Size)
      : Size(Size), Context(ZSTD_createDCtx(), ZSTD_freeDCtx) {}

  /// Appends \p Packed, unpacked, to \p Out. Returns false if it is damaged or
  /// too long.
  bool add(const std::string &Packed, std::string &Out) {
    ZSTD_inBuffer In = {Packed.data(), Packed.size(), 0};
    while (true) {
      ZSTD_outBuffer To = {Buffer.data(), Buffer.size(), 0};
      if (ZSTD_isError(ZSTD_decompressStream(Context.get(), &To, &In)) ||
          To.pos > Size - Out.size())
        return false;
      Out.append(Buffer.data(), To.pos);
      if (In.pos == In.size && To.pos != To.size)
        return true;
    }
  }

private:
  const uint64_t Size;
  const std::unique_ptr<ZSTD_DCtx, size_t (*)(ZSTD_DCtx *)> Context;
  std::string Buffer = std::string(ZSTD_DStreamOutSize(), '\0');
};
} // namespace

Fault Cas::read(Stop &Stopping, const BlobName &Name,
                sdk::ResultMemory::Share &Share, std::string &Bytes) {
  Bytes.clear();
  if (!isHash(Name.Hash))
    return fault("its digest is invalid");
  if (!Share.grow(Name.Size))
    return fault("it exceeds the memory for results");
  if (Name.Size == 0)
    return {};
  bool IsSmall = Name.Size <= Features.MaxBatch;
  Fault F = IsSmall ? readSmall(Stopping, Name, Bytes)
                    : readStream(Stopping, Name, Bytes);
  // Some servers, such as Buildbarn, have a limit that they don't report.
  if (IsSmall && F.Code == grpc::StatusCode::INVALID_ARGUMENT) {
    Bytes.clear();
    F = readStream(Stopping, Name, Bytes);
  }
  if (F)
    return F;
  if (nameBlob(Features.Digest, Bytes) != Name) {
    Bytes.clear();
    return fault("the contents received for the digest " + Name.path() +
                 " do not match it");
  }
  return F;
}

Fault Cas::readSmall(Stop &Stopping, const BlobName &Name, std::string &Bytes) {
  auto Request = S.request<re::BatchReadBlobsRequest>(Features.Digest);
  re::BatchReadBlobsResponse Response;
  setDigest(*Request.add_digests(), Name);
  if (Features.Zstd && Name.Size >= MinPackedRead)
    Request.add_acceptable_compressors(re::Compressor::ZSTD);
  Fault F = S.call(
      Stopping, S.S.Cas, "",
      [&](grpc::ClientContext &C) {
        Response.Clear();
        grpc::Status CallStatus = S.Cas->BatchReadBlobs(&C, Request, &Response);
        // The call gets the status of its only blob.
        if (CallStatus.ok() && Response.responses_size() == 1)
          if (const auto &BlobStatus = Response.responses(0).status();
              BlobStatus.code())
            return grpc::Status(grpc::StatusCode(BlobStatus.code()),
                                BlobStatus.message(),
                                BlobStatus.SerializeAsString());
        return CallStatus;
      },
      Name.Size);
  if (F)
    return F;
  if (Response.responses_size() != 1)
    return fault(
        "the server's answer does not have exactly the requested blob");
  auto &Reply = *Response.mutable_responses(0);
  S.Sum.BytesDown += Reply.data().size();
  if (Reply.compressor() == re::Compressor::IDENTITY) {
    Bytes = std::move(*Reply.mutable_data());
    return F;
  }
  Unpacker Unpack(Name.Size);
  if (Reply.compressor() != re::Compressor::ZSTD ||
      !Unpack.add(Reply.data(), Bytes))
    return fault("the blob " + Name.path() +
                 " is damaged, or compressed in a way that was not requested");
  return F;
}

Fault Cas::readStream(Stop &Stopping, const BlobName &Name,
                      std::string &Bytes) {
  google::bytestream::ReadRequest Request;
  // An interrupted transfer resumes unpacked: not every server can pack from an
  // offset.
  bool Packed = Features.Zstd && Name.Size >= MinPackedRead;
  for (uint32_t Try = 0;; ++Try) {
    size_t Before = Bytes.size();
    Request.set_resource_name(resource("", Packed, Name));
    Request.set_read_offset(int64_t(Before));
    Fault F;
    {
      Server::Call Call(S, Stopping, S.S.Cas, "", S.limit(Name.Size));
      if (Call.fault())
        return Call.fault();
      auto Reader = S.Bytes->Read(&Call.Context, Request);
      google::bytestream::ReadResponse Part;
      Unpacker Unpack(Name.Size);
      bool Good = true;
      while (Good && Reader->Read(&Part)) {
        S.Sum.BytesDown += Part.data().size();
        Call.onActivity();
        Good = Packed ? Unpack.add(Part.data(), Bytes)
                      : Part.data().size() <= Name.Size - Bytes.size();
        if (Good && !Packed)
          Bytes += Part.data();
      }
      if (!Good) {
        Call.Context.TryCancel();
        Reader->Finish();
        return fault("the blob " + Name.path() +
                     " is damaged, or longer than its digest says");
      }
      F = Call.end(Reader->Finish());
    }
    if (!F && Bytes.size() != Name.Size)
      return fault("the blob " + Name.path() +
                   " is shorter than its digest says");
    // Retry as long as there is progress.
    if (Bytes.size() != Before)
      Try = 0;
    if (!S.mayRetry(F, Try) || !S.pause(Stopping, F, Try))
      return F;
    Packed &= Bytes.empty();
  }
}
