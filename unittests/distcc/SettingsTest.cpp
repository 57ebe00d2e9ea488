//===- SettingsTest.cpp - The user's settings -----------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Settings.h"
#include "gtest/gtest.h"
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sys/stat.h>

using namespace dtlto::distcc;
namespace fs = std::filesystem;

namespace {

enum class SettingsStatus { Ok, Invalid, NoHosts };

class SettingsTest : public testing::Test {
protected:
  void SetUp() override {
    std::string Name = testing::TempDir() + "dtlto-settings-XXXXXX";
    ASSERT_NE(mkdtemp(Name.data()), nullptr);
    Dir = Name;
    Env["HOME"] = Dir + "/home";
    fs::create_directories(Dir + "/home/.distcc");
  }
  void TearDown() override { fs::remove_all(Dir); }

  void write(const std::string &Name, const std::string &Text) {
    std::ofstream(Dir + "/" + Name) << Text;
  }

  SettingsStatus read() {
    std::vector<const char *> Pointers;
    for (const std::string &Arg : Args)
      Pointers.push_back(Arg.c_str());
    dtlto_session_params Params = {};
    Params.size = sizeof(Params);
    Params.num_args = uint32_t(Pointers.size());
    Params.args = Pointers.data();
    Params.llvm_version = "19.1.7";
    Params.num_jobs = 1;
    GetEnv Get = [&](const char *Name) -> const char * {
      Queried.insert(Name);
      auto I = Env.find(Name);
      return I == Env.end() ? nullptr : I->second.c_str();
    };
    Error.clear();
    S = Settings();
    bool IsValid = true;
    try {
      S = readSettings(Params, Get, {Dir + "/sys1", Dir + "/sys2"});
      Error = S.NoHosts;
    } catch (const dtlto::sdk::Error &E) {
      EXPECT_EQ(E.status(), DTLTO_ERROR_CALLER);
      Error = E.what();
      IsValid = false;
    }
    EXPECT_EQ(Error.find('\n'), std::string::npos);
    EXPECT_EQ(Error.empty(), !S.Hosts.empty());
    return !IsValid          ? SettingsStatus::Invalid
           : S.Hosts.empty() ? SettingsStatus::NoHosts
                             : SettingsStatus::Ok;
  }
  void expectWrong(std::vector<std::string> Parts) {
    EXPECT_EQ(read(), SettingsStatus::Invalid);
    for (const std::string &Part : Parts)
      EXPECT_NE(Error.find(Part), std::string::npos)
          << Part << " is not in: " << Error;
  }
  std::string firstHost() {
    EXPECT_EQ(read(), SettingsStatus::Ok) << Error;
    return S.Hosts.empty() ? "" : S.Hosts.front().display();
  }

  std::string Dir;
  std::set<std::string> Queried; // variables
  std::map<std::string, std::string> Env;
  std::vector<std::string> Args;
  Settings S;
  std::string Error;
};

} // namespace

TEST_F(SettingsTest, Defaults) {
  Env["DISTCC_HOSTS"] = "a";
  ASSERT_EQ(read(), SettingsStatus::Ok);
  EXPECT_EQ(S.Compiler, "clang-19");
  EXPECT_FALSE(S.StatsPort);
  EXPECT_EQ(S.IoTimeout.count(), 300);
  EXPECT_EQ(S.BackoffPeriod.count(), 60);
  EXPECT_TRUE(S.Fallback);
  EXPECT_FALSE(S.Verbose);
  EXPECT_EQ(S.LogFile, "");
  EXPECT_EQ(S.SshCommand, std::vector<std::string>{"ssh"});
  EXPECT_EQ(S.StateDir, Dir + "/home/.distcc/state");
  EXPECT_TRUE(S.Notes.empty());
}

TEST_F(SettingsTest, HostsComeFromTheFirstPlaceThatIsThere) {
  write("sys2", "fromsys2");
  EXPECT_EQ(firstHost(), "fromsys2");
  write("sys1", "fromsys1");
  EXPECT_EQ(firstHost(), "fromsys1");
  write("home/.distcc/hosts", "fromhome\n");
  EXPECT_EQ(firstHost(), "fromhome");
  fs::create_directory(Dir + "/d");
  Env["DISTCC_DIR"] = Dir + "/d";
  EXPECT_EQ(firstHost(), "fromsys1"); // instead of the file in the home folder
  EXPECT_EQ(S.StateDir, Dir + "/d/state");
  write("d/hosts", "fromdir");
  EXPECT_EQ(firstHost(), "fromdir");
  Env["DISTCC_HOSTS"] = "fromenv";
  EXPECT_EQ(firstHost(), "fromenv");
  Args = {"hosts=fromarg", "hosts=fromlastarg b"};
  EXPECT_EQ(firstHost(), "fromlastarg");
  EXPECT_EQ(S.Hosts.size(), 2u);
  EXPECT_TRUE(S.Notes.empty());
}

TEST_F(SettingsTest, NoHome) {
  Env.erase("HOME");
  write("sys1", "a");
  EXPECT_EQ(firstHost(), "a");
  EXPECT_EQ(S.StateDir, "");
}

TEST_F(SettingsTest, NoHostsAnywhere) {
  EXPECT_EQ(read(), SettingsStatus::NoHosts);
  for (const std::string &Part :
       {std::string("--thinlto-dist-plugin-arg=hosts="),
        std::string("$DISTCC_HOSTS"), Dir + "/home/.distcc/hosts",
        Dir + "/sys1", Dir + "/sys2"})
    EXPECT_NE(Error.find(Part), std::string::npos) << Error;
}

TEST_F(SettingsTest, AnEmptyVariableIsAListWithoutHosts) {
  write("sys1", "a");
  Env["DISTCC_HOSTS"] = " ";
  EXPECT_EQ(read(), SettingsStatus::NoHosts);
  EXPECT_EQ(Error.find("$DISTCC_HOSTS is empty"), 0u) << Error;
  Args = {"hosts="};
  EXPECT_EQ(read(), SettingsStatus::NoHosts);
  EXPECT_EQ(Error.find("hosts= is empty"), 0u) << Error;
}

TEST_F(SettingsTest, ListsWithoutAHostThatCanBeUsed) {
  write("sys1", "# Debian's own\n+zeroconf\n");
  EXPECT_EQ(read(), SettingsStatus::NoHosts);
  EXPECT_EQ(Error.find(Dir + "/sys1 names no host that can be used"), 0u)
      << Error;
  EXPECT_EQ(S.Notes.size(), 1u);
  Env["DISTCC_HOSTS"] = "a,down b,auth";
  EXPECT_EQ(read(), SettingsStatus::NoHosts);
  EXPECT_EQ(Error.find("$DISTCC_HOSTS names no host"), 0u) << Error;
}

TEST_F(SettingsTest, WrongLists) {
  write("sys1", "a\nb:0\n");
  expectWrong({Dir + "/sys1, line 2: 'b:0': the port"});
  Env["DISTCC_HOSTS"] = "c:0";
  expectWrong({"$DISTCC_HOSTS: 'c:0'"});
  Args = {"hosts=d:0"};
  expectWrong({"hosts=: 'd:0'"});
}

TEST_F(SettingsTest, AFileThatCannotBeReadIsNamed) {
  fs::create_directory(Dir + "/sys1");
  ASSERT_EQ(mkfifo((Dir + "/home/.distcc/hosts").c_str(), 0600), 0);
  write("sys2", "a");
  EXPECT_EQ(firstHost(), "a");
  ASSERT_EQ(S.Notes.size(), 2u);
  EXPECT_NE(S.Notes[0].find("home/.distcc/hosts"), std::string::npos);
  EXPECT_NE(S.Notes[1].find("/sys1"), std::string::npos);
}

TEST_F(SettingsTest, Randomize) {
  std::string List = "--randomize", Plain;
  for (int I = 0; I != 100; ++I) {
    List += " h" + std::to_string(I);
    Plain += " h" + std::to_string(I);
  }
  auto Names = [&] {
    std::vector<std::string> Names;
    EXPECT_EQ(read(), SettingsStatus::Ok);
    for (const HostSpec &H : S.Hosts)
      Names.push_back(H.Name);
    return Names;
  };
  Env["DISTCC_HOSTS"] = Plain;
  std::vector<std::string> InOrder = Names();
  Env["DISTCC_HOSTS"] = List;
  std::vector<std::string> Shuffled = Names();
  EXPECT_NE(Shuffled, InOrder); // fails once in 100! times
  std::sort(Shuffled.begin(), Shuffled.end());
  std::sort(InOrder.begin(), InOrder.end());
  EXPECT_EQ(Shuffled, InOrder);
}

TEST_F(SettingsTest, Compiler) {
  Env["DISTCC_HOSTS"] = "a";
  for (const char *Name : {"clang", "/usr/bin/clang-19", "/opt/llvm/clang"}) {
    Args = {std::string("compiler=") + Name};
    ASSERT_EQ(read(), SettingsStatus::Ok);
    EXPECT_EQ(S.Compiler, Name);
  }
  Args = {"compiler="};
  expectWrong({"compiler=", "clang-19"});
  Args = {"compiler=a\nb"};
  expectWrong({"'compiler=a\\x0ab'"});
}

// Each variable that is read is described, and each described one is read.
TEST_F(SettingsTest, Variables) {
  read();
  Env["DISTCC_SSH"] = "ssh";
  read();
  for (const char *Unlisted : {"HOME"})
    EXPECT_EQ(1u, Queried.erase(Unlisted)) << Unlisted;
  std::set<std::string> Described;
  const dtlto_description &D = description().raw();
  for (uint32_t I = 0; I != D.num_variables; ++I)
    EXPECT_TRUE(Described.insert(D.variables[I]->name).second);
  EXPECT_EQ(Described, Queried);
}

TEST_F(SettingsTest, UnknownArguments) {
  Env["DISTCC_HOSTS"] = "a";
  Args = {"host=a"};
  expectWrong({"unknown argument 'host=a', did you mean 'hosts='?",
               "hosts=LIST", "compiler=NAME", "stats-port=PORT"});
  Args = {"hosts"};
  expectWrong({"'hosts', did you mean 'hosts='?"});
  Args = {"stat-port=1"};
  expectWrong({"did you mean 'stats-port='?"});
  for (const char *Arg : {"jobs=4", "", "="}) {
    Args = {"compiler=x", Arg};
    expectWrong(
        {"unknown argument '" + std::string(Arg) + "', expected hosts=LIST, "});
  }
}

TEST_F(SettingsTest, StatsPort) {
  Env["DISTCC_HOSTS"] = "own other:4000 high:65000 limited/4 localhost @ssh";
  auto Ports = [&](const char *Arg) {
    Args.clear();
    if (Arg)
      Args = {std::string("stats-port=") + Arg};
    EXPECT_EQ(read(), SettingsStatus::Ok);
    std::vector<int> Ports;
    for (const HostSpec &H : S.Hosts)
      Ports.push_back(S.statsPort(H));
    return Ports;
  };
  using Expected = std::vector<int>;
  EXPECT_EQ(Ports(nullptr), (Expected{3633, 0, 0, 0, 0, 0}));
  EXPECT_EQ(Ports("0"), (Expected{0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(Ports("80"), (Expected{80, 80, 80, 0, 0, 0}));
  EXPECT_EQ(Ports("+1"), (Expected{3633, 4001, 65001, 0, 0, 0}));
  EXPECT_EQ(Ports("+1000"), (Expected{4632, 5000, 0, 0, 0, 0}));
  EXPECT_EQ(Ports("65535"), (Expected{65535, 65535, 65535, 0, 0, 0}));
  for (const char *Value : {"", "+", "+0", "65536", "-1", "1x", "++1"}) {
    Args = {std::string("stats-port=") + Value};
    expectWrong({"'stats-port=" + std::string(Value) + "'", "65535"});
  }
}

TEST_F(SettingsTest, Seconds) {
  Env["DISTCC_HOSTS"] = "a";
  Env["DISTCC_IO_TIMEOUT"] = "1";
  Env["DISTCC_BACKOFF_PERIOD"] = "0";
  ASSERT_EQ(read(), SettingsStatus::Ok);
  EXPECT_EQ(S.IoTimeout.count(), 1);
  EXPECT_EQ(S.BackoffPeriod.count(), 0);
  for (const char *Value : {"", "0", "-1", "5s", "99999999999"}) {
    Env["DISTCC_IO_TIMEOUT"] = Value;
    expectWrong(
        {"$DISTCC_IO_TIMEOUT: '" + std::string(Value) + "'", "seconds from 1"});
  }
  Env["DISTCC_IO_TIMEOUT"] = "2147483647";
  Env["DISTCC_BACKOFF_PERIOD"] = "x";
  expectWrong({"$DISTCC_BACKOFF_PERIOD: 'x'", "seconds from 0"});
}

TEST_F(SettingsTest, Switches) {
  Env["DISTCC_HOSTS"] = "a";
  Env["DISTCC_FALLBACK"] = "0";
  Env["DISTCC_VERBOSE"] = "1";
  Env["DISTCC_LOG"] = "/some/file";
  ASSERT_EQ(read(), SettingsStatus::Ok);
  EXPECT_FALSE(S.Fallback);
  EXPECT_TRUE(S.Verbose);
  EXPECT_EQ(S.LogFile, "/some/file");
  Env["DISTCC_FALLBACK"] = "1";
  Env["DISTCC_VERBOSE"] = "0";
  ASSERT_EQ(read(), SettingsStatus::Ok);
  EXPECT_TRUE(S.Fallback);
  EXPECT_FALSE(S.Verbose);
  Env["DISTCC_FALLBACK"] = Env["DISTCC_VERBOSE"] = "";
  ASSERT_EQ(read(), SettingsStatus::Ok);
  EXPECT_TRUE(S.Fallback);
  EXPECT_FALSE(S.Verbose);
  EXPECT_TRUE(S.Notes.empty());
  Env["DISTCC_FALLBACK"] = "no";
  ASSERT_EQ(read(), SettingsStatus::Ok);
  EXPECT_TRUE(S.Fallback);
  ASSERT_EQ(S.Notes.size(), 1u);
  EXPECT_NE(S.Notes[0].find("$DISTCC_FALLBACK: 'no'"), std::string::npos);
}

TEST_F(SettingsTest, Ssh) {
  Env["DISTCC_HOSTS"] = "a";
  Env["DISTCC_SSH"] = " /usr/bin/ssh  -p 2222 ";
  ASSERT_EQ(read(), SettingsStatus::Ok);
  EXPECT_EQ(S.SshCommand,
            (std::vector<std::string>{"/usr/bin/ssh", "-p", "2222"}));
  for (const char *Empty : {"", "  "}) {
    Env["DISTCC_SSH"] = Empty;
    ASSERT_EQ(read(), SettingsStatus::Ok);
    EXPECT_EQ(S.SshCommand, std::vector<std::string>{"ssh"});
  }
}

TEST_F(SettingsTest, SystemHostFiles) {
  EXPECT_EQ(systemHostFiles(),
            (std::vector<std::string>{"/etc/distcc/hosts",
                                      "/usr/local/etc/distcc/hosts"}));
}
