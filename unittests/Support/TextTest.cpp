//===- TextTest.cpp - Text for a terminal ---------------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Support/Text.h"
#include "gtest/gtest.h"

using namespace dtlto;

TEST(TextTest, LongLinesLoseTheirMiddle) {
  EXPECT_EQ(fitToLine("0123456789", 10), "0123456789");
  EXPECT_EQ(fitToLine("0123456789a", 10), "012...789a");
  EXPECT_EQ(fitToLine("0123456789a", 9), "012...89a");
  EXPECT_EQ(fitToLine("0123456789a", 4), "...a");
  EXPECT_EQ(fitToLine("0123456789a", 3), "...");
  EXPECT_EQ(fitToLine("0123456789a", 1), ".");
  EXPECT_EQ(fitToLine("0123456789a", 0), "0123456789a");
  EXPECT_EQ(fitToLine("", 5), "");
}

TEST(TextTest, CharactersStayWhole) {
  // Two columns each.
  EXPECT_EQ(fitToLine("\u4e00\u4e01\u4e02\u4e03", 8),
            "\u4e00\u4e01\u4e02\u4e03");
  EXPECT_EQ(fitToLine("\u4e00\u4e01\u4e02\u4e03", 7), "\u4e00...\u4e03");
  EXPECT_EQ(fitToLine("\u4e00\u4e01\u4e02\u4e03", 6), "...\u4e03");
  EXPECT_EQ(fitToLine("äöüäöü", 5), "ä...ü");
}

TEST(TextTest, NamesCannotMoveTheCursor) {
  EXPECT_EQ(printable("a\nb\rc\x1b[2Jd\x7f"), "a\\x0ab\\x0dc\\x1b[2Jd\\x7f");
  EXPECT_EQ(printable("\xff\xc3 \xe4\xb8"), "\\xff\\xc3 \\xe4\\xb8");
  EXPECT_EQ(fitToLine("\x1b[2J", 0), "?[2J");
}

TEST(TextTest, ColorsTakeNoRoomAndAllStay) {
  EXPECT_EQ(fitToLine("\x1b[32mabc\x1b[0m", 3), "\x1b[32mabc\x1b[0m");
  EXPECT_EQ(fitToLine("\x1b[32mabcdefgh\x1b[0mij", 5), "\x1b[32ma\x1b[0m...j");
}
