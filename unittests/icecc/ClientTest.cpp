//===- ClientTest.cpp - Jobs through a cluster that fails -----------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tests the plugin's entry as the linker uses it, with a mock of the local
// daemon and a node. Stock daemons are tested in test/icecc.
//
//===----------------------------------------------------------------------===//

#include "ClientLinkTest.h"
#include "Network.h"
#include "dtlto/ext/refuted.h"
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <set>
#include <sys/resource.h>
#include <sys/socket.h>
#include <thread>
#include <tuple>

using namespace dtlto::test;
namespace fs = std::filesystem;

using ClientTest = ClientLinkTest;

//===----------------------------------------------------------------------===//
// Success
//===----------------------------------------------------------------------===//

TEST_F(ClientTest, OneJob) {
  setenv("ICECC_PREFERRED_HOST", "best", 1);
  ASSERT_EQ(DTLTO_OK, open());
  unsetenv("ICECC_PREFERRED_HOST");
  Completion D = compile();
  EXPECT_EQ(DTLTO_OK, D.Status);
  EXPECT_EQ("the bundle", D.Object);
  EXPECT_EQ("warning: all is well\n", D.Message);
  EXPECT_EQ(0u, D.Worker.find("127.0.0.1:"));
  close();
  ASSERT_TRUE(Cluster->waitForClosed());
  MockCluster::Records S = Cluster->records();
  EXPECT_EQ(std::vector<std::string>{"lib.a(1.o)"}, S.Files);
  EXPECT_EQ(std::vector<std::string>{"best"}, S.Preferred);
  EXPECT_EQ(std::vector<std::string>{"--frame"}, S.Flags);
  EXPECT_EQ(std::vector<std::string>{"clang"}, S.Compilers);
  EXPECT_EQ(1u, S.Environments);
  EXPECT_EQ(15u, S.EnvironmentBytes);
  EXPECT_EQ(1u, S.Ends); // the daemon is told
  EXPECT_EQ(0u, numLogged(DTLTO_LOG_WARNING) + numLogged(DTLTO_LOG_ERROR));
}

TEST_F(ClientTest, LargeAndEmptyBundles) {
  ASSERT_EQ(DTLTO_OK, open());
  std::string Large(5000001, 'x');
  for (size_t I = 0; I < Large.size(); I += 3)
    Large[I] = static_cast<char>(I * I >> 7);
  uint64_t A = submit(Large), B = submit("");
  EXPECT_EQ(Large, wait(A).Object);
  Completion D = wait(B);
  EXPECT_EQ(DTLTO_OK, D.Status);
  EXPECT_EQ("", D.Object);
  EXPECT_LE(Cluster->records().LargestChunk, 250000u);
}

TEST_F(ClientTest, ImportsAreSentApartAndKept) {
  dtlto_input Primary = {}, Import = {}, Index = {};
  Primary.role = DTLTO_ROLE_PRIMARY;
  Import.role = DTLTO_ROLE_IMPORT;
  Index.role = DTLTO_ROLE_INDEX;
  auto Text = [](size_t Size, char C) { return std::string(Size, C); };
  Parts = {{Text(600, 'h'), nullptr},  {Text(40000, 'p'), &Primary},
           {Text(512, 'h'), nullptr},  {Text(20000, 'a'), &Import},
           {Text(512, 'h'), nullptr},  {Text(5, 's'), &Import},
           {Text(512, 'h'), nullptr},  {Text(600000, 'b'), &Import},
           {Text(512, 'h'), nullptr},  {Text(250000, 'i'), &Index},
           {Text(1024, '\0'), nullptr}};
  std::string All;
  for (const Part &P : Parts)
    All += P.Bytes;
  const std::vector<size_t> Chunks = {41112,  20000,  1029,   250000,
                                      250000, 100000, 250000, 1536};
  ASSERT_EQ(DTLTO_OK, open());
  EXPECT_TRUE(compile().Object == All);
  EXPECT_EQ(Chunks, Cluster->records().Chunks);
  // Large imports aren't read again, but everything else is.
  for (Part &P : Parts)
    P.Bytes[0] ^= 1;
  std::string Again;
  for (const Part &P : Parts)
    Again += P.Bytes;
  for (size_t At : {size_t(41112), size_t(62141)})
    Again[At] ^= 1;
  EXPECT_TRUE(compile().Object == Again);
  EXPECT_EQ(Chunks, Cluster->records().Chunks);
}

TEST_F(ClientTest, ManyJobsAndOneEnvironment) {
  ASSERT_EQ(DTLTO_OK, open({"jobs=5"}));
  std::vector<uint64_t> Ids;
  for (unsigned I = 0; I != 100; ++I)
    Ids.push_back(submit("bundle " + std::to_string(I)));
  for (unsigned I = 0; I != 100; ++I)
    EXPECT_EQ("bundle " + std::to_string(I), wait(Ids[I]).Object);
  close();
  ASSERT_TRUE(Cluster->waitForClosed());
  MockCluster::Records S = Cluster->records();
  EXPECT_EQ(1u, S.Environments);
  EXPECT_EQ(S.Jobs, S.Ends);
  // A few jobs wait, to replace those whose results are being received.
  EXPECT_LE(MostAccepted, 20u + 5u);
}

TEST_F(ClientTest, NodesThatHaveTheEnvironment) {
  Cluster->HasEnvironment = true;
  ASSERT_EQ(DTLTO_OK, open());
  EXPECT_EQ(DTLTO_OK, compile().Status);
  EXPECT_EQ(0u, Cluster->records().Environments);
}

TEST_F(ClientTest, RequestsAreFew) {
  Cluster->Answer = MockCluster::Grants::Never;
  ASSERT_EQ(DTLTO_OK, open());
  unsigned N = 0;
  while (N != 100 && tryToSubmit("x"))
    ++N;
  EXPECT_GE(N, 2u);
  EXPECT_LE(N, 10u); // the number of slots is unknown
}

TEST_F(ClientTest, FewWaitForANode) {
  Cluster->Answer = MockCluster::Grants::Never;
  ASSERT_EQ(DTLTO_OK, open());
  for (unsigned I = 0; I != 6; ++I)
    ASSERT_TRUE(tryToSubmit("x"));
  ASSERT_TRUE(Cluster->waitForRequests(2));
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_EQ(2u, Cluster->records().Requests);
}

TEST_F(ClientTest, LoadIsWhatTheSchedulerTells) {
  std::mutex SlowMutex;
  MockServer Scheduler("", [&](MsgChannel &C) {
    std::unique_ptr<Msg> Login(C.get_msg(30, true));
    for (unsigned I = 1; I != 4; ++I)
      C.send_msg(MonStatsMsg(I, "Name:node\nIP:127.0.0.1\nMaxJobs:5\n"
                                "NoRemote:false\nPlatform:x86_64\n"));
    std::lock_guard<std::mutex> Lock(SlowMutex);
  });
  std::unique_lock<std::mutex> Hold(SlowMutex);
  setenv("ICECC_SCHEDULER",
         ("127.0.0.1:" + std::to_string(Scheduler.port())).c_str(), 1);
  ASSERT_EQ(DTLTO_OK, open());
  // load_changed() is called even if no job was refused.
  while (load().workers != 3)
    ASSERT_TRUE(waitForRoom());
  EXPECT_EQ(15u, load().slots);
  EXPECT_EQ(15u, load().free);
  Cluster->expect({Behaviour::Silent});
  uint64_t Id = submit("a");
  ASSERT_TRUE(Cluster->waitForJobs(1));
  EXPECT_EQ(14u, load().free);
  cancel(Id);
  EXPECT_EQ(DTLTO_CANCELLED, wait(Id).Status);
  Hold.unlock();
  Scheduler.stop();
}

TEST_F(ClientTest, BuildItYourself) {
  for (auto How :
       {MockCluster::Grants::Local, MockCluster::Grants::LocalByNoCS}) {
    Cluster->Answer = How;
    if (How == MockCluster::Grants::Local) {
      ASSERT_EQ(DTLTO_OK, open());
    }
    Completion D = compile();
    EXPECT_EQ(DTLTO_OK, D.Status);
    EXPECT_EQ("made here", D.Object);
  }
  close();
  ASSERT_TRUE(Cluster->waitForClosed());
  EXPECT_EQ(2u, Cluster->records().ClientJobs);
  EXPECT_EQ(2u, Cluster->records().LocalDone);
  EXPECT_EQ(0u, Cluster->records().Jobs);
}

TEST_F(ClientTest, BuildItYourselfWithoutCodegen) {
  Cluster->Answer = MockCluster::Grants::Local;
  Extensions.erase(DTLTO_EXT_LOCAL_CODEGEN);
  ASSERT_EQ(DTLTO_OK, open());
  Completion D = compile();
  EXPECT_EQ(DTLTO_ERROR_INFRASTRUCTURE, D.Status);
  EXPECT_NE(std::string::npos, D.Message.find("no node"));
}

//===----------------------------------------------------------------------===//
// Nodes that fail
//===----------------------------------------------------------------------===//

TEST_F(ClientTest, AnotherTry) {
  ASSERT_EQ(DTLTO_OK, open());
  for (Behaviour B :
       {Behaviour::Close, Behaviour::CutObject, Behaviour::ShortObject,
        Behaviour::LongObject, Behaviour::NoObject, Behaviour::OddMessage,
        Behaviour::OddObject, Behaviour::WrongChunkSize, Behaviour::Text,
        Behaviour::Crash}) {
    Cluster->expect({B, B});
    Completion D = compile();
    EXPECT_EQ(DTLTO_OK, D.Status) << int(B) << D.Message;
    EXPECT_EQ("the bundle", D.Object) << int(B);
  }
}

TEST_F(ClientTest, ThreeTries) {
  ASSERT_EQ(DTLTO_OK, open());
  const std::pair<Behaviour, const char *> Cases[] = {
      {Behaviour::Close, "closed"},
      {Behaviour::CutObject, "the object was cut off"},
      {Behaviour::ShortObject, "the linker refuses it"},
      {Behaviour::LongObject, "the linker refuses it"},
      {Behaviour::NoObject, "the linker refuses it"},
      {Behaviour::OddMessage, "instead of a result"},
      {Behaviour::OddObject, "instead of the object"},
      {Behaviour::WrongChunkSize, "a piece of the object was damaged"},
      {Behaviour::Text, "environment is gone"},
      {Behaviour::Crash, "status 105"}};
  unsigned Jobs = 0;
  for (auto [B, Text] : Cases) {
    Cluster->expect({B, B, B});
    Completion D = compile();
    EXPECT_EQ(DTLTO_ERROR_INFRASTRUCTURE, D.Status) << Text;
    EXPECT_NE(std::string::npos, D.Message.find(Text)) << D.Message;
    EXPECT_EQ("", D.Object);
    EXPECT_EQ(Jobs += 3, Cluster->records().Jobs);
    // A node may still be used after such a job.
    EXPECT_EQ(DTLTO_OK, compile().Status);
    ++Jobs;
  }
}

TEST_F(ClientTest, OneTry) {
  ASSERT_EQ(DTLTO_OK, open());
  Cluster->expect({Behaviour::CompileError, Behaviour::WorkerError});
  Completion D = compile();
  EXPECT_EQ(DTLTO_ERROR_COMPILER, D.Status);
  EXPECT_EQ("error: no registers left", D.Message);
  D = compile();
  EXPECT_EQ(DTLTO_ERROR_INFRASTRUCTURE, D.Status);
  EXPECT_NE(std::string::npos, D.Message.find("no bundle"));
  EXPECT_EQ(2u, Cluster->records().Jobs);
}

TEST_F(ClientTest, SilentNode) {
  Params.job_timeout_s = 1;
  ASSERT_EQ(DTLTO_OK, open());
  Cluster->expect({Behaviour::Silent, Behaviour::Good});
  Completion First = compile("the bundle", "slow.o");
  EXPECT_EQ(DTLTO_ERROR_INFRASTRUCTURE, First.Status);
  EXPECT_NE(std::string::npos, First.Message.find("within the time limit"));
  // The plugin fails the linker's retry with the same message, at once.
  Completion Second = compile("the bundle", "slow.o");
  EXPECT_EQ(DTLTO_ERROR_INFRASTRUCTURE, Second.Status);
  EXPECT_EQ(First.Message, Second.Message);
  EXPECT_EQ(1u, Cluster->records().Requests);
  EXPECT_EQ(1u, Cluster->records().Jobs);
  EXPECT_EQ("the bundle", compile("the bundle", "other.o").Object);
}

/// Returns incompressible bytes, more than sockets can buffer.
static std::string large() {
  std::string Bytes(30000000, 'x');
  uint32_t Random = 1;
  for (char &C : Bytes)
    C = static_cast<char>((Random = Random * 1664525 + 1013904223) >> 24);
  return Bytes;
}

/// Each byte is a sign of life, but the transfer never ends.
TEST_F(ClientTest, SlowTransfers) {
  Cluster->HasEnvironment = true;
  dtlto::TheNetworkLimits.Pause = std::chrono::milliseconds(300);
  dtlto::TheNetworkLimits.MinRate = UINT64_MAX;
  ASSERT_EQ(DTLTO_OK, open());
  const std::tuple<Behaviour, std::string, const char *> Cases[] = {
      {Behaviour::DribbledResult, "it sent only ", " in 0 s"},
      {Behaviour::DribbledObject, "the object was cut off: it sent only ",
       " in 0 s"},
      {Behaviour::SlowReader, "it read only ", " of the job"}};
  for (auto &[B, Text, Tail] : Cases) {
    Cluster->expect({B});
    Completion D = compile(B == Behaviour::SlowReader ? large() : "a");
    EXPECT_EQ(DTLTO_ERROR_INFRASTRUCTURE, D.Status);
    EXPECT_EQ(0u, D.Message.find("127.0.0.1:")) << D.Message;
    EXPECT_NE(std::string::npos, D.Message.find(": " + Text)) << D.Message;
    EXPECT_NE(std::string::npos, D.Message.find(Tail)) << D.Message;
  }
  // One try each: slow transfers aren't retried.
  EXPECT_EQ(3u, Cluster->records().Jobs);
}

TEST_F(ClientTest, SlowTransferOfTheEnvironment) {
  std::ofstream(Folder + "/worker.tar.gz") << large();
  dtlto::TheNetworkLimits.Pause = std::chrono::milliseconds(300);
  dtlto::TheNetworkLimits.MinRate = UINT64_MAX;
  ASSERT_EQ(DTLTO_OK, open());
  Cluster->expect({Behaviour::SlowEnvironment});
  Completion D = compile();
  EXPECT_EQ(DTLTO_ERROR_INFRASTRUCTURE, D.Status);
  EXPECT_NE(std::string::npos, D.Message.find(": it read only ")) << D.Message;
  EXPECT_NE(std::string::npos, D.Message.find(" of the environment"));
  EXPECT_EQ(0u, Cluster->records().Jobs);
}

/// The node's daemon blocks until the first piece arrives, so it must be small.
TEST_F(ClientTest, AnEnvironmentBeginsWithLittle) {
  std::ofstream(Folder + "/worker.tar.gz") << large();
  ASSERT_EQ(DTLTO_OK, open());
  EXPECT_EQ("the bundle", compile().Object);
  MockCluster::Records S = Cluster->records();
  EXPECT_EQ(large().size(), S.EnvironmentBytes);
  EXPECT_EQ(1024u, S.EnvironmentHead);
}

/// Connections to nodes detect dead machines by our limits.
TEST_F(ClientTest, ConnectionsAreWatched) {
  ASSERT_EQ(DTLTO_OK, open());
  Cluster->expect({Behaviour::Silent});
  uint64_t Id = submit("a");
  ASSERT_TRUE(Cluster->waitForJobs(1));
  unsigned NumFound = 0;
  for (int Fd = 3; Fd != 1000; ++Fd) {
    sockaddr_in Peer = {};
    socklen_t Size = sizeof(Peer);
    if (::getpeername(Fd, reinterpret_cast<sockaddr *>(&Peer), &Size) != 0 ||
        Peer.sin_family != AF_INET || ntohs(Peer.sin_port) != Cluster->port())
      continue;
    ++NumFound;
    int Value = 0;
    Size = sizeof(Value);
    ::getsockopt(Fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &Value, &Size);
    EXPECT_EQ(dtlto::TheNetworkLimits.AckTimeout.count(), Value);
    ::getsockopt(Fd, IPPROTO_TCP, TCP_KEEPIDLE, &Value, &Size);
    EXPECT_EQ(4, Value);
    ::getsockopt(Fd, SOL_SOCKET, SO_KEEPALIVE, &Value, &Size);
    EXPECT_EQ(1, Value);
  }
  EXPECT_EQ(1u, NumFound);
  cancel(Id);
  EXPECT_EQ(DTLTO_CANCELLED, wait(Id).Status);
}

TEST_F(ClientTest, NodeThatIsCutOffIsNoSlowNode) {
  ASSERT_EQ(DTLTO_OK, open());
  Cluster->expect({Behaviour::Close, Behaviour::Close, Behaviour::Close});
  EXPECT_EQ(DTLTO_ERROR_INFRASTRUCTURE, compile("a", "module.o").Status);
  EXPECT_EQ("a", compile("a", "module.o").Object);
}

// A node that can't be reached is tried twice. After that, its grants cost only
// another request.
TEST_F(ClientTest, NodeThatCannotBeReached) {
  ASSERT_EQ(DTLTO_OK, open());
  EXPECT_EQ(DTLTO_OK, compile().Status);
  Cluster->setNumDead(2);
  EXPECT_EQ(DTLTO_OK, compile().Status); // succeeds at the third try
  EXPECT_TRUE(
      hasLogged(DTLTO_LOG_WARNING,
                "node 127.0.0.1:1 cannot be reached from this machine"));
  // More grants of the dead node than a job has tries.
  Cluster->setNumDead(5);
  Completion D = compile();
  EXPECT_EQ(DTLTO_OK, D.Status) << D.Message;
  EXPECT_EQ(1u + 3 + 6, Cluster->records().Requests);
  EXPECT_EQ(3u, Cluster->records().Jobs);
  EXPECT_EQ(0u, Cluster->records().Blacklisted);
  EXPECT_EQ(1u, numLogged(DTLTO_LOG_WARNING));
}

// The only node is always used.
TEST_F(ClientTest, OnlyNodeThatCannotBeReached) {
  ASSERT_EQ(DTLTO_OK, open());
  Cluster->setNumDead(3);
  EXPECT_EQ(DTLTO_ERROR_INFRASTRUCTURE, compile().Status);
  EXPECT_EQ(3u, Cluster->records().Requests);
  EXPECT_EQ(1u, numLogged(DTLTO_LOG_WARNING));
}

// Without a second try, the warning comes at the end.
TEST_F(ClientTest, NodeThatCouldNotBeReachedOnce) {
  ASSERT_EQ(DTLTO_OK, open());
  Cluster->setNumDead(1);
  EXPECT_EQ(DTLTO_OK, compile().Status);
  EXPECT_EQ(0u, numLogged(DTLTO_LOG_WARNING));
  close();
  EXPECT_TRUE(
      hasLogged(DTLTO_LOG_WARNING, "node 127.0.0.1:1 cannot be reached"));
}

// With ICECC=no, no daemon is needed, as for icecc.
TEST_F(ClientTest, NothingIsDistributed) {
  setenv("ICECC", "no", 1);
  Cluster->stopDaemon();
  EXPECT_EQ(DTLTO_OK, open());
  unsetenv("ICECC");
  Completion D = compile();
  EXPECT_EQ(DTLTO_OK, D.Status);
  EXPECT_EQ("made here", D.Object);
  EXPECT_EQ(0u, Cluster->records().Requests);
  EXPECT_EQ(2u, load().slots);
  EXPECT_EQ(0u, numLogged(DTLTO_LOG_NOTE) + numLogged(DTLTO_LOG_WARNING));
}

// A temporary lack of descriptors doesn't slow the link down permanently.
TEST_F(ClientTest, MoreJobsAfterALackOfDescriptors) {
  ASSERT_EQ(DTLTO_OK, open());
  EXPECT_EQ(DTLTO_OK, compile().Status);
  rlimit Old;
  ASSERT_EQ(0, ::getrlimit(RLIMIT_NOFILE, &Old));
  rlimit None = {3, Old.rlim_max};
  ASSERT_EQ(0, ::setrlimit(RLIMIT_NOFILE, &None));
  int32_t Status = compile().Status;
  ASSERT_EQ(0, ::setrlimit(RLIMIT_NOFILE, &Old));
  EXPECT_EQ(DTLTO_ERROR_INFRASTRUCTURE, Status);
  // At first, one job at a time.
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));
  EXPECT_EQ(DTLTO_OK, compile().Status);
  Cluster->expect({Behaviour::Silent, Behaviour::Silent});
  unsigned Before = Cluster->records().Jobs;
  uint64_t One = submit("one"), Two = submit("two");
  EXPECT_TRUE(Cluster->waitForJobs(Before + 2));
  cancel(One);
  cancel(Two);
}

TEST_F(ClientTest, NodeThatCannotRunTheWorker) {
  Cluster->Verifies = false;
  ASSERT_EQ(DTLTO_OK, open());
  Completion D = compile();
  EXPECT_EQ(DTLTO_ERROR_INFRASTRUCTURE, D.Status);
  EXPECT_TRUE(hasLogged(DTLTO_LOG_WARNING, "cannot run the worker"));
  close();
  ASSERT_TRUE(Cluster->waitForClosed());
  EXPECT_EQ(3u, Cluster->records().Blacklisted);
  EXPECT_EQ(0u, Cluster->records().Jobs);
}

TEST_F(ClientTest, NodeWhoseErrorsAreRefuted) {
  auto *Refuted = static_cast<const dtlto_refuted *>(
      dtlto_plugin_entry.extension(DTLTO_EXT_REFUTED));
  ASSERT_NE(nullptr, Refuted);
  ASSERT_EQ(DTLTO_OK, open());
  Cluster->expect(
      {Behaviour::CompileError, Behaviour::Good, Behaviour::CompileError});
  // A single wrong result may be an accident.
  for (int32_t Status :
       {DTLTO_ERROR_COMPILER, DTLTO_OK, DTLTO_ERROR_COMPILER}) {
    EXPECT_EQ(0u, numLogged(DTLTO_LOG_WARNING));
    uint64_t Id = submit("the bundle");
    Completion D = wait(Id);
    EXPECT_EQ(Status, D.Status);
    if (Status != DTLTO_OK)
      Refuted->result(Handle, Id, D.Worker.c_str(), Status);
  }
  EXPECT_TRUE(hasLogged(DTLTO_LOG_WARNING, "2 of its results were wrong"));
  EXPECT_EQ(DTLTO_ERROR_INFRASTRUCTURE, compile().Status);
  close();
  ASSERT_TRUE(Cluster->waitForClosed());
  EXPECT_EQ(3u, Cluster->records().Jobs);
  EXPECT_EQ(3u, Cluster->records().Blacklisted);
}

//===----------------------------------------------------------------------===//
// Clusters and daemons that fail
//===----------------------------------------------------------------------===//

TEST_F(ClientTest, AClusterWithNothingButWrongObjects) {
  std::vector<Behaviour> Behaviours;
  for (unsigned I = 0; I != 50; ++I)
    Behaviours.insert(Behaviours.end(),
                      {Behaviour::ShortObject, Behaviour::WrongChunkSize});
  Cluster->expect(std::move(Behaviours));
  ASSERT_EQ(DTLTO_OK, open({"jobs=3"}));
  std::vector<uint64_t> Ids;
  for (unsigned I = 0; I != 20; ++I)
    Ids.push_back(submit("x"));
  for (uint64_t Id : Ids) {
    Completion D = wait(Id);
    EXPECT_EQ(DTLTO_ERROR_INFRASTRUCTURE, D.Status);
    EXPECT_TRUE(D.Message.find("the linker refuses it") != std::string::npos ||
                D.Message.find("damaged") != std::string::npos)
        << D.Message;
  }
  EXPECT_TRUE(waitForLog(DTLTO_LOG_ERROR, "the last 8 results of all nodes"));
  EXPECT_EQ(1u, numLogged(DTLTO_LOG_WARNING)) << "of the node";
  EXPECT_LE(Cluster->records().Jobs, 10u); // plus those that were running
}

TEST_F(ClientTest, WrongObjectsNowAndThen) {
  std::vector<Behaviour> Behaviours;
  for (unsigned I = 0; I != 30; ++I)
    Behaviours.insert(Behaviours.end(),
                      {Behaviour::ShortObject, Behaviour::Good});
  Cluster->expect(std::move(Behaviours));
  ASSERT_EQ(DTLTO_OK, open({"jobs=1"}));
  for (unsigned I = 0; I != 12; ++I)
    EXPECT_EQ(DTLTO_OK, compile().Status);
  EXPECT_EQ(0u, numLogged(DTLTO_LOG_WARNING) + numLogged(DTLTO_LOG_ERROR));
}

TEST_F(ClientTest, NoDaemon) {
  setenv("ICECC_TEST_SOCKET", (Folder + "/nobody").c_str(), 1);
  EXPECT_EQ(DTLTO_ERROR_INFRASTRUCTURE, open());
  EXPECT_TRUE(hasLogged(DTLTO_LOG_ERROR, "no local iceccd"));
  EXPECT_EQ(1u, numLogged(DTLTO_LOG_ERROR));
}

TEST_F(ClientTest, DaemonThatHangsUp) {
  Cluster->NumFails = 2;
  ASSERT_EQ(DTLTO_OK, open());
  EXPECT_EQ("the bundle", compile().Object);
  EXPECT_EQ(3u, Cluster->records().Requests);
}

TEST_F(ClientTest, DaemonThatSaysNo) {
  Cluster->Answer = MockCluster::Grants::Text;
  ASSERT_EQ(DTLTO_OK, open());
  Completion D = compile();
  EXPECT_EQ(DTLTO_ERROR_INFRASTRUCTURE, D.Status);
  EXPECT_EQ("local iceccd: go away", D.Message);
}

static const char NoGrant[] =
    "no node was granted for 1 s; --thinlto-dist-status shows the farm";

TEST_F(ClientTest, NoGrantInTime) {
  Cluster->Answer = MockCluster::Grants::Never;
  ASSERT_EQ(DTLTO_OK, open({"grant-timeout=1"}));
  Completion D = compile();
  EXPECT_EQ(DTLTO_ERROR_INFRASTRUCTURE, D.Status);
  EXPECT_EQ(NoGrant, D.Message);
  // One error for all, instead of one for each later job.
  EXPECT_TRUE(waitForLog(DTLTO_LOG_ERROR, NoGrant));
  close();
}

TEST_F(ClientTest, NoGrantInTimeWhileAnotherRuns) {
  ASSERT_EQ(DTLTO_OK, open({"grant-timeout=1"}));
  Cluster->expect({Behaviour::Silent});
  uint64_t Long = submit("a");
  ASSERT_TRUE(Cluster->waitForJobs(1));
  Cluster->setAnswer(MockCluster::Grants::Never);
  EXPECT_EQ(NoGrant, compile("b", "b.o").Message);
  EXPECT_EQ(NoGrant, compile("b", "b.o").Message);
  EXPECT_EQ(2u, Cluster->records().Requests);
  EXPECT_EQ(0u, numLogged(DTLTO_LOG_ERROR));
  cancel(Long);
  EXPECT_EQ(DTLTO_CANCELLED, wait(Long).Status);
}

TEST_F(ClientTest, DaemonThatDies) {
  Cluster->Answer = MockCluster::Grants::Never;
  ASSERT_EQ(DTLTO_OK, open());
  uint64_t A = submit("a"), B = submit("b");
  ASSERT_TRUE(Cluster->waitForRequests(2));
  Cluster->stopDaemon();
  fs::remove(Cluster->socket());
  EXPECT_EQ(DTLTO_ERROR_INFRASTRUCTURE, wait(A).Status);
  EXPECT_EQ(DTLTO_ERROR_INFRASTRUCTURE, wait(B).Status);
  EXPECT_EQ(DTLTO_ERROR_INFRASTRUCTURE, compile().Status);
  EXPECT_TRUE(waitForLog(DTLTO_LOG_ERROR, "can no longer be reached"));
  close();
  EXPECT_EQ(1u, numLogged(DTLTO_LOG_ERROR));
}

//===----------------------------------------------------------------------===//
// The linker
//===----------------------------------------------------------------------===//

TEST_F(ClientTest, CancelWhileWaiting) {
  Cluster->Answer = MockCluster::Grants::Never;
  ASSERT_EQ(DTLTO_OK, open());
  uint64_t Id = submit("a");
  ASSERT_TRUE(Cluster->waitForRequests(1));
  cancel(Id);
  EXPECT_EQ(DTLTO_CANCELLED, wait(Id).Status);
  EXPECT_TRUE(Cluster->waitForClosed()); // while the session is still open
  cancel(Id);
  cancel(1000);
}

TEST_F(ClientTest, CancelAtANode) {
  for (Behaviour B : {Behaviour::Silent, Behaviour::Deaf}) {
    if (B == Behaviour::Silent) {
      ASSERT_EQ(DTLTO_OK, open());
    }
    Cluster->expect({B});
    unsigned Before = Cluster->records().Jobs;
    // A deaf node blocks the transfer.
    uint64_t Id = submit(large());
    ASSERT_TRUE(Cluster->waitForJobs(Before + 1));
    cancel(Id);
    EXPECT_EQ(DTLTO_CANCELLED, wait(Id).Status);
    EXPECT_TRUE(Cluster->waitForClosed());
  }
  EXPECT_EQ("the bundle", compile().Object);
}

TEST_F(ClientTest, CloseWithJobs) {
  ASSERT_EQ(DTLTO_OK, open());
  Cluster->expect({Behaviour::Silent, Behaviour::Silent});
  submit("a");
  submit("b");
  ASSERT_TRUE(Cluster->waitForJobs(2));
  close(); // checks that all jobs have ended
}

TEST_F(ClientTest, CloseAtOnce) {
  ASSERT_EQ(DTLTO_OK, open());
  for (unsigned I = 0; I != 5; ++I)
    submit("a");
}

TEST_F(ClientTest, BundlesThatFail) {
  BundlesFail = true;
  ASSERT_EQ(DTLTO_OK, open());
  Completion D = compile();
  EXPECT_EQ(DTLTO_ERROR_INFRASTRUCTURE, D.Status);
  EXPECT_NE(std::string::npos, D.Message.find("bundle"));
  EXPECT_EQ(0u, Cluster->records().Jobs);
}

TEST_F(ClientTest, HostWithoutBundles) {
  Extensions.erase(DTLTO_EXT_BUNDLE);
  EXPECT_EQ(DTLTO_ERROR_CALLER, open());
  EXPECT_EQ(1u, numLogged(DTLTO_LOG_ERROR));
}

TEST_F(ClientTest, LogFile) {
  std::string File = Folder + "/log";
  setenv("ICECC_LOGFILE", File.c_str(), 1);
  setenv("ICECC_DEBUG", "debug", 1);
  ASSERT_EQ(DTLTO_OK, open());
  unsetenv("ICECC_LOGFILE");
  unsetenv("ICECC_DEBUG");
  Cluster->expect({Behaviour::Close});
  compile();
  close();
  std::ifstream In(File);
  std::string Text((std::istreambuf_iterator<char>(In)), {});
  EXPECT_NE(std::string::npos, Text.find("icecc: debug: module 'lib.a(1.o)'"));
  EXPECT_EQ(0u, numLogged(DTLTO_LOG_NOTE));
}
