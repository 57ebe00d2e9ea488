//===- ChannelTest.cpp - What a channel says of the other side ------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Channel.h"
#include "gtest/gtest.h"
#include <icecc/comm.h>
#include <sys/socket.h>
#include <thread>

using namespace dtlto::icecc;

/// What is wrong when \p M comes instead of an answer.
static std::string errorAfter(const Msg &M) {
  int Fds[2];
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, Fds), 0);
  sockaddr Nobody = {AF_UNIX, {}};
  std::thread Other([&] {
    std::unique_ptr<MsgChannel> Far(
        Service::createChannel(Fds[1], &Nobody, sizeof(Nobody)));
    EXPECT_TRUE(Far && Far->send_msg(M));
  });
  Interrupt I;
  std::unique_ptr<Channel> Near = Channel::adopt(
      Service::createChannel(Fds[0], &Nobody, sizeof(Nobody)), I);
  std::string Error;
  EXPECT_FALSE(Near->receive(Clock::now() + std::chrono::minutes(1), Error));
  Other.join();
  return Error;
}

TEST(ChannelTest, TextsInsteadOfAnswers) {
  EXPECT_EQ(errorAfter(StatusTextMsg("go away")), "go away");
  EXPECT_EQ(errorAfter(StatusTextMsg("")),
            "it sent an empty text instead of an answer");
}
