//===- RecordingTest.cpp - The files of a recording -----------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Recording.h"
#include <gtest/gtest.h>

using namespace dtlto::replay;

namespace {

Recording example() {
  Recording R;
  RecordedJob J;
  J.CpuNs = 123456789;
  J.PrimaryBytes = 10;
  J.Offset = 7;
  J.Size = 8;
  J.Digest = std::string(31, '\xab') + '\0';
  J.Path = "m.libx";
  J.Name = "dir/libx.a(a b%c\n\x7f.o at 12)";
  R.Jobs = {J, J};
  R.Jobs[1].Name = "\xc3\xa9.o";
  return R;
}

bool parses(const std::string &Text, uint64_t Size = 15) {
  Recording R;
  std::string Error;
  bool Good = parseRecording(Text, Size, R, Error);
  EXPECT_EQ(Good, Error.empty());
  return Good;
}

TEST(RecordingTest, RoundTrip) {
  std::string Text = writeRecording(example()), Error;
  Recording R;
  ASSERT_TRUE(parseRecording(Text, 15, R, Error)) << Error;
  ASSERT_EQ(R.Jobs.size(), 2u);
  EXPECT_EQ(R.Jobs[0].Name, example().Jobs[0].Name);
  EXPECT_EQ(R.Jobs[0].Digest, example().Jobs[0].Digest);
  EXPECT_EQ(R.Jobs[0].Size, 8u);
  EXPECT_EQ(R.Jobs[0].Path, "m.libx");
  EXPECT_EQ(R.Jobs[1].Name, "\xc3\xa9.o");
  EXPECT_EQ(writeRecording(R), Text);
}

TEST(RecordingTest, CutAnywhere) {
  std::string Text = writeRecording(example());
  for (size_t Size = 0; Size != Text.size(); ++Size)
    EXPECT_FALSE(parses(Text.substr(0, Size))) << Size;
}

TEST(RecordingTest, Nonsense) {
  auto With = [](const std::string &From, const std::string &To) {
    std::string Text = writeRecording(example());
    size_t At = Text.find(From);
    EXPECT_NE(At, std::string::npos) << From;
    return Text.replace(At, From.size(), To);
  };
  EXPECT_TRUE(parses(With("123456789", "0")));
  EXPECT_FALSE(parses(With("recording 2", "recording 1")));
  EXPECT_FALSE(parses(With("jobs 2", "jobs 3")));
  EXPECT_FALSE(parses(With("123456789", "-1")));
  EXPECT_FALSE(parses(With("123456789", "99999999999999999999")));
  EXPECT_FALSE(parses(With("abab", "abag")));
  EXPECT_FALSE(parses(With("abab", "ab")));
  EXPECT_FALSE(parses(With("%0a", "%0x")));
}

TEST(RecordingTest, ObjectsLieInTheFile) {
  std::string Text = writeRecording(example());
  EXPECT_TRUE(parses(Text, 15));
  EXPECT_FALSE(parses(Text, 14));
  EXPECT_FALSE(parses(Text, 0));
}

} // namespace
