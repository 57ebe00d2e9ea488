//===- Fault.h - What a server says no with ---------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// gRPC's status, and google.rpc.Status in answers, as what is to be done.
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
    Busy,      // likewise; and fewer at a time, please
    Missing,   // inputs aren't there (any more)
    Refused,   // the user's: who asks may not, or asks for what isn't there
    Cancelled, // by whoever wanted it
    Failed     // another try is of no use
  } What = None;
  grpc::StatusCode Code = grpc::StatusCode::OK;
  std::string Text; // one line
  /// Who said so, one of the settings'; null: whoever it was that was asked.
  const Endpoint *By = nullptr;
  /// The server's wish; 0: it has none.
  std::chrono::milliseconds After{0};
  /// Who asked may, by now: the same call at once, whatever was tried before.
  bool Renewed = false;
  /// The server said it. Otherwise gRPC did, of a connection that broke or
  /// that can't be made, or a deadline.
  bool FromServer = false;
  std::vector<BlobName> Blobs; // that are missing, those that are named

  explicit operator bool() const { return What != None; }
};

/// What \p S means.
Fault faultOf(const grpc::Status &S);
/// The same for the status in an answer.
Fault faultOf(const google::rpc::Status &S);

/// The blob of "blobs/[FUNCTION/]HASH/SIZE", which may be any text. False if it
/// is none.
bool readBlobPath(std::string_view Text, BlobName &Name);

} // namespace dtlto::reapi

#endif // DTLTO_REAPI_FAULT_H
