//===- ChannelTest.cpp - Errors and limits of channels --------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Channel.h"
#include "SocketServer.h"
#include "gtest/gtest.h"
#include <algorithm>
#include <fcntl.h>
#include <icecc/comm.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

using namespace dtlto::icecc;
using dtlto::test::MaxWait;

/// Returns the error if \p M comes instead of an answer.
static std::string errorAfter(const Msg &M) {
  int Fds[2];
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, Fds), 0);
  sockaddr NoAddress = {AF_UNIX, {}};
  std::thread Other([&] {
    std::unique_ptr<MsgChannel> Far(
        Service::createChannel(Fds[1], &NoAddress, sizeof(NoAddress)));
    EXPECT_TRUE(Far && Far->send_msg(M));
  });
  Interrupt I;
  std::unique_ptr<Channel> Near = Channel::adopt(
      Service::createChannel(Fds[0], &NoAddress, sizeof(NoAddress)), I);
  std::string Error;
  EXPECT_FALSE(Near->receive(Clock::now() + std::chrono::minutes(1), Error));
  Other.join();
  return Error;
}

TEST(ChannelTest, TextsInsteadOfAnswers) {
  EXPECT_EQ(errorAfter(StatusTextMsg("go away")), "go away");
  EXPECT_EQ(errorAfter(StatusTextMsg("disk\nis full\n")), "disk is full");
  EXPECT_EQ(errorAfter(StatusTextMsg("")),
            "it sent an empty text instead of an answer");
}

namespace {
/// Holds all file descriptors that this process may open.
class AllDescriptors {
public:
  AllDescriptors() {
    ::getrlimit(RLIMIT_NOFILE, &Old);
    rlimit New = Old;
    New.rlim_cur = std::min<rlim_t>(Old.rlim_cur, 100);
    ::setrlimit(RLIMIT_NOFILE, &New);
    int Fd;
    while ((Fd = ::open("/dev/null", O_RDONLY | O_CLOEXEC)) != -1)
      Fds.push_back(Fd);
  }
  ~AllDescriptors() {
    for (int Fd : Fds)
      ::close(Fd);
    ::setrlimit(RLIMIT_NOFILE, &Old);
  }
  /// Makes one descriptor available.
  void leaveOne() {
    ::close(Fds.back());
    Fds.pop_back();
  }

private:
  rlimit Old;
  std::vector<int> Fds;
};
} // namespace

TEST(ChannelTest, ASocketThatIsThereIsAllThatItTakes) {
  dtlto::test::Listener Daemon;
  std::string Error;
  Interrupt I;
  dtlto::Descriptor S = openTcpSocket();
  AllDescriptors All;
  EXPECT_THROW(Channel::connect("127.0.0.1", Daemon.port(), MaxWait, I, Error),
               OutOfDescriptors);
  std::thread Other([&] {
    pollfd Comes = {Daemon.fd(), POLLIN, 0};
    ASSERT_EQ(::poll(&Comes, 1, -1), 1);
    All.leaveOne();
    sockaddr NoAddress = {AF_INET, {}};
    std::unique_ptr<MsgChannel> Far(Service::createChannel(
        ::accept4(Daemon.fd(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK),
        &NoAddress, sizeof(NoAddress)));
    EXPECT_TRUE(Far && Far->send_msg(PingMsg()));
  });
  std::unique_ptr<Channel> C = Channel::connect(
      "127.0.0.1", Daemon.port(), MaxWait, I, Error, std::move(S));
  ASSERT_TRUE(C) << Error;
  EXPECT_TRUE(C->receive(Clock::now() + MaxWait, Error)) << Error;
  Other.join();
}
