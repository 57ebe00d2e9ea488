//===- AddressTest.cpp - Names, addresses and mailboxes -------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Dial.h"
#include "FakeHost.h"
#include "FakeResolver.h"
#include "Network.h"
#include <arpa/inet.h>
#include <cerrno>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <unistd.h>

using namespace dtlto;
using namespace dtlto::distcc;
using namespace dtlto::test;

static bool waitFor(int Fd, short Events) {
  pollfd P = {Fd, Events, 0};
  return ::poll(&P, 1, 30 * 1000) == 1;
}

/// Resolves a name and waits for the result on this thread.
static LookupResult resolveAndWait(const std::string &Name, uint16_t Port) {
  auto Box = std::make_shared<Mailbox>();
  LookupResult Result;
  resolve(Name, Port, Box, [&](LookupResult R) { Result = std::move(R); });
  EXPECT_TRUE(waitFor(Box->fd(), POLLIN));
  Box->deliver();
  return Result;
}

static std::string text(const SocketAddress &A) {
  const auto &In = reinterpret_cast<const sockaddr_in &>(A.Storage);
  char Buffer[INET_ADDRSTRLEN] = "";
  inet_ntop(A.Storage.ss_family, &In.sin_addr, Buffer, sizeof(Buffer));
  return std::string(Buffer) + ":" + std::to_string(ntohs(In.sin_port));
}

TEST(AddressTest, Names) {
  setResolver([](const std::string &Name) {
    return Name == "two.test" ? std::vector<std::string>{"10.0.0.2", "10.0.0.1"}
                              : std::vector<std::string>();
  });
  LookupResult R = resolveAndWait("two.test", 4711);
  ASSERT_EQ(R.Addresses.size(), 2u);
  EXPECT_EQ(R.Error, "");
  EXPECT_EQ(text(R.Addresses[0]), "10.0.0.2:4711");
  EXPECT_EQ(text(R.Addresses[1]), "10.0.0.1:4711");
  R = resolveAndWait("127.0.0.1", 1);
  ASSERT_EQ(R.Addresses.size(), 1u);
  EXPECT_EQ(text(R.Addresses[0]), "127.0.0.1:1");
  R = resolveAndWait("none.test", 4711);
  EXPECT_TRUE(R.Addresses.empty());
  EXPECT_NE(R.Error, "");
  setResolver(nullptr);
}

TEST(AddressTest, AnAnswerThatComesTooLate) {
  auto G = std::make_shared<Gate>();
  setResolver([G](const std::string &) {
    G->wait();
    return std::vector<std::string>{"127.0.0.1"};
  });
  auto Box = std::make_shared<Mailbox>();
  std::weak_ptr<Mailbox> Weak = Box;
  bool WasCalled = false;
  resolve("slow.test", 1, Box, [&](LookupResult) { WasCalled = true; });
  Box->stop();
  Box.reset();
  setResolver(nullptr);
  G->open();
  auto End = std::chrono::steady_clock::now() + MaxWait;
  while (!Weak.expired() && std::chrono::steady_clock::now() < End)
    std::this_thread::yield();
  EXPECT_TRUE(Weak.expired());
  EXPECT_FALSE(WasCalled);
}

TEST(AddressTest, Connect) {
  Listener TheListener;
  LookupResult R = resolveAndWait("127.0.0.1", TheListener.port());
  ASSERT_EQ(R.Addresses.size(), 1u);
  int Fd = beginConnect(R.Addresses[0]);
  ASSERT_GE(Fd, 0);
  EXPECT_TRUE(waitFor(Fd, POLLOUT));
  EXPECT_EQ(dtlto::os::connectError(Fd), 0);
  // A request must not be delayed by Nagle's algorithm.
  int NoDelay = 0;
  socklen_t Size = sizeof(NoDelay);
  EXPECT_EQ(::getsockopt(Fd, IPPROTO_TCP, TCP_NODELAY, &NoDelay, &Size), 0);
  EXPECT_NE(NoDelay, 0);
  // A dead machine must be detected.
  int Limit = 0;
  EXPECT_EQ(::getsockopt(Fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &Limit, &Size), 0);
  EXPECT_EQ(Limit, dtlto::TheNetworkLimits.AckTimeout.count());
  ::close(Fd);
}

TEST(AddressTest, Refused) {
  uint16_t Port = Listener().port();
  int Fd = beginConnect(resolveAndWait("127.0.0.1", Port).Addresses.at(0));
  // The error may come at once or later.
  if (Fd < 0) {
    EXPECT_EQ(errno, ECONNREFUSED);
    return;
  }
  EXPECT_TRUE(waitFor(Fd, POLLOUT));
  EXPECT_EQ(dtlto::os::connectError(Fd), ECONNREFUSED);
  ::close(Fd);
}

TEST(MailboxTest, LettersInOrder) {
  Mailbox Box;
  ASSERT_GE(Box.fd(), 0);
  pollfd P = {Box.fd(), POLLIN, 0};
  EXPECT_EQ(::poll(&P, 1, 0), 0);
  std::vector<int> Order;
  for (int I = 0; I != 3; ++I)
    Box.post([&, I] { Order.push_back(I); });
  EXPECT_EQ(::poll(&P, 1, 0), 1);
  Box.deliver();
  EXPECT_EQ(Order, (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(::poll(&P, 1, 0), 0);
}

/// A message may post another one, which the next deliver() delivers.
TEST(MailboxTest, PostFromALetter) {
  Mailbox Box;
  unsigned Num = 0;
  Box.post([&] {
    ++Num;
    Box.post([&] { ++Num; });
  });
  Box.deliver();
  EXPECT_EQ(Num, 1u);
  EXPECT_TRUE(waitFor(Box.fd(), POLLIN));
  Box.deliver();
  EXPECT_EQ(Num, 2u);
}

TEST(MailboxTest, FromManyThreads) {
  Mailbox Box;
  unsigned Num = 0;
  std::vector<std::thread> Threads;
  for (unsigned T = 0; T != 4; ++T)
    Threads.emplace_back([&] {
      for (unsigned I = 0; I != 1000; ++I)
        Box.post([&] { ++Num; });
    });
  while (Num != 4000 && waitFor(Box.fd(), POLLIN))
    Box.deliver();
  EXPECT_EQ(Num, 4000u);
  for (std::thread &T : Threads)
    T.join();
}

TEST(MailboxTest, StopThrowsAway) {
  Mailbox Box;
  auto Held = std::make_shared<int>();
  unsigned Num = 0;
  Box.post([&, Held] { ++Num; });
  Box.stop();
  EXPECT_EQ(Held.use_count(), 1);
  Box.post([&, Held] { ++Num; });
  EXPECT_EQ(Held.use_count(), 1);
  Box.deliver();
  EXPECT_EQ(Num, 0u);
}
