//===- AtomicFileTest.cpp - Files that are complete or absent -------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Support/AtomicFile.h"
#include "TempFolder.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"
#include <csignal>
#include <sys/resource.h>

using namespace llvm;
using namespace dtlto;
using namespace dtlto::test;

namespace {

class AtomicFileTest : public testing::Test {
protected:
  std::string replace(StringRef Text) {
    return toString(replaceFile(Path, [&](raw_ostream &OS) { OS << Text; }));
  }

  using Names = std::vector<std::string>;
  TempFolder Folder;
  std::string Path = Folder.path("file");
};

} // namespace

TEST_F(AtomicFileTest, NewAndReplaced) {
  EXPECT_EQ(toString(checkReplaceable(Path)), "");
  EXPECT_EQ(Folder.names(), Names());
  EXPECT_EQ(replace("a longer text"), "");
  EXPECT_EQ(Folder.read("file"), "a longer text");
  EXPECT_EQ(toString(checkReplaceable(Path)), "");
  EXPECT_EQ(replace("text"), "");
  EXPECT_EQ(Folder.read("file"), "text");
  EXPECT_EQ(Folder.names(), Names{"file"});
}

TEST_F(AtomicFileTest, AnyName) {
  Path = Folder.path("100%%%%%% of it\n");
  EXPECT_EQ(replace("text"), "");
  EXPECT_EQ(Folder.names(), Names{"100%%%%%% of it\n"});
}

TEST_F(AtomicFileTest, WholeOrAsBefore) {
  EXPECT_EQ(replace("before"), "");
  // As on a full disk.
  signal(SIGXFSZ, SIG_IGN);
  rlimit Was;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &Was), 0);
  rlimit Small = Was;
  Small.rlim_cur = 100;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &Small), 0);
  EXPECT_EQ(replace(std::string(1000, 'x')), "File too large");
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &Was), 0);
  EXPECT_EQ(Folder.read("file"), "before");
  EXPECT_EQ(Folder.names(), Names{"file"});
}

TEST_F(AtomicFileTest, Failures) {
  const std::string NoFile = "not a regular file";
  Path = Folder.path("");
  EXPECT_EQ(replace("x"), NoFile);
  EXPECT_EQ(toString(checkReplaceable(Path)), NoFile);
  Path = "/dev/null";
  EXPECT_EQ(replace("x"), NoFile);
  Path = Folder.path("missing/file");
  EXPECT_EQ(replace("x"), "No such file or directory");
  EXPECT_EQ(toString(checkReplaceable(Path)), "No such file or directory");
  EXPECT_EQ(Folder.names(), Names());
}
