//===- LocalRoomTest.cpp - Memory and tokens for local jobs ---------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Host/LocalRoom.h"
#include "TempFolder.h"
#include "gtest/gtest.h"
#include <atomic>
#include <fcntl.h>
#include <future>
#include <sys/stat.h>
#include <unistd.h>

using namespace llvm;
using namespace dtlto;
using namespace dtlto::test;

namespace {

/// A thread of a plugin that enters a room.
class Visitor {
public:
  Visitor(LocalRoom &R, uint64_t Bytes)
      : Thread([&R, Bytes, this] {
          bool Entered = R.enter(
              Bytes, [&] { return IsNeeded.load(); },
              [&] { Waits.set_value(); });
          Done.set_value(Entered);
        }) {}
  ~Visitor() { Thread.join(); }
  void waitUntilItWaits() { Waits.get_future().wait(); }
  bool hasEntered() { return Done.get_future().get(); }

  std::atomic<bool> IsNeeded{true};

private:
  std::promise<void> Waits;
  std::promise<bool> Done;
  std::thread Thread; // Last, because it uses the members above.
};

} // namespace

TEST(LocalRoomTest, MemoryIsShared) {
  LocalRoom R(10);
  EXPECT_TRUE(Visitor(R, 6).hasEntered());
  EXPECT_TRUE(Visitor(R, 4).hasEntered());
  Visitor Third(R, 1);
  Third.waitUntilItWaits();
  R.leave(4);
  EXPECT_TRUE(Third.hasEntered());
}

TEST(LocalRoomTest, OneMayAlwaysEnter) {
  LocalRoom R(10);
  EXPECT_TRUE(Visitor(R, UINT64_MAX).hasEntered());
  Visitor Next(R, 0);
  Next.waitUntilItWaits();
  R.leave(UINT64_MAX);
  EXPECT_TRUE(Next.hasEntered());
}

TEST(LocalRoomTest, ThePlansJobsCount) {
  LocalRoom R(10);
  R.begin(8);
  Visitor Next(R, 5);
  Next.waitUntilItWaits();
  R.end(8);
  EXPECT_TRUE(Next.hasEntered());
}

TEST(LocalRoomTest, ALargeOneIsNotOvertaken) {
  LocalRoom R(10);
  EXPECT_TRUE(Visitor(R, 6).hasEntered());
  Visitor Large(R, 6);
  Large.waitUntilItWaits();
  Visitor Small(R, 1);
  Small.waitUntilItWaits();
  R.leave(6);
  EXPECT_TRUE(Large.hasEntered());
  EXPECT_TRUE(Small.hasEntered());
}

TEST(LocalRoomTest, LeavesTheQueueIfNotNeeded) {
  LocalRoom R(10);
  R.begin(10);
  Visitor First(R, 1);
  First.waitUntilItWaits();
  Visitor Second(R, 0);
  Second.waitUntilItWaits();
  First.IsNeeded = false;
  R.wake();
  EXPECT_FALSE(First.hasEntered());
  EXPECT_TRUE(Second.hasEntered()); // There is memory for it.
}

namespace {

class LocalRoomTokensTest : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_EQ(mkfifo(Path.c_str(), 0600), 0);
    Fifo = open(Path.c_str(), O_RDWR | O_NONBLOCK);
  }
  ~LocalRoomTokensTest() override { close(Fifo); }

  void put(StringRef Tokens) {
    ASSERT_EQ(write(Fifo, Tokens.data(), Tokens.size()),
              ssize_t(Tokens.size()));
  }
  ssize_t numLeft() {
    char Bytes[10];
    ssize_t N = read(Fifo, Bytes, sizeof(Bytes));
    EXPECT_EQ(write(Fifo, Bytes, size_t(std::max<ssize_t>(N, 0))),
              std::max<ssize_t>(N, 0));
    return std::max<ssize_t>(N, 0);
  }
  std::unique_ptr<Jobserver> connect() {
    std::string Note;
    auto J = Jobserver::connect("--jobserver-auth=fifo:" + Path, Note);
    EXPECT_TRUE(J) << Note;
    return J;
  }

private:
  TempFolder Folder;
  const std::string Path = Folder.path("fifo");
  int Fifo = -1;
};

} // namespace

TEST_F(LocalRoomTokensTest, OneForEachButTheFirst) {
  put("+");
  LocalRoom R(10, connect());
  // The first job uses the linker's own token, the second the one in the FIFO.
  EXPECT_TRUE(Visitor(R, 1).hasEntered());
  EXPECT_EQ(numLeft(), 1);
  EXPECT_TRUE(Visitor(R, 1).hasEntered());
  EXPECT_EQ(numLeft(), 0);
  Visitor Third(R, 1);
  Third.waitUntilItWaits();
  Visitor Fourth(R, 1);
  Fourth.waitUntilItWaits();
  // The next job uses the token that the third one has requested.
  Third.IsNeeded = false;
  R.wake();
  EXPECT_FALSE(Third.hasEntered());
  R.leave(1);
  EXPECT_TRUE(Fourth.hasEntered());
  EXPECT_EQ(numLeft(), 0);
  R.leave(1);
  EXPECT_EQ(numLeft(), 1);
  R.leave(1);
  EXPECT_EQ(numLeft(), 1);
  // The last job waits for memory, and that takes no token.
  R.begin(10);
  Visitor Last(R, 1);
  Last.waitUntilItWaits();
  EXPECT_EQ(numLeft(), 1);
  R.end(10);
  EXPECT_TRUE(Last.hasEntered());
  EXPECT_EQ(numLeft(), 1);
}

TEST_F(LocalRoomTokensTest, TheNextRunsAreItsOwn) {
  put("+++");
  auto First = std::make_unique<LocalRoom>(10, connect());
  EXPECT_TRUE(Visitor(*First, 1).hasEntered());
  EXPECT_TRUE(Visitor(*First, 1).hasEntered());
  EXPECT_EQ(numLeft(), 2);
  First->disconnect();
  EXPECT_EQ(numLeft(), 3);

  LocalRoom Second(10, connect());
  EXPECT_TRUE(Visitor(Second, 1).hasEntered());
  EXPECT_TRUE(Visitor(Second, 1).hasEntered());
  EXPECT_EQ(numLeft(), 2);
  // The plugin of the first run continues, and ends late.
  EXPECT_TRUE(Visitor(*First, 1).hasEntered());
  First->leave(1);
  First->leave(1);
  First->leave(1);
  First.reset();
  EXPECT_EQ(numLeft(), 2);
  EXPECT_TRUE(Visitor(Second, 1).hasEntered());
  EXPECT_EQ(numLeft(), 1);
}

TEST_F(LocalRoomTokensTest, WhoWaitsForOneGoesOnWithoutIt) {
  LocalRoom R(10, connect());
  EXPECT_TRUE(Visitor(R, 1).hasEntered());
  Visitor Next(R, 1);
  Next.waitUntilItWaits();
  R.disconnect();
  EXPECT_TRUE(Next.hasEntered());
}
