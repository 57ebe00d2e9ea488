//===- StatisticsTest.cpp - What a user's links did, added up -------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report/Statistics.h"
#include "TempFolder.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"
#include <fcntl.h>
#include <sys/file.h>
#include <thread>
#include <unistd.h>

using namespace llvm;
using namespace dtlto;
using namespace dtlto::test;
using Kind = AttemptRecord::Kind;
using Outcome = AttemptRecord::Outcome;
using Source = JobRecord::Source;

/// Returns an attempt that ran for \p Seconds on \p Worker.
static AttemptRecord attempt(StringRef Worker, double Seconds,
                             Outcome O = Outcome::Ok, Kind K = Kind::First) {
  AttemptRecord A;
  A.TheKind = K;
  A.TheOutcome = O;
  A.Offered = A.Accepted = A.Running = 1;
  A.Done = 1 + Seconds;
  A.Worker = Worker.str();
  return A;
}

static JobRecord job(StringRef Name, Source From,
                     std::vector<AttemptRecord> Attempts) {
  JobRecord J;
  J.Name = Name.str();
  J.From = From;
  J.PrimaryBytes = 100;
  J.ImportBytes = 10;
  J.ShardBytes = 1;
  J.ObjectBytes = 1000;
  J.Attempts = std::move(Attempts);
  return J;
}

static Timeline link(std::vector<JobRecord> Jobs, double End = 10) {
  return Timeline(std::move(Jobs), {}, /*ThinLink=*/2, End);
}

TEST(StatisticsTest, AddsUp) {
  Statistics S;
  AttemptRecord Local = attempt("", 4);
  Local.TheKind = Kind::Local;
  Local.RanLocally = true;
  Local.Accepted = NoTime;
  addLink(
      S,
      link({job("a.o", Source::Worker, {attempt("w1", 2)}),
            job("b.o", Source::Worker,
                {attempt("w2", 1, Outcome::Infrastructure),
                 attempt("w1", 3, Outcome::Ok, Kind::Retry)}),
            job("c.o", Source::Local, {Local}), job("d.o", Source::Cache, {})}),
      "app", "distcc");
  EXPECT_EQ(S.Links, 1);
  EXPECT_EQ(S.FailedLinks, 0);
  EXPECT_EQ(S.Seconds, 10);
  EXPECT_EQ(S.Work, 9);
  EXPECT_EQ(S.BytesSent, 3 * 111);
  EXPECT_EQ(S.BytesReceived, 2 * 1000);
  EXPECT_EQ(S.jobs().Remote, 2);
  EXPECT_EQ(S.jobs().Local, 1);
  EXPECT_EQ(S.jobs().Cached, 1);
  EXPECT_EQ(S.jobs().all(), 4);
  ASSERT_EQ(S.Workers.size(), 2u);
  EXPECT_EQ(S.Workers[0].Name, "w1");
  EXPECT_EQ(S.Workers[0].Jobs, 2);
  EXPECT_EQ(S.Workers[0].Failures, 0);
  EXPECT_EQ(S.Workers[0].Seconds, 5);
  EXPECT_EQ(S.Workers[1].Name, "w2");
  EXPECT_EQ(S.Workers[1].Jobs, 0);
  EXPECT_EQ(S.Workers[1].Failures, 1);
  EXPECT_EQ(S.Workers[1].Retries, 1);
  ASSERT_EQ(S.Slowest.size(), 3u);
  EXPECT_EQ(S.Slowest[0].Module, "c.o");
  EXPECT_EQ(S.Slowest[2].Module, "a.o");

  // The same worker's name with another plugin is another worker. A module that
  // became faster keeps one entry.
  addLink(S, link({job("c.o", Source::Worker, {attempt("w1", 1)})}), "app",
          "icecc");
  EXPECT_EQ(S.Workers.size(), 3u);
  EXPECT_EQ(S.Plugins.size(), 2u);
  EXPECT_EQ(S.Plugins["icecc"].Links, 1);
  ASSERT_EQ(S.Slowest.size(), 3u);
  EXPECT_EQ(S.Slowest[2].Module, "c.o");
  ASSERT_EQ(S.Last.size(), 2u);
  EXPECT_EQ(S.Last[0].Plugin, "icecc");
}

TEST(StatisticsTest, KeepsTheLatestAndTheSlowest) {
  Statistics S;
  for (int I = 0; I != 300; ++I)
    addLink(S,
            link({job("m" + std::to_string(I), Source::Worker,
                      {attempt("w" + std::to_string(I), 1 + I % 50)})}),
            "app" + std::to_string(I), "p");
  EXPECT_EQ(S.Links, 300);
  ASSERT_EQ(S.Workers.size(), MaxStatWorkers);
  EXPECT_EQ(S.Workers.front().Name, "w299");
  EXPECT_EQ(S.Workers.back().Name, "w100");
  ASSERT_EQ(S.Slowest.size(), MaxStatModules);
  EXPECT_EQ(S.Slowest.front().Seconds, 50);
  EXPECT_EQ(S.Slowest.back().Seconds, 49);
  ASSERT_EQ(S.Last.size(), MaxStatLinks);
  EXPECT_EQ(S.Last.front().Output, "app299");
}

TEST(StatisticsTest, Text) {
  Statistics S;
  addLink(S,
          link({job("a\"\n.o", Source::Worker, {attempt("w\\1", 0.125)})}, 0.5),
          "o\tut", "distcc");
  std::string Text = formatStatistics(S);
  Expected<Statistics> Again = parseStatistics(Text);
  ASSERT_TRUE(bool(Again));
  EXPECT_EQ(formatStatistics(*Again), Text);
  EXPECT_EQ(Again->Workers[0].Name, "w\\1");
  EXPECT_EQ(Again->Slowest[0].Module, "a\"\n.o");
  EXPECT_EQ(Again->Last[0].Seconds, 0.5);
}

TEST(StatisticsTest, WrongText) {
  auto Problem = [](StringRef Text) {
    Expected<Statistics> S = parseStatistics(Text);
    return S ? "" : toString(S.takeError());
  };
  EXPECT_NE(Problem("").find("it is damaged"), std::string::npos);
  EXPECT_EQ(Problem("[]"), "it has no statistics of dtlto");
  EXPECT_EQ(Problem("{\"dtlto-statistics\":2}"),
            "it is of another version of dtlto");
  EXPECT_EQ(Problem(std::string(1 << 20, '[')),
            "it is damaged: brackets are nested too deep");
  std::string Text = formatStatistics(Statistics());
  for (StringRef Wrong : {"-1", "1e300", "9223372036854775807", "null"}) {
    std::string Changed = Text;
    size_t At = Changed.find("\"links\":0");
    ASSERT_NE(At, std::string::npos);
    Changed.replace(At, 9, ("\"links\":" + Wrong).str());
    EXPECT_NE(Problem(Changed).find("it is damaged"), std::string::npos)
        << Wrong.str();
  }
}

TEST(StatisticsTest, ThreadsLoseNothing) {
  TempFolder Folder;
  const std::string Path = Folder.path("new/stats.json");
  std::vector<std::thread> Threads;
  for (int T = 0; T != 4; ++T)
    Threads.emplace_back([&] {
      for (int I = 0; I != 50; ++I)
        EXPECT_EQ(toString(updateStatistics(Path, std::chrono::seconds(60),
                                            [](Statistics &S) { ++S.Links; })),
                  "");
    });
  for (std::thread &T : Threads)
    T.join();
  Expected<Statistics> S = readStatistics(Path);
  ASSERT_TRUE(bool(S));
  EXPECT_EQ(S->Links, 200);
}

TEST(StatisticsTest, LockedFile) {
  TempFolder Folder;
  const std::string Path = Folder.path("stats.json");
  int FD = open((Path + ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  ASSERT_GE(FD, 0);
  ASSERT_EQ(flock(FD, LOCK_EX), 0);
  EXPECT_NE(toString(updateStatistics(Path, std::chrono::milliseconds(10),
                                      [](Statistics &S) { ++S.Links; })),
            "");
  close(FD);
  EXPECT_FALSE(sys::fs::exists(Path));
}
