//===- Fault.h - Why a call failed -------------------------------*- C++
//-*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// gRPC's status, and google.rpc.Status in answers, as what the client does
// next.
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
    Later,     // the same call may work in a while
    Busy,      // the same call may work with fewer others at a time
    Missing,   // inputs are missing at the server
    Refused,   // the user's credentials or settings are wrong
    Cancelled, // by the client
    Failed     // a retry does not help
  } What = None;
  grpc::StatusCode Code = grpc::StatusCode::OK;
  std::string Text; // one line
  /// The endpoint that reported it, one of the settings'; null: the one called.
  const Endpoint *By = nullptr;
  /// The pause that the server asks for; 0: none.
  std::chrono::milliseconds After{0};
  /// The credentials have been renewed: retry at once, whatever was tried.
  bool Renewed = false;
  /// The server reported it. Otherwise gRPC did: no connection, or a deadline.
  bool FromServer = false;
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

/// Translates \p S.
Fault faultOf(const grpc::Status &S);
/// Translates the status in an answer.
Fault faultOf(const google::rpc::Status &S);

/// Reads "blobs/[FUNCTION/]HASH/SIZE". Returns false for any other text.
bool readBlobPath(std::string_view Text, BlobName &Name);

} // namespace dtlto::reapi

#endif // DTLTO_REAPI_FAULT_H
