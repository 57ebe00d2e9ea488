//===- StatsQueryTest.cpp - The number of jobs of a distccd ---------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StatsQuery.h"
#include "FakeHost.h"

using namespace dtlto::test;
using dtlto::distcc::loadFromStats;
using dtlto::distcc::slotsFromStats;

namespace {
class StatsQueryTest : public PluginTest {};
} // namespace

static std::string page(const std::string &Slots) {
  return "HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\nargv /distccd\n"
         "<distccstats>\ndcc_tcp_accept 17\ndcc_max_kids " +
         Slots + "\ndcc_current_load 2\n</distccstats>\n";
}

TEST(SlotsFromStatsTest, Number) {
  EXPECT_EQ(slotsFromStats(page("4")), 4u);
  EXPECT_EQ(slotsFromStats(page("4096")), 4096u);
  EXPECT_EQ(slotsFromStats("\ndcc_max_kids 12\r\n"), 12u);
}

TEST(SlotsFromStatsTest, Nonsense) {
  for (const char *Slots :
       {"", "0", "-1", "x", "4x", "4.5", "4097", "18446744073709551617"})
    EXPECT_EQ(slotsFromStats(page(Slots)), 0u) << Slots;
  EXPECT_EQ(slotsFromStats(""), 0u);
  EXPECT_EQ(slotsFromStats("dcc_max_kids 4\n"), 0u); // not a line by itself
  EXPECT_EQ(slotsFromStats("\ndcc_max_kids 4"), 0u); // may be incomplete
  EXPECT_EQ(slotsFromStats("\ndcc_max_kids "), 0u);
}

TEST(LoadFromStatsTest, Number) {
  EXPECT_EQ(loadFromStats("\ndcc_load1 0.00\n"), 0u);
  EXPECT_EQ(loadFromStats("x\ndcc_load1 12.34\r\nx"), 1234u);
  EXPECT_EQ(loadFromStats("\ndcc_load1 1000000.99\n"), 100000099u);
}

TEST(LoadFromStatsTest, Nonsense) {
  for (const char *Load : {"", "1", "1.2", "1.234", ".12", "1.", "-1.00",
                           "1.2.3", "1000001.00", "99999999999999999999.00"})
    EXPECT_EQ(loadFromStats("\ndcc_load1 " + std::string(Load) + "\n"),
              UINT32_MAX)
        << Load;
  EXPECT_EQ(loadFromStats("\ndcc_load1 1.00"), UINT32_MAX);
  EXPECT_EQ(loadFromStats("dcc_load1 1.00\n"), UINT32_MAX);
}

static void serve(MockDistccd &Stats, const std::string &Page) {
  Stats.onConnect([=](MockDistccd::Peer &P) {
    const std::string Question = "GET / HTTP/1.0\r\n\r\n";
    if (P.receive(Question.size()) == Question)
      P.send(Page);
  });
}

/// Expects \p Slots concurrent jobs, and that all jobs succeed.
static void expectJobs(FakeHost &Host, MockDistccd &A, unsigned Slots) {
  Gate G;
  A.onJob([&](MockDistccd::Peer &P) {
    G.wait();
    Answer Good;
    Good.Object = objectOf(P.request().output());
    P.send(Good.wire());
  });
  unsigned NumJobs = Slots + 1;
  for (unsigned I = 0; I != NumJobs; ++I)
    Host.submit(smallJob(std::to_string(I) + ".o"));
  EXPECT_TRUE(A.waitFor([&] { return A.numJobs() == Slots; }));
  EXPECT_EQ(Host.load().slots, Slots);
  G.open();
  Host.waitForAll();
  Host.close();
  EXPECT_EQ(A.numJobs(), NumJobs);
  EXPECT_EQ(A.mostJobs(), Slots);
}

TEST_F(StatsQueryTest, APort) {
  MockDistccd A, Stats;
  serve(Stats, page("9"));
  FakeHost Host;
  ASSERT_EQ(
      Host.open({hosts({&A}), "stats-port=" + std::to_string(Stats.port())}),
      DTLTO_OK);
  Host.waitForLog(A.name() + ": its statistics port reports 9 jobs at a time");
  expectJobs(Host, A, 9);
}

TEST_F(StatsQueryTest, APortAboveTheHosts) {
  MockDistccd One, Other;
  bool Up = One.port() < Other.port();
  MockDistccd &A = Up ? One : Other, &Stats = Up ? Other : One;
  serve(Stats, page("1"));
  FakeHost Host;
  ASSERT_EQ(
      Host.open({hosts({&A}),
                 "stats-port=+" + std::to_string(Stats.port() - A.port())}),
      DTLTO_OK);
  Host.waitForLog(A.name() + ": its statistics port reports 1 jobs at a time");
  expectJobs(Host, A, 1);
}

TEST_F(StatsQueryTest, ALimitIsNotAsked) {
  MockDistccd A, Stats;
  serve(Stats, page("9"));
  FakeHost Host;
  ASSERT_EQ(Host.open({hosts({&A}, "/2"),
                       "stats-port=" + std::to_string(Stats.port())}),
            DTLTO_OK);
  expectJobs(Host, A, 2);
  EXPECT_EQ(Stats.numConnections(), 0u);
}

/// With a useless answer, distcc's default applies.
TEST_F(StatsQueryTest, NoUsefulAnswer) {
  std::vector<MockDistccd::Act> Acts = {
      [](MockDistccd::Peer &) {}, [](MockDistccd::Peer &P) { P.reset(); },
      [](MockDistccd::Peer &P) { P.waitForDisconnect(); },
      [](MockDistccd::Peer &P) {
        P.receive(18);
        P.send("\ndcc_max_kids 999999\n");
      },
      [](MockDistccd::Peer &P) {
        P.receive(18);
        // Far too much.
        while (P.send(std::string(100000, 'x')))
          ;
      }};
  for (const MockDistccd::Act &Act : Acts) {
    MockDistccd A, Stats;
    Stats.onConnect(Act);
    FakeHost Host;
    ASSERT_EQ(
        Host.open({hosts({&A}), "stats-port=" + std::to_string(Stats.port())}),
        DTLTO_OK);
    EXPECT_TRUE(Stats.waitFor([&] { return Stats.numConnections() == 1; }));
    expectJobs(Host, A, 4);
    EXPECT_TRUE(Host.warnings().empty());
  }
}

TEST_F(StatsQueryTest, NoStatisticsPort) {
  MockDistccd A, Closed;
  Closed.stop();
  FakeHost Host;
  ASSERT_EQ(
      Host.open({hosts({&A}), "stats-port=" + std::to_string(Closed.port())}),
      DTLTO_OK);
  expectJobs(Host, A, 4);
}
