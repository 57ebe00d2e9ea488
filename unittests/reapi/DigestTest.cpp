//===- DigestTest.cpp - Digests, faults and manifests ---------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Digest.h"
#include "Action.h"
#include "Fault.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "gtest/gtest.h"

using namespace dtlto::reapi;

TEST(DigestTest, Sha256) {
  EXPECT_EQ("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
            nameBlob(DigestKind::Sha256, "").Hash);
  EXPECT_EQ(
      "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad/3",
      nameBlob(DigestKind::Sha256, "abc").path());
}

TEST(DigestTest, BlobPath) {
  std::string Hash(64, 'a');
  BlobName N;
  EXPECT_TRUE(readBlobPath("blobs/" + Hash + "/12", N));
  EXPECT_EQ(Hash + "/12", N.path());
  EXPECT_TRUE(readBlobPath("blobs/blake3/" + Hash + "/0", N));
  for (const std::string &Bad :
       {std::string(), std::string("blobs/"), std::string("blobs//"),
        "blobs/" + Hash, "blobs/" + Hash + "/", "blobs/" + Hash + "/x",
        "blobs/" + Hash + "/-1", "blobs/" + Hash + "/9999999999999999999",
        "blobs/" + Hash + "a/1", "blob/" + Hash + "/1"})
    EXPECT_FALSE(readBlobPath(Bad, N)) << Bad;
}

TEST(FaultTest, Classes) {
  std::pair<grpc::StatusCode, Fault::Class> All[] = {
      {grpc::StatusCode::OK, Fault::None},
      {grpc::StatusCode::UNAVAILABLE, Fault::Later},
      {grpc::StatusCode::RESOURCE_EXHAUSTED, Fault::Busy},
      {grpc::StatusCode::UNAUTHENTICATED, Fault::Refused},
      {grpc::StatusCode::PERMISSION_DENIED, Fault::Refused},
      {grpc::StatusCode::CANCELLED, Fault::Cancelled},
      {grpc::StatusCode::INTERNAL, Fault::Failed},
      {grpc::StatusCode::FAILED_PRECONDITION, Fault::Failed}};
  for (auto [Code, Class] : All)
    EXPECT_EQ(Class, faultOf(grpc::Status(Code, "x")).What) << Code;
}

TEST(FaultTest, Details) {
  google::rpc::RetryInfo Info;
  Info.mutable_retry_delay()->set_seconds(2);
  google::rpc::Status S;
  S.set_code(8);
  S.set_message("two\nlines");
  S.add_details()->PackFrom(Info);
  Fault F = faultOf(S);
  EXPECT_EQ(2000, F.RetryAfter.count());
  EXPECT_EQ("RESOURCE_EXHAUSTED: two lines", F.Text);
  // The server's delay is limited.
  Info.mutable_retry_delay()->set_seconds(INT64_MAX);
  S.mutable_details(0)->PackFrom(Info);
  EXPECT_EQ(60000, faultOf(S).RetryAfter.count());
  EXPECT_EQ(
      Fault::Later,
      faultOf(grpc::Status(grpc::StatusCode::UNAVAILABLE, "", "\xff")).What);
}

TEST(ManifestTest, Any) {
  std::string Part(1024, '\0');
  EXPECT_EQ("", manifestOf(""));
  EXPECT_EQ("", manifestOf(Part));
  Part.replace(0, 13, "manifest.json");
  EXPECT_EQ("", manifestOf(Part));
  Part.replace(124, 11, "00000000003");
  Part.replace(512, 3, "{}\n");
  EXPECT_EQ("{}\n", manifestOf(Part));
  Part.replace(124, 11, "00000002000");
  EXPECT_EQ("", manifestOf(Part)); // longer than the part
}
