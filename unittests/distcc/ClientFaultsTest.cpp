//===- ClientFaultsTest.cpp - Broken connections and wrong answers --------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Whatever a host does, a job ends in one of two ways: with the right object,
// from another host, or with an infrastructure error that names the host.
//
//===----------------------------------------------------------------------===//

#include "FakeHost.h"
#include <atomic>
#include <cstdlib>

using dtlto::TheNetworkLimits;
using namespace dtlto::test;

namespace {
class ClientFaultsTest : public PluginTest {
protected:
  void SetUp() override {
    PluginTest::SetUp();
    // Use a host again at once after a failure, for the next fault.
    setenv("DISTCC_BACKOFF_PERIOD", "0", 1);
  }

  /// Runs a job for each fault: first with the bad host alone, where all jobs
  /// must fail, then with a good host as well, where all must succeed.
  void runAll(const std::vector<MockDistccd::Act> &Faults,
              const std::vector<JobSpec> &Jobs);
  void runAlone(const std::vector<MockDistccd::Act> &Faults,
                const std::vector<JobSpec> &Jobs);
  void runWithGoodHost(const std::vector<MockDistccd::Act> &Faults,
                       const std::vector<JobSpec> &Jobs);
};
} // namespace

static std::string output(size_t N) { return std::to_string(N) + ".o"; }

static std::vector<JobSpec> smallJobs(size_t Num) {
  std::vector<JobSpec> Jobs;
  for (size_t I = 0; I != Num; ++I)
    Jobs.push_back(smallJob(output(I)));
  return Jobs;
}

/// Makes \p Bad react to job N with fault N.
static void setFaults(MockDistccd &Bad,
                      const std::vector<MockDistccd::Act> &Faults) {
  Bad.onJob([&Faults](MockDistccd::Peer &P) {
    Faults[std::stoul(P.request().output())](P);
  });
}

void ClientFaultsTest::runAlone(const std::vector<MockDistccd::Act> &Faults,
                                const std::vector<JobSpec> &Jobs) {
  MockDistccd Bad;
  setFaults(Bad, Faults);
  FakeHost Host;
  ASSERT_EQ(Host.open({hosts({&Bad}, "/8")}), DTLTO_OK);
  std::vector<uint64_t> Ids;
  for (const JobSpec &Spec : Jobs)
    Ids.push_back(Host.submit(Spec));
  for (size_t I = 0; I != Ids.size(); ++I) {
    FakeHost::Completion D = Host.wait(Ids[I]);
    EXPECT_EQ(D.Status, DTLTO_ERROR_INFRASTRUCTURE) << "fault " << I;
    EXPECT_EQ(D.Message.substr(0, Bad.name().size() + 2), Bad.name() + ": ")
        << "fault " << I;
    EXPECT_GT(D.Message.size(), Bad.name().size() + 10);
  }
  Host.close();
  // There is no other host. Some faults are retried on this one.
  EXPECT_GT(Bad.numJobs(), Faults.size());
  EXPECT_LE(Bad.numJobs(), 3 * Faults.size());
}

void ClientFaultsTest::runWithGoodHost(
    const std::vector<MockDistccd::Act> &Faults,
    const std::vector<JobSpec> &Jobs) {
  MockDistccd Bad, Good;
  setFaults(Bad, Faults);
  FakeHost Host;
  ASSERT_EQ(Host.open({hosts({&Bad, &Good}, "/8")}), DTLTO_OK);
  std::vector<uint64_t> Ids;
  for (const JobSpec &Spec : Jobs)
    Ids.push_back(Host.submit(Spec));
  for (size_t I = 0; I != Ids.size(); ++I) {
    FakeHost::Completion D = Host.wait(Ids[I]);
    EXPECT_EQ(D.Status, DTLTO_OK) << "fault " << I << ": " << D.Message;
    EXPECT_EQ(D.Object, objectOf(output(I))) << "fault " << I;
    EXPECT_EQ(D.Worker, Good.name());
  }
  Host.close();
  EXPECT_TRUE(Host.errors().empty());
}

void ClientFaultsTest::runAll(const std::vector<MockDistccd::Act> &Faults,
                              const std::vector<JobSpec> &Jobs) {
  runAlone(Faults, Jobs);
  runWithGoodHost(Faults, Jobs);
}

static std::string goodWire() {
  Answer Good;
  Good.Stderr = "warning: this and that\n";
  Good.Stdout = "what is written there\n";
  Good.Object = "an object of some bytes, some bytes, some bytes";
  return Good.wire();
}

//===----------------------------------------------------------------------===//
// Answers that are cut off
//===----------------------------------------------------------------------===//

TEST_F(ClientFaultsTest, ClosedAfterEachByte) {
  std::string Wire = goodWire();
  std::vector<MockDistccd::Act> Faults;
  for (size_t I = 0; I != Wire.size(); ++I)
    Faults.push_back(
        [Wire, I](MockDistccd::Peer &P) { P.send(Wire.substr(0, I)); });
  runAll(Faults, smallJobs(Faults.size()));
}

TEST_F(ClientFaultsTest, ResetAfterEachByte) {
  std::string Wire = goodWire();
  std::vector<MockDistccd::Act> Faults;
  for (size_t I = 0; I != Wire.size(); ++I)
    Faults.push_back([Wire, I](MockDistccd::Peer &P) {
      P.send(Wire.substr(0, I));
      P.reset();
    });
  runAll(Faults, smallJobs(Faults.size()));
}

TEST_F(ClientFaultsTest, ResetInsteadOfTheEnd) {
  MockDistccd A;
  A.onJob([](MockDistccd::Peer &P) {
    P.send(goodWire());
    P.reset();
  });
  FakeHost Host;
  ASSERT_EQ(Host.open({hosts({&A})}), DTLTO_OK);
  for (const JobSpec &Spec : smallJobs(20)) {
    FakeHost::Completion D = Host.wait(Host.submit(Spec));
    if (D.Status == DTLTO_OK)
      EXPECT_EQ(D.Object, "an object of some bytes, some bytes, some bytes");
    else
      EXPECT_EQ(D.Status, DTLTO_ERROR_INFRASTRUCTURE);
  }
}

/// A child of the server keeps the connection open after the answer.
TEST_F(ClientFaultsTest, AnAnswerWithoutAnEndIsTaken) {
  MockDistccd A;
  A.onJob([](MockDistccd::Peer &P) {
    P.send(goodWire());
    P.hang();
  });
  FakeHost Host;
  ASSERT_EQ(Host.open({hosts({&A})}), DTLTO_OK);
  FakeHost::Completion D = Host.wait(Host.submit(smallJob("x.o")));
  EXPECT_EQ(D.Status, DTLTO_OK) << D.Message;
  EXPECT_EQ(D.Object, "an object of some bytes, some bytes, some bytes");
}

//===----------------------------------------------------------------------===//
// Requests that are not read
//===----------------------------------------------------------------------===//

static constexpr size_t LargeSize = 6000000;

/// Makes \p Bad read \p Size bytes of each job, and then do \p Then.
static void readAndThen(MockDistccd &Bad, std::function<size_t()> Size,
                        MockDistccd::Act Then) {
  Bad.onConnect([=](MockDistccd::Peer &P) {
    if (P.answerIfProbe())
      return;
    P.receive(Size());
    Then(P);
  });
}

static void runLarge(MockDistccd &Bad) {
  MockDistccd Good;
  FakeHost Host;
  ASSERT_EQ(Host.open({hosts({&Bad, &Good}, "/8")}), DTLTO_OK);
  Host.waitForLog(Bad.name() + ": has clang-19");
  std::vector<uint64_t> Ids;
  for (size_t I = 0; I != 5; ++I)
    Ids.push_back(Host.submit(largeJob(output(I), LargeSize)));
  for (size_t I = 0; I != Ids.size(); ++I) {
    FakeHost::Completion D = Host.wait(Ids[I]);
    EXPECT_EQ(D.Status, DTLTO_OK) << D.Message;
    EXPECT_EQ(D.Object, objectOf(output(I)));
    EXPECT_EQ(D.Worker, Good.name());
  }
  Host.close();
  EXPECT_EQ(Bad.numConnections(), 6u);
  for (const WireRequest &R : Good.requests())
    EXPECT_EQ(R.Wrong, ""); // must be sent again from the beginning
}

/// Returns sizes from 0 to nearly all of a job.
static std::function<size_t()> sizes() {
  auto Next = std::make_shared<std::atomic<size_t>>(0);
  return [Next] { return (*Next)++ * (LargeSize / 4 - 1000); };
}

TEST_F(ClientFaultsTest, ClosedWhileAJobIsSent) {
  MockDistccd Bad;
  readAndThen(Bad, sizes(), [](MockDistccd::Peer &) {});
  runLarge(Bad);
}

TEST_F(ClientFaultsTest, ResetWhileAJobIsSent) {
  MockDistccd Bad;
  readAndThen(Bad, sizes(), [](MockDistccd::Peer &P) { P.reset(); });
  runLarge(Bad);
}

TEST_F(ClientFaultsTest, AnswerWhileAJobIsSent) {
  MockDistccd Bad;
  readAndThen(Bad, sizes(), [](MockDistccd::Peer &P) { P.send(goodWire()); });
  runLarge(Bad);
}

TEST_F(ClientFaultsTest, AJobIsNotTaken) {
  setenv("DISTCC_IO_TIMEOUT", "3", 1); // also the good host's limit
  MockDistccd Bad;
  readAndThen(Bad, sizes(), [](MockDistccd::Peer &P) { P.hang(); });
  runLarge(Bad);
}

//===----------------------------------------------------------------------===//
// Silence
//===----------------------------------------------------------------------===//

TEST_F(ClientFaultsTest, SilenceAtEachStep) {
  setenv("DISTCC_IO_TIMEOUT", "1", 1);
  std::string Wire = goodWire();
  std::vector<MockDistccd::Act> Faults;
  for (size_t Size :
       {size_t(0), size_t(5), size_t(12), size_t(24), size_t(30),
        Wire.find("DOTO"), Wire.find("DOTO") + 12, Wire.size() - 1})
    Faults.push_back([Wire, Size](MockDistccd::Peer &P) {
      P.send(Wire.substr(0, Size));
      P.hang();
    });
  runAll(Faults, smallJobs(Faults.size()));
}

//===----------------------------------------------------------------------===//
// Dribbling
//===----------------------------------------------------------------------===//

/// An answer that dribbles is given up even though each byte is a sign of life.
/// Bytes of an unneeded dependency file don't delay the result.
TEST_F(ClientFaultsTest, AnAnswerThatDribbles) {
  TheNetworkLimits.Pause = std::chrono::milliseconds(50);
  TheNetworkLimits.MinRate = UINT64_MAX;
  std::string Wire = goodWire();
  std::vector<MockDistccd::Act> Faults;
  for (size_t Size :
       {size_t(1), Wire.find("STAT"), Wire.find("DOTO"), Wire.size() - 40})
    Faults.push_back([Wire, Size](MockDistccd::Peer &P) {
      P.send(Wire.substr(0, Size));
      P.dribble(Wire.substr(Size));
    });
  runAll(Faults, smallJobs(Faults.size()));

  MockDistccd A;
  A.onJob([&](MockDistccd::Peer &P) {
    if (P.request().output() == "x.o")
      return P.dribble(Wire);
    P.send(Wire);
    P.dribble(token("DOTD", 1000) + std::string(2000, 'x'));
  });
  FakeHost Host;
  ASSERT_EQ(Host.open({hosts({&A})}), DTLTO_OK);
  FakeHost::Completion D = Host.wait(Host.submit(smallJob("x.o")));
  EXPECT_EQ(D.Message.find(A.name() + ": it sent only "), 0u) << D.Message;
  EXPECT_NE(D.Message.find(" bytes in 0 s of its answer"), std::string::npos)
      << D.Message;
  D = Host.wait(Host.submit(smallJob("y.o")));
  EXPECT_EQ(D.Status, DTLTO_OK) << D.Message;
  EXPECT_EQ(D.Object, "an object of some bytes, some bytes, some bytes");
}

TEST_F(ClientFaultsTest, AJobThatIsTakenSlowly) {
  setenv("DISTCC_IO_TIMEOUT", "1", 1);
  TheNetworkLimits.MinRate = UINT64_MAX;
  MockDistccd A;
  readAndThen(
      A, [] { return 0; },
      [](MockDistccd::Peer &P) {
        while (P.receive(10000).size() == 10000)
          std::this_thread::sleep_for(std::chrono::milliseconds(10));
      });
  FakeHost Host;
  ASSERT_EQ(Host.open({hosts({&A})}), DTLTO_OK);
  FakeHost::Completion D =
      Host.wait(Host.submit(largeJob("x.o", 4 * LargeSize)));
  EXPECT_EQ(D.Status, DTLTO_ERROR_INFRASTRUCTURE);
  EXPECT_EQ(D.Message.find(A.name() + ": it read only "), 0u) << D.Message;
}

//===----------------------------------------------------------------------===//
// Nonsense
//===----------------------------------------------------------------------===//

static std::string replaced(std::string Wire, const std::string &Token,
                            const std::string &By) {
  size_t At = Wire.find(Token);
  EXPECT_NE(At, std::string::npos);
  return Wire.replace(At, By.size(), By);
}

static std::vector<std::string> nonsense() {
  const std::string Good = goodWire();
  const std::string Head = token("DONE", 3) + token("STAT", 0);
  const std::string NoText = token("SERR", 0) + token("SOUT", 0);
  std::vector<std::string> Wires;
  for (const char *Name : {"DONE", "STAT", "SERR", "SOUT", "DOTO"}) {
    // Change each byte of each token.
    for (size_t I = 0; I != 4; ++I) {
      std::string Wrong = Name;
      Wrong[I] = Wrong[I] == 'X' ? 'Y' : 'X';
      Wires.push_back(replaced(Good, Name, Wrong));
    }
    for (size_t I = 0; I != 8; ++I)
      for (char C : {'g', ' ', '-', '\0', 'A', '\xff'}) {
        std::string Wrong = Good;
        Wrong[Wrong.find(Name) + 4 + I] = C;
        Wires.push_back(Wrong);
      }
  }
  for (uint32_t Version : {0u, 1u, 2u, 4u, 0xffffffffu})
    Wires.push_back(replaced(Good, "DONE", token("DONE", Version)));
  for (uint32_t Status : {0x10000u, 0x7fu, 0xffffffffu, 9u, 15u, 110u << 8})
    Wires.push_back(Head.substr(0, 12) + token("STAT", Status) + NoText +
                    token("DOTO", 0));
  // An object in spite of a failure.
  Wires.push_back(replaced(Good, "STAT", token("STAT", 1 << 8)));
  // Lengths that are too large, or absurd.
  for (const char *Name : {"SERR", "SOUT", "DOTO"})
    for (uint32_t Length :
         {0x1000u, 0x40000001u, 0x7fffffffu, 0x80000000u, 0xffffffffu})
      Wires.push_back(replaced(Good, Name, token(Name, Length)));
  // Lengths that are too small, so that the next token is wrong.
  for (const char *Name : {"SERR", "SOUT", "DOTO"})
    for (uint32_t Length : {0u, 1u, 10u})
      Wires.push_back(replaced(Good, Name, token(Name, Length)));
  // Bytes after the end.
  for (const char *Tail :
       {"D", "DOTD0000000", "DOTD00000000x", "garbage",
        "a whole token and some more", "DONE00000003STAT00000000"})
    Wires.push_back(Good + Tail);
  // No object, and an empty one.
  Wires.push_back(Head + NoText + token("DOTO", 0));
  Wires.push_back(Head + NoText + token("DOTO", 3) +
                  std::string("\x11\0\0", 3));
  // Invalid or damaged LZO data.
  for (const char *Name : {"SERR", "SOUT", "DOTO"}) {
    std::string Wire = Head;
    for (const char *Part : {"SERR", "SOUT", "DOTO"})
      Wire += std::string(Part) == Name
                  ? token(Part, 8) + "notalzo!"
                  : token(Part, 5) + std::string("\x12x\x11\0\0", 5);
    Wires.push_back(Wire);
  }
  std::string Object = packed(std::string(5000, 'x') + "and an end");
  for (size_t Cut = 1; Cut != Object.size(); ++Cut)
    Wires.push_back(Head + NoText +
                    token("DOTO", uint32_t(Object.size() - Cut)) +
                    Object.substr(0, Object.size() - Cut));
  Wires.push_back(Head + NoText + token("DOTO", uint32_t(Object.size() + 1)) +
                  Object + "x");
  // A text that decompresses to far too much.
  std::string Bomb = packed(std::string(size_t(65) << 20, 'x'));
  Wires.push_back(Head + token("SERR", uint32_t(Bomb.size())) + Bomb +
                  token("SOUT", 0) + token("DOTO", uint32_t(Object.size())) +
                  Object);
  // Other protocols.
  Wires.push_back("HTTP/1.0 400 Bad Request\r\n\r\n");
  Wires.push_back("SSH-2.0-OpenSSH_9.2\r\n");
  Wires.push_back(std::string(100000, '\0'));
  return Wires;
}

TEST_F(ClientFaultsTest, Nonsense) {
  std::vector<MockDistccd::Act> Faults;
  for (const std::string &Wire : nonsense())
    Faults.push_back([Wire](MockDistccd::Peer &P) { P.send(Wire); });
  runAll(Faults, smallJobs(Faults.size()));
}
