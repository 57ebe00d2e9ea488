//===- ReapiReplyFuzz.cpp - Replies of a server of the API ----------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Input: an encoded google.rpc.Status, read as an answer's status, as the
// details of a gRPC status, and as the path of a blob in a violation.
//
//===----------------------------------------------------------------------===//

#include "Fault.h"
#include "Fuzz.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"

using namespace dtlto::reapi;
using namespace dtlto::test;

std::vector<std::string> dtlto::test::fuzzSeeds() {
  std::string Hash(64, 'a');
  google::rpc::PreconditionFailure Missing;
  for (const char *Path : {"blobs/", "blobs/blake3/", "uploads/"}) {
    auto *V = Missing.add_violations();
    V->set_type("MISSING");
    V->set_subject(Path + Hash + "/12");
  }
  google::rpc::RetryInfo Info;
  Info.mutable_retry_delay()->set_seconds(3);
  Info.mutable_retry_delay()->set_nanos(-1);
  google::rpc::Status Lost, Full;
  Lost.set_code(9);
  Lost.set_message("blobs are missing\nhere");
  Lost.add_details()->PackFrom(Missing);
  Full.set_code(8);
  Full.add_details()->PackFrom(Info);
  Full.add_details()->PackFrom(Missing);
  return {Lost.SerializeAsString(), Full.SerializeAsString(),
          "blobs/" + Hash + "/7", "blobs/blake3/" + Hash + "/0"};
}

static void checkFault(const Fault &F, int Code) {
  check((F.What == Fault::None) == (Code == 0));
  check(F.What == Fault::None ? F.Text.empty()
                              : isLine(F.Text) && F.Text.size() < 1000);
  check(F.RetryAfter.count() >= 0 && F.RetryAfter.count() <= 60000);
  check(F.Blobs.empty() || F.What == Fault::Missing);
  for (const BlobName &N : F.Blobs) {
    BlobName Again;
    check(isHash(N.Hash) && readBlobPath("blobs/" + N.path(), Again) &&
          Again == N);
  }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  std::string Text(reinterpret_cast<const char *>(Data), Size);
  BlobName Name;
  if (readBlobPath(Text, Name)) {
    BlobName Again;
    check(isHash(Name.Hash));
    check(readBlobPath("blobs/" + Name.path(), Again) && Again == Name);
  }
  google::rpc::Status S;
  if (S.ParseFromString(Text))
    checkFault(faultOf(S), S.code());
  for (int Code : {0, 8, 9, 14})
    checkFault(faultOf(grpc::Status(grpc::StatusCode(Code), Text, Text)), Code);
  return 0;
}
