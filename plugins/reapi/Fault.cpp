//===- Fault.cpp - What a server says no with -----------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fault.h"
#include "dtlto/sdk/Result.hpp"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"

using namespace dtlto::reapi;

// No server's wish makes a job wait for longer.
static constexpr std::chrono::milliseconds MaxAfter{60000};
static constexpr size_t MaxText = 500;

static const char *codeName(int Code) {
  static const char *const Names[] = {"OK",
                                      "CANCELLED",
                                      "UNKNOWN",
                                      "INVALID_ARGUMENT",
                                      "DEADLINE_EXCEEDED",
                                      "NOT_FOUND",
                                      "ALREADY_EXISTS",
                                      "PERMISSION_DENIED",
                                      "RESOURCE_EXHAUSTED",
                                      "FAILED_PRECONDITION",
                                      "ABORTED",
                                      "OUT_OF_RANGE",
                                      "UNIMPLEMENTED",
                                      "INTERNAL",
                                      "UNAVAILABLE",
                                      "DATA_LOSS",
                                      "UNAUTHENTICATED"};
  return Names[Code];
}

static Fault::Class classOf(int Code) {
  switch (Code) {
  case grpc::StatusCode::OK:
    return Fault::None;
  case grpc::StatusCode::CANCELLED:
    return Fault::Cancelled;
  case grpc::StatusCode::UNAVAILABLE:
  case grpc::StatusCode::ABORTED:
    return Fault::Later;
  case grpc::StatusCode::RESOURCE_EXHAUSTED:
    return Fault::Busy;
  case grpc::StatusCode::UNAUTHENTICATED:
  case grpc::StatusCode::PERMISSION_DENIED:
    return Fault::Refused;
  default:
    return Fault::Failed;
  }
}

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
  Name.Size = 0;
  for (char C : Size)
    Name.Size = 10 * Name.Size + uint64_t(C - '0');
  return true;
}

/// The details may be any bytes.
static void readDetails(const google::rpc::Status &S, Fault &F) {
  for (const google::protobuf::Any &Any : S.details()) {
    if (Any.Is<google::rpc::RetryInfo>()) {
      google::rpc::RetryInfo Info;
      if (!Any.UnpackTo(&Info) || !Info.has_retry_delay())
        continue;
      int64_t Seconds = Info.retry_delay().seconds();
      if (Seconds < 0 || Seconds > 3600)
        Seconds = Seconds < 0 ? 0 : 3600;
      F.After = std::min<std::chrono::milliseconds>(
          MaxAfter, std::chrono::milliseconds(
                        Seconds * 1000 +
                        std::max(0, Info.retry_delay().nanos()) / 1000000));
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
  // Others than gRPC's may come, too.
  int Code = S.code() >= 0 && S.code() <= grpc::StatusCode::UNAUTHENTICATED
                 ? S.code()
                 : int(grpc::StatusCode::UNKNOWN);
  F.What = classOf(Code);
  if (!F)
    return F;
  F.Code = grpc::StatusCode(Code);
  F.Text = codeName(Code);
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
