//===- VerdictTest.cpp - The meaning of a worker's exit status ------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RemoteJob.h"
#include "gtest/gtest.h"

using namespace dtlto::icecc;

TEST(VerdictTest, TheCompilersOwnWords) {
  Outcome O =
      judge(1, false, "warning: a\nerror: b\ndtlto-codegen: error: c\n");
  EXPECT_EQ(Outcome::CompilerError, O.Kind);
  EXPECT_EQ("warning: a\nerror: b\ndtlto-codegen: error: c", O.Text);
}

TEST(VerdictTest, TheWorkersWords) {
  for (const char *Text : {"dtlto-codegen: error: no bundle\n", "what error: x",
                           "warning: a\nx: error: b\n"})
    EXPECT_EQ(Outcome::WorkerFailed, judge(1, false, Text).Kind) << Text;
  EXPECT_EQ("the worker ended with status 1: a: error: b",
            judge(1, false, "a: error: b\nc\n").Text);
}

TEST(VerdictTest, TheNodesWords) {
  EXPECT_EQ(Outcome::NodeFailed, judge(1, false, "").Kind);
  EXPECT_EQ(Outcome::NodeFailed, judge(105, false, "error: x\n").Kind);
  EXPECT_EQ(Outcome::NodeFailed, judge(1, true, "error: x\n").Kind);
  EXPECT_EQ("the worker ended with status 105", judge(105, false, "").Text);
  EXPECT_EQ("out of memory: error: x", judge(1, true, "error: x\n").Text);
}
