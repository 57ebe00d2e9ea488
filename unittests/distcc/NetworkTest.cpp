//===- NetworkTest.cpp - Dead machines, and slow transfers ----------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Network.h"
#include "Dial.h"
#include "FakeHost.h"
#include "System.h"
#include <cerrno>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <unistd.h>

using namespace dtlto;
using namespace dtlto::test;
using namespace std::chrono_literals;

namespace {
struct NetworkTest : ::testing::Test {
  void TearDown() override { TheNetworkLimits = NetworkLimits(); }
};

/// A connection to a peer that doesn't read. Its buffers are full.
struct StalledSocket {
  StalledSocket() : Fd(distcc::beginConnect(at(SilentPeer.port()))) {
    EXPECT_TRUE(waitFor(POLLOUT));
    std::string Bytes(1 << 20, 'x');
    while (::send(Fd, Bytes.data(), Bytes.size(), MSG_NOSIGNAL) > 0)
      ;
    EXPECT_EQ(errno, EAGAIN);
  }
  ~StalledSocket() { ::close(Fd); }
  static sdk::SocketAddress at(uint16_t Port) {
    sdk::SocketAddress A;
    auto &In = reinterpret_cast<sockaddr_in &>(A.Storage);
    In.sin_family = AF_INET;
    In.sin_port = htons(Port);
    In.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    A.Size = sizeof(In);
    return A;
  }
  bool waitFor(short Events) {
    pollfd P = {Fd, Events, 0};
    return ::poll(&P, 1, 30 * 1000) == 1;
  }

  Listener SilentPeer;
  int Fd;
};
} // namespace

static int option(int Fd, int Level, int Name) {
  int Value = -1;
  socklen_t Size = sizeof(Value);
  EXPECT_EQ(::getsockopt(Fd, Level, Name, &Value, &Size), 0);
  return Value;
}

TEST_F(NetworkTest, TheSystemWatchesTheMachine) {
  int Fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  watchMachine(Fd);
  EXPECT_EQ(option(Fd, SOL_SOCKET, SO_KEEPALIVE), 1);
  EXPECT_EQ(option(Fd, IPPROTO_TCP, TCP_KEEPIDLE), 4);
  EXPECT_EQ(option(Fd, IPPROTO_TCP, TCP_KEEPINTVL), 2);
  EXPECT_EQ(option(Fd, IPPROTO_TCP, TCP_KEEPCNT), 4);
  EXPECT_EQ(option(Fd, IPPROTO_TCP, TCP_USER_TIMEOUT), 12000);
  // No data is in flight, so no time is added.
  allowStall(Fd, 100s);
  EXPECT_EQ(option(Fd, IPPROTO_TCP, TCP_USER_TIMEOUT), 12000);
  ::close(Fd);
}

TEST_F(NetworkTest, ClosingAConnectionResetsIt) {
  for (bool DoesReset : {true, false}) {
    Listener Server;
    int Fd = distcc::beginConnect(StalledSocket::at(Server.port()));
    int Accepted = ::accept(Server.fd(), nullptr, nullptr);
    ASSERT_GE(Accepted, 0);
    if (!DoesReset)
      os::setResetOnClose(Fd, false); // as once the reply has begun
    ::close(Fd);
    pollfd P = {Accepted, POLLIN, 0};
    ASSERT_EQ(::poll(&P, 1, 30 * 1000), 1);
    char Byte;
    EXPECT_EQ(::recv(Accepted, &Byte, 1, 0), DoesReset ? -1 : 0);
    EXPECT_TRUE(!DoesReset || errno == ECONNRESET);
    ::close(Accepted);
  }
}

TEST_F(NetworkTest, OtherSocketsStayAsTheyAre) {
  int Fds[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, Fds), 0);
  ASSERT_EQ(::write(Fds[0], "x", 1), 1);
  watchMachine(Fds[0]);
  allowStall(Fds[0], 1s);
  EXPECT_FALSE(isMachineSilent(Fds[0]));
  EXPECT_EQ(wireBytes(Fds[0]).Acknowledged, 0u);
  EXPECT_EQ(wireBytes(Fds[1]).Received, 0u);
  char Byte;
  EXPECT_EQ(::read(Fds[1], &Byte, 1), 1);
  ::close(Fds[0]);
  ::close(Fds[1]);
}

/// A connection to a peer that doesn't read ends like one to a dead machine,
/// unless allowStall() extends the limit.
TEST_F(NetworkTest, AStallIsAllowed) {
  TheNetworkLimits.AckTimeout = 600ms;
  auto Began = std::chrono::steady_clock::now();
  StalledSocket Allowed, Broken;
  EXPECT_GT(wireBytes(Allowed.Fd).Acknowledged, 0u);
  pollfd P = {Broken.Fd, 0, 0};
  auto Stalled = [&] { return std::chrono::steady_clock::now() - Began; };
  do
    allowStall(Allowed.Fd, Stalled());
  while (::poll(&P, 1, 10) == 0 && Stalled() < MaxWait);
  EXPECT_EQ(option(Broken.Fd, SOL_SOCKET, SO_ERROR), ETIMEDOUT);
  EXPECT_EQ(option(Allowed.Fd, SOL_SOCKET, SO_ERROR), 0);
  // Now the peer reads.
  int Peer = ::accept4(Allowed.SilentPeer.fd(), nullptr, nullptr, SOCK_CLOEXEC);
  std::string Bytes(1 << 20, ' ');
  while (::recv(Peer, Bytes.data(), Bytes.size(), MSG_DONTWAIT) > 0)
    ;
  EXPECT_TRUE(Allowed.waitFor(POLLOUT));
  EXPECT_EQ(option(Allowed.Fd, SOL_SOCKET, SO_ERROR), 0);
  ::close(Peer);
}

/// A busy distccd may not read another job for a while.
TEST_F(NetworkTest, AServerThatReadsLate) {
  TheNetworkLimits.AckTimeout = 600ms;
  MockDistccd A;
  FakeHost Host;
  ASSERT_EQ(Host.open({hosts({&A})}), DTLTO_OK);
  Host.waitForLog("has clang-19");
  A.onConnect([&A](MockDistccd::Peer &P) {
    // Wait until another stalled connection was given up.
    StalledSocket Other;
    EXPECT_TRUE(Other.waitFor(0));
    A.onConnect(nullptr);
    A.serve(P);
  });
  FakeHost::Completion D = Host.wait(Host.submit(largeJob("x.o", 12000000)));
  EXPECT_EQ(D.Status, DTLTO_OK) << D.Message;
  EXPECT_TRUE(D.Object == objectOf("x.o"));
}

TEST_F(NetworkTest, WhyAConnectionBroke) {
  EXPECT_EQ(connectionErrorText(ECONNRESET), "Connection reset by peer");
  for (int Errno : {ETIMEDOUT, EHOSTUNREACH, ENETUNREACH, EHOSTDOWN})
    EXPECT_EQ(connectionErrorText(Errno),
              "the machine or the network to it has "
              "not answered for 12 s");
}

TEST_F(NetworkTest, TransferThatPauses) {
  Transfer T(10s);
  auto Began = T.lastByte();
  EXPECT_EQ(T.deadline(), Began + 10s);
  EXPECT_TRUE(T.hasStopped());
  EXPECT_EQ(T.text(), "0 bytes in 0 s");
  // The rate is high enough, so only the pause counts.
  for (uint64_t Bytes : {uint64_t(100) << 10, UINT64_MAX}) {
    T.recordBytes(Bytes);
    EXPECT_EQ(T.bytes(), Bytes);
    EXPECT_GT(T.lastByte(), Began);
    EXPECT_EQ(T.deadline(), T.lastByte() + 10s);
    EXPECT_TRUE(T.hasStopped());
  }
  auto Last = T.lastByte();
  T.recordBytes(UINT64_MAX); // no new bytes
  EXPECT_EQ(T.lastByte(), Last);
}

TEST_F(NetworkTest, TransferThatDribbles) {
  TheNetworkLimits.MinRate = UINT64_MAX;
  Transfer T(10s);
  auto Began = T.lastByte();
  for (uint64_t Bytes = 1; Bytes != 5; ++Bytes) {
    T.recordBytes(Bytes);
    EXPECT_GT(T.lastByte(), Began);
    EXPECT_EQ(T.deadline(), Began + 10s);
    EXPECT_FALSE(T.hasStopped());
    EXPECT_EQ(T.text(), std::to_string(Bytes) +
                            (Bytes == 1 ? " byte" : " bytes") + " in 0 s");
  }
}
