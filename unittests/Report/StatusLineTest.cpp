//===- StatusLineTest.cpp - LLD's messages and the progress line ----------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report/PlainMessages.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace dtlto;

namespace {
class StatusLineTest : public testing::Test {
protected:
  std::string Text;
  raw_string_ostream Below{Text};
  StatusLine Line{Below};
  const std::string Erase = "\r\x1b[K";
};
} // namespace

TEST_F(StatusLineTest, LinesReplaceEachOther) {
  Line.show("one");
  Line.show("two");
  Line.show("two"); // nothing new
  Line.show("");
  Line.show("");
  EXPECT_EQ(Text, Erase + "one" + Erase + "two" + Erase);
}

TEST_F(StatusLineTest, MessagesTakeItAway) {
  Line.show("one");
  Line << "a message\n";
  Line << "another\n";
  Line.show("two");
  EXPECT_EQ(Text,
            Erase + "one" + Erase + "a message\nanother\n" + Erase + "two");
}

TEST_F(StatusLineTest, DoesNotBreakIntoAMessage) {
  Line.show("one");
  Line << "half of ";
  Line.show("two");
  Line << "a message\n";
  Line.show("three");
  EXPECT_EQ(Text,
            Erase + "one" + Erase + "half of a message\n" + Erase + "three");
}

TEST_F(StatusLineTest, LinesThatStay) {
  Line.write("one");
  Line.write("two");
  EXPECT_EQ(Text, "one\ntwo\n");
}

TEST_F(StatusLineTest, WithoutALineNothingIsAdded) {
  Line << "a message\n";
  Line.show("");
  EXPECT_EQ(Text, "a message\n");
}
