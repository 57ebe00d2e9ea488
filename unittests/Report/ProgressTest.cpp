//===- ProgressTest.cpp - The progress line of a link ---------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report/Progress.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace dtlto;
using namespace std::chrono_literals;

namespace {

/// Tests with a terminal and a clock that they control.
class ProgressTest : public testing::Test {
protected:
  Progress make(StringRef Format, size_t Total = 4, double Work = 100) {
    EXPECT_EQ(toString(checkStatusFormat(Format)), "");
    return Progress(Format.str(), Total, Work, "app",
                    {[&](StringRef Line) { Lines.push_back(Line.str()); },
                     [&] { return Columns; }, [&] { return Now; },
                     [&] { return IsShared; }});
  }
  /// Returns the status after three of four jobs began and two ended: the first
  /// after 10 s with 25 % of the work, the second after 20 s with 15 %.
  std::string status(StringRef Format) {
    Columns = std::nullopt;
    Progress P = make(Format);
    P.jobStarted("a", "", true);
    P.jobStarted("b", "", true);
    P.jobStarted("c", "", true);
    Now += 10s;
    P.jobFinished("a", "", 25, true);
    Now += 10s;
    P.jobFinished("b", "", 15, true);
    StringRef Line = Lines.back();
    EXPECT_TRUE(Line.consume_back("codegen b"));
    return Line.str();
  }

  std::vector<std::string> Lines;
  std::optional<unsigned> Columns = 0;
  bool IsShared = false;
  Progress::TimePoint Now = Progress::TimePoint() + 1h;
};

std::string wrong(StringRef Format) {
  return toString(checkStatusFormat(Format));
}

} // namespace

//===----------------------------------------------------------------------===//
// The format
//===----------------------------------------------------------------------===//

TEST_F(ProgressTest, Counts) {
  EXPECT_EQ(status("%s %t %r %u %f|"), "3 4 1 1 2|");
  EXPECT_EQ(status("[%f/%t] "), "[2/4] ");
}

TEST_F(ProgressTest, Percent) {
  EXPECT_EQ(status("%p"), " 50%");
  EXPECT_EQ(status("%P"), " 40%"); // of the work
}

TEST_F(ProgressTest, Rates) { EXPECT_EQ(status("%o %c"), "0.1 0.1"); }

TEST_F(ProgressTest, CurrentRateForgets) {
  Columns = std::nullopt;
  Progress P = make("%o %c ", 100);
  for (int I = 0; I != 4; ++I) {
    P.jobStarted("a", "", true);
    Now += 100s;
    P.jobFinished("a", "", 1, true);
  }
  EXPECT_EQ(Lines.back(), "0.0 0.0 codegen a");
  P.jobStarted("a", "", true);
  Now += 500ms;
  P.jobFinished("a", "", 1, true);
  EXPECT_EQ(Lines.back(), "0.0 2.0 codegen a");
}

TEST_F(ProgressTest, Time) {
  EXPECT_EQ(status("%e %E"), "20.000 30.000");
  EXPECT_EQ(status("%w %W"), "00:20 00:30");
}

TEST_F(ProgressTest, HoursForBothIfOneHasThem) {
  Columns = std::nullopt;
  Progress P = make("%w %W ");
  Now += 1h + 2min + 3s;
  P.jobFinished("a", "", 50, false);
  EXPECT_EQ(Lines.back(), "1:02:03 1:02:03 codegen a");
  Now += 1h;
  P.jobFinished("b", "", 50, false);
  EXPECT_EQ(Lines.back(), "2:02:03 0:00:00 codegen b");
}

TEST_F(ProgressTest, WhatIsNotKnown) {
  Progress P = make("%o %c %E %W %P %p ");
  P.jobStarted("a", "", true);
  EXPECT_EQ(Lines.back(), "? ? ? ?   0%   0% codegen a");
}

TEST_F(ProgressTest, NoWorkAtAll) {
  Progress P = make("%E %P ", 1, 0);
  P.jobFinished("a", "", 0, false);
  EXPECT_EQ(Lines.back(), "?   0% codegen a");
}

TEST_F(ProgressTest, TextStays) {
  EXPECT_EQ(status("100%% of %t \n$PATH "), "100% of 4 ?$PATH ");
  EXPECT_EQ(status(""), "");
  EXPECT_EQ(status("%%f"), "%f");
}

TEST_F(ProgressTest, UnknownPlaceholders) {
  for (StringRef Format : {"%x", "[%f/%x]", "%%%x", "%f%%%x%y"})
    EXPECT_EQ(wrong(Format).find("unknown placeholder '%x': expected %s, %t"),
              0u)
        << Format.str() << ": " << wrong(Format);
  EXPECT_EQ(wrong("% f").find("unknown placeholder '% '"), 0u);
  EXPECT_EQ(wrong("%F").find("unknown placeholder '%F'"), 0u);
  EXPECT_EQ(wrong("%\n").find("unknown placeholder '%\\x0a'"), 0u);
  EXPECT_EQ(wrong("%\xff").find("unknown placeholder '%\\xff'"), 0u);
  EXPECT_EQ(wrong(StringRef("%\0f", 3)).find("unknown placeholder '%\\x00'"),
            0u);
}

TEST_F(ProgressTest, PercentSignAtTheEnd) {
  for (StringRef Format : {"%", "[%f/%t] %", "%%%"})
    EXPECT_EQ(wrong(Format).find("a '%' at the end"), 0u) << Format.str();
  EXPECT_EQ(wrong("%%"), "");
}

//===----------------------------------------------------------------------===//
// The line's width
//===----------------------------------------------------------------------===//

TEST_F(ProgressTest, NamesCannotMoveTheCursor) {
  Progress P = make("\x1b[1m%f\x1b[0m ");
  P.jobStarted("x\x1b[31m", "y\n", true);
  EXPECT_EQ(Lines.back(), "\x1b[1m0\x1b[0m codegen x\\x1b[31m on y\\x0a");
}

TEST_F(ProgressTest, NarrowLineLosesTheWorkerFirst) {
  Progress P = make("[%f/%t] ");
  Columns = 24;
  P.jobStarted("abcdefgh.o", "0123456789", true);
  EXPECT_EQ(Lines.back(), "[0/4] codegen abcdefgh.o");
  Columns = 23;
  Now += 1s;
  P.jobStarted("abcdefgh.o", "0123456789", true);
  EXPECT_EQ(Lines.back(), "[0/4] code...abcdefgh.o");
}

TEST_F(ProgressTest, NamesTheOutputOnASharedTerminal) {
  Progress P = make("[%f/%t] ");
  IsShared = true;
  P.jobStarted("a.o", "node3", true);
  EXPECT_EQ(Lines.back(), "[0/4] app: codegen a.o on node3");
  IsShared = false;
  Now += 1s;
  P.jobFinished("a.o", "node3", 1, true);
  EXPECT_EQ(Lines.back(), "[1/4] codegen a.o on node3");
}

TEST_F(ProgressTest, WidthIsAskedForEachTime) {
  Progress P = make("", 4);
  P.jobStarted("0123456789", "", true);
  EXPECT_EQ(Lines.back(), "codegen 0123456789");
  Columns = 10;
  Now += 1s;
  P.jobStarted("0123456789", "", true);
  EXPECT_EQ(Lines.back(), "cod...6789");
}

//===----------------------------------------------------------------------===//
// When the line is shown
//===----------------------------------------------------------------------===//

TEST_F(ProgressTest, StartsAndEndsOnATerminal) {
  Progress P = make("[%f/%t] ");
  P.jobStarted("a.o", "node3", true);
  Now += 1s;
  P.jobFinished("a.o", "node4", 1, true);
  Now += 1s;
  P.jobStarted("b.o", "", true);
  Now += 1s;
  P.jobStarted("b.o", "node1", false); // still one job
  EXPECT_EQ(Lines, (std::vector<std::string>{"[0/4] codegen a.o on node3",
                                             "[1/4] codegen a.o on node4",
                                             "[1/4] codegen b.o",
                                             "[1/4] codegen b.o on node1"}));
  P.clear();
  EXPECT_EQ(Lines.back(), "");
  P.clear();
  EXPECT_EQ(Lines.size(), 5u);
}

TEST_F(ProgressTest, OneLineForEachJobElsewhere) {
  Columns = std::nullopt;
  Progress P = make("[%f/%t] ");
  P.jobStarted("a.o", "n", true);
  P.jobStarted("b.o", "n", true);
  P.jobFinished("b.o", "n", 1, true);
  P.jobFinished("a.o", "n", 1, true);
  P.jobFinished("c.o", "", 1, false); // from the cache
  P.clear();
  EXPECT_EQ(Lines, (std::vector<std::string>{"[1/4] codegen b.o on n",
                                             "[2/4] codegen a.o on n",
                                             "[3/4] codegen c.o"}));
}

TEST_F(ProgressTest, NotMoreOftenThanATerminalCanTake) {
  Progress P = make("[%f/%t %r] ", 1000);
  EXPECT_EQ(P.due(), Progress::TimePoint::max());
  for (int I = 0; I != 1000; ++I) {
    P.jobStarted("a" + std::to_string(I), "", true);
    P.jobFinished("a" + std::to_string(I), "", 0.1, true);
    Now += 1ms;
  }
  EXPECT_GE(Lines.size(), 10u);
  EXPECT_LE(Lines.size(), 25u);
}

TEST_F(ProgressTest, TheLastChangeIsShownInTheEnd) {
  Progress P = make("[%f/%t] ");
  P.jobStarted("a", "", true);
  EXPECT_EQ(P.due(), Now + 1s);
  P.jobStarted("b", "", true);
  P.jobStarted("c", "", true);
  ASSERT_EQ(Lines.size(), 1u);
  Progress::TimePoint Due = P.due();
  EXPECT_GT(Due, Now);
  EXPECT_LT(Due, Now + 1s);
  P.showDue(); // not yet
  EXPECT_EQ(Lines.size(), 1u);
  Now = Due;
  P.showDue();
  ASSERT_EQ(Lines.size(), 2u);
  EXPECT_EQ(Lines.back(), "[0/4] codegen c");
  P.showDue();
  EXPECT_EQ(Lines.size(), 2u);
}

TEST_F(ProgressTest, TimesDoNotGoStale) {
  Progress P = make("%w ");
  P.jobStarted("a", "", true);
  for (int I = 1; I != 4; ++I) {
    Now = P.due();
    P.showDue();
    EXPECT_EQ(Lines.back(), "00:0" + std::to_string(I) + " codegen a");
  }
  Columns = std::nullopt; // no terminal: lines stay
  Now += 1s;
  P.jobFinished("a", "", 1, true);
  EXPECT_EQ(P.due(), Progress::TimePoint::max());
}

TEST_F(ProgressTest, NothingIsDueAfterTheEnd) {
  Progress P = make("");
  P.jobStarted("a", "", true);
  P.jobStarted("b", "", true);
  P.clear();
  EXPECT_EQ(P.due(), Progress::TimePoint::max());
  Now += 1h;
  P.showDue();
  EXPECT_EQ(Lines.size(), 2u);
}

//===----------------------------------------------------------------------===//
// Two rounds
//===----------------------------------------------------------------------===//

TEST_F(ProgressTest, TheSecondRoundGoesOn) {
  Columns = std::nullopt;
  Progress P = make("[%f/%t %P %e] ");
  P.setShare(1, 2, Now - 10s, "codegen (round 2 of 2) ");
  P.jobStarted("a", "", true);
  P.jobFinished("a", "node", 50, true);
  EXPECT_EQ(Lines.back(), "[5/8  75% 10.000] codegen (round 2 of 2) a on node");
}
