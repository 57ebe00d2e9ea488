//===- CredentialsTest.cpp - Credential helpers ---------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tests helpers that are quick, wrong, slow or never end, with a server that
// accepts only some of their tokens.
//
//===----------------------------------------------------------------------===//

#include "ReapiLinkTest.h"
#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>

using namespace dtlto::test;

namespace {
class CredentialHelperTest : public ReapiLinkTest {
protected:
  /// Creates a helper that runs \p Script. $n is the number of its runs.
  std::string helper(const std::string &Script) {
    std::string Name = Folder + "/helper";
    std::ofstream(Name) << "#!/bin/sh\necho x >> " << Folder
                        << "/runs\nn=$(wc -l < " << Folder
                        << "/runs)\necho $$ > " << Folder
                        << "/pid\necho \"$*\" > " << Folder << "/args\n"
                        << Script << "\n";
    std::filesystem::permissions(Name, std::filesystem::perms::owner_all);
    return "credential-helper=" + Name;
  }
  /// Creates a helper that returns another token each time.
  std::string tokens() {
    return helper("cat > " + Folder +
                  "/asked; printf '{\"headers\":{\"Authorization\":[\"Bearer "
                  "t%s\"]}}' $n");
  }
  std::string text(const char *Name) {
    std::ifstream In(Folder + "/" + Name);
    return std::string(std::istreambuf_iterator<char>(In), {});
  }
  size_t runs() { return text("runs").size() / 2; }
  /// Returns whether the process in the file `pid` has ended: the helper's last
  /// run, or a process that it started.
  bool isGone() {
    pid_t Pid = std::atoi(text("pid").c_str());
    return Pid > 0 && ::kill(Pid, 0) != 0 && errno == ESRCH;
  }
  void expectRefused(const std::string &Why) {
    Done D = compile();
    EXPECT_EQ(DTLTO_ERROR_INFRASTRUCTURE, D.Status);
    close();
    std::string LogText = logText(DTLTO_LOG_ERROR);
    EXPECT_NE(std::string::npos, LogText.find(Why)) << LogText;
    EXPECT_EQ(1, std::count(LogText.begin(), LogText.end(), '\n')) << LogText;
  }
};
} // namespace

/// One run serves all calls.
TEST_F(CredentialHelperTest, Token) {
  server().IsAllowed = [](const std::string &, const std::string &Is) {
    return Is == "Bearer t1";
  };
  ASSERT_EQ(DTLTO_OK, open({tokens()}));
  std::vector<uint64_t> Ids;
  for (unsigned I = 0; I != 20; ++I)
    Ids.push_back(submit("module " + std::to_string(I)));
  for (uint64_t Id : Ids)
    EXPECT_EQ(DTLTO_OK, wait(Id).Status);
  EXPECT_EQ(1u, runs());
  EXPECT_EQ("get\n", text("args"));
  EXPECT_EQ("{\"uri\":\"https" + server().url().substr(4) + "\"}\n",
            text("asked"));
}

/// A token expires, and each of these calls in turn is the first to notice.
TEST_F(CredentialHelperTest, AnotherTokenForEachCall) {
  ServerOptions.MaxBatch = 1000;
  ServerOptions.InlinesObjects = false;
  for (std::string Late :
       {"GetCapabilities", "GetActionResult", "FindMissingBlobs",
        "BatchUpdateBlobs", "Write", "Execute", "WaitExecution", "Read",
        "BatchReadBlobs"}) {
    std::filesystem::remove(Folder + "/runs");
    server().IsAllowed = [Late](const std::string &Method,
                                const std::string &Is) {
      return Is == "Bearer t2" || (Is == "Bearer t1" && Method != Late);
    };
    // WaitExecution is called only after a stream was cut.
    server().FateOf = [Late](unsigned) {
      return Late == "WaitExecution" ? Fate::CutLate : Fate::Good;
    };
    ASSERT_EQ(DTLTO_OK, open({tokens(), "retries=1"}));
    // Only a small object is read in a batch.
    Done D =
        compile(Late + std::string(Late == "BatchReadBlobs" ? 9 : 3000, 'x'));
    EXPECT_EQ(DTLTO_OK, D.Status) << Late << ": " << D.Message;
    EXPECT_EQ(2u, runs()) << Late;
    close();
    EXPECT_EQ("", logText(DTLTO_LOG_ERROR)) << Late;
  }
}

/// Many calls notice at the same time that a token expired.
TEST_F(CredentialHelperTest, AnotherTokenForMany) {
  std::atomic<bool> Late{false};
  server().IsAllowed = [&](const std::string &, const std::string &Is) {
    return Is == (Late ? "Bearer t2" : "Bearer t1");
  };
  ASSERT_EQ(DTLTO_OK, open({tokens(), "retries=0"}));
  EXPECT_EQ(DTLTO_OK, compile().Status);
  Late = true;
  std::vector<uint64_t> Ids;
  for (unsigned I = 0; I != 40; ++I)
    Ids.push_back(submit("module " + std::to_string(I)));
  for (uint64_t Id : Ids)
    EXPECT_EQ(DTLTO_OK, wait(Id).Status);
  EXPECT_EQ(2u, runs());
  close();
  EXPECT_EQ("", logText(DTLTO_LOG_ERROR));
}

/// Expired credentials are requested again, but not for each call.
TEST_F(CredentialHelperTest, Expired) {
  ASSERT_EQ(
      DTLTO_OK,
      open({helper("printf '{\"headers\":{\"Authorization\":[\"Bearer "
                   "t%s\"]},\"expires\":\"2000-01-01T00:00:00Z\"}' $n")}));
  EXPECT_EQ(DTLTO_OK, compile().Status);
  EXPECT_TRUE(waitUntil([&] {
    EXPECT_EQ(DTLTO_OK, compile().Status);
    return runs() > 1;
  }));
  EXPECT_GT(server().statistics().Lookups, 2u);
}

TEST_F(CredentialHelperTest, NeverTaken) {
  server().IsAllowed = [](const std::string &, const std::string &) {
    return false;
  };
  ASSERT_EQ(DTLTO_OK, open({tokens()}));
  expectRefused("UNAUTHENTICATED: who are you?");
  EXPECT_LE(runs(), 2u);
}

/// The user's own header precedes the helper's, and that precedes the token.
TEST_F(CredentialHelperTest, WhoseCounts) {
  std::ofstream(Folder + "/token") << "old\n";
  ASSERT_EQ(DTLTO_OK, open({tokens(), "token-file=" + Folder + "/token"}));
  EXPECT_EQ(DTLTO_OK, compile().Status);
  EXPECT_EQ("Bearer t1", server().statistics().Authorization);
  close();
  ASSERT_EQ(DTLTO_OK, open({tokens(), "header=authorization=mine"}));
  EXPECT_EQ(DTLTO_OK, compile("n").Status);
  EXPECT_EQ("mine", server().statistics().Authorization);
  close();
  ASSERT_EQ(DTLTO_OK,
            open({helper("echo '{}'"), "token-file=" + Folder + "/token"}));
  EXPECT_EQ(DTLTO_OK, compile("o").Status);
  EXPECT_EQ("Bearer old", server().statistics().Authorization);
}

TEST_F(CredentialHelperTest, Fails) {
  ASSERT_EQ(DTLTO_OK, open({helper("echo 'log in first' >&2; exit 3")}));
  expectRefused("credential-helper=: '" + Folder +
                "/helper' ended with 3 for https" + server().url().substr(4) +
                ": log in first");
}

TEST_F(CredentialHelperTest, Nonsense) {
  ASSERT_EQ(DTLTO_OK, open({helper("echo secret")}));
  expectRefused("/helper' gave an invalid answer for ");
  EXPECT_EQ(std::string::npos, logText(DTLTO_LOG_ERROR).find("secret"));
}

TEST_F(CredentialHelperTest, TooMuch) {
  ASSERT_EQ(DTLTO_OK, open({helper("head -c 3000000 /dev/zero")}));
  expectRefused("wrote more than 65536 bytes");
}

TEST_F(CredentialHelperTest, MissingHelper) {
  EXPECT_EQ(DTLTO_ERROR_CALLER, open({"credential-helper=/nowhere/helper"}));
  EXPECT_NE(
      std::string::npos,
      logText(DTLTO_LOG_ERROR)
          .find("argument 'credential-helper=/nowhere/helper': cannot run "
                "'/nowhere/helper': No such file"));
  ASSERT_EQ(DTLTO_OK, open({"credential-helper=nobody-has-this"}));
  Done D = compile();
  EXPECT_EQ(DTLTO_ERROR_INFRASTRUCTURE, D.Status);
  EXPECT_NE(std::string::npos,
            D.Message.find("credential-helper=: 'nobody-has-this' cannot be "
                           "started: No such file"))
      << D.Message;
}

/// A helper that never ends is killed with the processes that it started.
TEST_F(CredentialHelperTest, Hangs) {
  ASSERT_EQ(DTLTO_OK,
            open({helper("sleep 1000 & echo $! > " + Folder + "/pid; wait"),
                  "timeout=1"}));
  expectRefused("/helper' has not answered for ");
  EXPECT_TRUE(waitUntil([&] { return isGone(); }));
}

TEST_F(CredentialHelperTest, HangsAsTheLinkEnds) {
  ASSERT_EQ(DTLTO_OK, open({helper("exec sleep 1000"), "timeout=1000"}));
  uint64_t Id = submit("m");
  EXPECT_TRUE(waitUntil([&] { return !text("args").empty(); }));
  close();
  EXPECT_EQ(DTLTO_CANCELLED, wait(Id).Status);
  EXPECT_TRUE(isGone());
}

/// At the end of the link, actions are cancelled with the known credentials.
TEST_F(CredentialHelperTest, HangsAfterItsAnswerHasEnded) {
  server().FateOf = [](unsigned) { return Fate::Stuck; };
  ASSERT_EQ(DTLTO_OK,
            open({helper("[ ! -e " + Folder +
                         "/late ] || exec sleep 1000; echo '{\"expires\":"
                         "\"2000-01-01T00:00:00Z\"}'"),
                  "timeout=1000"}));
  for (const char *Module : {"l", "m", "n"})
    submit(Module);
  EXPECT_TRUE(waitUntil([&] { return server().statistics().Executions == 3; }));
  std::ofstream(Folder + "/late") << "now";
  // The last answer of the helper has expired.
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));
  size_t Runs = runs();
  close();
  EXPECT_EQ(Runs, runs());
}

/// All calls that wait for a run share its failure.
TEST_F(CredentialHelperTest, FailsForMany) {
  ASSERT_EQ(DTLTO_OK, open({helper("[ $n = 1 ] || { sleep 1; exit 3; }; echo "
                                   "'{\"expires\":\"2000-01-01T00:00:00Z\"}'"),
                            "retries=0"}));
  EXPECT_EQ(DTLTO_OK, compile().Status);
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));
  std::vector<uint64_t> Ids;
  for (unsigned I = 0; I != 20; ++I)
    Ids.push_back(submit("module " + std::to_string(I)));
  for (uint64_t Id : Ids)
    EXPECT_NE(DTLTO_OK, wait(Id).Status);
  EXPECT_LE(runs(), 4u);
}

/// A process that the helper leaves running may keep its output open.
TEST_F(CredentialHelperTest, LeavesAnAgent) {
  ASSERT_EQ(DTLTO_OK, open({helper("sleep 1000 & echo $! > " + Folder +
                                   "/pid; echo '{}'"),
                            "timeout=1000"}));
  EXPECT_EQ(DTLTO_OK, compile().Status);
  EXPECT_FALSE(isGone());
  ::kill(std::atoi(text("pid").c_str()), SIGKILL);
}

/// A helper that doesn't read must not kill the linker with SIGPIPE.
TEST_F(CredentialHelperTest, DoesNotRead) {
  ASSERT_EQ(DTLTO_OK, open({helper("exec < /dev/null; echo '{}'")}));
  EXPECT_EQ(DTLTO_OK, compile().Status);
}
