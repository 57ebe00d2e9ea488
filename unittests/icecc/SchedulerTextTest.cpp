//===- SchedulerTextTest.cpp - A scheduler's text for people --------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SchedulerText.h"
#include "gtest/gtest.h"
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

using namespace dtlto::icecc;
using namespace std::chrono_literals;

static std::string text(const std::vector<NodeJobs> &Nodes) {
  std::string Text;
  for (const NodeJobs &N : Nodes)
    Text += N.Name + "@" + N.Address + "=" + std::to_string(N.Jobs) + ";";
  return Text;
}

TEST(SchedulerTextTest, Nodes) {
  EXPECT_EQ(
      "one@10.0.0.1=0;two@10.0.0.2=3;",
      text(nodesFromText(
          "200-ICECC 1.4: 5s uptime, 2 hosts, 0 jobs in queue (0 total).\n"
          "200 Use 'help' for help and 'quit' to quit.\n"
          " one (10.0.0.1:10245) [x86_64] speed=0.00 jobs=0/4 load=13\n"
          " two (10.0.0.2:10245) [x86_64] speed=61.20 jobs=3/8 load=13"
          " busy installing since 3 s\r\n"
          "   17 COMP sub:me on:two (a:1) [x] speed=1 jobs=9/9 foo.o\n"
          "200 done\n")));
}

TEST(SchedulerTextTest, OddNodes) {
  // Names of nodes may have any characters.
  EXPECT_EQ(
      "a (b:1) [c] jobs=7/7@10.0.0.1=2;",
      text(nodesFromText(
          " a (b:1) [c] jobs=7/7 (10.0.0.1:1) [x86_64] jobs=2/4 load=1\n")));
  EXPECT_EQ("n@host=1;", text(nodesFromText(" n (host) [x] jobs=1/2")));
  for (const char *Line :
       {"", "\n", " ", " n", " jobs=1/2", " n (a:1) [x] jobs=/2",
        " n (a:1) [x] jobs=-1/2", " n (a:1) [x] jobs=100001/2", " (a:1) [x]",
        " n [x] jobs=1/2", "n (a:1) [x] jobs=1/2", ") [ jobs=1"})
    EXPECT_EQ("", text(nodesFromText(Line))) << Line;
}

namespace {
/// A server that accepts one client and answers everything with the same text.
class Port {
public:
  explicit Port(std::string Answer, bool HangUp) {
    Fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    At.sin_family = AF_INET;
    At.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t Size = sizeof(At);
    EXPECT_EQ(0, ::bind(Fd, reinterpret_cast<sockaddr *>(&At), Size));
    EXPECT_EQ(0, ::listen(Fd, 1));
    ::getsockname(Fd, reinterpret_cast<sockaddr *>(&At), &Size);
    Thread = std::thread([this, Answer, HangUp] {
      int Client = ::accept(Fd, nullptr, nullptr);
      char Buffer[64];
      Question.resize(
          size_t(std::max<ssize_t>(0, ::recv(Client, Buffer, 64, 0))));
      std::copy(Buffer, Buffer + Question.size(), Question.begin());
      ::send(Client, Answer.data(), Answer.size(), MSG_NOSIGNAL);
      // Wait until the client hangs up.
      if (!HangUp)
        (void)!::recv(Client, Buffer, 64, 0);
      ::close(Client);
    });
  }
  ~Port() {
    Thread.join();
    ::close(Fd);
  }
  /// Returns the address of the scheduler that would have this text port.
  sockaddr_in scheduler() const {
    sockaddr_in Below = At;
    Below.sin_port = htons(uint16_t(ntohs(At.sin_port) - 1));
    return Below;
  }
  std::string Question;

private:
  int Fd;
  sockaddr_in At = {};
  std::thread Thread;
};
} // namespace

static const std::string OneNode = " n (1.2.3.4:5) [x] jobs=1/2 load=3\n";

TEST(SchedulerTextTest, Asks) {
  Interrupt I;
  Port P("200 hello\n" + OneNode + "200 done\n", /*HangUp=*/false);
  EXPECT_EQ("n@1.2.3.4=1;",
            text(queryNodes(P.scheduler(), Clock::now() + 60s, I)));
  EXPECT_EQ("listcs\n", P.Question);
}

TEST(SchedulerTextTest, HalfAnAnswer) {
  Interrupt I;
  Port P(OneNode, /*HangUp=*/true);
  EXPECT_EQ("", text(queryNodes(P.scheduler(), Clock::now() + 60s, I)));
}

TEST(SchedulerTextTest, NoEnd) {
  Interrupt I;
  Port P(OneNode, /*HangUp=*/false);
  EXPECT_EQ("", text(queryNodes(P.scheduler(), Clock::now() + 200ms, I)));
}

TEST(SchedulerTextTest, Interrupted) {
  Interrupt I;
  I.raise();
  sockaddr_in At = {};
  EXPECT_EQ("", text(queryNodes(At, Clock::now() + 60s, I)));
  At.sin_family = AF_INET;
  EXPECT_EQ("", text(queryNodes(At, Clock::now() + 60s, I)));
}
