//===- SocketTest.cpp - Connections of a vendor's plugin ------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtlto/sdk/Socket.hpp"
#include "gtest/gtest.h"
#include <list>
#include <optional>
#include <thread>

using namespace dtlto::sdk;
using namespace std::chrono_literals;

namespace {

/// What a function threw.
struct Failure {
  int32_t Status = DTLTO_OK;
  bool TimedOut = false;
  std::string Text;
};

class SocketTest : public testing::Test {
public:
  SocketTest() {
    sockaddr_in A = {};
    A.sin_family = AF_INET;
    A.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::bind(Listener, reinterpret_cast<sockaddr *>(&A), sizeof(A)), 0);
    EXPECT_EQ(::listen(Listener, 0), 0);
    socklen_t Size = sizeof(A);
    ::getsockname(Listener, reinterpret_cast<sockaddr *>(&A), &Size);
    Port = ntohs(A.sin_port);
  }
  ~SocketTest() override {
    ::close(Listener);
    ::close(Peer);
  }

protected:
  static Socket::Time in(std::chrono::milliseconds D) {
    return Socket::Clock::now() + D;
  }
  /// A deadline that never passes in a test.
  static Socket::Time late() { return in(60s); }

  /// Connects \p S with Peer.
  void connect() {
    S.connect("127.0.0.1", Port, late());
    Peer = ::accept(Listener, nullptr, nullptr);
    ASSERT_GE(Peer, 0);
  }
  void peerSends(std::string_view Text) {
    EXPECT_EQ(::send(Peer, Text.data(), Text.size(), 0), ssize_t(Text.size()));
  }
  /// Fills the queue of Listener: further connections get no answer.
  void fillQueue() {
    for (int I = 0; I != 100; ++I)
      try {
        Queue.emplace_back().connect("127.0.0.1", Port, in(500ms));
      } catch (const SocketError &E) {
        EXPECT_TRUE(E.timedOut()) << E.what();
        return;
      }
    FAIL() << "the queue has no end";
  }

  /// Calls \p Fn, which must throw.
  template <typename F> static Failure failure(F Fn) {
    try {
      Fn();
    } catch (const SocketError &E) {
      return {E.status(), E.timedOut(), E.what()};
    } catch (const Error &E) {
      return {E.status(), false, E.what()};
    }
    ADD_FAILURE() << "no error";
    return {};
  }
  /// Like failure(), but cancels \p S meanwhile.
  template <typename F> Failure cancelled(F Fn) {
    std::thread T([&] {
      std::this_thread::sleep_for(30ms);
      S.cancel();
    });
    Failure Result = failure(Fn);
    T.join();
    return Result;
  }

  int Listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), Peer = -1;
  uint16_t Port = 0;
  Socket S;
  std::list<Socket> Queue;
  char Bytes[8] = {};
};

TEST_F(SocketTest, BytesGoBothWays) {
  connect();
  S.send("question", late());
  EXPECT_EQ(::recv(Peer, Bytes, 8, MSG_WAITALL), 8);
  EXPECT_EQ(std::string(Bytes, 8), "question");
  peerSends("ans");
  std::thread T([&] { peerSends("wer!!"); });
  S.receiveAll(Bytes, 8, late());
  T.join();
  EXPECT_EQ(std::string(Bytes, 8), "answer!!");
}

TEST_F(SocketTest, MoreThanTheSystemBuffers) {
  connect();
  std::string Sent(20 << 20, 'x'), Received(Sent.size(), 0);
  std::thread T([&] {
    EXPECT_EQ(::recv(Peer, Received.data(), Received.size(), MSG_WAITALL),
              ssize_t(Received.size()));
  });
  S.send(Sent, late());
  T.join();
  EXPECT_EQ(Received, Sent);
}

TEST_F(SocketTest, NamesAreLookedUp) {
  S.connect("localhost", Port, late()); // perhaps ::1 first, which refuses
}

TEST_F(SocketTest, ANewConnectionEndsTheOld) {
  connect();
  int Old = std::exchange(Peer, -1);
  connect();
  EXPECT_EQ(::recv(Old, Bytes, 8, 0), 0);
  ::close(Old);
  peerSends("new");
  EXPECT_EQ(S.receive(Bytes, 8, late()), 3u);
}

TEST_F(SocketTest, TheEndOfTheOtherSide) {
  connect();
  peerSends("abc");
  ::shutdown(Peer, SHUT_RDWR);
  Failure F = failure([&] { S.receiveAll(Bytes, 8, late()); });
  EXPECT_EQ(F.Status, DTLTO_ERROR_INFRASTRUCTURE);
  EXPECT_EQ(F.Text, "the other end closed the connection");
  EXPECT_EQ(S.receive(Bytes, 8, late()), 0u);
}

// Without SIGPIPE, which would end this program.
TEST_F(SocketTest, SendingToAClosedConnection) {
  connect();
  ::close(std::exchange(Peer, -1));
  Failure F = failure([&] {
    while (true)
      S.send("bytes", late());
  });
  EXPECT_EQ(F.Status, DTLTO_ERROR_INFRASTRUCTURE);
  EXPECT_FALSE(F.TimedOut);
}

TEST_F(SocketTest, NoListener) {
  ::close(std::exchange(Listener, -1));
  Failure F = failure([&] { S.connect("127.0.0.1", Port, late()); });
  EXPECT_EQ(F.Status, DTLTO_ERROR_INFRASTRUCTURE);
  EXPECT_EQ(F.Text, "cannot connect: Connection refused");
}

TEST_F(SocketTest, NoHost) {
  Failure F = failure([&] { S.connect("no.host.invalid", Port, late()); });
  EXPECT_EQ(F.Text.substr(0, 22), "cannot find the host: ");
}

TEST_F(SocketTest, DeadlinesOfEachWait) {
  connect();
  Failure F = failure([&] { S.receive(Bytes, 8, in(20ms)); });
  EXPECT_EQ(F.Status, DTLTO_ERROR_INFRASTRUCTURE);
  EXPECT_TRUE(F.TimedOut);
  EXPECT_EQ(F.Text, "timed out waiting for a reply");
  std::string Large(1 << 20, 'x');
  F = failure([&] {
    while (true)
      S.send(Large, in(20ms));
  });
  EXPECT_EQ(F.Text, "timed out sending");
  // The data that is there doesn't count.
  peerSends("late");
  EXPECT_TRUE(failure([&] { S.receive(Bytes, 8, in(0ms)); }).TimedOut);
  EXPECT_EQ(S.receive(Bytes, 8, late()), 4u);
}

TEST_F(SocketTest, ADeadlineWhileConnecting) {
  fillQueue();
  Failure F = failure([&] { S.connect("127.0.0.1", Port, in(20ms)); });
  EXPECT_TRUE(F.TimedOut);
  EXPECT_EQ(F.Text, "cannot connect: timed out connecting");
  EXPECT_TRUE(failure([&] { S.connect("127.0.0.1", Port, in(0ms)); }).TimedOut);
}

TEST_F(SocketTest, CancelEndsReceiving) {
  connect();
  Failure F = cancelled([&] { S.receive(Bytes, 8, late()); });
  EXPECT_EQ(F.Status, DTLTO_CANCELLED);
  // From now on, nothing waits.
  EXPECT_EQ(failure([&] { S.receive(Bytes, 8, late()); }).Status,
            DTLTO_CANCELLED);
  EXPECT_EQ(failure([&] { S.connect("127.0.0.1", Port, late()); }).Status,
            DTLTO_CANCELLED);
  EXPECT_EQ(::recv(Peer, Bytes, 8, 0), 0); // the other side hears of it
}

TEST_F(SocketTest, CancelEndsSending) {
  connect();
  std::string Large(1 << 20, 'x');
  Failure F = cancelled([&] {
    while (true)
      S.send(Large, late());
  });
  EXPECT_EQ(F.Status, DTLTO_CANCELLED);
}

TEST_F(SocketTest, CancelEndsConnecting) {
  fillQueue();
  Failure F = cancelled([&] { S.connect("127.0.0.1", Port, late()); });
  EXPECT_EQ(F.Status, DTLTO_CANCELLED);
}

TEST_F(SocketTest, CancelBeforeTheBeginning) {
  S.cancel();
  EXPECT_EQ(failure([&] { S.connect("127.0.0.1", Port, late()); }).Status,
            DTLTO_CANCELLED);
}

} // namespace
