//===- ClientTest.cpp - Successful jobs through the plugin's entry --------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FakeHost.h"
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>

using namespace dtlto::test;

namespace {
class ClientTest : public PluginTest {};
} // namespace

static std::string output(unsigned N) {
  return "job" + std::to_string(N) + ".o";
}

/// Runs \p NumJobs small jobs and checks their objects.
static void runMany(FakeHost &Host, unsigned NumJobs) {
  std::map<uint64_t, std::string> Outputs;
  for (unsigned I = 0; I != NumJobs; ++I)
    Outputs[Host.submit(smallJob(output(I)))] = output(I);
  Host.waitForAll();
  for (auto &[Id, Output] : Outputs) {
    FakeHost::Completion D = Host.wait(Id);
    EXPECT_EQ(D.Status, DTLTO_OK) << D.Message;
    EXPECT_EQ(D.Object, objectOf(Output));
    EXPECT_EQ(D.Message, "");
    EXPECT_EQ(D.Worker.substr(0, 10), "127.0.0.1:");
  }
}

TEST_F(ClientTest, OneHost) {
  MockDistccd A;
  FakeHost Host;
  ASSERT_EQ(Host.open({hosts({&A})}), DTLTO_OK);
  runMany(Host, 200);
  Host.close();
  EXPECT_EQ(A.numProbes(), 1u);
  EXPECT_EQ(A.numJobs(), 200u);
  EXPECT_LE(A.mostJobs(), 4u); // distcc's default limit
  EXPECT_TRUE(Host.warnings().empty());
  EXPECT_TRUE(Host.errors().empty());
}

TEST_F(ClientTest, TwoHosts) {
  MockDistccd A, B;
  FakeHost Host;
  ASSERT_EQ(Host.open({hosts({&A, &B}, "/3")}), DTLTO_OK);
  runMany(Host, 200);
  Host.close();
  EXPECT_EQ(A.numJobs() + B.numJobs(), 200u);
  EXPECT_LE(A.mostJobs(), 3u);
  EXPECT_LE(B.mostJobs(), 3u);
}

TEST_F(ClientTest, FourHosts) {
  MockDistccd A, B, C, D;
  FakeHost Host;
  ASSERT_EQ(Host.open({hosts({&A, &B, &C, &D}, "/1")}), DTLTO_OK);
  runMany(Host, 200);
  Host.close();
  EXPECT_EQ(A.numJobs() + B.numJobs() + C.numJobs() + D.numJobs(), 200u);
  for (MockDistccd *M : {&A, &B, &C, &D})
    EXPECT_LE(M->mostJobs(), 1u);
}

TEST_F(ClientTest, HostsFromTheEnvironment) {
  MockDistccd A;
  setenv("DISTCC_HOSTS", (A.name() + "/2,lzo").c_str(), 1);
  FakeHost Host;
  ASSERT_EQ(Host.open({}), DTLTO_OK);
  runMany(Host, 10);
  EXPECT_EQ(A.numJobs(), 10u);
}

TEST_F(ClientTest, FilesArriveAsTheyAre) {
  auto Shared = std::make_shared<Module>();
  Shared->Path = "lib/shared.bc";
  for (unsigned I = 0; I != 300000; ++I)
    Shared->Bytes += static_cast<char>(I * I >> 7);
  auto Empty = std::make_shared<Module>(Module{"lib/empty.bc", ""});

  MockDistccd A;
  std::vector<JobSpec> Jobs;
  for (unsigned I = 0; I != 20; ++I) {
    Jobs.push_back(I % 5 ? smallJob(output(I)) : largeJob(output(I), 200000));
    Jobs.back().Imports = {Shared, Empty};
    Jobs.back().Index = "the shard of " + output(I);
    Jobs.back().Args.push_back("-DX=" + output(I));
  }
  FakeHost Host;
  ASSERT_EQ(Host.open({hosts({&A}, "/8"), "compiler=my-clang"}), DTLTO_OK);
  for (const JobSpec &Spec : Jobs)
    Host.submit(Spec);
  Host.waitForAll();
  Host.close();

  std::map<std::string, WireRequest> Requests;
  for (const WireRequest &R : A.requests())
    Requests[R.output()] = R;
  ASSERT_EQ(Requests.size(), Jobs.size());
  for (const JobSpec &Spec : Jobs) {
    const WireRequest &R = Requests[Spec.Output];
    EXPECT_EQ(R.Wrong, "");
    EXPECT_EQ(R.Cdir, "/w");
    EXPECT_EQ(R.Argv, (std::vector<std::string>{"my-clang", "-c", "@args.c",
                                                "-o", Spec.Output}));
    const std::string &Path = Spec.Primary->Path;
    std::map<std::string, std::string> Want = {
        {"/w/" + Path, Spec.Primary->Bytes},
        {"/w/" + Path + ".thinlto.bc", Spec.Index},
        {"/w/lib/shared.bc", Shared->Bytes},
        {"/w/lib/empty.bc", ""},
        {"/w/args.c", "-O2\n-x\nir\n\"a b\"\n-DX=" + Spec.Output + "\n"}};
    EXPECT_TRUE(R.Files == Want) << Spec.Output;
  }
}

TEST_F(ClientTest, CompilerErrorsComeBackOnce) {
  MockDistccd A, B;
  auto Refuse = [](MockDistccd::Peer &P) {
    Answer Bad;
    Bad.Status = 1 << 8;
    Bad.Stderr = "error: m/x.o.bc is no bitcode\n";
    P.send(Bad.wire());
  };
  A.onJob(Refuse);
  B.onJob(Refuse);
  FakeHost Host;
  ASSERT_EQ(Host.open({hosts({&A, &B})}), DTLTO_OK);
  FakeHost::Completion D = Host.wait(Host.submit(smallJob("x.o")));
  EXPECT_EQ(D.Status, DTLTO_ERROR_COMPILER);
  // The linker replaces the path by the user's name of the module.
  EXPECT_EQ(D.Message, "error: m/x.o.bc is no bitcode");
  EXPECT_EQ(A.numJobs() + B.numJobs(), 1u);
  EXPECT_TRUE(Host.warnings().empty());
}

TEST_F(ClientTest, WhatCanNotBeSentIsTheCallersMistake) {
  MockDistccd A;
  FakeHost Host;
  ASSERT_EQ(Host.open({hosts({&A})}), DTLTO_OK);
  JobSpec Spec = smallJob("x.o");
  Spec.Args.push_back("@file");
  FakeHost::Completion D = Host.wait(Host.submit(Spec));
  EXPECT_EQ(D.Status, DTLTO_ERROR_CALLER);
  EXPECT_NE(D.Message.find("'@file'"), std::string::npos) << D.Message;
  EXPECT_EQ(A.numJobs(), 0u);
}

TEST_F(ClientTest, BusyUntilThereIsRoom) {
  Gate G; // the servers' threads use it until they end
  MockDistccd A;
  A.onJob([&](MockDistccd::Peer &P) {
    G.wait();
    Answer Good;
    Good.Object = objectOf(P.request().output());
    P.send(Good.wire());
  });
  FakeHost Host;
  ASSERT_EQ(Host.open({hosts({&A}, "/2")}), DTLTO_OK);
  std::vector<uint64_t> Ids;
  uint64_t Id;
  for (int32_t Status;
       (Status = Host.tryToSubmit(smallJob(output(unsigned(Ids.size()))),
                                  Id)) != DTLTO_BUSY;) {
    ASSERT_EQ(Status, DTLTO_OK);
    Ids.push_back(Id);
    ASSERT_LT(Ids.size(), 100u);
  }
  // The plugin accepts a few more jobs than can run, so that the next is ready.
  EXPECT_GT(Ids.size(), 2u);
  EXPECT_TRUE(A.waitFor([&] { return A.numJobs() == 2; }));
  dtlto_load Load = Host.load();
  EXPECT_EQ(Load.slots, 2u);
  EXPECT_EQ(Load.free, 0u);
  EXPECT_EQ(Load.queued, Ids.size() - 2);
  EXPECT_EQ(Load.workers, 1u);

  unsigned Before = Host.numRoomReports();
  G.open();
  // There is room again, and the host is told.
  Host.submit(smallJob("late.o"));
  EXPECT_GT(Host.numRoomReports(), Before);
  Host.waitForAll();
  Host.close();
  EXPECT_EQ(A.numJobs(), Ids.size() + 1);
  EXPECT_EQ(A.mostJobs(), 2u);
}

TEST_F(ClientTest, LoadOfAnIdleFarm) {
  MockDistccd A, B;
  FakeHost Host;
  ASSERT_EQ(Host.open({hosts({&A, &B}, "/3")}), DTLTO_OK);
  Host.wait(Host.submit(smallJob("x.o")));
  Host.waitForLog(A.name() + ": has clang-19 19.1.7, 3 slots");
  Host.waitForLog(B.name() + ": has clang-19 19.1.7, 3 slots");
  // By the end of two more jobs, the plugin has handled all earlier messages.
  Host.wait(Host.submit(smallJob("y.o")));
  Host.wait(Host.submit(smallJob("z.o")));
  dtlto_load Load = Host.load();
  EXPECT_EQ(Load.slots, 6u);
  EXPECT_EQ(Load.workers, 2u);
  EXPECT_LE(Load.free, 6u);
  EXPECT_LE(Load.queued, 1u);
}

TEST_F(ClientTest, ThisMachineRunsJobsInTheLinker) {
  Gate G;
  FakeHost Host;
  Host.OnLocal = [&](uint64_t) { G.wait(); };
  ASSERT_EQ(Host.open({"hosts=localhost/2"}), DTLTO_OK);
  std::vector<uint64_t> Ids;
  for (unsigned I = 0; I != 4; ++I)
    Ids.push_back(Host.submit(smallJob(output(I))));
  Host.waitForLocal(2);
  EXPECT_EQ(Host.load().slots, 2u);
  G.open();
  Host.waitForAll();
  for (unsigned I = 0; I != 4; ++I) {
    EXPECT_EQ(Host.wait(Ids[I]).Object, "local " + output(I));
    EXPECT_EQ(Host.states(Ids[I]).back(), uint32_t(DTLTO_STATE_LOCAL));
  }
  EXPECT_EQ(Host.mostLocal(), 2u);
}

TEST_F(ClientTest, ThisMachineNextToOthers) {
  MockDistccd A;
  FakeHost Host;
  ASSERT_EQ(Host.open({hosts({&A}, "/1") + " localhost/2"}), DTLTO_OK);
  for (unsigned I = 0; I != 60; ++I)
    Host.submit(smallJob(output(I)));
  Host.waitForAll();
  Host.close();
  EXPECT_LE(Host.mostLocal(), 2u);
  EXPECT_GE(Host.mostLocal(), 1u);
}

TEST_F(ClientTest, ThisMachineNeedsTheLinkersHelp) {
  FakeHost Host;
  Host.Extensions.clear();
  MockDistccd A;
  ASSERT_EQ(Host.open({hosts({&A}) + " localhost/2"}), DTLTO_OK);
  runMany(Host, 10);
  Host.close();
  EXPECT_EQ(A.numJobs(), 10u);
  ASSERT_EQ(Host.warnings().size(), 1u);
  EXPECT_EQ(Host.warnings()[0].substr(0, 11), "localhost: ");
}

TEST_F(ClientTest, FallbackCanBeForbidden) {
  setenv("DISTCC_FALLBACK", "0", 1);
  MockDistccd A;
  FakeHost Host;
  ASSERT_EQ(Host.open({hosts({&A})}), DTLTO_OK);
  runMany(Host, 1);
  EXPECT_STREQ(Host.config().no_fallback, "DISTCC_FALLBACK is 0");
}

TEST_F(ClientTest, FilesForMonitors) {
  namespace fs = std::filesystem;
  Gate G; // the servers' threads use it until they end
  MockDistccd A;
  A.onJob([&](MockDistccd::Peer &P) {
    G.wait();
    Answer Good;
    Good.Object = objectOf(P.request().output());
    P.send(Good.wire());
  });
  FakeHost Host;
  ASSERT_EQ(Host.open({hosts({&A}, "/3")}), DTLTO_OK);
  for (unsigned I = 0; I != 3; ++I)
    Host.waitForState(Host.submit(smallJob(output(I))), DTLTO_STATE_RUNNING);
  // Another thread writes these files.
  unsigned NumFiles = 0;
  for (unsigned I = 0; I != 3000 && NumFiles != 3; ++I) {
    NumFiles = 0;
    std::error_code Missing;
    for (auto &Entry : fs::directory_iterator(Folder + "/state", Missing))
      NumFiles += Entry.file_size() == 296;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(NumFiles, 3u);
  G.open();
  Host.waitForAll();
  Host.close();
  EXPECT_TRUE(fs::is_empty(Folder + "/state"));
}

TEST_F(ClientTest, AByteAtATime) {
  MockDistccd A;
  A.onJob([](MockDistccd::Peer &P) {
    Answer Good;
    Good.Stderr = "a warning\n";
    Good.Object = "small";
    for (char C : Good.wire())
      P.send(std::string(1, C));
  });
  A.onProbe([](MockDistccd::Peer &P) {
    Answer Good;
    Good.Stdout = "clang version 19.1.7\n";
    for (char C : Good.wire())
      P.send(std::string(1, C));
  });
  FakeHost Host;
  ASSERT_EQ(Host.open({hosts({&A})}), DTLTO_OK);
  for (unsigned I = 0; I != 10; ++I) {
    FakeHost::Completion D = Host.wait(Host.submit(smallJob(output(I))));
    EXPECT_EQ(D.Status, DTLTO_OK) << D.Message;
    EXPECT_EQ(D.Object, "small");
    EXPECT_EQ(D.Message, "a warning");
  }
}

// Judging by the reported states, a host never has more jobs that are sent or
// compiled at the same time than slots.
TEST_F(ClientTest, ASlotHoldsOneAtATime) {
  MockDistccd A;
  FakeHost Host;
  ASSERT_EQ(Host.open({hosts({&A}, "/2")}), DTLTO_OK);
  runMany(Host, 100);
  Host.close();
  std::set<uint64_t> InSlots, SeenIds;
  size_t Most = 0;
  for (auto [Id, State] : Host.states()) {
    if (State == DTLTO_STATE_RECEIVING)
      EXPECT_EQ(InSlots.erase(Id), 1u);
    else
      InSlots.insert(Id);
    SeenIds.insert(Id);
    Most = std::max(Most, InSlots.size());
  }
  EXPECT_EQ(Most, 2u);
  EXPECT_EQ(SeenIds.size(), 100u);
}

TEST_F(ClientTest, ALargeJobAndALargeObject) {
  MockDistccd A;
  std::string Object = largeJob("", 20000000).Primary->Bytes;
  A.onJob([&](MockDistccd::Peer &P) {
    Answer Good;
    Good.Object = Object;
    P.send(Good.wire());
  });
  FakeHost Host;
  ASSERT_EQ(Host.open({hosts({&A})}), DTLTO_OK);
  JobSpec Spec = largeJob("x.o", 20000000);
  uint64_t Id = Host.submit(Spec);
  EXPECT_TRUE(Host.wait(Id).Object == Object);
  Host.close();
  EXPECT_TRUE(A.requests()[0].Files["/w/m/x.o.bc"] == Spec.Primary->Bytes);
  std::vector<uint32_t> States = Host.states(Id);
  EXPECT_EQ(States, (std::vector<uint32_t>{
                        DTLTO_STATE_SENDING, DTLTO_STATE_SENDING,
                        DTLTO_STATE_RUNNING, DTLTO_STATE_RECEIVING}));
}
