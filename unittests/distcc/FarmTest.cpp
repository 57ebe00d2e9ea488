//===- FarmTest.cpp - Hosts that fail, and hosts that recover -------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FakeHost.h"
#include "FakeResolver.h"
#include "SlotSharing.h"
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

using dtlto::TheNetworkLimits;
using namespace dtlto::test;

namespace {
class FarmTest : public PluginTest {
protected:
  void TearDown() override {
    PluginTest::TearDown();
    setResolver(nullptr);
  }
};
} // namespace

static MockDistccd::Act answer(const Answer &A) {
  return [A](MockDistccd::Peer &P) { P.send(A.wire()); };
}

static Answer version(const std::string &Stdout, uint32_t Status = 0,
                      const std::string &Stderr = "") {
  Answer A;
  A.Stdout = Stdout;
  A.Status = Status;
  A.Stderr = Stderr;
  return A;
}

/// Tests a bad host twice. Next to a good host, the good one gets all jobs.
/// Alone, the bad host ends the plugin. In both cases there is one warning,
/// which has all of \p Texts.
static void expectNotUsed(const std::string &Bad,
                          const std::vector<std::string> &Texts) {
  auto Check = [&](FakeHost &Host) {
    std::vector<std::string> Warnings = Host.warnings();
    ASSERT_EQ(Warnings.size(), 1u) << Bad;
    EXPECT_EQ(Warnings[0].substr(0, Bad.size() + 2), Bad + ": ");
    EXPECT_NE(Warnings[0].find("; not used for "), std::string::npos);
    for (const std::string &Text : Texts)
      EXPECT_NE(Warnings[0].find(Text), std::string::npos)
          << Warnings[0] << "\n has no " << Text;
  };
  {
    MockDistccd Good;
    FakeHost Host;
    ASSERT_EQ(Host.open({"hosts=" + Bad + " " + Good.name()}), DTLTO_OK);
    for (unsigned I = 0; I != 8; ++I) {
      std::string Output = std::to_string(I) + ".o";
      FakeHost::Completion D = Host.wait(Host.submit(smallJob(Output)));
      EXPECT_EQ(D.Object, objectOf(Output));
      EXPECT_EQ(D.Worker, Good.name());
    }
    Host.waitForLog(Bad + ": ");
    Host.close();
    Check(Host);
    EXPECT_TRUE(Host.errors().empty());
  }
  {
    FakeHost Host;
    ASSERT_EQ(Host.open({"hosts=" + Bad}), DTLTO_OK);
    uint64_t Before = Host.submit(smallJob("before.o"));
    EXPECT_EQ(Host.wait(Before).Status, DTLTO_ERROR_INFRASTRUCTURE);
    Host.waitForLog("cannot be used");
    FakeHost::Completion D = Host.wait(Host.submit(smallJob("after.o")));
    EXPECT_EQ(D.Status, DTLTO_ERROR_INFRASTRUCTURE);
    Host.close();
    Check(Host);
    ASSERT_EQ(Host.errors().size(), 1u);
    EXPECT_EQ(Host.errors()[0].find("the only host, "), 0u);
    EXPECT_NE(Host.errors()[0].find(
                  ", cannot be used; --thinlto-dist-status shows why"),
              std::string::npos);
  }
}

//===----------------------------------------------------------------------===//
// Probes
//===----------------------------------------------------------------------===//

TEST_F(FarmTest, WrongVersion) {
  MockDistccd Bad("19.1.6");
  expectNotUsed(Bad.name(), {"19.1.6", "19.1.7", "install"});
  EXPECT_EQ(Bad.numJobs(), 0u);
}

TEST_F(FarmTest, OtherCompilers) {
  MockDistccd Bad;
  Bad.onProbe(answer(version("gcc (Debian 12.2.0) 12.2.0\n")));
  expectNotUsed(Bad.name(), {"clang-19", "gcc (Debian"});
}

TEST_F(FarmTest, NoOutput) {
  MockDistccd Bad;
  Bad.onProbe(answer(version("")));
  expectNotUsed(Bad.name(), {"clang-19"});
}

TEST_F(FarmTest, NotInstalled) {
  MockDistccd Bad;
  Bad.onProbe(answer(version("", 110 << 8)));
  expectNotUsed(Bad.name(), {"clang-19", "install it"});
}

TEST_F(FarmTest, VersionFails) {
  MockDistccd Bad;
  Bad.onProbe(answer(version("", 1 << 8, "what a pity\n")));
  expectNotUsed(Bad.name(), {"exit code 1", "what a pity"});
}

/// As from a distccd whose disk is full.
TEST_F(FarmTest, VersionFailsWithoutAWord) {
  MockDistccd Bad;
  Bad.onProbe(answer(version("", 1 << 8)));
  expectNotUsed(Bad.name(), {"exit code 1: is the disk of its TMPDIR full?"});
}

TEST_F(FarmTest, AJobIsReset) {
  MockDistccd Bad;
  Bad.onJob([](MockDistccd::Peer &P) { P.reset(); });
  FakeHost Host;
  ASSERT_EQ(Host.open({hosts({&Bad})}), DTLTO_OK);
  FakeHost::Completion D = Host.wait(Host.submit(smallJob("x.o")));
  EXPECT_NE(D.Message.find("is the disk of its TMPDIR full?"),
            std::string::npos)
      << D.Message;
}

TEST_F(FarmTest, CompilerNotAllowed) {
  MockDistccd Bad;
  Bad.onProbe([](MockDistccd::Peer &) {});
  expectNotUsed(Bad.name(), {"clang-19", "update-distcc-symlinks"});
}

TEST_F(FarmTest, AddressNotAllowed) {
  MockDistccd Bad;
  // At different moments, even before the client has noticed the connection.
  for (size_t Size : {0, 0, 0, 0, 1, 12}) {
    Bad.onConnect([=](MockDistccd::Peer &P) {
      P.receive(Size);
      P.reset();
    });
    expectNotUsed(Bad.name(), {"--allow"});
  }
}

TEST_F(FarmTest, WebServer) {
  MockDistccd Bad;
  Bad.onConnect([](MockDistccd::Peer &P) {
    P.receive(100);
    P.send("HTTP/1.1 400 Bad Request\r\nServer: x\r\n\r\n");
    P.waitForDisconnect();
  });
  expectNotUsed(Bad.name(), {"not a distccd", "HTTP/1.1"});
}

TEST_F(FarmTest, NoAnswer) {
  setenv("DISTCC_IO_TIMEOUT", "1", 1);
  MockDistccd Bad;
  Bad.onProbe([](MockDistccd::Peer &P) { P.waitForDisconnect(); });
  expectNotUsed(Bad.name(), {"no answer for 1 s", "overloaded"});
}

TEST_F(FarmTest, AnAnswerThatDribbles) {
  TheNetworkLimits.Pause = std::chrono::milliseconds(50);
  TheNetworkLimits.MinRate = UINT64_MAX;
  MockDistccd Bad;
  Bad.onProbe([](MockDistccd::Peer &P) {
    P.dribble(token("DONE", 3) + token("STAT", 0) + token("SERR", 9999) +
              std::string(9999, 'x'));
  });
  expectNotUsed(Bad.name(),
                {": it sent only ", " bytes in 0 s of its answer when "
                                    "asked for its compiler"});
}

TEST_F(FarmTest, AnAnswerWithoutEnd) {
  MockDistccd Bad;
  Bad.onProbe([](MockDistccd::Peer &P) {
    P.send(token("DONE", 3) + token("STAT", 0) + token("SERR", 16 << 20));
    while (P.send(std::string(1000, 'x')))
      ;
  });
  expectNotUsed(Bad.name(), {"its answer has more than 65536 bytes"});
}

TEST_F(FarmTest, NoHostAccepts) {
  setenv("DISTCC_IO_TIMEOUT", "1", 1);
  Listener Bad;
  expectNotUsed(Bad.name(), {"no answer for 1 s", "overloaded"});
}

TEST_F(FarmTest, ClosedPort) {
  MockDistccd Bad;
  Bad.stop();
  expectNotUsed(Bad.name(), {"refused", "is distccd running on port"});
}

TEST_F(FarmTest, UnknownName) {
  expectNotUsed("nowhere.invalid:4711", {"cannot be found"});
}

TEST_F(FarmTest, AllHostsBad) {
  MockDistccd Old("18.1.8"), Closed;
  Closed.stop();
  JobSpec Large = largeJob("large.o", 30000000);
  FakeHost Host;
  ASSERT_EQ(Host.open({hosts({&Old, &Closed}) + " nowhere.invalid"}), DTLTO_OK);
  std::vector<uint64_t> Ids;
  // This job is still being compressed when the last host fails.
  Ids.push_back(Host.submit(Large));
  for (unsigned I = 0; I != 5; ++I)
    Ids.push_back(Host.submit(smallJob(std::to_string(I) + ".o")));
  for (uint64_t Id : Ids)
    EXPECT_EQ(Host.wait(Id).Status, DTLTO_ERROR_INFRASTRUCTURE);
  Host.close();
  EXPECT_EQ(Host.warnings().size(), 3u);
  EXPECT_EQ(Host.errors(),
            (std::vector<std::string>{"none of the 3 hosts can be used; "
                                      "--thinlto-dist-status shows why"}));
}

//===----------------------------------------------------------------------===//
// Spare hosts
//===----------------------------------------------------------------------===//

namespace {
/// A link of one module, and four hosts with one slot each.
class SpareHostsTest : public FarmTest {
protected:
  void SetUp() override {
    FarmTest::SetUp();
    setenv("DISTCC_IO_TIMEOUT", "100000", 1); // no host counts as slow
    M.resize(4);
    for (auto &Mock : M)
      Mock = std::make_unique<MockDistccd>();
    Host = std::make_unique<FakeHost>();
    Host->NumJobs = 1;
  }
  void TearDown() override {
    Host.reset();
    M.clear();
    FarmTest::TearDown();
  }
  int32_t open() {
    return Host->open(
        {hosts({M[0].get(), M[1].get(), M[2].get(), M[3].get()}, "/1")});
  }
  /// Expects that host \p Index runs the job, without a probe of later hosts.
  void expectOn(size_t Index) {
    ASSERT_EQ(open(), DTLTO_OK);
    FakeHost::Completion D = Host->wait(Host->submit(smallJob("x.o")));
    EXPECT_EQ(D.Object, objectOf("x.o"));
    EXPECT_EQ(D.Worker, M[Index]->name());
    Host->close();
    for (size_t I = 0; I != 4; ++I)
      EXPECT_EQ(M[I]->numProbes(), I <= Index ? 1u : 0u) << I;
  }
  std::vector<std::unique_ptr<MockDistccd>> M;
  std::unique_ptr<FakeHost> Host;
};
} // namespace

TEST_F(SpareHostsTest, NotNeeded) { expectOn(0); }

TEST_F(SpareHostsTest, ThereAreNoneForManyJobs) {
  Host->NumJobs = 4;
  ASSERT_EQ(open(), DTLTO_OK);
  for (auto &D : M)
    EXPECT_TRUE(D->waitFor([&] { return D->numProbes() == 1; }));
}

TEST_F(SpareHostsTest, AnotherVersion) {
  Answer Old;
  Old.Stdout = "clang version 18.1.8\n";
  M[0]->onProbe(answer(Old));
  M[1]->onProbe(answer(Old));
  expectOn(2);
}

TEST_F(SpareHostsTest, AJobThatFails) {
  M[0]->onJob([](MockDistccd::Peer &P) { P.close(); });
  expectOn(1);
}

TEST_F(SpareHostsTest, AHostThatIsSlowToAnswer) {
  setenv("DISTCC_IO_TIMEOUT", "10", 1);
  M[0]->onProbe([](MockDistccd::Peer &P) { P.hang(); });
  ASSERT_EQ(Host->open({hosts({M[0].get(), M[1].get()}, "/1")}), DTLTO_OK);
  EXPECT_EQ(Host->wait(Host->submit(smallJob("x.o"))).Worker, M[1]->name());
}

TEST_F(SpareHostsTest, SlotsThatAnotherLinkHas) {
  auto Other = dtlto::distcc::SlotLocks::open(Folder + "/lock/dtlto");
  ASSERT_TRUE(Other);
  ASSERT_TRUE(Other->take(dtlto::distcc::SlotLocks::host(M[0]->name()), 0));
  expectOn(1);
}

TEST_F(SpareHostsTest, ThisMachineIsNone) {
  ASSERT_EQ(Host->open({hosts({M[0].get()}, "/1") + " localhost/1"}), DTLTO_OK);
  M[0]->stop();
  EXPECT_EQ(Host->wait(Host->submit(smallJob("x.o"))).Status, DTLTO_OK);
}

namespace {
/// Limits the process to \p NumFree more file descriptors.
class FewFiles {
public:
  explicit FewFiles(rlim_t NumFree) {
    getrlimit(RLIMIT_NOFILE, &Before);
    int Lowest = dup(STDIN_FILENO);
    close(Lowest);
    rlimit Few = {static_cast<rlim_t>(Lowest) + NumFree, Before.rlim_max};
    setrlimit(RLIMIT_NOFILE, &Few);
  }
  ~FewFiles() { setrlimit(RLIMIT_NOFILE, &Before); }

private:
  rlimit Before;
};
} // namespace

TEST_F(FarmTest, NoFileDescriptorAtAll) {
#if defined(__has_feature)
#if __has_feature(undefined_behavior_sanitizer)
  GTEST_SKIP() << "the sanitizer itself opens a pipe to look at an exception";
#endif
#endif
  FakeHost Host;
  FewFiles None(0);
  EXPECT_EQ(Host.open({"hosts=127.0.0.1"}), DTLTO_ERROR_INFRASTRUCTURE);
  ASSERT_EQ(Host.errors().size(), 1u);
  EXPECT_EQ(Host.errors()[0].find("cannot start: "), 0u);
}

TEST_F(FarmTest, NoFileDescriptorForSsh) {
  FakeHost Host;
  FewFiles One(1);
  ASSERT_EQ(Host.open({"hosts=me@host.test"}), DTLTO_OK);
  EXPECT_EQ(Host.wait(Host.submit(smallJob("x.o"))).Status,
            DTLTO_ERROR_INFRASTRUCTURE);
  Host.close();
  ASSERT_EQ(Host.warnings().size(), 1u);
  EXPECT_NE(
      Host.warnings()[0].find("this machine cannot start 'ssh': Too many"),
      std::string::npos)
      << Host.warnings()[0];
}

TEST_F(FarmTest, NoFileDescriptorForAConnection) {
  Listener TheListener;
  FakeHost Host;
  FewFiles One(1);
  ASSERT_EQ(Host.open({"hosts=" + TheListener.name()}), DTLTO_OK);
  EXPECT_EQ(Host.wait(Host.submit(smallJob("x.o"))).Status,
            DTLTO_ERROR_INFRASTRUCTURE);
  Host.close();
  ASSERT_EQ(Host.warnings().size(), 1u);
  EXPECT_EQ(Host.warnings()[0].find(
                TheListener.name() +
                ": this machine cannot open a connection: Too many"),
            0u);
}

TEST_F(FarmTest, AFileDescriptorThatComesLater) {
  MockDistccd A;
  {
    // After this session, the mock's thread has all descriptors that it needs.
    FakeHost First;
    ASSERT_EQ(First.open({hosts({&A})}), DTLTO_OK);
    EXPECT_EQ(First.wait(First.submit(smallJob("x.o"))).Status, DTLTO_OK);
  }
  EXPECT_TRUE(A.waitFor([&] { return A.numOpen() == 0; }));
  FakeHost Host;
  auto One = std::make_unique<FewFiles>(1);
  ASSERT_EQ(Host.open({hosts({&A})}), DTLTO_OK);
  uint64_t Id = Host.submit(smallJob("x.o"));
  Host.waitForLog("this machine cannot open a connection: Too many");
  One.reset();
  EXPECT_EQ(Host.wait(Id).Object, objectOf("x.o"));
  EXPECT_EQ(Host.warnings().size(), 1u);
}

TEST_F(FarmTest, AFileDescriptorForTheResolverComesLater) {
  MockDistccd A;
  std::atomic<unsigned> NumLookups{0};
  setResolver([&](const std::string &) -> std::vector<std::string> {
    if (++NumLookups != 1)
      return {"127.0.0.1"};
    errno = EMFILE;
    return {};
  });
  FakeHost Host;
  ASSERT_EQ(Host.open({"hosts=name.test:" + std::to_string(A.port())}),
            DTLTO_OK);
  EXPECT_EQ(Host.wait(Host.submit(smallJob("x.o"))).Object, objectOf("x.o"));
  Host.waitForLog("this machine cannot look up the name: ");
  setResolver(nullptr);
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

TEST_F(FarmTest, AnotherAddressOfTheName) {
  MockDistccd A;
  setResolver([](const std::string &) {
    // Only the last address has a server.
    return std::vector<std::string>{"127.0.0.3", "127.0.0.2", "127.0.0.1"};
  });
  FakeHost Host;
  std::string Name = "several.test:" + std::to_string(A.port());
  ASSERT_EQ(Host.open({"hosts=" + Name}), DTLTO_OK);
  FakeHost::Completion D = Host.wait(Host.submit(smallJob("x.o")));
  EXPECT_EQ(D.Status, DTLTO_OK) << D.Message;
  EXPECT_EQ(D.Worker, Name);
}

/// A machine that came up later wasn't probed, so it gets no jobs, although it
/// is the name's first address.
TEST_F(FarmTest, JobsGoWhereTheProbeWent) {
  MockDistccd Good;
  std::unique_ptr<MockDistccd> Other;
  Good.onJob([&](MockDistccd::Peer &P) {
    if (!Other)
      Other = std::make_unique<MockDistccd>("19.1.6", "127.0.0.2", Good.port());
    Answer A;
    A.Object = objectOf(P.request().output());
    P.send(A.wire());
  });
  setResolver([](const std::string &) {
    return std::vector<std::string>{"127.0.0.2", "127.0.0.1"};
  });
  FakeHost Host;
  ASSERT_EQ(Host.open({"hosts=two.test:" + std::to_string(Good.port())}),
            DTLTO_OK);
  for (unsigned I = 0; I != 5; ++I) {
    std::string Output = std::to_string(I) + ".o";
    FakeHost::Completion D = Host.wait(Host.submit(smallJob(Output)));
    EXPECT_EQ(D.Status, DTLTO_OK) << D.Message;
    EXPECT_EQ(D.Object, objectOf(Output));
  }
  EXPECT_EQ(Good.numJobs(), 5u);
  ASSERT_NE(Other, nullptr);
  EXPECT_EQ(Other->numConnections(), 0u);
  EXPECT_TRUE(Host.warnings().empty());
}

TEST_F(FarmTest, CloseWhileANameIsLookedUp) {
  // Shared, because the resolving thread may use them last.
  auto FirstLookup = std::make_shared<Gate>(), G = std::make_shared<Gate>();
  setResolver([=](const std::string &) {
    FirstLookup->open();
    G->wait();
    return std::vector<std::string>{"127.0.0.1"};
  });
  FakeHost Host;
  ASSERT_EQ(Host.open({"hosts=slow.test"}), DTLTO_OK);
  uint64_t Id = Host.submit(smallJob("x.o"));
  EXPECT_TRUE(FirstLookup->wait());
  Host.close();
  EXPECT_EQ(Host.wait(Id).Status, DTLTO_CANCELLED);
  // The answer is ignored.
  G->open();
}

TEST_F(FarmTest, SlowNameDelaysNoJob) {
  MockDistccd A;
  auto G = std::make_shared<Gate>();
  setResolver([=](const std::string &) {
    G->wait();
    return std::vector<std::string>();
  });
  FakeHost Host;
  ASSERT_EQ(Host.open({hosts({&A}) + " slow.test"}), DTLTO_OK);
  EXPECT_EQ(Host.wait(Host.submit(smallJob("x.o"))).Status, DTLTO_OK);
  EXPECT_TRUE(Host.warnings().empty());
  G->open();
  Host.waitForLog("slow.test: cannot be found");
}

//===----------------------------------------------------------------------===//
// Builds of the same version
//===----------------------------------------------------------------------===//

TEST_F(FarmTest, AnotherBuildThanTheLinker) {
  MockDistccd A, B;
  B.onProbe(answer(version("AMD clang version 19.1.7 (a fork)\n")));
  FakeHost Host;
  Host.Params.linker = "Debian LLD 19.1.7";
  ASSERT_EQ(Host.open({hosts({&A, &B}, "/1")}), DTLTO_OK);
  Host.waitForLog(A.name() + ": has");
  Host.waitForLog(B.name() + ": has");
  ASSERT_EQ(Host.warnings().size(), 1u);
  EXPECT_EQ(Host.warnings()[0],
            B.name() + ": its compiler says 'AMD clang version 19.1.7 (a "
                       "fork)', but this linker is 'Debian LLD 19.1.7': the "
                       "objects may differ; --thinlto-dist-verify compares "
                       "them");
  EXPECT_TRUE(Host.messages(DTLTO_LOG_NOTE).empty());
}

TEST_F(FarmTest, HostsWithDifferentBuilds) {
  MockDistccd A, B, C;
  B.onProbe(answer(version("Debian clang version 19.1.7 (4)\n")));
  FakeHost Host;
  Host.Params.linker = "Debian LLD 19.1.7";
  ASSERT_EQ(Host.open({hosts({&A})}), DTLTO_OK);
  Host.waitForLog(A.name() + ": has");
  Host.close();
  EXPECT_TRUE(Host.messages(DTLTO_LOG_NOTE).empty());

  FakeHost Mixed;
  Mixed.Params.linker = "Debian LLD 19.1.7";
  ASSERT_EQ(Mixed.open({hosts({&A, &B, &C})}), DTLTO_OK);
  for (MockDistccd *Mock : {&A, &B, &C})
    Mixed.waitForLog(Mock->name() + ": has");
  EXPECT_TRUE(Mixed.warnings().empty());
  // The text depends on which host is asked first.
  std::vector<std::string> Notes = Mixed.messages(DTLTO_LOG_NOTE);
  ASSERT_FALSE(Notes.empty());
  for (const std::string &Note : Notes) {
    EXPECT_NE(Note.find("'Debian clang version 19.1.7 (3+b1)'"),
              std::string::npos)
        << Note;
    EXPECT_NE(Note.find("'Debian clang version 19.1.7 (4)'"), std::string::npos)
        << Note;
  }
}

//===----------------------------------------------------------------------===//
// Other hosts, and retries
//===----------------------------------------------------------------------===//

TEST_F(FarmTest, AJobGoesToAnotherHostAndNotBack) {
  setenv("DISTCC_BACKOFF_PERIOD", "0", 1);
  MockDistccd A, B;
  A.onJob([](MockDistccd::Peer &) {});
  FakeHost Host;
  ASSERT_EQ(Host.open({hosts({&A, &B})}), DTLTO_OK);
  Host.waitForLog(A.name() + ": has");
  Host.waitForLog(B.name() + ": has");
  for (unsigned I = 0; I != 10; ++I) {
    FakeHost::Completion D =
        Host.wait(Host.submit(smallJob(std::to_string(I) + ".o")));
    EXPECT_EQ(D.Status, DTLTO_OK) << D.Message;
    EXPECT_EQ(D.Worker, B.name());
  }
  // One try per job at A: A gets no pause, and no job comes to A again.
  EXPECT_EQ(A.numJobs(), 10u);
  EXPECT_EQ(B.numJobs(), 10u);
  EXPECT_TRUE(Host.warnings().empty());
}

TEST_F(FarmTest, ABadHostRests) {
  MockDistccd A, B;
  A.onJob([](MockDistccd::Peer &) {});
  FakeHost Host;
  ASSERT_EQ(Host.open({hosts({&A, &B})}), DTLTO_OK);
  Host.waitForLog(A.name() + ": has");
  Host.waitForLog(B.name() + ": has");
  for (unsigned I = 0; I != 10; ++I)
    EXPECT_EQ(Host.wait(Host.submit(smallJob(std::to_string(I) + ".o"))).Status,
              DTLTO_OK);
  EXPECT_EQ(A.numJobs(), 1u);
  ASSERT_EQ(Host.warnings().size(), 1u);
  EXPECT_EQ(Host.warnings()[0],
            A.name() + ": it closed the connection without an answer; not "
                       "used for 60 s");
}

TEST_F(FarmTest, AHostThatDamagesResultsRests) {
  MockDistccd A, B;
  A.onJob([](MockDistccd::Peer &P) {
    Answer Bad;
    Bad.Object = Damaged;
    P.send(Bad.wire());
  });
  FakeHost Host;
  ASSERT_EQ(Host.open({hosts({&A, &B})}), DTLTO_OK);
  Host.waitForLog(A.name() + ": has");
  Host.waitForLog(B.name() + ": has");
  for (unsigned I = 0; I != 5; ++I) {
    std::string Output = std::to_string(I) + ".o";
    EXPECT_EQ(Host.wait(Host.submit(smallJob(Output))).Object,
              objectOf(Output));
  }
  EXPECT_EQ(A.numJobs(), 1u);
  EXPECT_EQ(Host.warnings(),
            std::vector<std::string>{
                A.name() + ": the linker refuses it; not used for 60 s"});
}

/// A compiler that fails at once with any input.
static void failToCompile(MockDistccd::Peer &P) {
  Answer Bad;
  Bad.Status = 1 << 8;
  Bad.Stderr = "error: confused";
  P.send(Bad.wire());
}

static MockDistccd::Act goodAfter(Gate &G) {
  return [&G](MockDistccd::Peer &P) {
    G.wait();
    Answer Good;
    Good.Object = objectOf(P.request().output());
    P.send(Good.wire());
  };
}

/// The failing host always has room, the good one has none.
TEST_F(FarmTest, AHostThatFailsAtOnceDoesNotGetAllJobs) {
  Gate G; // the servers' threads use it until they end
  MockDistccd A, B;
  A.onJob(failToCompile);
  B.onJob(goodAfter(G));
  FakeHost Host;
  ASSERT_EQ(Host.open({hosts({&A, &B}, "/1")}), DTLTO_OK);
  Host.waitForLog(A.name() + ": has");
  Host.waitForLog(B.name() + ": has");
  // Two jobs fail at A. Four are in flight, the limit for two slots.
  std::vector<uint64_t> Ids;
  for (unsigned I = 0; I != 6; ++I)
    Ids.push_back(Host.submit(smallJob(std::to_string(I) + ".o")));
  // A's idle slot doesn't count as free.
  while (A.numJobs() < 2 || Host.load().free != 0)
    std::this_thread::yield();
  G.open();
  unsigned NumGood = 0;
  for (uint64_t Id : Ids)
    NumGood += Host.wait(Id).Worker == B.name();
  EXPECT_EQ(A.numJobs(), 2u);
  EXPECT_EQ(NumGood, 4u);
  EXPECT_TRUE(Host.warnings().empty());
}

/// The machine may be frozen if two jobs were taken back, but not after one.
TEST_F(FarmTest, AHostThatAnswersNothingGetsNoMoreJobs) {
  setenv("DISTCC_IO_TIMEOUT", "1", 1);
  for (unsigned NumTakenBack : {1, 2}) {
    Gate G; // the servers' threads use it until they end
    MockDistccd A, B;
    A.onJob(goodAfter(G));
    FakeHost Host;
    ASSERT_EQ(Host.open({hosts({&A, &B}, "/3")}), DTLTO_OK);
    Host.waitForLog(A.name() + ": has");
    Host.waitForLog(B.name() + ": has");
    std::vector<uint64_t> Ids;
    for (unsigned I = 0; I != NumTakenBack; ++I) {
      Ids.push_back(Host.submit(smallJob(std::to_string(I) + ".o")));
      Host.waitForState(Ids.back(), DTLTO_STATE_RUNNING);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    for (uint64_t Id : Ids)
      Host.cancel(Id);
    if (NumTakenBack == 1)
      G.open();
    EXPECT_EQ(Host.wait(Host.submit(smallJob("x.o"))).Worker,
              NumTakenBack == 1 ? A.name() : B.name());
    G.open();
  }
}

/// If all hosts fail, the modules themselves may be wrong.
TEST_F(FarmTest, WhereAllHostsFailAllAreUsed) {
  MockDistccd A, B;
  A.onJob(failToCompile);
  B.onJob(failToCompile);
  FakeHost Host;
  ASSERT_EQ(Host.open({hosts({&A, &B}, "/1")}), DTLTO_OK);
  for (unsigned I = 0; I != 8; ++I)
    EXPECT_EQ(Host.wait(Host.submit(smallJob(std::to_string(I) + ".o"))).Status,
              DTLTO_ERROR_COMPILER);
  EXPECT_TRUE(Host.warnings().empty());
}

TEST_F(FarmTest, AHostWithTwoRefutedErrorsRests) {
  MockDistccd A, B;
  A.onJob(failToCompile);
  FakeHost Host;
  ASSERT_EQ(Host.open({hosts({&A, &B})}), DTLTO_OK);
  Host.waitForLog(A.name() + ": has");
  Host.waitForLog(B.name() + ": has");
  for (const char *Output : {"1.o", "2.o"}) {
    EXPECT_TRUE(Host.warnings().empty()); // one may be an accident
    uint64_t Id = Host.submit(smallJob(Output));
    EXPECT_EQ(Host.wait(Id).Worker, A.name());
    Host.refute(Id);
  }
  for (const char *Output : {"3.o", "4.o"})
    EXPECT_EQ(Host.wait(Host.submit(smallJob(Output))).Worker, B.name());
  EXPECT_EQ(Host.warnings(),
            std::vector<std::string>{
                A.name() + ": 2 of its results were wrong, the last one an "
                           "error of a module that does compile; not used for "
                           "60 s"});
}

/// A result that the host finishes later doesn't end its rest.
TEST_F(FarmTest, AHostWithTwoRefusedObjectsRests) {
  Gate G; // the servers' threads use it until they end
  MockDistccd A, B;
  A.onJob([&](MockDistccd::Peer &P) {
    if (P.request().output() == "good.o")
      return goodAfter(G)(P);
    Answer Bad;
    Bad.Object = "no object";
    P.send(Bad.wire());
  });
  FakeHost Host;
  ASSERT_EQ(Host.open({hosts({&A, &B}, "/2")}), DTLTO_OK);
  Host.waitForLog(A.name() + ": has");
  uint64_t Good = Host.submit(smallJob("good.o"));
  for (const char *Output : {"1.o", "2.o"}) {
    JobSpec Spec = smallJob(Output);
    Spec.Avoid = B.name();
    uint64_t Id = Host.submit(Spec);
    EXPECT_EQ(Host.wait(Id).Worker, A.name());
    Host.refute(Id);
  }
  Host.waitForLog("2 of its results were wrong, the last one a wrong object; "
                  "not used for 60 s");
  G.open();
  EXPECT_EQ(Host.wait(Good).Worker, A.name());
  EXPECT_EQ(Host.wait(Host.submit(smallJob("next.o"))).Worker, B.name());
}

TEST_F(FarmTest, NoSpeedIsLearntFromErrors) {
  MockDistccd A, B;
  A.onJob([](MockDistccd::Peer &P) {
    if (P.request().output() == "bad.o")
      return failToCompile(P);
    Answer Good;
    Good.Object = objectOf(P.request().output());
    P.send(Good.wire());
  });
  FakeHost Host;
  ASSERT_EQ(Host.open({hosts({&A, &B})}), DTLTO_OK);
  Host.waitForLog(A.name() + ": has");
  Host.waitForLog(B.name() + ": has");
  auto Compile = [&](const char *Output, uint64_t Cost, const char *Avoid) {
    JobSpec Spec = smallJob(Output);
    Spec.Cost = Cost;
    Spec.Avoid = Avoid;
    return Host.wait(Host.submit(Spec)).Worker;
  };
  EXPECT_EQ(Compile("1.o", 1, ""), A.name());
  EXPECT_EQ(Compile("2.o", 1000000, ""), B.name()); // far faster
  EXPECT_EQ(Compile("bad.o", uint64_t(1) << 60, B.name().c_str()), A.name());
  EXPECT_EQ(Compile("3.o", 1, ""), B.name());
}

/// A job waits for another host, even if the host that it avoids has room.
TEST_F(FarmTest, AJobWaitsForAnotherHost) {
  Gate G; // the servers' threads use it until they end
  MockDistccd A, B;
  B.onJob(goodAfter(G));
  FakeHost Host;
  ASSERT_EQ(Host.open({hosts({&A, &B}, "/1")}), DTLTO_OK);
  Host.waitForLog(A.name() + ": has");
  Host.waitForLog(B.name() + ": has");
  EXPECT_EQ(Host.wait(Host.submit(smallJob("1.o"))).Worker, A.name());
  uint64_t Held = Host.submit(smallJob("2.o"));
  Host.waitForState(Held, DTLTO_STATE_RUNNING);
  JobSpec Spec = smallJob("3.o");
  Spec.Avoid = A.name();
  uint64_t WaitingJob = Host.submit(Spec);
  EXPECT_EQ(Host.wait(Host.submit(smallJob("4.o"))).Worker, A.name());
  G.open();
  EXPECT_EQ(Host.wait(WaitingJob).Worker, B.name());

  // Without another host, the avoided one gets the job.
  FakeHost Alone;
  Host.close();
  ASSERT_EQ(Alone.open({hosts({&A}, "/1")}), DTLTO_OK);
  EXPECT_EQ(Alone.wait(Alone.submit(Spec)).Worker, A.name());
}

TEST_F(FarmTest, ThreeHostsAreEnough) {
  setenv("DISTCC_BACKOFF_PERIOD", "0", 1);
  MockDistccd M[5];
  std::string List = "hosts=";
  for (MockDistccd &Mock : M) {
    Mock.onJob([](MockDistccd::Peer &) {});
    List += Mock.name() + " ";
  }
  FakeHost Host;
  ASSERT_EQ(Host.open({List}), DTLTO_OK);
  for (MockDistccd &Mock : M)
    Host.waitForLog(Mock.name() + ": has");
  JobSpec Spec = smallJob("x.o");
  FakeHost::Completion D = Host.wait(Host.submit(Spec));
  EXPECT_EQ(D.Status, DTLTO_ERROR_INFRASTRUCTURE);
  EXPECT_EQ(D.Message.find(M[2].name() + ": "), 0u) << D.Message;
  for (unsigned I = 0; I != 5; ++I)
    EXPECT_EQ(M[I].numJobs(), I < 3 ? 1u : 0u);

  // A second submission goes to hosts that haven't had the job.
  M[4].onJob(nullptr);
  D = Host.wait(Host.submit(Spec));
  EXPECT_EQ(D.Status, DTLTO_ERROR_INFRASTRUCTURE);
  EXPECT_EQ(M[3].numJobs(), 1u);
  D = Host.wait(Host.submit(Spec));
  EXPECT_EQ(D.Status, DTLTO_OK);
  EXPECT_EQ(D.Worker, M[4].name());
  for (MockDistccd &Mock : M)
    EXPECT_EQ(Mock.numJobs(), 1u);
}

TEST_F(FarmTest, AHostThatComesBack) {
  setenv("DISTCC_BACKOFF_PERIOD", "1", 1);
  MockDistccd A, B;
  A.onProbe([](MockDistccd::Peer &) {});
  FakeHost Host;
  ASSERT_EQ(Host.open({hosts({&A, &B}, "/1")}), DTLTO_OK);
  Host.waitForLog(A.name() + ": it closed the connection");
  EXPECT_EQ(Host.wait(Host.submit(smallJob("x.o"))).Worker, B.name());
  A.onProbe(nullptr);
  Host.waitForLog(A.name() + ": has clang-19");
  // B's speed is known. A gets the job, so that its speed is measured.
  EXPECT_EQ(Host.wait(Host.submit(smallJob("y.o"))).Worker, A.name());
  EXPECT_EQ(Host.warnings().size(), 1u);
}

/// The end of an old job says nothing of a machine that has the name now.
TEST_F(FarmTest, ANameThatHasAnotherMachineByThen) {
  setenv("DISTCC_BACKOFF_PERIOD", "1", 1);
  Gate G;
  MockDistccd A;
  MockDistccd Other("19.1.6", "127.0.0.2", A.port());
  auto NumLookups = std::make_shared<std::atomic<unsigned>>(0);
  setResolver([=](const std::string &) {
    return ++*NumLookups == 1
               ? std::vector<std::string>{"127.0.0.1"}
               : std::vector<std::string>{"127.0.0.2", "127.0.0.1"};
  });
  Other.onProbe([](MockDistccd::Peer &) {}); // closes without an answer
  A.onJob([&](MockDistccd::Peer &P) {
    if (P.request().output().find("bad") == 0)
      return;
    G.wait();
    Answer Good;
    Good.Object = objectOf(P.request().output());
    P.send(Good.wire());
  });
  FakeHost Host;
  ASSERT_EQ(Host.open({"hosts=two.test:" + std::to_string(A.port()) + "/2"}),
            DTLTO_OK);
  uint64_t Held = Host.submit(smallJob("held.o"));
  Host.waitForState(Held, DTLTO_STATE_RUNNING);
  for (const char *Bad : {"bad1.o", "bad2.o", "bad3.o"})
    EXPECT_EQ(Host.wait(Host.submit(smallJob(Bad))).Status,
              DTLTO_ERROR_INFRASTRUCTURE);
  Host.waitForLog("when asked for clang-19");
  G.open();
  EXPECT_EQ(Host.wait(Held).Status, DTLTO_OK);
  Host.wait(Host.submit(smallJob("next.o")));
  EXPECT_EQ(Other.numJobs(), 0u);
}

/// The only host broke the connections of one job. That doesn't end the plugin.
TEST_F(FarmTest, AJobThatFailsAlwaysIsNoReasonToRest) {
  Gate G; // the servers' threads use it until they end
  MockDistccd A;
  A.onJob([&](MockDistccd::Peer &P) {
    if (P.request().output() == "bad.o")
      return;
    G.wait();
    Answer Good;
    Good.Object = objectOf(P.request().output());
    P.send(Good.wire());
  });
  FakeHost Host;
  ASSERT_EQ(Host.open({hosts({&A}, "/2")}), DTLTO_OK);
  uint64_t Good = Host.submit(smallJob("good.o"));
  Host.waitForState(Good, DTLTO_STATE_RUNNING);
  uint64_t Bad = Host.submit(smallJob("bad.o"));
  EXPECT_EQ(Host.wait(Bad).Status, DTLTO_ERROR_INFRASTRUCTURE);
  G.open();
  EXPECT_EQ(Host.wait(Good).Status, DTLTO_OK);
  EXPECT_EQ(Host.wait(Host.submit(smallJob("next.o"))).Status, DTLTO_OK);
  EXPECT_TRUE(Host.errors().empty());
}

/// The job is retried on the only host if a reply ends early. The user gets one
/// note, at the end of the link.
TEST_F(FarmTest, TheOnlyHostThatFailsNowAndThen) {
  MockDistccd A;
  std::atomic<unsigned> Num{0};
  A.onJob([&](MockDistccd::Peer &P) {
    if (++Num % 3 == 0)
      return; // closes the connection
    Answer Good;
    Good.Object = objectOf(P.request().output());
    P.send(Good.wire());
  });
  FakeHost Host;
  ASSERT_EQ(Host.open({hosts({&A}, "/1")}), DTLTO_OK);
  for (unsigned I = 0; I != 20; ++I) {
    std::string Output = std::to_string(I) + ".o";
    FakeHost::Completion D = Host.wait(Host.submit(smallJob(Output)));
    EXPECT_EQ(D.Status, DTLTO_OK) << D.Message;
    EXPECT_EQ(D.Object, objectOf(Output));
  }
  EXPECT_TRUE(Host.messages(DTLTO_LOG_NOTE).empty());
  Host.close();
  EXPECT_TRUE(Host.warnings().empty());
  EXPECT_EQ(Host.messages(DTLTO_LOG_NOTE),
            std::vector<std::string>{
                A.name() + ": 9 of 29 jobs failed and were retried; the last "
                           "one: it closed the connection without an answer"});
}

/// The first probe of the only host may fail.
TEST_F(FarmTest, TheOnlyHostIsAskedAgain) {
  MockDistccd A;
  std::atomic<unsigned> Num{0};
  A.onProbe([&](MockDistccd::Peer &P) {
    if (++Num != 1)
      P.send(version("clang version 19.1.7\n").wire());
  });
  FakeHost Host;
  ASSERT_EQ(Host.open({hosts({&A})}), DTLTO_OK);
  EXPECT_EQ(Host.wait(Host.submit(smallJob("x.o"))).Object, objectOf("x.o"));
  EXPECT_TRUE(Host.warnings().empty());
}

/// A host that has completed jobs may fail once without a rest, but not twice
/// in a row.
TEST_F(FarmTest, AHostNextToAnotherThatFailsTwice) {
  MockDistccd A, B;
  std::atomic<bool> Fails{false};
  A.onJob([&](MockDistccd::Peer &P) {
    if (Fails)
      return;
    Answer Good;
    Good.Object = objectOf(P.request().output());
    P.send(Good.wire());
  });
  FakeHost Host;
  ASSERT_EQ(Host.open({hosts({&A, &B}, "/1")}), DTLTO_OK);
  Host.waitForLog(A.name() + ": has");
  Host.waitForLog(B.name() + ": has");
  auto Compile = [&](const char *Output, const std::string &Avoid) {
    JobSpec Spec = smallJob(Output);
    Spec.Avoid = Avoid;
    return Host.wait(Host.submit(Spec)).Worker;
  };
  EXPECT_EQ(Compile("1.o", B.name()), A.name());
  Fails = true;
  EXPECT_EQ(Compile("2.o", B.name()), B.name());
  EXPECT_TRUE(Host.warnings().empty());
  EXPECT_EQ(Compile("3.o", B.name()), B.name());
  EXPECT_EQ(Host.warnings(),
            std::vector<std::string>{A.name() +
                                     ": it closed the connection without an "
                                     "answer; not used for 60 s"});
  EXPECT_EQ(Compile("4.o", B.name()), B.name());
  EXPECT_EQ(A.numJobs(), 3u);
}

//===----------------------------------------------------------------------===//
// Servers that accept no more connections
//===----------------------------------------------------------------------===//

namespace {
/// Listens with the shortest possible queue, and fills it.
class FullQueue {
public:
  FullQueue() {
    Fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in A = {};
    A.sin_family = AF_INET;
    A.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t Size = sizeof(A);
    auto *Where = reinterpret_cast<sockaddr *>(&A);
    EXPECT_EQ(bind(Fd, Where, Size), 0);
    EXPECT_EQ(listen(Fd, 0), 0);
    getsockname(Fd, Where, &Size);
    Port = ntohs(A.sin_port);
    for (int &C : Clients) {
      C = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
      (void)!connect(C, Where, Size);
    }
  }
  ~FullQueue() { close(); }
  void close() {
    for (int *C : {&Clients[0], &Clients[1], &Clients[2], &Fd})
      if (*C >= 0)
        ::close(std::exchange(*C, -1));
  }
  std::string name() const { return "127.0.0.1:" + std::to_string(Port); }
  uint16_t Port = 0;

private:
  int Fd = -1, Clients[3];
};
} // namespace

TEST_F(FarmTest, AFullQueueOfConnectionsIsNoDeadMachine) {
  // The statistics port is asked after a second, and on a busy machine its
  // answer may take another one.
  TheNetworkLimits.Connect = std::chrono::seconds(4);
  FullQueue Full;
  MockDistccd Stats;
  Stats.onConnect([](MockDistccd::Peer &P) {
    P.receive(18);
    P.send("HTTP/1.0 200 OK\r\n\r\n\ndcc_max_kids 2\n");
  });
  FakeHost Host;
  ASSERT_EQ(Host.open({"hosts=" + Full.name() + "/2",
                       "stats-port=" + std::to_string(Stats.port())}),
            DTLTO_OK);
  uint64_t Id = Host.submit(smallJob("x.o"));
  Host.waitForLog(Full.name() + ": it accepts no more connections, since it is "
                                "busy; waiting for it");
  EXPECT_TRUE(Host.warnings().empty());
  EXPECT_TRUE(Host.errors().empty());
  Full.close();
  MockDistccd A("19.1.7", "127.0.0.1", Full.Port);
  EXPECT_EQ(Host.wait(Id).Object, objectOf("x.o"));
}

/// No other connection shows that the machine is up.
TEST_F(FarmTest, NoAnswerToAConnection) {
  TheNetworkLimits.Connect = std::chrono::milliseconds(1200);
  FullQueue Off;
  FakeHost Host;
  ASSERT_EQ(Host.open({"hosts=" + Off.name()}), DTLTO_OK);
  EXPECT_EQ(Host.wait(Host.submit(smallJob("x.o"))).Status,
            DTLTO_ERROR_INFRASTRUCTURE);
  EXPECT_EQ(Host.warnings(),
            std::vector<std::string>{
                Off.name() +
                ": cannot connect: no answer: is the machine on, and does a "
                "firewall let port " +
                std::to_string(Off.Port) + " through?; not used for 60 s"});
}

/// The first address doesn't answer.
TEST_F(FarmTest, TheSecondAddressIsTriedSoon) {
  FullQueue Off;
  MockDistccd A("19.1.7", "127.0.0.2", Off.Port);
  setResolver([](const std::string &) {
    return std::vector<std::string>{"127.0.0.1", "127.0.0.2"};
  });
  FakeHost Host;
  ASSERT_EQ(Host.open({"hosts=two.test:" + std::to_string(Off.Port)}),
            DTLTO_OK);
  auto Began = std::chrono::steady_clock::now();
  EXPECT_EQ(Host.wait(Host.submit(smallJob("x.o"))).Object, objectOf("x.o"));
  // The limit for one address is 10 s.
  EXPECT_LT(std::chrono::steady_clock::now() - Began, std::chrono::seconds(8));
}

/// File descriptors that become available are used.
TEST_F(FarmTest, MoreJobsRunOnceThereAreDescriptors) {
  Gate G; // the servers' threads use it until they end
  MockDistccd A;
  A.onJob(goodAfter(G));
  FakeHost Host;
  ASSERT_EQ(Host.open({hosts({&A}, "/4")}), DTLTO_OK);
  Host.waitForLog(A.name() + ": has");
  std::vector<uint64_t> Ids = {Host.submit(smallJob("0.o"))};
  Host.waitForState(Ids[0], DTLTO_STATE_RUNNING);
  auto None = std::make_unique<FewFiles>(0);
  // One of these may get the descriptor of a connection that ends meanwhile.
  for (const char *Output : {"1.o", "2.o", "3.o"})
    Ids.push_back(Host.submit(smallJob(Output)));
  Host.waitForLog("fewer jobs run at a time");
  None.reset();
  for (const char *Output : {"4.o", "5.o"})
    Ids.push_back(Host.submit(smallJob(Output)));
  EXPECT_TRUE(A.waitFor([&] { return A.mostJobs() == 4; }));
  G.open();
  Host.waitForAll();
}
