//===- FrameTest.cpp - Objects in and out of their frames -----------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Frame.h"
#include "gtest/gtest.h"

using namespace dtlto::icecc;

static std::string frame(const std::string &Object) {
  std::string F("DTLTOOBJ\1\0\0\0\0\0\0\0", 16);
  for (unsigned I = 0; I != 8; ++I)
    F += static_cast<char>(Object.size() >> (8 * I));
  return F + std::string(32, 'd') + Object;
}

/// The object, or "error: ...". \p Step bytes at a time.
static std::string read(const std::string &F, size_t Step) {
  FrameReader R;
  for (size_t I = 0; I < F.size(); I += Step)
    if (!R.add(F.data() + I, std::min(Step, F.size() - I)))
      break;
  if (!R.finish())
    return "error: " + R.error();
  dtlto_buffer B = R.take();
  std::string Object(static_cast<const char *>(B.data), B.size);
  B.release(B.owner, B.data, B.size);
  return Object;
}

TEST(FrameTest, ObjectsInPiecesOfAnySize) {
  std::string Object;
  for (unsigned I = 0; I != 1000; ++I)
    Object += static_cast<char>(I * 7);
  for (size_t Step : {1, 2, 55, 56, 57, 100, 1056, 5000})
    EXPECT_EQ(Object, read(frame(Object), Step)) << Step;
  EXPECT_EQ("", read(frame(""), 10));
}

TEST(FrameTest, CutAnywhere) {
  std::string F = frame("the object");
  for (size_t Size = 0; Size != F.size(); ++Size)
    for (size_t Step : {1, 1000})
      EXPECT_EQ(0u, read(F.substr(0, Size), Step).find("error: ")) << Size;
  EXPECT_EQ("error: the object was cut off: 9 of 10 bytes",
            read(F.substr(0, F.size() - 1), 1000));
}

TEST(FrameTest, MoreThanTheObject) {
  for (size_t Step : {1, 1000})
    EXPECT_EQ("error: more came back than an object of 10 bytes",
              read(frame("the object") + "x", Step));
}

TEST(FrameTest, OtherFormats) {
  EXPECT_NE(std::string::npos, read("\x7f"
                                    "ELF" +
                                        std::string(100, 'x'),
                                    7)
                                   .find("no frame"));
  std::string F = frame("the object");
  F[8] = 2;
  EXPECT_NE(std::string::npos, read(F, 1000).find("version 2"));
  F[8] = 1;
  F[12] = 1;
  EXPECT_NE(std::string::npos, read(F, 1000).find("flags 1"));
}

TEST(FrameTest, SizesThatAreLies) {
  std::string F = frame("the object");
  F[23] = '\x7f';
  EXPECT_NE(std::string::npos, read(F, 1000).find("is announced"));
  F[23] = 0;
  F[20] = 1; // 4 GiB more: may be announced, and doesn't come
  EXPECT_NE(std::string::npos, read(F, 1000).find("cut off"));
}
