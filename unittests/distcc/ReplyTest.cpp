//===- ReplyTest.cpp - Replies of a distccd -------------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Reply.h"
#include "gtest/gtest.h"
#include <algorithm>
#include <cstring>

using namespace dtlto::distcc;

/// Passes \p Wire to \p P in pieces of at most \p Piece bytes. Returns false if
/// \p P refuses one.
static bool feed(ReplyParser &P, const std::string &Wire, size_t Piece) {
  for (size_t At = 0; At != Wire.size();) {
    size_t Room = 0;
    uint8_t *To = P.space(Room);
    EXPECT_NE(Room, 0u);
    size_t N = std::min({Room, Piece, Wire.size() - At});
    std::memcpy(To, Wire.data() + At, N);
    At += N;
    if (!P.commit(N))
      return false;
  }
  return true;
}

/// Returns why \p Wire is refused if the connection closes after it.
static std::string errorOf(const std::string &Wire) {
  std::string First;
  for (size_t Piece : {size_t(1), size_t(5), size_t(1) << 20}) {
    ReplyParser P;
    bool Ok = feed(P, Wire, Piece) && P.end();
    EXPECT_EQ(Ok, P.error().empty());
    EXPECT_FALSE(!Ok && P.isComplete());
    if (Piece == 1)
      First = P.error();
    // The bytes shown after the end depend on the pieces.
    else if (P.error().find("continues") == std::string::npos) {
      EXPECT_EQ(P.error(), First);
    }
  }
  return First;
}

static std::string str(const std::vector<uint8_t> &B) {
  return std::string(B.begin(), B.end());
}

static const std::string Head = "DONE00000003STAT00000000";
static const std::string Whole =
    Head + "SERR00000003errSOUT00000000DOTO00000006object";

TEST(ReplyTest, Whole) {
  for (size_t Piece = 1; Piece != 20; ++Piece)
    for (const char *Rest : {"", "DOTD00000000", "DOTD00000004deps"}) {
      ReplyParser P;
      EXPECT_FALSE(P.hasStarted());
      ASSERT_TRUE(feed(P, Whole + Rest, Piece)) << P.error();
      EXPECT_TRUE(P.hasStarted());
      EXPECT_TRUE(P.isComplete());
      EXPECT_TRUE(P.end()) << P.error();
      Reply R = P.take();
      EXPECT_EQ(R.WaitStatus, 0u);
      EXPECT_EQ(str(R.Stderr), "err");
      EXPECT_EQ(str(R.Stdout), "");
      EXPECT_EQ(str(R.Object), "object");
    }
}

TEST(ReplyTest, Failure) {
  ReplyParser P;
  ASSERT_TRUE(feed(P,
                   "DONE00000003STAT00008b0bSERR00000001eSOUT00000002ou"
                   "DOTO00000000",
                   1 << 20))
      << P.error();
  EXPECT_TRUE(P.end());
  Reply R = P.take();
  EXPECT_EQ(R.WaitStatus, 0x8b0bu);
  EXPECT_EQ(str(R.Stdout), "ou");
  EXPECT_TRUE(R.Object.empty());
}

TEST(ReplyTest, StartedWithTheFirstByte) {
  ReplyParser P;
  EXPECT_TRUE(feed(P, "D", 1));
  EXPECT_TRUE(P.hasStarted());
}

TEST(ReplyTest, CompleteWithTheLastByteOfTheObject) {
  ReplyParser P;
  EXPECT_TRUE(feed(P, Whole.substr(0, Whole.size() - 1), 7));
  EXPECT_FALSE(P.isComplete());
  EXPECT_TRUE(feed(P, Whole.substr(Whole.size() - 1), 7));
  EXPECT_TRUE(P.isComplete());
  // An empty object ends with its token.
  ReplyParser Q;
  EXPECT_TRUE(feed(Q, Head + "SERR00000000SOUT00000000DOTO0000000", 7));
  EXPECT_FALSE(Q.isComplete());
  EXPECT_TRUE(feed(Q, "0", 7));
  EXPECT_TRUE(Q.isComplete());
}

TEST(ReplyTest, EndsEarly) {
  EXPECT_EQ(errorOf(""), "the connection was closed without a reply");
  for (size_t Size = 1; Size != Whole.size(); ++Size)
    EXPECT_NE(errorOf(Whole.substr(0, Size)).find("the reply ends early"),
              std::string::npos)
        << Size;
  EXPECT_EQ(errorOf(Whole.substr(0, Whole.size() - 2)),
            "the reply ends early, 2 bytes before the end of DOTO");
  EXPECT_EQ(errorOf(Head), "the reply ends early, before SERR");
  for (const char *Rest : {"D", "DOTD0000000", "DOTD00000004dep"})
    EXPECT_NE(errorOf(Whole + Rest).find("the reply ends early"),
              std::string::npos)
        << Rest;
  EXPECT_EQ(errorOf(Whole), "");
}

TEST(ReplyTest, GoesOn) {
  for (const char *Rest :
       {"DOTD00000000x", "DOTD00000004depsx", "DOTD00000000DOTD00000000"})
    EXPECT_NE(
        errorOf(Whole + Rest).find("the reply continues after its end: '"),
        std::string::npos)
        << Rest;
  EXPECT_EQ(errorOf(Whole + "DOTO00000000"),
            "the reply is wrong: expected DOTD, but got 'DOTO00000000'");
}

TEST(ReplyTest, WrongTokens) {
  EXPECT_EQ(errorOf("HTTP/1.0 400"),
            "the reply is wrong: expected DONE, but got 'HTTP/1.0 400'");
  EXPECT_EQ(errorOf(std::string("\x00\x1b[31m\xff\n12345", 12)),
            "the reply is wrong: expected DONE, but got "
            "'\\x00\\x1b[31m\\xff\\x0a1234'");
  EXPECT_EQ(errorOf("DONE00000002"), "the reply is of protocol 2 instead of 3");
  EXPECT_EQ(errorOf("DONE00000003SERR00000000"),
            "the reply is wrong: expected STAT, but got 'SERR00000000'");
  for (const char *Number : {"0000000G", "0000000A", "0x000003", "      03",
                             "+0000003", "-0000003", "0000003\n"})
    EXPECT_NE(errorOf(std::string("DONE") + Number).find("expected DONE"),
              std::string::npos)
        << Number;
}

TEST(ReplyTest, ObjectAfterFailure) {
  EXPECT_EQ(errorOf("DONE00000003STAT00000100SERR00000000SOUT00000000"
                    "DOTO00000006object"),
            "the reply is wrong: an object after status 256");
}

TEST(ReplyTest, LengthsHaveBounds) {
  EXPECT_EQ(errorOf(Head + "SERR01000001"),
            "the reply's SERR has 16777217 bytes, more than the 16777216 that "
            "are accepted");
  EXPECT_NE(errorOf(Head + "SERR00000000SOUTffffffff").find("SOUT has"),
            std::string::npos);
  EXPECT_NE(
      errorOf(Head + "SERR00000000SOUT00000000DOTO40000001").find("DOTO has"),
      std::string::npos);
  EXPECT_NE(errorOf(Whole + "DOTD01000001").find("DOTD has"),
            std::string::npos);
  // The largest allowed lengths are accepted.
  EXPECT_NE(errorOf(Head + "SERR01000000").find("ends early"),
            std::string::npos);
  EXPECT_NE(
      errorOf(Head + "SERR00000000SOUT00000000DOTO40000000").find("ends early"),
      std::string::npos);
}

TEST(ReplyTest, MemoryGrowsWithWhatArrives) {
  ReplyParser P;
  ASSERT_TRUE(feed(P, Head + "SERR00000000SOUT00000000DOTO40000000", 100));
  size_t NumArrived = 0;
  for (unsigned I = 0; I != 100; ++I) {
    size_t Room = 0;
    uint8_t *To = P.space(Room);
    EXPECT_LE(Room, std::max(NumArrived, size_t(64) << 10));
    std::memset(To, 'x', std::min<size_t>(Room, 10000));
    ASSERT_TRUE(P.commit(std::min<size_t>(Room, 10000)));
    NumArrived += std::min<size_t>(Room, 10000);
  }
  Reply R = P.take();
  EXPECT_LE(R.Object.capacity(), 2 * NumArrived);
}

TEST(ReplyTest, LargeObjectArrivesWhole) {
  std::string Object(3000001, ' ');
  for (size_t I = 0; I != Object.size(); ++I)
    Object[I] = char(I * 7 >> 3);
  char Length[9];
  snprintf(Length, sizeof(Length), "%08x", unsigned(Object.size()));
  ReplyParser P;
  ASSERT_TRUE(
      feed(P, Head + "SERR00000000SOUT00000000DOTO" + Length + Object, 77777));
  ASSERT_TRUE(P.end());
  Reply R = P.take();
  EXPECT_TRUE(str(R.Object) == Object);
  EXPECT_EQ(R.Object.capacity(), Object.size());
}
