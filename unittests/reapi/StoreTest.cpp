//===- StoreTest.cpp - The store in the action cache ----------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tests dtlto.store/1 as the linker uses it, with a mock of a server.
//
//===----------------------------------------------------------------------===//

#include "ReapiLinkTest.h"
#include "StoreClient.h"
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <thread>

using namespace dtlto::test;

namespace {
class StoreTest : public ReapiLinkTest {
protected:
  void TearDown() override {
    Store.close();
    ReapiLinkTest::TearDown();
  }

  std::string openUrl(const std::string &Url,
                      std::vector<std::string> Args = {}) {
    Args.insert(Args.begin(), "retry-delay=1");
    return Store.open(Url, Args);
  }
  std::string openStore(const std::vector<std::string> &Args = {},
                        const std::string &Path = "") {
    return openUrl(server().url() + Path, Args);
  }

  StoreClient Store;
};
} // namespace

TEST_F(StoreTest, WhatOneClientPutsTheNextGets) {
  for (bool Blake3 : {false, true})
    for (bool Zstd : {false, true}) {
      Store.close();
      ServerOptions.Blake3 = Blake3;
      ServerOptions.Zstd = Zstd;
      Server.reset();
      // One fits a batch, the other needs a stream.
      std::string Small = "small", Large(6000000, 'x');
      ASSERT_EQ("", openStore());
      EXPECT_EQ("", Store.get('a'));
      EXPECT_EQ("", Store.put('a', Small));
      EXPECT_EQ("", Store.put('b', Large));
      EXPECT_EQ("", Store.put('c', Small));
      EXPECT_EQ(Small, Store.get('a'));
      ASSERT_EQ("", openStore());
      EXPECT_EQ(Large, Store.get('b'));
      EXPECT_EQ(Small, Store.get('a'));
      EXPECT_EQ(Small, Store.get('c'));
      EXPECT_EQ("", Store.get('d'));
      EXPECT_EQ("", Store.get('b', Large.size() - 1));
      EXPECT_EQ(Large, Store.get('b', Large.size()));
      EXPECT_EQ("", Store.put('a', Large));
      EXPECT_EQ(Large, Store.get('a'));
      EXPECT_EQ("", Store.put('a', ""));
      EXPECT_EQ("", Store.get('a'));
      EXPECT_EQ(std::vector<std::string>(), server().statistics().Problems);
    }
}

/// Without a URL, the arguments are the plugin's.
TEST_F(StoreTest, NextToASession) {
  EXPECT_EQ("no server: name it with "
            "--thinlto-dist-plugin-arg=server=grpc://HOST:PORT, $RECC_SERVER, "
            "$SISO_REAPI_ADDRESS or $RBE_service",
            openUrl(""));
  ASSERT_EQ(DTLTO_OK, open());
  EXPECT_EQ("<the indexim>", compile().Object);
  setenv("RECC_SERVER", server().url().c_str(), 1);
  setenv("RECC_INSTANCE", "main", 1);
  EXPECT_EQ("", openUrl(""));
  unsetenv("RECC_SERVER");
  unsetenv("RECC_INSTANCE");
  EXPECT_EQ("", Store.put('a', "bytes"));
  EXPECT_EQ("main", server().statistics().Instance);
  EXPECT_EQ("<the indexim>", compile().Object);
  EXPECT_EQ(1u, server().statistics().Executions);
  close();
  EXPECT_EQ("bytes", Store.get('a'));
  ASSERT_EQ("", openUrl("", {"server=" + server().url()}));
  ASSERT_EQ(DTLTO_OK, open());
  EXPECT_EQ("bytes", Store.get('a'));
  Store.close();
  EXPECT_EQ("<the indexim>", compile().Object);
}

TEST_F(StoreTest, OpenContactsNoServer) {
  ASSERT_EQ("", openStore());
  Store.close();
  ASSERT_EQ("", openStore());
  EXPECT_EQ(0u, server().statistics().CapabilityCalls);
  std::string Url = server().url();
  Server.reset();
  EXPECT_EQ("", openUrl(Url));
}

TEST_F(StoreTest, ManyCallsShareOneAnswer) {
  ASSERT_EQ("", openStore());
  std::vector<std::thread> Threads;
  for (char T = 0; T != 16; ++T)
    Threads.emplace_back([this, T] {
      for (char I = 0; I != 8; ++I) {
        char Key = char(8 * T + I);
        // Half of the bytes are the same for all keys.
        std::string Bytes(100, I % 2 ? Key : 'x');
        EXPECT_EQ("", Store.get(Key));
        EXPECT_EQ("", Store.put(Key, Bytes));
        EXPECT_EQ(Bytes, Store.get(Key));
      }
    });
  for (std::thread &T : Threads)
    T.join();
  EXPECT_EQ(1u, server().statistics().CapabilityCalls);
  EXPECT_EQ(128u, server().statistics().Updates);
}

TEST_F(StoreTest, InstanceAndToken) {
  ASSERT_EQ("", openStore({}, "/teams/main"));
  EXPECT_EQ("", Store.get('a'));
  EXPECT_EQ("teams/main", server().statistics().Instance);
  EXPECT_EQ("", server().statistics().Authorization);
  setenv("DTLTO_REMOTE_CACHE_TOKEN", "xyz", 1);
  ASSERT_EQ("", openStore({"instance=other"}, "/"));
  EXPECT_EQ("", Store.get('a'));
  EXPECT_EQ("other", server().statistics().Instance);
  EXPECT_EQ("Bearer xyz", server().statistics().Authorization);
  // An argument precedes the variable.
  std::ofstream(Folder + "/token") << "of the file\n";
  ASSERT_EQ("", openStore({"token-file=" + Folder + "/token"}));
  EXPECT_EQ("", Store.get('a'));
  EXPECT_EQ("Bearer of the file", server().statistics().Authorization);
  unsetenv("DTLTO_REMOTE_CACHE_TOKEN");
}

TEST_F(StoreTest, WrongSettings) {
  EXPECT_EQ("URL 'grpc://host:0': expected grpc://HOST:PORT[/INSTANCE] or "
            "grpcs://HOST:PORT[/INSTANCE]",
            openUrl("grpc://host:0"));
  EXPECT_EQ("token-file=: cannot read '/nowhere': No such file or directory",
            openStore({"token-file=/nowhere"}));
  EXPECT_EQ("tls-ca=: cannot read '/nowhere': No such file or directory",
            openUrl("grpcs://host", {"tls-ca=/nowhere"}));
}

TEST_F(StoreTest, AServerThatTakesNoResults) {
  ASSERT_EQ("", openStore({}, "/main"));
  for (auto [Code, Name] :
       {std::pair(7, "PERMISSION_DENIED"), std::pair(12, "UNIMPLEMENTED")}) {
    server().UpdateCode = Code;
    EXPECT_EQ(server().url() + "/main: " + Name + ": only workers may",
              Store.put('a', "bytes"));
  }
  EXPECT_EQ("", Store.get('a'));
}

TEST_F(StoreTest, LostBytesAreAMiss) {
  std::string Large(6000000, 'x');
  ASSERT_EQ("", openStore());
  EXPECT_EQ("", Store.put('a', "bytes"));
  EXPECT_EQ("", Store.put('b', Large));
  server().loseBlobs();
  EXPECT_EQ("", Store.get('a'));
  EXPECT_EQ("", Store.get('b'));
  ASSERT_EQ("", openStore());
  EXPECT_EQ("", Store.put('a', "bytes"));
  EXPECT_EQ("bytes", Store.get('a'));
}

TEST_F(StoreTest, DamagedBytesAreAMiss) {
  ServerOptions.Zstd = true;
  ASSERT_EQ("", openStore());
  std::string Large;
  for (unsigned I = 0; I != 5000; ++I)
    Large += std::to_string(I * I);
  EXPECT_EQ("", Store.put('a', Large));
  server().DamagesPacked = true;
  EXPECT_EQ("", Store.get('a'));
  server().DamagesPacked = false;
  server().Bomb = true;
  EXPECT_EQ("", Store.get('a'));
  server().Bomb = false;
  EXPECT_EQ(Large, Store.get('a'));
}

/// The linker checks the contents.
TEST_F(StoreTest, BytesInTheAnswer) {
  ASSERT_EQ("", openStore());
  EXPECT_EQ("", Store.put('a', "bytes"));
  server().forgeResults("others");
  EXPECT_EQ("others", Store.get('a'));
  EXPECT_EQ("", Store.get('a', 5));
  server().forgeResults("others", "their digest");
  EXPECT_EQ("", Store.get('a'));
}

TEST_F(StoreTest, Silence) {
  server().SilentCapabilities = true;
  ASSERT_EQ("", openStore());
  EXPECT_EQ("error: " + server().url() + ": no answer in time",
            Store.get('a', 100, 50));
  // Calls that wait for the answer to another call's question.
  std::vector<std::thread> Threads;
  for (unsigned T = 0; T != 8; ++T)
    Threads.emplace_back([this] {
      EXPECT_EQ(server().url() + ": no answer in time",
                Store.put('a', "bytes", 50));
    });
  for (std::thread &T : Threads)
    T.join();
  server().SilentCapabilities = false;
  server().SilentLookups = true;
  EXPECT_EQ("error: " + server().url() + ": no answer in time",
            Store.get('a', 100, 50));
  server().SilentLookups = false;
  EXPECT_EQ("", Store.get('a'));
}

/// Uploads that wait for each other's queries.
TEST_F(StoreTest, SilenceOfTheContent) {
  ASSERT_EQ("", openStore());
  EXPECT_EQ("", Store.get('a'));
  server().HoldsFinds = true;
  std::vector<std::thread> Threads;
  for (char T = 0; T != 8; ++T)
    Threads.emplace_back([this, T] {
      EXPECT_EQ(server().url() + ": no answer in time",
                Store.put(T, "bytes", T % 2 ? 50 : 100));
    });
  for (std::thread &T : Threads)
    T.join();
  server().HoldsFinds = false;
  EXPECT_EQ("", Store.put('a', "bytes"));
  EXPECT_EQ("bytes", Store.get('a'));
}

/// The limit holds for all calls together, and is shorter than the one of
/// `timeout=`.
TEST_F(StoreTest, AServerThatIsAlwaysUnavailable) {
  ASSERT_EQ("", openStore({"retries=100", "retry-delay=600000"}));
  EXPECT_EQ("", Store.get('a'));
  server().FailLookups = UINT32_MAX;
  EXPECT_EQ("error: " + server().url() + ": no answer in time",
            Store.get('a', 100, 50));
}

TEST_F(StoreTest, AServerThatIsGone) {
  ASSERT_EQ("", openStore({"retries=1"}));
  EXPECT_EQ("", Store.put('a', "bytes"));
  std::string Start = server().url() + ": UNAVAILABLE: ";
  std::string Url = server().url();
  Server.reset();
  EXPECT_EQ(0u, Store.get('a').find("error: " + Start)) << Store.get('a');
  EXPECT_EQ(0u, Store.put('a', "bytes").find(Start));
  ASSERT_EQ("", openUrl(Url, {"retries=1"}));
  EXPECT_EQ(0u, Store.get('a').find("error: " + Start)) << Store.get('a');
  EXPECT_EQ(0u, Store.put('a', "bytes").find(Start));
}

TEST_F(StoreTest, AServerThatRefuses) {
  ServerOptions.CapabilitiesCode = 7;
  ASSERT_EQ("", openStore());
  const std::string Why =
      server().url() + ": PERMISSION_DENIED: unknown client";
  EXPECT_EQ("error: " + Why, Store.get('a'));
  EXPECT_EQ(Why, Store.put('a', "bytes"));
  // It was asked once.
  EXPECT_EQ(1u, server().statistics().CapabilityCalls);
}

TEST_F(StoreTest, WhatTheUserWants) {
  ASSERT_EQ("", openStore());
  EXPECT_EQ("", Store.put('a', "bytes"));
  ASSERT_EQ("", openStore({"results=read"}));
  EXPECT_EQ("bytes", Store.get('a'));
  EXPECT_EQ("results=read or only", Store.put('a', "bytes"));
  ASSERT_EQ("", openStore({"results=off"}));
  EXPECT_EQ("error: results=off", Store.get('a'));
  EXPECT_EQ("results=off", Store.put('a', "bytes"));
}
