//===- RemoteStoreTest.cpp - A store that machines share ------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Host/RemoteStore.h"
#include "FakePlugin.h"
#include "MemoryStore.h"
#include "TestLink.h"
#include "gtest/gtest.h"
#include <thread>

using namespace llvm;
using namespace dtlto;
using namespace dtlto::test;
using namespace std::chrono_literals;

namespace {

RemoteStore::Key key(char C) {
  RemoteStore::Key K;
  K.fill(uint8_t(C));
  return K;
}

class RemoteStoreTest : public testing::Test {
protected:
  static std::string get(RemoteStore &S, char K, uint64_t Max = 100) {
    return S.get(key(K), Max).bytes().str();
  }
  static bool put(RemoteStore &S, char K, std::string Bytes) {
    return S.put(key(K), Bytes.size(), [Bytes] { return Bytes; });
  }
  static std::string fail() { return "no\nserver"; }

  RecordingMessages Msg;
  MemoryStore Memory;
};

} // namespace

TEST_F(RemoteStoreTest, ReturnsWhatWasPut) {
  auto S = Memory.open(Msg);
  EXPECT_EQ(get(*S, 'a'), "");
  EXPECT_TRUE(put(*S, 'a', "one"));
  EXPECT_TRUE(put(*S, 'b', std::string("t\0o", 3)));
  S->finish(1min);
  auto Later = Memory.open(Msg);
  EXPECT_EQ(get(*Later, 'a', 3), "one");
  EXPECT_EQ(Later->getWithin(key('b'), 100).bytes(), std::string("t\0o", 3));
  EXPECT_EQ(get(*Later, 'a', 2), "");
  EXPECT_EQ(get(*Later, 'c'), "");
  EXPECT_EQ(Msg.warnings(), std::vector<std::string>());
}

TEST_F(RemoteStoreTest, ReadOnly) {
  auto S = Memory.open(Msg, /*MayWrite=*/false);
  EXPECT_FALSE(S->mayPut());
  EXPECT_FALSE(put(*S, 'a', "one"));
  S->finish(1min);
  EXPECT_EQ(Memory.NumPuts, 0u);
}

TEST_F(RemoteStoreTest, IsClosedAfterTheLastUse) {
  Memory.open(Msg);
  EXPECT_EQ(Memory.NumOpen, 0u);
  Gate Entered, Leave;
  Memory.OnPut = [&] {
    Entered.open();
    Leave.wait();
    return "";
  };
  auto S = Memory.open(Msg);
  EXPECT_TRUE(put(*S, 'a', "one"));
  Entered.wait();
  S->finish(0ms);
  S.reset();
  EXPECT_EQ(Memory.NumOpen, 1u);
  Leave.open();
  while (Memory.NumOpen != 0)
    std::this_thread::yield();
}

TEST_F(RemoteStoreTest, AFailureIsReportedOnce) {
  Memory.OnGet = Memory.OnPut = fail;
  auto S = Memory.open(Msg);
  EXPECT_TRUE(S->mayGet());
  EXPECT_EQ(get(*S, 'a'), "");
  EXPECT_EQ(get(*S, 'a'), "");
  EXPECT_FALSE(S->mayGet());
  EXPECT_EQ(Memory.NumGets, 1u);
  EXPECT_TRUE(put(*S, 'a', "one"));
  while (S->mayPut())
    std::this_thread::yield();
  EXPECT_FALSE(put(*S, 'b', "two"));
  S->finish(1min);
  EXPECT_EQ(Memory.NumPuts, 1u);
  EXPECT_EQ(Msg.warnings(),
            std::vector<std::string>({"remote cache: no server; "
                                      "continuing without its objects"}));
}

TEST_F(RemoteStoreTest, TwoFailuresAtOnceAreReportedOnce) {
  std::atomic<unsigned> NumFailing{0};
  Memory.OnGet = Memory.OnPut = [&] {
    ++NumFailing;
    while (NumFailing % 2 != 0)
      std::this_thread::yield();
    return fail();
  };
  for (unsigned I = 1; I != 5000; ++I) {
    auto S = Memory.open(Msg);
    EXPECT_TRUE(put(*S, 'a', "one"));
    EXPECT_EQ(get(*S, 'a'), "");
    S->finish(1min);
    ASSERT_EQ(Msg.warnings().size(), I);
  }
}

TEST_F(RemoteStoreTest, NothingIsReportedAfterTheEnd) {
  Gate Entered, Leave;
  Memory.OnGet = [&] {
    Entered.open();
    Leave.wait();
    return fail();
  };
  auto S = Memory.open(Msg);
  std::thread Late([&] { get(*S, 'a'); });
  Entered.wait();
  S->finish(0ms);
  Leave.open();
  Late.join();
  EXPECT_EQ(Msg.warnings(), std::vector<std::string>());
}

TEST_F(RemoteStoreTest, TheEndDoesNotWaitForAServerThatHangs) {
  Gate Leave;
  std::atomic<unsigned> NumWaiting{0};
  Memory.OnPut = [&] {
    ++NumWaiting;
    Leave.wait();
    return "";
  };
  auto S = Memory.open(Msg);
  for (char K = 'a'; K != 'a' + 20; ++K)
    EXPECT_TRUE(put(*S, K, "x"));
  while (NumWaiting != 8) // as many threads as there are
    std::this_thread::yield();
  S->finish(1ms);
  Leave.open();
  S.reset();
  while (Memory.NumOpen != 0)
    std::this_thread::yield();
  // The others are given up.
  EXPECT_EQ(Memory.NumPuts, 8u);
}

TEST_F(RemoteStoreTest, MemoryIsBounded) {
  Gate Leave;
  Memory.OnPut = [&] {
    Leave.wait();
    return "";
  };
  auto S = Memory.open(Msg);
  const uint64_t Half = uint64_t(128) << 20;
  auto Make = [] { return std::string("x"); };
  EXPECT_TRUE(S->put(key('a'), Half, Make));
  EXPECT_TRUE(S->put(key('b'), Half, Make));
  EXPECT_FALSE(S->put(key('c'), 1, Make));
  Leave.open();
  S->finish(1min);
  EXPECT_EQ(Memory.entries().size(), 2u);
}

TEST_F(RemoteStoreTest, APluginWithoutAStore) {
  FakePlugin Plugin;
  auto S = RemoteStore::open(Plugin.entry(), "", {}, true, Msg);
  ASSERT_FALSE(S);
  EXPECT_EQ(toString(S.takeError()),
            "plugin 'fake' has no store (dtlto.store/1)");
}

TEST(StorePluginTest, ByScheme) {
  auto Name = [](StringRef URL) {
    Expected<std::string> Plugin = storePlugin(URL);
    return Plugin ? *Plugin : "error: " + toString(Plugin.takeError());
  };
  EXPECT_EQ(Name("http://host"), "store_http");
  EXPECT_EQ(Name("HTTPS://host:8080/path"), "store_http");
  EXPECT_EQ(Name("grpc://host"), "store_grpc");
  EXPECT_EQ(Name("grpcs://host/a@b"), "store_grpc");
  EXPECT_EQ(Name("rediss://host/0"), "store_redis");
  EXPECT_EQ(Name("mine://host"), "store_mine");
  for (StringRef Wrong : {"", "http", "http:/host", "://host", "http://",
                          "../x://host", "a b://host"})
    EXPECT_EQ(
        Name(Wrong),
        ("error: '" + Wrong + "' is not a URL such as http://host/path").str());
  EXPECT_EQ(Name("http://me:secret@host/x"),
            "error: the URL of a remote cache must not contain a user or a "
            "password, since other users can see command lines");
}
