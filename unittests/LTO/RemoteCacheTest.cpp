//===- RemoteCacheTest.cpp - Links that share their results ---------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Run/RemoteCache.h"
#include "FakePlugin.h"
#include "MemoryStore.h"
#include "TestLink.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace dtlto;
using namespace dtlto::test;
using namespace std::chrono_literals;

namespace {

constexpr unsigned NumModules = 20;

class RemoteCacheTest : public testing::Test {
protected:
  void SetUp() override {
    TheLink.addProgram(NumModules);
    Expected = TheLink.inProcess();
    ASSERT_EQ(Expected.Error, "");
  }

  enum Writing { ReadOnly, MayWrite };
  enum Work { Compiles, TakesNoJob };
  /// Links with the cache through a plugin, and waits until the results are
  /// stored. Expects the objects of the in-process link.
  void link(Writing W = MayWrite, Work PluginWork = Compiles) {
    FakePlugin Plugin;
    if (PluginWork == TakesNoJob)
      Plugin.OnSubmit = [](const FakePlugin::Job &) { return DTLTO_BUSY; };
    std::shared_ptr<RemoteStore> Store =
        Memory.open(TheLink.Msg, W == MayWrite);
    TheLink.TheLinker.Store = Store;
    TestLink::Result Actual = TheLink.withPlugin(Plugin.entry());
    TheLink.TheLinker.Store.reset();
    Store->finish(W == MayWrite && !NeverAnswers ? 1min : 0min);
    Store.reset();
    // The last thread may leave the plugin after the link.
    while (!NeverAnswers && Memory.NumOpen != 0)
      std::this_thread::yield();
    Plugin.waitForEnd();
    EXPECT_EQ(Actual.Error, "");
    EXPECT_TRUE(Actual.Objects == Expected.Objects);
    EXPECT_EQ(Plugin.complaints(), std::vector<std::string>());
  }

  Gate Leave; // outlives the threads in the store
  MemoryStore Memory;
  TestLink TheLink;
  TestLink::Result Expected;
  bool NeverAnswers = false;
};

} // namespace

TEST_F(RemoteCacheTest, ASecondLinkCompilesNothing) {
  link();
  EXPECT_EQ(Memory.entries().size(), NumModules);
  link(ReadOnly, TakesNoJob);
  EXPECT_EQ(Memory.NumPuts, NumModules);
  EXPECT_EQ(TheLink.Msg.warnings(), std::vector<std::string>());
}

TEST_F(RemoteCacheTest, HalfOfTheResultsAreFound) {
  link();
  auto Entries = Memory.entries();
  for (unsigned I = 0; I != NumModules / 2; ++I)
    Entries.erase(Entries.begin());
  Memory.set(Entries);
  link();
  EXPECT_EQ(Memory.entries().size(), NumModules);
}

TEST_F(RemoteCacheTest, DamagedValuesAreNotUsed) {
  link();
  auto Entries = Memory.entries();
  for (auto &[Key, Value] : Entries)
    Value[Value.size() / 2] ^= 1;
  Memory.set(Entries);
  link(ReadOnly);
  EXPECT_LE(TheLink.Msg.warnings().size(), 1u);
  // Another job's value is as bad.
  const std::string One = Entries.begin()->second;
  for (auto &[Key, Value] : Entries)
    Value = One;
  Memory.set(Entries);
  link(ReadOnly);
}

TEST_F(RemoteCacheTest, LLVMsCacheComesFirst) {
  link();
  MemoryCache Cache;
  TheLink.Cache = &Cache;
  link(ReadOnly, TakesNoJob);
  // Objects that were found have keys of their own.
  EXPECT_EQ(Cache.Objects.size(), NumModules);
  Memory.set({});
  link(ReadOnly, TakesNoJob);
  EXPECT_EQ(Cache.NumHits, NumModules);
}

TEST_F(RemoteCacheTest, AFoundObjectIsCompared) {
  link();
  TheLink.TheLinker.Opts.VerifyPercent = 100;
  link(ReadOnly, TakesNoJob);
}

TEST_F(RemoteCacheTest, AServerThatNeverAnswers) {
  Memory.OnGet = [&] {
    Leave.wait();
    return "";
  };
  NeverAnswers = true;
  link();
  // Threads are still in the plugin, and leave after the link.
  Leave.open();
  EXPECT_EQ(TheLink.Msg.warnings(), std::vector<std::string>());
}

TEST_F(RemoteCacheTest, AnswersComeAtAnyTime) {
  link();
  for (unsigned Round = 0; Round != 10; ++Round) {
    std::atomic<unsigned> Number{0};
    Memory.OnGet = [&] {
      std::this_thread::sleep_for(Number++ * Round * 1ms);
      return "";
    };
    link(ReadOnly);
  }
}

TEST(RemoteCacheValueTest, HasOneJobAndASize) {
  const ResultKey Key = {1, 2, 3}, Other = {1, 2, 4};
  for (StringRef Outputs : {StringRef(""), StringRef("object")}) {
    std::string Value = writeCacheValue(Outputs, Key);
    auto Read = readCacheValue(Value, Key, Outputs.size());
    ASSERT_TRUE(bool(Read)) << toString(Read.takeError());
    EXPECT_EQ(StringRef(Read->data(), Read->size()), Outputs);
    EXPECT_TRUE(errorToBool(readCacheValue(Value, Other, 100).takeError()));
  }
  std::string Long(100000, 'x');
  std::string Value = writeCacheValue(Long, Key);
  EXPECT_LT(Value.size(), 1000u);
  EXPECT_EQ(toString(readCacheValue(Value, Key, 99999).takeError()),
            "it has 100000 bytes, more than 99999");
  EXPECT_TRUE(bool(readCacheValue(Value, Key, 100000)));
}
