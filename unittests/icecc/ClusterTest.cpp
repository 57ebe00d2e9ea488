//===- ClusterTest.cpp - A scheduler's reports ----------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Cluster.h"
#include "MockIcecream.h"
#include "SchedulerText.h"
#include "gtest/gtest.h"
#include <future>
#include <poll.h>

using namespace dtlto::icecc;
using dtlto::test::MockServer;

static MonStatsMsg node(uint32_t Id, const std::string &Name, int Slots,
                        const std::string &More = "") {
  MonStatsMsg M;
  M.hostid = Id;
  M.statmsg = "Name:" + Name + "\nIP:10.0.0." + std::to_string(Id) +
              "\nMaxJobs:" + std::to_string(Slots) + "\n" +
              (More.empty() ? "NoRemote:false\nPlatform:x86_64\n" : More);
  return M;
}

static MonJobBeginMsg begin(uint32_t Job, uint32_t Node) {
  return MonJobBeginMsg(Job, 0, Node);
}

static MonJobDoneMsg done(uint32_t Job) {
  MonJobDoneMsg M;
  M.job_id = Job;
  return M;
}

namespace {
struct ClusterTest : testing::Test {
  static Settings settings(const std::string &Scheduler) {
    Settings S;
    S.Scheduler = Scheduler;
    return S;
  }
  static std::shared_ptr<Cluster> make(const std::string &Scheduler) {
    return std::make_shared<Cluster>(settings(Scheduler),
                                     std::vector<std::string>{"x86_64"});
  }
  /// Waits until \p What is true. Changes of \p C make it check again.
  template <typename T> bool waitFor(T What) {
    std::unique_lock<std::mutex> Lock(Mutex);
    return Changed.wait_for(Lock, std::chrono::seconds(30), What);
  }
  void watch(Cluster &C) {
    C.start([this] {
      std::lock_guard<std::mutex> Lock(Mutex);
      ++NumChanges;
      Changed.notify_all();
    });
  }

  std::mutex Mutex;
  std::condition_variable Changed;
  unsigned NumChanges = 0;
};
} // namespace

TEST_F(ClusterTest, Numbers) {
  std::shared_ptr<Cluster> C = make("");
  EXPECT_FALSE(C->numbers().IsKnown);
  C->handle(node(1, "one", 4));
  C->handle(node(2, "two", 8));
  EXPECT_TRUE(C->numbers().IsKnown);
  EXPECT_EQ(2u, C->numbers().Nodes);
  EXPECT_EQ(12u, C->numbers().Slots);
  EXPECT_EQ(12u, C->numbers().Free);

  C->handle(begin(100, 1));
  C->handle(begin(101, 2));
  C->handle(begin(102, 2));
  EXPECT_EQ(9u, C->numbers().Free);
  C->handle(done(101));
  C->handle(done(999)); // began before we were connected
  EXPECT_EQ(10u, C->numbers().Free);

  C->handle(node(2, "two", 2)); // again, with other numbers
  EXPECT_EQ(6u, C->numbers().Slots);
  C->handle(node(2, "two", 0, "State:Offline\n"));
  EXPECT_EQ(1u, C->numbers().Nodes);
  EXPECT_EQ(3u, C->numbers().Free);
  C->handle(node(2, "two", 2)); // the node returned without its jobs
  EXPECT_EQ(5u, C->numbers().Free);
}

TEST_F(ClusterTest, OneNodeHasTooMany) {
  std::shared_ptr<Cluster> C = make("");
  C->handle(node(1, "one", 2));
  C->handle(node(2, "two", 4));
  for (uint32_t Job : {100, 101, 102})
    C->handle(begin(Job, 1));
  EXPECT_EQ(4u, C->numbers().Free); // all of node two
  C->handle(begin(103, 2));
  EXPECT_EQ(3u, C->numbers().Free);
  C->handle(done(100));
  EXPECT_EQ(3u, C->numbers().Free);
  C->handle(done(101));
  EXPECT_EQ(4u, C->numbers().Free);
  C->handle(node(1, "one", 0)); // iceccd -m 0, with a job still running
  EXPECT_EQ(3u, C->numbers().Free);
}

TEST_F(ClusterTest, NodesOfNoUse) {
  std::shared_ptr<Cluster> C = make("");
  C->handle(node(1, "local", 4, "NoRemote:true\nPlatform:x86_64\n"));
  C->handle(node(2, "arm", 4, "NoRemote:false\nPlatform:aarch64\n"));
  C->handle(node(3, "full", 0));
  C->handle(node(4, "odd", 0, "MaxJobs:-3\nPlatform:x86_64\n"));
  C->handle(node(5, "odder", 0, "MaxJobs\n:\nPlatform:x86_64"));
  C->handle(begin(100, 2));
  Cluster::Numbers N = C->numbers();
  EXPECT_TRUE(N.IsKnown);
  EXPECT_EQ(0u, N.Nodes + N.Slots + N.Free);
}

TEST_F(ClusterTest, Names) {
  std::shared_ptr<Cluster> C = make("");
  C->handle(node(1, "one", 4));
  EXPECT_EQ("one", C->nodeName("10.0.0.1", 10245));
  EXPECT_EQ("10.0.0.2:10245", C->nodeName("10.0.0.2", 10245));
  // Two nodes with one address can't be distinguished.
  C->handle(node(2, "two", 4, "IP:10.0.0.1\n"));
  EXPECT_EQ("10.0.0.1:10245", C->nodeName("10.0.0.1", 10245));
}

TEST_F(ClusterTest, AScheduler) {
  std::mutex Held;
  MockServer Scheduler("", [&](MsgChannel &Client) {
    std::unique_ptr<Msg> Login(Client.get_msg(30, true));
    if (!Login || Login->type != M_MON_LOGIN)
      return;
    for (int I = 1; I != 4; ++I)
      Client.send_msg(node(I, "node" + std::to_string(I), I));
    // Hang up when the test allows it.
    std::lock_guard<std::mutex> Lock(Held);
  });
  std::unique_lock<std::mutex> Hold(Held);
  std::shared_ptr<Cluster> C =
      make("127.0.0.1:" + std::to_string(Scheduler.port()));
  watch(*C);
  EXPECT_TRUE(waitFor([&] { return C->numbers().Nodes == 3; }));
  EXPECT_EQ(6u, C->numbers().Slots);
  Hold.unlock();
  Scheduler.stop();
  EXPECT_TRUE(waitFor([&] { return !C->numbers().IsKnown; }));
  EXPECT_EQ(0u, C->numbers().Slots);
  C->stop();
}

// A request for the status gets the reason at once.
TEST_F(ClusterTest, WhyThereIsNoReport) {
  Settings S = settings("127.0.0.1:1");
  S.SchedulerSource = "$ICECC_SCHEDULER";
  std::vector<std::pair<std::string, std::string>> Cases = {
      {"127.0.0.1:1", "Connection refused"},
      {"127.0.0.1:x", "expected HOST or HOST:PORT"},
      {"nonexistent.invalid", "the icecream scheduler 'nonexistent.invalid'"}};
  for (const auto &[Scheduler, Why] : Cases) {
    S.Scheduler = Scheduler;
    auto C = std::make_shared<Cluster>(S, std::vector<std::string>{"x86_64"});
    C->start([] {});
    std::string Error;
    Clock::time_point Began = Clock::now();
    try {
      C->report(std::chrono::seconds(60), "");
      ADD_FAILURE();
    } catch (const dtlto::sdk::Error &E) {
      Error = E.what();
    }
    EXPECT_LT(Clock::now() - Began, std::chrono::seconds(20));
    EXPECT_NE(std::string::npos, Error.find(Why)) << Error;
    EXPECT_NE(std::string::npos, Error.find("as $ICECC_SCHEDULER says"))
        << Error;
    C->stop();
  }
}

TEST_F(ClusterTest, Probe) {
  MockServer Node("", [](MsgChannel &) {});
  std::vector<NodeJobs> Nodes(4);
  for (NodeJobs &N : Nodes)
    N.Address = "127.0.0.1";
  Nodes[0].Port = 1;
  Nodes[1].Port = Node.port();
  Nodes[2].Address = "a name";
  Nodes[2].Port = 1;
  Interrupt I;
  // The port of the last node is unknown.
  EXPECT_EQ((std::vector<std::string>{"Connection refused", "", "", ""}),
            probe(Nodes, std::chrono::seconds(30), I));
}

TEST_F(ClusterTest, StaysUntilItsLoginIsAnswered) {
  for (bool Answers : {true, false}) {
    std::promise<void> HasLogin;
    std::atomic<bool> HungUp{true};
    MockServer Scheduler("", [&](MsgChannel &Client) {
      std::unique_ptr<Msg> Login(Client.get_msg(30, true));
      HasLogin.set_value();
      // A client that doesn't wait would hang up by then.
      pollfd End = {Client.fd, POLLIN, 0};
      HungUp = ::poll(&End, 1, 100) != 0;
      if (Answers)
        Client.send_msg(node(1, "node", 1));
      else
        ::poll(&End, 1, -1);
    });
    std::shared_ptr<Cluster> C =
        make("127.0.0.1:" + std::to_string(Scheduler.port()));
    C->start([] {});
    HasLogin.get_future().wait();
    C->stop();
    EXPECT_FALSE(HungUp);
  }
}

TEST_F(ClusterTest, StopWaitsForNothing) {
  // This scheduler accepts a connection, but doesn't even send its version.
  int Fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in Address = {};
  Address.sin_family = AF_INET;
  Address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t Size = sizeof(Address);
  ASSERT_EQ(0, ::bind(Fd, reinterpret_cast<sockaddr *>(&Address), Size));
  ASSERT_EQ(0, ::listen(Fd, 1));
  ::getsockname(Fd, reinterpret_cast<sockaddr *>(&Address), &Size);
  std::shared_ptr<Cluster> C =
      make("127.0.0.1:" + std::to_string(ntohs(Address.sin_port)));
  watch(*C);
  pollfd P = {Fd, POLLIN, 0};
  ASSERT_EQ(1, ::poll(&P, 1, 30000));
  C->stop();
  EXPECT_FALSE(C->numbers().IsKnown);
  EXPECT_EQ(0u, NumChanges);
  // The cluster's thread ends as well.
  std::weak_ptr<Cluster> Weak = C;
  C.reset();
  auto End = Clock::now() + std::chrono::seconds(30);
  while (!Weak.expired() && Clock::now() < End)
    std::this_thread::yield();
  EXPECT_TRUE(Weak.expired());
  ::close(Fd);
}
