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
  // These take two columns each.
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

TEST(TextTest, StrangersLines) {
  // Titles, colors, the cursor, the bell, a NUL, C1 controls, incomplete
  // characters, and marks that change the direction of text.
  const char Bad[] = "a\x1b]0;b\a\x1b[31mc\r\0d\x7f\xc2\x9b"
                     "2J\xff\xe4\xb8 \u202e";
  llvm::StringRef Text(Bad, sizeof(Bad) - 1);
  EXPECT_EQ(sanitizedLine(Text),
            "a\\x1b]0;b\\x07\\x1b[31mc \\x00d\\x7f\\xc2\\x9b2J\\xff\\xe4\\xb8 "
            "\\xe2\\x80\\xae");
  EXPECT_EQ(
      sanitizedLines(Text),
      "a\\x1b]0;b\\x07\\x1b[31mc\\x0d\\x00d\\x7f\\xc2\\x9b2J\\xff\\xe4\\xb8 "
      "\\xe2\\x80\\xae");
  EXPECT_EQ(sanitizedLine("one\r\ntwo\tthree\n\n"), "one  two three");
  EXPECT_EQ(sanitizedLines("one\n\ttwo\n"), "one\n\ttwo\n");
  EXPECT_EQ(sanitizedLine("größer"), "größer");
  EXPECT_EQ(sanitizedLine(""), "");
}

TEST(TextTest, NamesThatTheUserKnows) {
  auto Of = [](llvm::StringRef Text) {
    return replacePath(Text, "m.a-o", "/x/a.o");
  };
  EXPECT_EQ(Of("error: m.a-o: bad"), "error: /x/a.o: bad");
  EXPECT_EQ(Of("m.a-o <inline asm>\n'm.a-o'"), "/x/a.o <inline asm>\n'/x/a.o'");
  EXPECT_EQ(Of("m.a-o"), "/x/a.o");
  for (llvm::StringRef Other : {"", "m.a-o.native.o", "job/m.a-o", "m.m.a-o",
                                "m.a-ob", "m.a-o+20", "m.a-"})
    EXPECT_EQ(Of(Other), Other);
  EXPECT_EQ(replacePath("m.a-o: bad", "m.a-o", "m.a-o"), "m.a-o: bad");
}

TEST(TextTest, StrangersWhoTalkTooMuch) {
  EXPECT_EQ(sanitizedLine("12345", 5), "12345");
  EXPECT_EQ(sanitizedLine("123456", 5), "12345...");
  EXPECT_EQ(sanitizedLine("123\xff", 6), "123..."); // escapes aren't cut
  EXPECT_EQ(sanitizedLine("1ü3", 2), "1...");       // nor are characters
  EXPECT_EQ(sanitizedLines("1\n34", 3), "1\n3\n[the rest was cut off]");
}
