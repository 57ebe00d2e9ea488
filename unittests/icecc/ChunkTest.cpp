//===- ChunkTest.cpp - Chunks that are compressed once --------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Both ends are libicecc's channels. Before protocol 40, chunks are always LZO.
//
//===----------------------------------------------------------------------===//

#include "Messages.h"
#include "gtest/gtest.h"
#include <memory>
#include <random>
#include <sys/socket.h>
#include <thread>

using namespace dtlto;
using namespace dtlto::icecc;

namespace {

class ChunkTest : public testing::TestWithParam<int> {
protected:
  struct Line {
    std::unique_ptr<MsgChannel> Near, Far;
  };
  static Line connect(int Protocol) {
    int Fds[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, Fds), 0);
    Line TheLine;
    sockaddr NoAddress = {AF_UNIX, {}};
    // Both ends have to exchange their versions.
    std::thread Other([&] {
      TheLine.Far.reset(
          Service::createChannel(Fds[1], &NoAddress, sizeof(NoAddress)));
    });
    TheLine.Near.reset(
        Service::createChannel(Fds[0], &NoAddress, sizeof(NoAddress)));
    Other.join();
    TheLine.Near->protocol = TheLine.Far->protocol = Protocol;
    return TheLine;
  }

  /// Returns what the far end receives of \p M.
  static std::string through(Line &TheLine, const Msg &M) {
    bool Sent = false;
    std::thread Other([&] { Sent = TheLine.Near->send_msg(M); });
    std::unique_ptr<Msg> Received(TheLine.Far->get_msg(10));
    Other.join();
    EXPECT_TRUE(Sent);
    if (!Received || Received->type != M_FILE_CHUNK)
      return "no chunk";
    auto &Chunk = static_cast<FileChunkMsg &>(*Received);
    return {reinterpret_cast<char *>(Chunk.buffer), Chunk.len};
  }

  /// Returns bytes, half of which are incompressible.
  static std::string bytes(size_t Size) {
    std::string Bytes(Size, 'x');
    std::minstd_rand Random(1);
    for (size_t I = 0; I < Size / 2; ++I)
      Bytes[I] = static_cast<char>(Random() >> 8);
    return Bytes;
  }

  ByteCache Cache{16 << 20};
};

TEST_P(ChunkTest, TheSameEachTime) {
  Line First = connect(GetParam()), Second = connect(GetParam());
  for (size_t Size : {size_t(1), size_t(1000), size_t(1000000)}) {
    std::string Bytes = bytes(Size);
    CachedChunk Chunk(Bytes.data(), Bytes.size(), Cache);
    for (int Time = 0; Time != 3; ++Time) {
      EXPECT_EQ(through(First, Chunk), Bytes);
      EXPECT_EQ(through(Second, Chunk), Bytes);
    }
    // Other messages still pass.
    EXPECT_EQ(through(First,
                      FileChunkMsg(reinterpret_cast<unsigned char *>(&Bytes[0]),
                                   Bytes.size())),
              Bytes);
  }
}

TEST_P(ChunkTest, CompressedOnce) {
  Line TheLine = connect(GetParam());
  std::string Bytes = bytes(5000), Before = Bytes;
  CachedChunk Chunk(Bytes.data(), Bytes.size(), Cache);
  EXPECT_EQ(through(TheLine, Chunk), Before);
  Bytes[0] ^= 1; // the bytes aren't read again
  EXPECT_EQ(through(TheLine, Chunk), Before);
}

TEST_P(ChunkTest, NotForAnotherProtocol) {
  Line TheLine = connect(GetParam()), Other = connect(GetParam() - 1);
  std::string Bytes = bytes(5000);
  CachedChunk Chunk(Bytes.data(), Bytes.size(), Cache);
  EXPECT_EQ(through(TheLine, Chunk), Bytes);
  EXPECT_EQ(through(Other, Chunk), Bytes);
}

INSTANTIATE_TEST_SUITE_P(Protocols, ChunkTest,
                         testing::Values(39, 40, PROTOCOL_VERSION));

} // namespace
