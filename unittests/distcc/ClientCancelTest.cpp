//===- ClientCancelTest.cpp - Jobs and sessions that end early ------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FakeHost.h"
#include <cstdlib>

using namespace dtlto::test;

namespace {

class ClientCancelTest : public PluginTest {};

/// A session with a job in each state. None of the jobs continues by itself.
class JobsInEachState {
public:
  JobsInEachState() {
    Host.OnLocal = [&](uint64_t) { LocalGate.wait(); };
    A.onConnect([&](MockDistccd::Peer &P) {
      if (P.answerIfProbe())
        return;
      // Read no more of the job until the test expects its end.
      SendGate.wait();
      P.waitForDisconnect();
    });
    B.onJob([](MockDistccd::Peer &P) {
      if (P.request().output() == "receiving.o")
        P.send(token("DONE", 3) + token("STAT", 0));
      P.waitForDisconnect();
    });
    EXPECT_EQ(
        Host.open({hosts({&A}, "/1") + " " + B.name() + "/2 localhost/1"}),
        DTLTO_OK);
    // Wait for both, because hosts are chosen in the order of the list.
    Host.waitForLog(A.name() + ": has clang-19");
    Host.waitForLog(B.name() + ": has clang-19");
    Sending = Host.submit(largeJob("sending.o", 8000000));
    EXPECT_TRUE(A.waitFor([&] { return A.numConnections() == 2; }));
    Waiting = Host.submit(smallJob("waiting.o"));
    Host.waitForState(Waiting, DTLTO_STATE_RUNNING);
    Receiving = Host.submit(smallJob("receiving.o"));
    Host.waitForState(Receiving, DTLTO_STATE_RECEIVING);
    Local = Host.submit(smallJob("local.o"));
    Host.waitForLocal(1);
    Queued = Host.submit(smallJob("queued.o"));
    Packing = Host.submit(largeJob("packing.o", 20000000));
  }
  ~JobsInEachState() {
    SendGate.open();
    LocalGate.open();
  }

  Gate SendGate, LocalGate; // the servers' threads use them until they end
  MockDistccd A, B;
  FakeHost Host;
  uint64_t Sending, Waiting, Receiving, Local, Queued, Packing;
};

} // namespace

TEST_F(ClientCancelTest, CancelInEachState) {
  JobsInEachState S;
  // First the jobs that could take the slots of others.
  for (uint64_t Id : {S.Packing, S.Queued, S.Sending, S.Waiting, S.Receiving}) {
    S.Host.cancel(Id);
    S.Host.cancel(Id);
    EXPECT_EQ(S.Host.wait(Id).Status, DTLTO_CANCELLED);
    S.Host.cancel(Id); // ended already
  }
  S.SendGate.open();
  EXPECT_TRUE(S.A.waitFor([&] { return S.A.numLeft() == 1; }));
  EXPECT_TRUE(S.B.waitFor([&] { return S.B.numLeft() == 2; }));
  // A local compile continues.
  S.Host.cancel(S.Local);
  S.LocalGate.open();
  EXPECT_EQ(S.Host.wait(S.Local).Object, "local local.o");
  EXPECT_TRUE(S.Host.warnings().empty()); // no host is to blame
  // All slots are free again: the next job goes to A, the first host, which
  // doesn't answer.
  S.Host.submit(smallJob("last.o"));
  EXPECT_TRUE(S.A.waitFor([&] { return S.A.numConnections() == 3; }));
}

TEST_F(ClientCancelTest, CloseInEachState) {
  JobsInEachState S;
  S.SendGate.open();
  S.LocalGate.open(); // close() waits for it
  S.Host.close();
  for (uint64_t Id : {S.Sending, S.Waiting, S.Receiving})
    EXPECT_EQ(S.Host.wait(Id).Status, DTLTO_CANCELLED);
  // These may have finished.
  for (uint64_t Id : {S.Local, S.Queued, S.Packing}) {
    int32_t Status = S.Host.wait(Id).Status;
    EXPECT_TRUE(Status == DTLTO_CANCELLED || Status == DTLTO_OK) << Status;
  }
  EXPECT_TRUE(S.A.waitFor([&] { return S.A.numOpen() == 0; }));
  EXPECT_TRUE(S.B.waitFor([&] { return S.B.numOpen() == 0; }));
  EXPECT_EQ(S.B.numLeft(), 2u);
}

TEST_F(ClientCancelTest, UnknownIds) {
  MockDistccd A;
  FakeHost Host;
  ASSERT_EQ(Host.open({hosts({&A})}), DTLTO_OK);
  for (uint64_t Id : {uint64_t(0), uint64_t(1), UINT64_MAX})
    Host.cancel(Id);
  EXPECT_EQ(Host.wait(Host.submit(smallJob("x.o"))).Status, DTLTO_OK);
}

/// Cancels every second job while results arrive.
TEST_F(ClientCancelTest, CancelStorm) {
  MockDistccd A, B;
  FakeHost Host;
  ASSERT_EQ(Host.open({hosts({&A, &B}) + " localhost/2"}), DTLTO_OK);
  std::vector<uint64_t> Ids;
  for (unsigned I = 0; I != 400; ++I) {
    std::string Output = std::to_string(I) + ".o";
    Ids.push_back(
        Host.submit(I % 20 ? smallJob(Output) : largeJob(Output, 300000)));
    if (I % 2)
      Host.cancel(Ids[I]);
    if (I % 3 == 0)
      Host.cancel(Ids[I / 2]);
  }
  for (uint64_t Id : Ids)
    Host.cancel(Id);
  Host.waitForAll();
  unsigned NumOk = 0;
  for (unsigned I = 0; I != 400; ++I) {
    FakeHost::Completion D = Host.wait(Ids[I]);
    std::string Output = std::to_string(I) + ".o";
    if (D.Status == DTLTO_OK) {
      ++NumOk;
      EXPECT_TRUE(D.Object == objectOf(Output) ||
                  D.Object == "local " + Output);
    } else {
      EXPECT_EQ(D.Status, DTLTO_CANCELLED) << D.Message;
    }
  }
  EXPECT_GT(NumOk, 0u);
  EXPECT_TRUE(Host.warnings().empty());
  // All slots are free again.
  EXPECT_EQ(Host.wait(Host.submit(smallJob("last.o"))).Status, DTLTO_OK);
}

/// Calls close() at many moments while results arrive.
TEST_F(ClientCancelTest, CloseStorm) {
  MockDistccd A, B;
  for (unsigned Round = 0; Round != 40; ++Round) {
    FakeHost Host;
    ASSERT_EQ(Host.open({hosts({&A, &B}, "/8") + " localhost/2"}), DTLTO_OK);
    for (unsigned I = 0; I != Round; ++I)
      Host.submit(smallJob(std::to_string(I) + ".o"));
    Host.close();
  }
}

TEST_F(ClientCancelTest, CloseAtOnce) {
  MockDistccd A;
  for (unsigned Round = 0; Round != 20; ++Round) {
    FakeHost Host;
    ASSERT_EQ(Host.open({hosts({&A})}), DTLTO_OK);
  }
}

TEST_F(ClientCancelTest, CloseWhileProbesHang) {
  MockDistccd Silent, Half;
  Listener Never;
  Silent.onProbe([](MockDistccd::Peer &P) { P.waitForDisconnect(); });
  Half.onProbe([](MockDistccd::Peer &P) {
    P.send(token("DONE", 3));
    P.waitForDisconnect();
  });
  FakeHost Host;
  ASSERT_EQ(Host.open({hosts({&Silent, &Half}) + " " + Never.name()}),
            DTLTO_OK);
  uint64_t Id = Host.submit(smallJob("x.o"));
  EXPECT_TRUE(Silent.waitFor([&] { return Silent.numProbes() == 1; }));
  EXPECT_TRUE(Half.waitFor([&] { return Half.numProbes() == 1; }));
  Host.close();
  EXPECT_EQ(Host.wait(Id).Status, DTLTO_CANCELLED);
  EXPECT_TRUE(Silent.waitFor([&] { return Silent.numLeft() == 1; }));
  EXPECT_TRUE(Half.waitFor([&] { return Half.numLeft() == 1; }));
  EXPECT_TRUE(Host.warnings().empty());
}

/// The numbers of load() are consistent at any moment.
TEST_F(ClientCancelTest, LoadWhileResultsArrive) {
  MockDistccd A;
  FakeHost Host;
  ASSERT_EQ(Host.open({hosts({&A}, "/6")}), DTLTO_OK);
  for (unsigned I = 0; I != 100; ++I) {
    Host.submit(smallJob(std::to_string(I) + ".o"));
    dtlto_load Load = Host.load();
    EXPECT_EQ(Load.slots == 0, Load.workers == 0);
    EXPECT_LE(Load.free, Load.slots);
    EXPECT_LE(Load.slots, 6u);
    EXPECT_LE(Load.queued, 9u);
  }
  Host.waitForAll();
}
