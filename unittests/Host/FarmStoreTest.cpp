//===- FarmStoreTest.cpp - The store of a plugin's farm -------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Host/FarmStore.h"
#include "FakePlugin.h"
#include "dtlto/ext/draft/store.h"
#include "llvm/Support/Error.h"
#include "gtest/gtest.h"
#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <thread>

using namespace llvm;
using namespace dtlto;
using namespace dtlto::test;

namespace {

/// A plugin's store, in memory.
class FarmStoreTest : public testing::Test {
protected:
  static FarmStoreTest &from(dtlto_session *S) {
    return *reinterpret_cast<FarmStoreTest *>(S);
  }
  int32_t answer(char *Why, uint64_t WhySize) {
    if (Hangs) {
      Entered.open();
      Leave.wait();
    }
    if (!Says.empty())
      std::snprintf(Why, WhySize, "%s", Says.c_str());
    return Says.empty() ? Status : DTLTO_ERROR_INFRASTRUCTURE;
  }

  void SetUp() override {
    Calls.size = sizeof(Calls);
    Calls.get = [](dtlto_session *S, const uint8_t *Key, uint64_t MaxBytes,
                   uint32_t TimeoutMs, dtlto_buffer *Bytes, char *Why,
                   uint64_t WhySize) {
      FarmStoreTest &T = from(S);
      std::unique_lock<std::mutex> Lock(T.Mutex);
      T.MaxBytes = MaxBytes;
      T.TimeoutMs = TimeoutMs;
      auto *Owned = new std::string(T.There[std::string(Key, Key + 32)]);
      Lock.unlock();
      ++T.NumAlive;
      *Bytes = {Owned->data(), Owned->size(), Owned,
                [](void *Owner, const void *, uint64_t) {
                  delete static_cast<std::string *>(Owner);
                  --NumAlive;
                }};
      return T.answer(Why, WhySize);
    };
    Calls.put = [](dtlto_session *S, const uint8_t *Key, dtlto_span Bytes,
                   uint32_t, char *Why, uint64_t WhySize) {
      FarmStoreTest &T = from(S);
      std::unique_lock<std::mutex> Lock(T.Mutex);
      T.There[std::string(Key, Key + 32)].assign(
          static_cast<const char *>(Bytes.data), Bytes.size);
      Lock.unlock();
      return T.answer(Why, WhySize);
    };
    NumAlive = 0;
  }
  void TearDown() override {
    Leave.open();
    Store->close();
    // After its answer, the thread of a call still has to release its buffer.
    for (int I = 0; I != 1000 && NumAlive != 0; ++I)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_EQ(NumAlive, 0);
  }

  bool open() {
    return Store->open(&Calls, reinterpret_cast<dtlto_session *>(this));
  }
  /// Returns the value, "-" if the session isn't open, or the error.
  std::string get(char Key, uint64_t Max = 100) {
    Expected<std::optional<Buffer>> Got = Store->get(key(Key), Max);
    if (!Got)
      return "error: " + toString(Got.takeError());
    return *Got ? (**Got).bytes().str() : "-";
  }
  std::string put(char Key, const std::string &Bytes) {
    Expected<bool> Put = Store->put(key(Key), Bytes);
    if (!Put)
      return "error: " + toString(Put.takeError());
    return *Put ? "put" : "-";
  }
  static FarmStore::Key key(char C) {
    FarmStore::Key K;
    K.fill(uint8_t(C));
    return K;
  }

  dtlto_store Calls = {};
  std::shared_ptr<FarmStore> Store = std::make_shared<FarmStore>();
  std::mutex Mutex; // Guards the members below, while calls may be running.
  std::map<std::string, std::string> There;
  std::string Says; // If not empty, calls fail with this text.
  int32_t Status = DTLTO_OK;
  uint64_t MaxBytes = 0;
  uint32_t TimeoutMs = 0;
  std::atomic<bool> Hangs{false};
  Gate Entered, Leave;
  static std::atomic<int> NumAlive;
};

std::atomic<int> FarmStoreTest::NumAlive{0};

} // namespace

TEST_F(FarmStoreTest, WhatIsPutIsThere) {
  ASSERT_TRUE(open());
  EXPECT_TRUE(Store->mayBeAvailable());
  EXPECT_EQ(get('a'), "");
  EXPECT_EQ(put('a', "one"), "put");
  EXPECT_EQ(put('b', std::string("t\0o", 3)), "put");
  EXPECT_EQ(get('a', 3), "one");
  EXPECT_EQ(MaxBytes, 3u);
  EXPECT_EQ(TimeoutMs, 10000u);
  EXPECT_EQ(get('b'), std::string("t\0o", 3));
  EXPECT_EQ(put('a', ""), "put");
  EXPECT_EQ(get('a'), "");
}

/// Jobs prepared before the session is open need the store as well.
TEST_F(FarmStoreTest, TheFirstCallAsksForTheSession) {
  ASSERT_TRUE(open());
  EXPECT_EQ(put('a', "one"), "put");
  Store->close();
  // As for the second of a link's two sessions.
  std::thread Opening;
  unsigned NumAsked = 0;
  Store->setOpener([&] {
    ++NumAsked;
    Opening = std::thread([&] { open(); });
  });
  EXPECT_TRUE(Store->mayBeAvailable());
  EXPECT_EQ(get('a'), "one");
  EXPECT_EQ(get('b'), "");
  Opening.join();
  EXPECT_EQ(NumAsked, 1u);
}

TEST_F(FarmStoreTest, MoreThanWasWantedIsNothing) {
  ASSERT_TRUE(open());
  put('a', "four");
  EXPECT_EQ(get('a', 3), "");
}

TEST_F(FarmStoreTest, OnlyInASession) {
  EXPECT_TRUE(Store->mayBeAvailable());
  EXPECT_EQ(get('a'), "-");
  EXPECT_EQ(put('a', "x"), "-");
  ASSERT_TRUE(open());
  EXPECT_EQ(put('a', "x"), "put");
  Store->close();
  EXPECT_FALSE(Store->mayBeAvailable());
  EXPECT_EQ(get('a'), "-");
  EXPECT_EQ(put('a', "y"), "-");
  // A link with two rounds has two sessions.
  ASSERT_TRUE(open());
  EXPECT_EQ(get('a'), "x");
}

TEST_F(FarmStoreTest, APluginWithoutAStore) {
  EXPECT_FALSE(Store->open(nullptr, nullptr));
  EXPECT_FALSE(Store->mayBeAvailable());
  EXPECT_EQ(get('a'), "-");
  Calls.size = offsetof(dtlto_store, put); // As of another version.
  EXPECT_FALSE(open());
  EXPECT_EQ(put('a', "x"), "-");
}

TEST_F(FarmStoreTest, WhatAnErrorSays) {
  ASSERT_TRUE(open());
  Says = "no\x1b[2J\nroom";
  EXPECT_EQ(get('a'), "error: no\\x1b[2J room");
  EXPECT_EQ(put('a', "x"), "error: no\\x1b[2J room");
  Says = std::string(5000, 'x');
  EXPECT_EQ(get('a'), "error: " + std::string(1023, 'x'));
}

TEST_F(FarmStoreTest, APluginThatHasGivenUp) {
  ASSERT_TRUE(open());
  Status = DTLTO_CANCELLED; // The plugin reports the failure itself.
  EXPECT_EQ(get('a'), "-");
  EXPECT_EQ(put('a', "x"), "-");
}

TEST_F(FarmStoreTest, ACallThatDoesNotComeBackIsLeftBehind) {
  Store = std::make_shared<FarmStore>(std::chrono::milliseconds(20));
  ASSERT_TRUE(open());
  Hangs = true;
  EXPECT_EQ(get('a'), "error: no answer within 20 ms");
  EXPECT_EQ(put('a', "x"), "error: no answer within 20 ms");
  // The plugin isn't closed during a call.
  std::atomic<bool> Closed{false};
  std::thread Closing([&] {
    Store->close();
    Closed = true;
  });
  while (Store->mayBeAvailable())
    std::this_thread::yield();
  EXPECT_FALSE(Closed);
  Leave.open();
  Closing.join();
  EXPECT_TRUE(Closed);
}

TEST_F(FarmStoreTest, TheEndOfTheSessionEndsAWait) {
  Store = std::make_shared<FarmStore>(std::chrono::hours(1));
  ASSERT_TRUE(open());
  Hangs = true;
  std::string Got;
  std::thread Getting([&] { Got = get('a'); });
  Entered.wait();
  std::thread Closing([&] { Store->close(); });
  Getting.join();
  EXPECT_EQ(Got, "-");
  Leave.open();
  Closing.join();
}
