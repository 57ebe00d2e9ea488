//===- CompileResultTest.cpp - What the end of a compile means ------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// RunJobTest.cpp tests the same rule with processes.
//
//===----------------------------------------------------------------------===//

#include "dtlto/sdk/CompileResult.hpp"
#include "gtest/gtest.h"

// A plugin may compare versions without the code that runs a clang.
#ifdef DTLTO_SDK_RUNJOB_H
#error "CompileResult.hpp includes RunJob.h"
#endif

using namespace dtlto::sdk;

namespace {

constexpr char FailedImport[] = "Error running ThinLTO backend: Function "
                                "Import: link error: linking module flags";

Result judge(int64_t ExitCode, const char *Object, std::string Stderr) {
  return compileResult(ExitCode, std::string(Object), std::move(Stderr),
                       "node7");
}

TEST(CompileResultTest, AnObject) {
  Result R = judge(0, "bytes", "a.c: warning: w\n  note\r\n\n");
  EXPECT_EQ(R.Status, DTLTO_OK);
  EXPECT_EQ(R.Message, "a.c: warning: w\n  note");
  EXPECT_EQ(R.Worker, "node7");
  EXPECT_EQ(std::string(R.Object.data(), R.Object.size()), "bytes");
}

TEST(CompileResultTest, Failures) {
  const struct {
    int64_t ExitCode;
    const char *Object, *Stderr;
    int32_t Status;
    const char *Message;
  } Cases[] = {
      {1, "x", "error: e\nnote: n\n", DTLTO_ERROR_COMPILER,
       "error: e\nnote: n"},
      {125, "", "", DTLTO_ERROR_COMPILER, "exit code 125, without a message"},
      {126, "x", "sh: no\nmore", DTLTO_ERROR_INFRASTRUCTURE,
       "the compiler ended with 126: sh: no"},
      {137, "", "", DTLTO_ERROR_INFRASTRUCTURE, "the compiler ended with 137"},
      {0xC0000005, "", "", DTLTO_ERROR_INFRASTRUCTURE,
       "the compiler ended with 0xC0000005"},
      {-1, "", "", DTLTO_ERROR_INFRASTRUCTURE,
       "the compiler ended with 0xFFFFFFFF"},
      {0, "", "why\nmore\n", DTLTO_ERROR_INFRASTRUCTURE,
       "the compiler wrote no object: why"},
      // A clang that can't read its inputs succeeds, with any object.
      {0, "x", "w: Error loading\nError loading index file 'i': bad\r\nmore\n",
       DTLTO_ERROR_INFRASTRUCTURE,
       "the compiler could not read its inputs: Error loading index file 'i': "
       "bad"},
      {0, "", "Error running ThinLTO backend: Could not open it",
       DTLTO_ERROR_INFRASTRUCTURE,
       "the compiler could not read its inputs: Error running ThinLTO backend: "
       "Could not open it"},
      {0, "", FailedImport, DTLTO_ERROR_COMPILER, FailedImport}};
  for (auto &C : Cases) {
    Result R = judge(C.ExitCode, C.Object, C.Stderr);
    EXPECT_EQ(R.Status, C.Status) << C.ExitCode << C.Stderr;
    EXPECT_EQ(R.Message, C.Message);
    EXPECT_EQ(R.Object.size(), 0u);
  }
}

// Only the beginning of a line counts.
TEST(CompileResultTest, AWarningThatQuotesAnError) {
  EXPECT_EQ(judge(0, "x", "a.c: warning: Error loading x").Status, DTLTO_OK);
}

TEST(CompileResultTest, SignalsAndNames) {
  std::string Text = "words\nmore";
  EXPECT_EQ(compileStatus({"clang", 0, 9, 1}, Text),
            DTLTO_ERROR_INFRASTRUCTURE);
  EXPECT_EQ(Text, "'clang' was killed by signal 9: words");
  Text = std::string("a\0b\n", 4);
  EXPECT_EQ(compileStatus({"clang", 1, 0, 0}, Text), DTLTO_ERROR_COMPILER);
  EXPECT_EQ(Text, "a b");
}

TEST(CompileResultTest, MessagesFitIntoTheirRoom) {
  for (size_t Size = 1; Size != 60; ++Size) {
    std::string Room(Size, 'x');
    std::string Text = std::string("some words").substr(0, Size - 1);
    Text.copy(Room.data(), Size);
    Room[Text.size()] = 0;
    dtlto_compile_end End = {"clang", 200, 0, 0};
    EXPECT_EQ(dtlto_compile_status(&End, Room.data(), Size),
              DTLTO_ERROR_INFRASTRUCTURE);
    std::string Whole = "'clang' ended with 200";
    if (!Text.empty())
      Whole += ": " + Text;
    EXPECT_EQ(std::string(Room.c_str()), Whole.substr(0, Size - 1));
  }
}

TEST(CompileResultTest, Versions) {
  EXPECT_TRUE(
      isVersion("Debian clang version 22.1.8 (1)\nTarget: x", "22.1.8"));
  EXPECT_FALSE(isVersion("clang version 22.1.80", "22.1.8"));
  EXPECT_FALSE(isVersion("", "22.1.8"));
}

} // namespace
