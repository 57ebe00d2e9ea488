//===- StoreServerTest.cpp - The store in stock servers -------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Steps of test/reapi/store.test, which starts a server and names it with
// $RECC_SERVER. $STORE_PATH is the rest of the URL, and $STORE_ARGS are the
// store's arguments, separated by commas. Skipped without a server.
//
//===----------------------------------------------------------------------===//

#include "StoreClient.h"
#include <cstdio>
#include <cstdlib>
#include <random>
#include <sstream>
#include <thread>

using namespace dtlto::test;

namespace {
class StoreServerTest : public testing::Test {
protected:
  static std::string variable(const char *Name) {
    const char *Value = std::getenv(Name);
    return Value ? Value : "";
  }
  void SetUp() override {
    if (variable("RECC_SERVER").empty())
      GTEST_SKIP() << "no server";
    // One entry fits a batch, the other needs a stream. Both look like the
    // linker's (test/keep-ir/Inputs/kept.py).
    std::minstd_rand Random;
    Large = "DTLTOOBJ";
    while (Large.size() < 6000000)
      Large += char(Random() >> 16);
    ASSERT_EQ("", open(Store));
  }
  static std::string open(StoreClient &Client) {
    std::istringstream Words(variable("STORE_ARGS"));
    std::vector<std::string> Args;
    for (std::string Arg; std::getline(Words, Arg, ',');)
      Args.push_back(Arg);
    return Client.open(variable("RECC_SERVER") + variable("STORE_PATH"), Args);
  }

  const std::string Small = "DTLTOOBJ and a few bytes";
  std::string Large;
  StoreClient Store;
};
} // namespace

TEST_F(StoreServerTest, Entries) {
  EXPECT_EQ("", Store.get(char(200)));
  EXPECT_EQ("", Store.put('a', Small));
  EXPECT_EQ("", Store.put('b', Large));
  EXPECT_EQ(Small, Store.get('a'));
  StoreClient Other;
  ASSERT_EQ("", open(Other));
  EXPECT_EQ(Small, Other.get('a'));
  EXPECT_TRUE(Other.get('b') == Large);
  EXPECT_EQ("", Other.get('b', Large.size() - 1));
  EXPECT_EQ("", Other.get(char(200)));
  EXPECT_EQ("", Other.put('b', Small));
  EXPECT_EQ(Small, Store.get('b'));
  EXPECT_EQ("", Store.put('a', ""));
  EXPECT_EQ("", Other.get('a'));
}

TEST_F(StoreServerTest, ManyCalls) {
  std::vector<std::thread> Threads;
  for (char T = 0; T != 16; ++T)
    Threads.emplace_back([this, T] {
      for (char I = 0; I != 8; ++I) {
        char Key = char(8 * T + I);
        // Half of the entries are equal, and some need a stream.
        std::string Bytes = I == 7       ? Large.substr(0, 4500000 + T)
                            : I % 2 == 0 ? Small
                                         : std::string(100, Key);
        EXPECT_EQ("", Store.get(Key));
        EXPECT_EQ("", Store.put(Key, Bytes));
        EXPECT_TRUE(Store.get(Key) == Bytes);
      }
    });
  for (std::thread &T : Threads)
    T.join();
}

TEST_F(StoreServerTest, Put) {
  EXPECT_EQ("", Store.put('a', Small));
  EXPECT_EQ("", Store.put('b', Large));
}

TEST_F(StoreServerTest, Found) {
  EXPECT_EQ(Small, Store.get('a'));
  EXPECT_TRUE(Store.get('b') == Large);
}

TEST_F(StoreServerTest, Missing) {
  EXPECT_EQ("", Store.get('a'));
  EXPECT_EQ("", Store.get('b'));
}

/// Prints what the server refuses.
TEST_F(StoreServerTest, Refused) {
  std::printf("get: %s\nput: %s\n", Store.get('a').c_str(),
              Store.put('a', Small).c_str());
}
