//===- CredentialHelperTest.cpp - Programs that print headers -------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tests the output of helpers, and helpers that are quick, wrong or never end.
// unittests/reapi tests them with a server.
//
//===----------------------------------------------------------------------===//

#include "CredentialHelper.h"
#include "gtest/gtest.h"
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <thread>

using namespace dtlto;
using namespace std::chrono_literals;

TEST(CredentialsTest, Answer) {
  Credentials C;
  std::string Error;
  ASSERT_TRUE(readCredentials(
      "{\"headers\": {\"Authorization\": [\"Bearer x\"], \"b\": [\"1\", \"2\"],"
      " \"c\": []}, \"expires\": \"2030-01-31T13:00:00+01:00\", \"more\": 1}\n",
      C, Error))
      << Error;
  EXPECT_EQ((std::vector<std::pair<std::string, std::string>>{
                {"authorization", "Bearer x"}, {"b", "1"}, {"b", "2"}}),
            (std::sort(C.Headers.begin(), C.Headers.end()), C.Headers));
  ASSERT_TRUE(C.Expires);
  EXPECT_EQ(1896091200, std::chrono::system_clock::to_time_t(*C.Expires));
  ASSERT_TRUE(readCredentials("{}", C, Error));
  EXPECT_TRUE(C.Headers.empty());
  EXPECT_FALSE(C.Expires);
  ASSERT_TRUE(
      readCredentials("{\"expires\":\"9999-12-31T23:59:59Z\"}", C, Error));
  EXPECT_LT(std::chrono::system_clock::now(), *C.Expires);
  // Nanoseconds since 1970 of these years don't fit into 64 bits; 1600 became
  // 2184.
  for (const char *Year : {"0001", "0020", "1600", "1969"}) {
    ASSERT_TRUE(readCredentials("{\"expires\":\"" + std::string(Year) +
                                    "-01-31T12:00:00Z\"}",
                                C, Error));
    EXPECT_GT(std::chrono::system_clock::now(), *C.Expires) << Year;
  }
}

/// The error for an invalid answer doesn't show the answer.
TEST(CredentialsTest, WrongAnswers) {
  const std::pair<const char *, const char *> All[] = {
      {"", "it wrote nothing"},
      {" \n", "it wrote nothing"},
      {"secret", "not a JSON object"},
      {"[\"secret\"]", "not a JSON object"},
      {"{\"headers\": {\"a\": [\"secret\"]}", "not a JSON object"},
      {"{\"headers\": \"secret\"}", "its 'headers' is not an object"},
      {"{\"headers\": {\"a b\": [\"secret\"]}}", "an invalid name"},
      {"{\"headers\": {\"\": [\"secret\"]}}", "an invalid name"},
      {"{\"headers\": {\"a-bin\": [\"secret\"]}}", "binary values"},
      {"{\"headers\": {\"a\": \"secret\"}}", "its header 'a' is not a list"},
      {"{\"headers\": {\"a\": [7]}}",
       "its header 'a' is not a list of strings"},
      {"{\"headers\": {\"a\": [\"secret\\nb: c\"]}}", "printable"},
      {"{\"headers\": {\"a\": [\"secr\u00e9t\"]}}", "printable"},
      {"{\"expires\": 7}", "its 'expires' is not a time"},
      {"{\"expires\": \"secret\"}", "its 'expires' is not a time"},
      {"{\"a\": 1e999}", "not a JSON object"},
      {"{} {\"a\": \"secret\"}", "not a JSON object"}};
  for (auto [Text, Why] : All) {
    Credentials C;
    std::string Error;
    EXPECT_FALSE(readCredentials(Text, C, Error)) << Text;
    EXPECT_NE(std::string::npos, Error.find(Why)) << Text << ": " << Error;
    EXPECT_EQ(std::string::npos, Error.find("secr")) << Error;
    EXPECT_TRUE(C.Headers.empty());
  }
  Credentials C;
  std::string Error;
  EXPECT_FALSE(readCredentials(
      "{\"headers\":{\"a\":[\"" + std::string(20000, 'x') + "\"]}}", C, Error));
  EXPECT_FALSE(readCredentials(std::string(65536, '['), C, Error));
  EXPECT_FALSE(readCredentials(std::string("{}\0", 3), C, Error));
  // Deep values that are not used.
  EXPECT_TRUE(readCredentials("{\"a\":" + std::string(30000, '[') +
                                  std::string(30000, ']') + "}",
                              C, Error));
}

static std::optional<std::time_t> expires(const std::string &Time) {
  Credentials C;
  std::string Error;
  if (!readCredentials("{\"expires\":\"" + Time + "\"}", C, Error))
    return std::nullopt;
  return std::chrono::system_clock::to_time_t(*C.Expires);
}

TEST(CredentialsTest, Times) {
  const std::time_t Noon = 1896091200; // 2030-01-31T12:00:00Z
  EXPECT_EQ(Noon, expires("2030-01-31T12:00:00Z"));
  EXPECT_EQ(Noon, expires("2030-01-31T12:00:00.999999999Z"));
  EXPECT_EQ(Noon, expires("2030-01-31T23:59:00+11:59"));
  EXPECT_EQ(Noon, expires("2030-01-31T00:30:00.5-11:30"));
  EXPECT_EQ(1835481599, expires("2028-02-29T23:59:59Z"));
  for (const char *Wrong : {"",
                            "2030",
                            "2030-01-31",
                            "2030-01-31T12:00:00",
                            "2030-01-31 12:00:00Z",
                            "2030-01-31T12:00Z",
                            "2030-02-29T12:00:00Z",
                            "2030-13-01T12:00:00Z",
                            "2030-00-01T12:00:00Z",
                            "2030-01-31T24:00:00Z",
                            "2030-01-31T12:60:00Z",
                            "2030-01-31T12:00:00.Z",
                            "2030-01-31T12:00:00.5",
                            "2030-01-31T12:00:00z",
                            "2030-01-31T12:00:00+1:00",
                            "2030-01-31T12:00:00+24:00",
                            "2030-01-31T12:00:00+01:60",
                            "2030-01-31T12:00:00Z ",
                            "+2030-01-31T12:00:00Z",
                            "20300-01-31T12:00:00Z"})
    EXPECT_FALSE(expires(Wrong)) << Wrong;
}

namespace {
class CredentialHelperTest : public testing::Test {
protected:
  using Failure = CredentialHelper::Failure;

  void SetUp() override {
    Folder = testing::TempDir() + "helperXXXXXX";
    ASSERT_TRUE(::mkdtemp(Folder.data()));
  }
  void TearDown() override { std::filesystem::remove_all(Folder); }

  /// Creates a helper that runs \p Script. $n is the number of its runs.
  std::string helper(const std::string &Script) {
    const std::string Name = path("helper");
    std::ofstream(Name) << "#!/bin/sh\ncd " << path("")
                        << "\necho x >> runs\nn=$(wc -l < runs)\n"
                           "echo $$ > pid\ncat > asked\n"
                        << Script << "\n";
    std::filesystem::permissions(Name, std::filesystem::perms::owner_all);
    return Name;
  }
  std::string tokens() {
    return helper(
        "printf '{\"headers\":{\"Authorization\":[\"Bearer t%s\"]}}' $n");
  }
  std::string path(const char *Name) { return Folder + "/" + Name; }
  std::string text(const char *Name) {
    std::ifstream In(path(Name));
    return std::string(std::istreambuf_iterator<char>(In), {});
  }
  size_t runs() { return text("runs").size() / 2; }
  static CredentialHelper::Patience patience(std::chrono::milliseconds Limit) {
    return {CredentialHelper::Clock::now() + Limit};
  }
  /// Returns the first header's value, or why there is none.
  std::string get(CredentialHelper &H, std::chrono::milliseconds Limit = 60s) {
    HeaderList All;
    Failure F = H.get(patience(Limit), "https://host/x", All, Stamp);
    return F ? F.Why : All.empty() ? "none" : All.front().second;
  }
  std::string failureOf(const std::string &Script,
                        std::chrono::milliseconds Limit = 60s) {
    CredentialHelper H(helper(Script));
    std::string Why = get(H, Limit);
    EXPECT_EQ(0u, Why.find("credential-helper=: '" + path("helper") + "' "))
        << Why;
    EXPECT_EQ(std::string::npos, Why.find("secret")) << Why;
    return Why;
  }

  std::string Folder;
  uint64_t Stamp = 0;
};
} // namespace

/// The answer is kept, and the helper runs again when the server refuses it.
TEST_F(CredentialHelperTest, Renews) {
  CredentialHelper H(tokens());
  EXPECT_EQ("Bearer t1", get(H));
  EXPECT_EQ("{\"uri\":\"https://host/x\"}\n", text("asked"));
  EXPECT_EQ("Bearer t1", get(H));
  Failure F;
  const uint64_t First = Stamp;
  EXPECT_TRUE(H.renew(patience(60s), "https://host/x", First, F));
  // Another call, which had the first, too.
  EXPECT_TRUE(H.renew(patience(60s), "https://host/x", First, F));
  EXPECT_EQ("Bearer t2", get(H));
  EXPECT_EQ(2u, runs());
  // A new one didn't help.
  EXPECT_FALSE(H.renew(patience(60s), "https://host/x", Stamp, F));
  H.onAccepted("https://host/x", Stamp);
  EXPECT_TRUE(H.renew(patience(60s), "https://host/x", Stamp, F));
  EXPECT_FALSE(F) << F.Why;
  EXPECT_EQ(3u, runs());
}

TEST_F(CredentialHelperTest, Expires) {
  CredentialHelper H(helper("printf '{\"headers\":{\"a\":[\"%s\"]},"
                            "\"expires\":\"2000-01-01T00:00:00Z\"}' $n"));
  EXPECT_EQ("1", get(H));
  EXPECT_EQ("1", get(H));
  std::this_thread::sleep_for(1100ms);
  EXPECT_EQ("2", get(H));
}

TEST_F(CredentialHelperTest, Fails) {
  auto Has = [](const std::string &Text, const char *Part) {
    return Text.find(Part) != Text.npos;
  };
  std::string Why = failureOf("echo secret; echo 'log in' >&2; exit 3");
  EXPECT_TRUE(Has(Why, "ended with 3 for https://host/x: log in")) << Why;
  Why = failureOf("kill -9 $$");
  EXPECT_TRUE(Has(Why, "was killed by signal 9")) << Why;
  Why = failureOf("echo secret");
  EXPECT_TRUE(Has(Why, "gave an invalid answer")) << Why;
  Why = failureOf("yes secret | head -c 100000");
  EXPECT_TRUE(Has(Why, "wrote more than 65536 bytes")) << Why;
  CredentialHelper Missing("/nowhere/helper");
  EXPECT_EQ("credential-helper=: '/nowhere/helper' cannot be started: No such "
            "file or directory",
            get(Missing));
  // A long URI neither blocks nor is cut.
  CredentialHelper H(helper("echo {}"));
  HeaderList All;
  Failure F =
      H.get(patience(60s), "https://" + std::string(100000, 'x'), All, Stamp);
  EXPECT_TRUE(Has(F.Why, "cannot be started: Argument list too long")) << F.Why;
}

/// A helper that never ends is killed with the processes that it started.
TEST_F(CredentialHelperTest, Hangs) {
  std::string Why =
      failureOf("sleep 1000 & echo $! > pid; echo secret; wait", 300ms);
  EXPECT_NE(Why.npos,
            Why.find("has not answered for https://host/x within 1 s"))
      << Why;
  const pid_t Pid = std::atoi(text("pid").c_str());
  ASSERT_GT(Pid, 0);
  for (int I = 0; I != 600 && ::kill(Pid, 0) == 0; ++I)
    std::this_thread::sleep_for(50ms);
  EXPECT_NE(0, ::kill(Pid, 0));
}

TEST_F(CredentialHelperTest, IsCancelled) {
  CredentialHelper H(helper("exec sleep 1000"));
  HeaderList All;
  auto P = patience(60s);
  P.IsCancelled = [&] { return runs() != 0; };
  EXPECT_EQ(Failure::Cancelled, H.get(P, "https://host", All, Stamp).What);
  EXPECT_EQ(Failure::Cancelled, H.get(P, "https://host", All, Stamp,
                                      /*MayWait=*/false)
                                    .What);
}

/// All calls that wait for a run share its result.
TEST_F(CredentialHelperTest, ServesMany) {
  CredentialHelper H(helper("sleep 1; exit 3"));
  std::atomic<unsigned> NumFailed{0};
  std::vector<std::thread> Threads;
  for (unsigned I = 0; I != 20; ++I)
    Threads.emplace_back([&] {
      HeaderList All;
      uint64_t Own;
      NumFailed += H.get(patience(60s), "https://host", All, Own).What ==
                   Failure::Failed;
    });
  for (std::thread &T : Threads)
    T.join();
  EXPECT_EQ(20u, NumFailed);
  EXPECT_LE(runs(), 2u);
}
