//===- ReadingTest.cpp - Malformed messages that libicecc trusts ----------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The far end is a plain socket, because libicecc's channels can't send
// malformed messages. The address sanitizer detects writes beyond a buffer.
//
//===----------------------------------------------------------------------===//

#include "Channel.h"
#include "Messages.h"
#include "WireMessages.h"
#include "gtest/gtest.h"
#include <icecc/logging.h>
#include <sstream>
#include <sys/socket.h>
#include <unistd.h>

using namespace dtlto::icecc;
using namespace dtlto::test;

namespace {

struct Case {
  int Protocol;
  Compression Kind;
};

class ReadingTest : public testing::TestWithParam<Case> {
protected:
  ReadingTest() {
    logfile_error = logfile_warning = logfile_info = logfile_trace = &Log;
    connect();
  }
  ~ReadingTest() override {
    static std::ostream Nowhere(nullptr);
    logfile_error = logfile_warning = logfile_info = logfile_trace = &Nowhere;
    hangUp();
  }

  /// Makes a new connection, and passes it to a channel.
  void connect() {
    offer();
    sockaddr Nobody = {AF_UNIX, {}};
    Near = Channel::adopt(
        Service::createChannel(Fds[0], &Nobody, sizeof(Nobody)), I);
    EXPECT_EQ(GetParam().Protocol, Near->protocol());
  }
  void offer() {
    hangUp();
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, Fds), 0);
    // First its own version, then the one that both ends agree on.
    for (int Time = 0; Time != 2; ++Time)
      sendBytes({char(GetParam().Protocol), 0, 0, 0});
  }

  void sendBytes(const std::string &Bytes) {
    EXPECT_EQ(ssize_t(Bytes.size()),
              ::send(Fds[1], Bytes.data(), Bytes.size(), MSG_DONTWAIT));
  }
  void hangUp() {
    if (Fds[1] != -1)
      ::close(std::exchange(Fds[1], -1));
  }

  /// Returns the contents of a message.
  static std::string chunk(const std::string &Bytes, size_t ClaimedSize) {
    return wireChunk(packChunk(Bytes, GetParam().Kind), ClaimedSize,
                     GetParam().Kind, GetParam().Protocol);
  }

  /// Returns what is received of a chunk of \p Bytes with size \p ClaimedSize.
  std::string receiveChunk(const std::string &Bytes, size_t ClaimedSize) {
    sendBytes(wireMessage(chunk(Bytes, ClaimedSize)));
    std::unique_ptr<Msg> M = receive();
    if (!M || M->type != M_FILE_CHUNK)
      return "no chunk";
    auto &Chunk = static_cast<FileChunkMsg &>(*M);
    if (!Chunk.buffer)
      return "damaged";
    return {reinterpret_cast<char *>(Chunk.buffer), Chunk.len};
  }
  std::unique_ptr<Msg> receive() {
    return Near->receive(Clock::now() + std::chrono::minutes(1), Error);
  }

  /// Returns whether libicecc tried to unpack a damaged chunk.
  bool hasUnpacked() const {
    return Log.str().find("decompression") != std::string::npos;
  }

  const std::string Bytes = std::string(240, 'x');
  std::ostringstream Log; // libicecc's log
  int Fds[2] = {-1, -1};
  Interrupt I;
  std::unique_ptr<Channel> Near;
  std::string Error;
};

TEST_P(ReadingTest, ChunksThatLie) {
  EXPECT_EQ(receiveChunk(Bytes, 240), Bytes);
  for (size_t ClaimedSize : {8, 239, 241, 100000})
    EXPECT_EQ(receiveChunk(Bytes, ClaimedSize), "damaged") << ClaimedSize;
  EXPECT_EQ(receiveChunk("", 1), "damaged");
  // The connection still works.
  EXPECT_EQ(receiveChunk(Bytes, 240), Bytes);
}

TEST_P(ReadingTest, InWhatIsLeftOfAMessage) {
  sendBytes(wireMessage(wireNumber(M_PING) + chunk(Bytes, 8)));
  EXPECT_FALSE(receive());
  EXPECT_EQ(Error, "it sent a message that cannot be read");
  EXPECT_FALSE(hasUnpacked());
}

TEST_P(ReadingTest, BehindAMessageThatIsTooLarge) {
  sendBytes(wireNumber(1 << 30) + wireMessage(chunk(Bytes, 8)));
  EXPECT_FALSE(receive());
  EXPECT_FALSE(hasUnpacked());
}

TEST_P(ReadingTest, RightAfterTheVersion) {
  offer();
  sendBytes(wireNumber(1 << 30) + wireMessage(chunk(Bytes, 8)));
  sockaddr Nobody = {AF_UNIX, {}};
  EXPECT_FALSE(openChannel(Fds[0], &Nobody, sizeof(Nobody)));
  EXPECT_FALSE(hasUnpacked());
}

TEST_P(ReadingTest, WhenASendFails) {
  sendBytes(wireMessage(chunk(Bytes, 8)));
  hangUp();
  EXPECT_FALSE(Near->send(PingMsg()));
  EXPECT_FALSE(hasUnpacked());
}

TEST_P(ReadingTest, ListsWithoutAnEnd) {
  const std::string Many = wireNumber(UINT32_MAX);
  for (MsgType Type : {M_GET_CS, M_LOGIN, M_COMPILE_FILE, M_GET_NATIVE_ENV}) {
    connect();
    sendBytes(wireMessage(wireNumber(Type) + Many + Many + Many + Many + "x"));
    EXPECT_FALSE(receive());
    EXPECT_EQ(Error, "it sent a message that cannot be read");
  }
}

TEST_P(ReadingTest, NoRoomForAType) {
  sendBytes(wireMessage("") + wireNumber(M_GET_CS) + wireNumber(UINT32_MAX));
  EXPECT_FALSE(receive());
  EXPECT_EQ(Error, "it sent a message that cannot be read");
}

TEST_P(ReadingTest, TextsWithoutAnEnd) {
  // With one of these sizes, the text ends where libicecc's buffer does.
  for (size_t Size = 2000; Size != 2200; ++Size) {
    std::string Text(Size, 'x');
    sendBytes(wireMessage(wireNumber(M_STATUS_TEXT) + wireNumber(Size) + Text));
    EXPECT_FALSE(receive());
    EXPECT_EQ(Error, Text);
  }
}

INSTANTIATE_TEST_SUITE_P(Protocols, ReadingTest,
                         testing::Values(Case{MIN_PROTOCOL_VERSION, C_LZO},
                                         Case{39, C_LZO}, Case{40, C_LZO},
                                         Case{PROTOCOL_VERSION, C_LZO},
                                         Case{40, C_ZSTD},
                                         Case{PROTOCOL_VERSION, C_ZSTD}));

} // namespace
