//===- Fault.h - Why a call failed ------------------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Translates gRPC's status, and google.rpc.Status in answers, to what the
// client does next.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_REAPI_FAULT_H
#define DTLTO_REAPI_FAULT_H

#include "Digest.h"
#include <chrono>
#include <grpcpp/support/status.h>
#include <vector>

namespace google::rpc {
class Status;
}

namespace dtlto::reapi {

struct Endpoint;

struct Fault {
  enum Class {
    None,
    Later,     // the same call may work later
    Busy,      // the same call may work with fewer others
    Missing,   // the server lacks inputs
    Refused,   // the user's credentials or settings are wrong
    Cancelled, // by the client
    Failed     // a retry does not help
  } What = None;
  grpc::StatusCode Code = grpc::StatusCode::OK;
  std::string Text; // one line
  /// The endpoint of the settings that reported it; null: the one called.
  const Endpoint *By = nullptr;
  /// The pause that the server requests; 0: none.
  std::chrono::milliseconds RetryAfter{0};
  /// The credentials were renewed: retry at once, regardless of earlier tries.
  bool WasRenewed = false;
  /// Whether the server reported it. Otherwise gRPC did: no connection, or a
  /// deadline.
  bool IsFromServer = false;
  std::vector<BlobName> Blobs; // missing ones that the server named

  Fault() = default;
  Fault(Class What, std::string Text,
        grpc::StatusCode Code = grpc::StatusCode::OK)
      : What(What), Code(Code), Text(std::move(Text)) {}
  static Fault cancelled() {
    return {Cancelled, "cancelled", grpc::StatusCode::CANCELLED};
  }
  explicit operator bool() const { return What != None; }
};

/// Translates the status of a call.
Fault faultOf(const grpc::Status &S);
/// Translates the status in an answer.
Fault faultOf(const google::rpc::Status &S);

/// Reads "blobs/[FUNCTION/]HASH/SIZE". Returns false for any other text.
bool readBlobPath(std::string_view Text, BlobName &Name);

} // namespace dtlto::reapi

#endif // DTLTO_REAPI_FAULT_H
