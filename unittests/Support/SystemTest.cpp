//===- SystemTest.cpp - Differences between systems -----------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Support/System.h"
#include "TempFolder.h"
#include "gtest/gtest.h"
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace llvm;
using namespace dtlto;
using namespace dtlto::test;

/// A SIGPIPE would kill the test.
TEST(SystemTest, UnreadPipes) {
  TempFolder Folder;
  std::string Path = Folder.path("pipe");
  ASSERT_EQ(::mkfifo(Path.c_str(), 0600), 0);
  std::error_code Why;
  EXPECT_EQ(openForLog(Path, Why), -1);
  EXPECT_EQ(Why, std::errc::no_such_device_or_address);

  int Reader = ::open(Path.c_str(), O_RDONLY | O_NONBLOCK);
  Why.clear();
  int FD = openForLog(Path, Why);
  ASSERT_FALSE(Why) << Why.message();
  EXPECT_EQ(::fcntl(FD, F_GETFL) & O_NONBLOCK, 0);
  auto Write = [&] {
    ssize_t Written = 0;
    withoutPipeSignal([&] { Written = ::write(FD, "x", 1); });
    return Written;
  };
  EXPECT_EQ(Write(), 1);
  ::close(Reader);
  EXPECT_EQ(Write(), -1);
  EXPECT_EQ(errno, EPIPE);
  sigset_t Pending;
  sigpending(&Pending);
  EXPECT_EQ(sigismember(&Pending, SIGPIPE), 0);
  ::close(FD);
}
