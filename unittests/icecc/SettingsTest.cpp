//===- SettingsTest.cpp - Arguments and environment variables -------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Settings.h"
#include "gtest/gtest.h"
#include <cstdio>
#include <fstream>
#include <map>
#include <set>

using namespace dtlto::icecc;

namespace {
class SettingsTest : public testing::Test {
protected:
  bool read(std::vector<const char *> Args) {
    dtlto_session_params Params = {};
    Params.size = sizeof(Params);
    Params.args = Args.data();
    Params.num_args = static_cast<uint32_t>(Args.size());
    GetEnv Get = [&](const char *Name) -> const char * {
      Queried.insert(Name);
      auto It = Env.find(Name);
      return It == Env.end() ? nullptr : It->second.c_str();
    };
    try {
      S = readSettings(Params, Get, "/plugins", DaemonConfig);
      return true;
    } catch (const dtlto::sdk::Error &E) {
      Error = E.what();
      return false;
    }
  }

  std::map<std::string, std::string> Env;
  std::set<std::string> Queried; // variables
  std::vector<std::string> DaemonConfig;
  Settings S;
  std::string Error;
};
} // namespace

TEST_F(SettingsTest, Nothing) {
  ASSERT_TRUE(read({}));
  EXPECT_EQ("/plugins/dtlto-codegen-static", S.Worker);
  EXPECT_EQ(
      (std::vector<std::string>{"/var/run/icecc/iceccd.socket",
                                "/var/run/iceccd.socket", "127.0.0.1:10245"}),
      S.Daemons);
  EXPECT_EQ("", S.CacheFolder);
  EXPECT_EQ(Verbosity::Errors, S.Level);
  EXPECT_FALSE(S.AllowsLocalNodes);
}

TEST_F(SettingsTest, Worker) {
  Env["DTLTO_WORKER"] = "/w";
  ASSERT_TRUE(read({}));
  EXPECT_EQ("/w", S.Worker);
  ASSERT_TRUE(read({"worker=a=b"}));
  EXPECT_EQ("a=b", S.Worker);
  EXPECT_FALSE(read({"worker="}));
}

TEST_F(SettingsTest, Numbers) {
  EXPECT_EQ(std::chrono::seconds(30), S.TransferLimit);
  EXPECT_EQ(0u, S.Batch);
  ASSERT_TRUE(read({"jobs=7", "batch=3", "grant-timeout=9",
                    "transfer-timeout=2", "netname=n"}));
  EXPECT_EQ(3u, S.Batch);
  EXPECT_EQ(std::chrono::seconds(2), S.TransferLimit);
  EXPECT_EQ(7u, S.MaxJobs);
  EXPECT_EQ(9, S.GrantTimeout.count());
  EXPECT_EQ("n", S.NetName);
  for (const char *Arg :
       {"jobs=0", "jobs=4097", "jobs=", "jobs", "jobs=1x", "batch=0",
        "batch=17", "grant-timeout=0", "transfer-timeout=0", "grant-timeout=-1",
        "other=1"}) {
    EXPECT_FALSE(read({Arg})) << Arg;
    EXPECT_NE(std::string::npos, Error.find(Arg)) << Error;
  }
}

TEST_F(SettingsTest, Daemons) {
  Env["HOME"] = "/home/me";
  ASSERT_TRUE(read({}));
  EXPECT_EQ("/home/me/.iceccd.socket", S.Daemons[2]);
  EXPECT_EQ("/home/me/.cache/dtlto/icecc", S.CacheFolder);
  Env["ICECC_TEST_SOCKET"] = "/s";
  Env["ICECC_TEST_REMOTEBUILD"] = "";
  ASSERT_TRUE(read({}));
  EXPECT_EQ(std::vector<std::string>{"/s"}, S.Daemons);
  EXPECT_TRUE(S.AllowsLocalNodes);
}

TEST_F(SettingsTest, CacheFolder) {
  Env["HOME"] = "/home/me";
  Env["XDG_CACHE_HOME"] = "/c";
  ASSERT_TRUE(read({}));
  EXPECT_EQ("/c/dtlto/icecc", S.CacheFolder);
  // The XDG specification says that relative paths are ignored.
  Env["XDG_CACHE_HOME"] = "c";
  ASSERT_TRUE(read({}));
  EXPECT_EQ("/home/me/.cache/dtlto/icecc", S.CacheFolder);
}

TEST_F(SettingsTest, Scheduler) {
  Env["USE_SCHEDULER"] = "b";
  ASSERT_TRUE(read({}));
  EXPECT_EQ("b", S.Scheduler);
  Env["ICECC_SCHEDULER"] = "a:1";
  ASSERT_TRUE(read({}));
  EXPECT_EQ("a:1", S.Scheduler);
  EXPECT_EQ("$ICECC_SCHEDULER", S.SchedulerSource);
}

// The configuration files of iceccd name the scheduler.
TEST_F(SettingsTest, DaemonConfig) {
  std::string First = testing::TempDir() + "icecc-settings-test-1";
  std::string Last = testing::TempDir() + "icecc-settings-test-2";
  DaemonConfig = {First, Last, "/nonexistent"};
  std::ofstream(First) << "# ICECC_NETNAME=\"no\"\n"
                          "ICECC_NETNAME=\"farm 1\" # ours\n"
                          "  export ICECC_SCHEDULER_HOST='one:1'\n"
                          "ICECC_SCHEDULER=x\nICECC_NETNAME_2=y";
  std::ofstream(Last) << "";
  ASSERT_TRUE(read({}));
  EXPECT_EQ("farm 1", S.NetName);
  EXPECT_EQ("one:1", S.Scheduler);
  EXPECT_EQ(First, S.SchedulerSource);
  // A later file overrides the first. Values with $ would need a shell.
  std::ofstream(Last) << "ICECREAM_SCHEDULER_HOST=two# other\r\n"
                         "ICECREAM_NETNAME=$(hostname)\n";
  ASSERT_TRUE(read({}));
  EXPECT_EQ("", S.NetName);
  EXPECT_EQ("two", S.Scheduler);
  EXPECT_EQ(Last, S.SchedulerSource);
  // The user's settings replace those of the files.
  ASSERT_TRUE(read({"netname=mine"}));
  EXPECT_EQ("mine", S.NetName);
  EXPECT_EQ("", S.Scheduler);
  Env["ICECC_SCHEDULER"] = "three";
  ASSERT_TRUE(read({}));
  EXPECT_EQ("", S.NetName);
  EXPECT_EQ("three", S.Scheduler);
  std::remove(First.c_str());
  std::remove(Last.c_str());
}

TEST_F(SettingsTest, Off) {
  for (auto [Text, Off] : std::map<const char *, bool>{
           {"", false}, {"yes", false}, {"no", true}, {"Disable", true}}) {
    Env["ICECC"] = Text;
    ASSERT_TRUE(read({}));
    EXPECT_EQ(Off, S.Off) << Text;
  }
}

// ICECC_VERSION is the environment for the user's compiles, and has no worker.
TEST_F(SettingsTest, VersionOfCompiles) {
  Env["ICECC_VERSION"] = "/clang.tar.gz";
  ASSERT_TRUE(read({}));
  EXPECT_TRUE(S.Environments.empty());
  ASSERT_EQ(1u, S.Notes.size());
  EXPECT_NE(std::string::npos, S.Notes[0].find("$ICECC_VERSION"));
  Env["DTLTO_ICECC_VERSION"] = "";
  ASSERT_TRUE(read({}));
  EXPECT_TRUE(S.Notes.empty());
}

TEST_F(SettingsTest, Level) {
  for (auto [Text, Level] :
       std::map<const char *, Verbosity>{{"", Verbosity::Errors},
                                         {"info", Verbosity::Info},
                                         {"WARNINGS", Verbosity::Warnings},
                                         {"debug", Verbosity::Debug},
                                         {"1", Verbosity::Debug}}) {
    Env["ICECC_DEBUG"] = Text;
    ASSERT_TRUE(read({}));
    EXPECT_EQ(Level, S.Level) << Text;
  }
}

TEST_F(SettingsTest, Version) {
  Env["DTLTO_ICECC_VERSION"] = "a.tar.gz,,aarch64:/b:c.tar,x.tar=arm-gcc";
  ASSERT_TRUE(read({}));
  ASSERT_EQ(2u, S.Environments.size());
  EXPECT_EQ("", S.Environments[0].Platform);
  EXPECT_EQ("a.tar.gz", S.Environments[0].File);
  EXPECT_EQ("aarch64", S.Environments[1].Platform);
  EXPECT_EQ("/b:c.tar", S.Environments[1].File);
  ASSERT_EQ(1u, S.Notes.size());
  EXPECT_NE(std::string::npos, S.Notes[0].find("x.tar=arm-gcc"));
  Env["DTLTO_ICECC_VERSION"] = "a.tar,b.tar";
  EXPECT_FALSE(read({}));
}

// Each variable that is read is described, and each described one is read.
TEST_F(SettingsTest, Variables) {
  Env["ICECC_VERSION"] = "x";
  ASSERT_TRUE(read({}));
  for (const char *Unlisted :
       {"HOME", "ICECC_TEST_SOCKET", "ICECC_TEST_REMOTEBUILD"})
    EXPECT_EQ(1u, Queried.erase(Unlisted)) << Unlisted;
  std::set<std::string> Described;
  const dtlto_description &D = description().raw();
  for (uint32_t I = 0; I != D.num_variables; ++I)
    EXPECT_TRUE(Described.insert(D.variables[I]->name).second);
  EXPECT_EQ(1u, Described.erase("ICECC_COMPRESSION")); // of libicecc
  EXPECT_EQ(Described, Queried);
}
