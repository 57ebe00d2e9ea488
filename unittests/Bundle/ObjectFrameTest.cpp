//===- ObjectFrameTest.cpp - A result that names its job ------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bundle/ObjectFrame.h"
#include "llvm/Support/BLAKE3.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace dtlto;

static BundleId job(uint8_t First) {
  BundleId Id;
  for (size_t I = 0; I != Id.size(); ++I)
    Id[I] = static_cast<uint8_t>(First + I);
  return Id;
}

static std::string frame(const std::string &Object) {
  return frameHead(Object, job(1)).str().str() + Object;
}

/// Returns the result, or "error: ...".
static std::string read(const std::string &Framed,
                        const BundleId &Job = job(1)) {
  Expected<StringRef> Result = readFrame(Framed, Job);
  return Result ? Result->str() : "error: " + toString(Result.takeError());
}

static std::string someObject() {
  std::string Object;
  for (unsigned I = 0; I != 300; ++I)
    Object += static_cast<char>(I * 7);
  return Object;
}

TEST(ObjectFrameTest, Format) {
  SmallString<88> Head = frameHead("an object", job(1));
  ASSERT_EQ(Head.size(), 88u);
  EXPECT_EQ(Head.substr(0, 24), StringRef("DTLTOOBJ\2\0\0\0\0\0\0\0"
                                          "\x09\0\0\0\0\0\0\0",
                                          24));
  EXPECT_EQ(Head.substr(24, 32), toStringRef(ArrayRef<uint8_t>(job(1))));
  auto Hash = BLAKE3::hash(arrayRefFromStringRef("an object"));
  EXPECT_EQ(Head.substr(56), toStringRef(ArrayRef<uint8_t>(Hash)));
}

TEST(ObjectFrameTest, ThereAndBack) {
  for (const std::string &Object : {std::string(), someObject()})
    EXPECT_EQ(read(frame(Object)), Object);
}

TEST(ObjectFrameTest, EachBitOfIt) {
  const std::string Good = frame(someObject());
  for (size_t At = 0; At != Good.size(); ++At)
    for (unsigned Bit = 0; Bit != 8; ++Bit) {
      std::string Bad = Good;
      Bad[At] = static_cast<char>(Bad[At] ^ 1 << Bit);
      EXPECT_EQ(read(Bad).find("error: "), 0u) << At << ", " << Bit;
    }
}

TEST(ObjectFrameTest, CutAnywhere) {
  const std::string Good = frame("the object");
  for (size_t Size = 0; Size != Good.size(); ++Size)
    EXPECT_EQ(read(Good.substr(0, Size)).find("error: "), 0u) << Size;
  EXPECT_EQ(read(""), "error: the worker returned no object");
  EXPECT_EQ(read(Good.substr(0, 87)), "error: the object's frame was cut off");
  EXPECT_EQ(read(Good.substr(0, Good.size() - 1)),
            "error: the object was cut off: 9 of 10 bytes");
}

TEST(ObjectFrameTest, MoreThanTheObject) {
  EXPECT_EQ(read(frame("the object") + "x"),
            "error: the worker returned more than an object of 10 bytes");
}

TEST(ObjectFrameTest, AnotherJobs) {
  EXPECT_EQ(read(frame("the object"), job(2)),
            "error: the object is for another job");
}

TEST(ObjectFrameTest, OtherFormats) {
  EXPECT_EQ(read("\x7f"
                 "ELF" +
                 std::string(100, 'x')),
            "error: the worker's output is not from dtlto-codegen: no frame "
            "around the object");
  std::string F = frame("the object");
  F[8] = 1;
  EXPECT_NE(read(F).find("version 1"), std::string::npos);
  F[8] = 2;
  F[12] = 1;
  EXPECT_EQ(read(F), "error: the compiler's messages were cut off: 0 of 1 "
                     "bytes");
}

TEST(ObjectFrameTest, Messages) {
  const std::string Messages("warning: a\0remark: b\0", 21);
  const std::string Good =
      frameHead("the object", job(1), Messages).str().str() + "the object" +
      Messages;
  StringRef ReadMessages;
  Expected<StringRef> Result = readFrame(Good, job(1), &ReadMessages);
  ASSERT_TRUE(bool(Result)) << toString(Result.takeError());
  EXPECT_EQ(*Result, "the object");
  EXPECT_EQ(ReadMessages, Messages);
  for (size_t At = 0; At != Good.size(); ++At) {
    std::string Bad = Good;
    Bad[At] = static_cast<char>(Bad[At] ^ 1);
    EXPECT_EQ(read(Bad).find("error: "), 0u) << At;
    EXPECT_EQ(read(Good.substr(0, At)).find("error: "), 0u) << At;
  }
  EXPECT_EQ(read(Good + "x").find("error: "), 0u);
}

TEST(ObjectFrameTest, Damage) {
  std::string F = frame("the object");
  F.back() = 'x';
  EXPECT_EQ(read(F),
            "error: the object is damaged: its BLAKE3 digest does not match");
}
