//===- Fault.cpp - Why a call failed --------------------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fault.h"
#include "dtlto/sdk/Result.hpp"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include <algorithm>
#include <charconv>

using namespace dtlto::reapi;

// The longest pause that a server may ask for.
static constexpr std::chrono::milliseconds MaxRetryAfter{60000};
static constexpr size_t MaxText = 500;

// Indexed by the status code.
static constexpr struct {
  const char *Name;
  Fault::Class Class;
} Codes[] = {
    {"OK", Fault::None},
    {"CANCELLED", Fault::Cancelled},
    {"UNKNOWN", Fault::Failed},
    {"INVALID_ARGUMENT", Fault::Failed},
    {"DEADLINE_EXCEEDED", Fault::Failed},
    {"NOT_FOUND", Fault::Failed},
    {"ALREADY_EXISTS", Fault::Failed},
    {"PERMISSION_DENIED", Fault::Refused},
    {"RESOURCE_EXHAUSTED", Fault::Busy},
    {"FAILED_PRECONDITION", Fault::Failed},
    {"ABORTED", Fault::Later},
    {"OUT_OF_RANGE", Fault::Failed},
    {"UNIMPLEMENTED", Fault::Failed},
    {"INTERNAL", Fault::Failed},
    {"UNAVAILABLE", Fault::Later},
    {"DATA_LOSS", Fault::Failed},
    {"UNAUTHENTICATED", Fault::Refused},
};

bool dtlto::reapi::readBlobPath(std::string_view Text, BlobName &Name) {
  constexpr std::string_view Prefix = "blobs/";
  if (Text.substr(0, Prefix.size()) != Prefix)
    return false;
  size_t Slash = Text.rfind('/');
  std::string_view Size = Text.substr(Slash + 1);
  if (Slash < Prefix.size() || Size.empty() || Size.size() > 18 ||
      Size.find_first_not_of("0123456789") != Size.npos)
    return false;
  std::string_view Hash = Text.substr(Prefix.size(), Slash - Prefix.size());
  if (size_t Function = Hash.rfind('/'); Function != Hash.npos)
    Hash.remove_prefix(Function + 1);
  if (!isHash(Hash))
    return false;
  Name.Hash = Hash;
  std::from_chars(Size.data(), Size.data() + Size.size(), Name.Size);
  return true;
}

/// Reads the requested pause and missing blobs. The details may be any bytes.
static void readDetails(const google::rpc::Status &S, Fault &F) {
  for (const google::protobuf::Any &Any : S.details()) {
    if (Any.Is<google::rpc::RetryInfo>()) {
      google::rpc::RetryInfo Info;
      if (!Any.UnpackTo(&Info) || !Info.has_retry_delay())
        continue;
      int64_t Seconds = std::clamp<int64_t>(Info.retry_delay().seconds(), 0,
                                            MaxRetryAfter.count());
      int Nanos = std::max(0, Info.retry_delay().nanos());
      F.RetryAfter = std::min<std::chrono::milliseconds>(
          MaxRetryAfter,
          std::chrono::milliseconds(Seconds * 1000 + Nanos / 1000000));
    } else if (Any.Is<google::rpc::PreconditionFailure>()) {
      google::rpc::PreconditionFailure Failure;
      if (!Any.UnpackTo(&Failure))
        continue;
      for (const auto &V : Failure.violations()) {
        if (V.type() != "MISSING")
          continue;
        F.What = Fault::Missing;
        BlobName Name;
        if (readBlobPath(V.subject(), Name))
          F.Blobs.push_back(std::move(Name));
      }
    }
  }
}

Fault dtlto::reapi::faultOf(const google::rpc::Status &S) {
  Fault F;
  // A server may send codes that gRPC does not have.
  int Code = S.code() >= 0 && S.code() <= grpc::StatusCode::UNAUTHENTICATED
                 ? S.code()
                 : int(grpc::StatusCode::UNKNOWN);
  F.What = Codes[Code].Class;
  if (!F)
    return F;
  F.Code = grpc::StatusCode(Code);
  F.Text = Codes[Code].Name;
  if (!S.message().empty())
    F.Text += ": " + sdk::oneLine(S.message().substr(0, MaxText));
  if (F.Code == grpc::StatusCode::FAILED_PRECONDITION ||
      F.What == Fault::Busy || F.What == Fault::Later)
    readDetails(S, F);
  return F;
}

Fault dtlto::reapi::faultOf(const grpc::Status &S) {
  google::rpc::Status Full;
  std::string Details = S.error_details();
  if (Details.empty() || !Full.ParseFromString(Details))
    Full.Clear();
  Full.set_code(S.error_code());
  Full.set_message(S.error_message());
  return faultOf(Full);
}
