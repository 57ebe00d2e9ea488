//===- SlotLocksTest.cpp - Slots shared by several links ------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FakeHost.h"
#include "SlotSharing.h"
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace dtlto::distcc;
using namespace dtlto::test;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

namespace {

class SlotLocksTest : public PluginTest {
protected:
  std::string file() const { return Folder + "/lock/dtlto"; }
  std::unique_ptr<SlotLocks> open() const { return SlotLocks::open(file()); }

  /// Makes \p M sleep for \p Pause before each answer.
  static void slowly(MockDistccd &M, std::chrono::milliseconds Pause) {
    M.onJob([Pause](MockDistccd::Peer &P) {
      std::this_thread::sleep_for(Pause);
      Answer Good;
      Good.Object = objectOf(P.request().output());
      P.send(Good.wire());
    });
  }
  static std::string output(size_t N) {
    return "job" + std::to_string(N) + ".o";
  }
  /// Waits until \p What returns true; returns false after 20 s.
  template <typename T> static bool waitFor(T What) {
    for (unsigned I = 0; I != 2000; ++I) {
      if (What())
        return true;
      std::this_thread::sleep_for(10ms);
    }
    return false;
  }
};

} // namespace

TEST_F(SlotLocksTest, OneHasASlot) {
  auto A = open(), B = open();
  ASSERT_TRUE(A && B);
  SlotLocks::Host H = SlotLocks::host("node"), I = SlotLocks::host("node:1");
  EXPECT_TRUE(A->take(H, 0));
  EXPECT_FALSE(B->take(H, 0));
  EXPECT_TRUE(B->take(H, 1));
  EXPECT_TRUE(B->take(I, 0));
  EXPECT_FALSE(A->take(I, 0));
  A->release(H, 0);
  EXPECT_TRUE(B->take(H, 0));
  B.reset();
  EXPECT_TRUE(A->take(H, 0));
  EXPECT_TRUE(A->take(H, 1));
}

TEST_F(SlotLocksTest, ThereAreNotMoreThanSoMany) {
  auto A = open();
  ASSERT_TRUE(A);
  EXPECT_TRUE(A->take(SlotLocks::host("node"), MaxSlots - 1));
  EXPECT_FALSE(A->take(SlotLocks::host("node"), MaxSlots));
  EXPECT_FALSE(A->take(SlotLocks::host("node"), ~0u));
}

TEST_F(SlotLocksTest, SeveralMayAwaitOne) {
  auto A = open(), B = open(), C = open();
  ASSERT_TRUE(A && B && C);
  SlotLocks::Host H = SlotLocks::host("node");
  A->request(H);
  EXPECT_FALSE(A->isRequested(H)); // A itself doesn't count
  EXPECT_TRUE(B->isRequested(H));
  EXPECT_FALSE(B->isRequested(SlotLocks::host("other")));
  C->request(H);
  A->cancelRequest(H);
  EXPECT_TRUE(A->isRequested(H));
  C.reset();
  EXPECT_FALSE(A->isRequested(H));
}

TEST_F(SlotLocksTest, TheyEndWithTheProcess) {
  SlotLocks::Host H = SlotLocks::host("node");
  int Ready[2];
  ASSERT_EQ(::pipe(Ready), 0);
  pid_t Child = ::fork();
  if (Child == 0) {
    auto A = open();
    char HasSlot = A && A->take(H, 0);
    [[maybe_unused]] ssize_t N = ::write(Ready[1], &HasSlot, 1);
    ::pause();
    ::_exit(0);
  }
  char HasSlot = 0;
  ASSERT_EQ(::read(Ready[0], &HasSlot, 1), 1);
  EXPECT_TRUE(HasSlot);
  auto B = open();
  ASSERT_TRUE(B);
  EXPECT_FALSE(B->take(H, 0));
  ::kill(Child, SIGKILL);
  EXPECT_EQ(::waitpid(Child, nullptr, 0), Child);
  EXPECT_TRUE(B->take(H, 0));
  ::close(Ready[0]);
  ::close(Ready[1]);
}

TEST_F(SlotLocksTest, WhereThereIsNoFile) {
  fs::create_directories(Folder + "/lock");
  ASSERT_EQ(::mkfifo(file().c_str(), 0600), 0);
  EXPECT_FALSE(open());
  fs::remove(file());
  fs::create_symlink("elsewhere", file());
  EXPECT_FALSE(open());
  EXPECT_FALSE(fs::exists(Folder + "/lock/elsewhere"));
  fs::remove(file());
  fs::create_directory(file());
  EXPECT_FALSE(open());
  EXPECT_FALSE(SlotLocks::open("/proc/self/nosuch/lock/dtlto"));
}

//===----------------------------------------------------------------------===//
// Links
//===----------------------------------------------------------------------===//

TEST_F(SlotLocksTest, TwoLinksKeepOneLimit) {
  MockDistccd M;
  slowly(M, 3ms);
  FakeHost A, B;
  ASSERT_EQ(A.open({hosts({&M}, "/2")}), DTLTO_OK);
  ASSERT_EQ(B.open({hosts({&M}, "/2")}), DTLTO_OK);
  std::vector<std::pair<FakeHost *, uint64_t>> Jobs;
  for (unsigned I = 0; I != 100; ++I)
    for (FakeHost *H : {&A, &B})
      Jobs.emplace_back(H, H->submit(smallJob(output(Jobs.size()))));
  for (size_t I = 0; I != Jobs.size(); ++I)
    EXPECT_EQ(Jobs[I].first->wait(Jobs[I].second).Object, objectOf(output(I)));
  EXPECT_LE(M.mostJobs(), 2u);
  EXPECT_EQ(M.numJobs(), 200u);
}

// A link with many jobs leaves slots to a waiting link.
TEST_F(SlotLocksTest, ASlotIsLeftToWhoAwaitsOne) {
  MockDistccd M;
  slowly(M, 10ms);
  auto Other = open();
  ASSERT_TRUE(Other);
  SlotLocks::Host H = SlotLocks::host(M.name());
  FakeHost Host;
  ASSERT_EQ(Host.open({hosts({&M}, "/1")}), DTLTO_OK);
  std::atomic<bool> Enough{false};
  std::thread Submitter([&] {
    for (size_t I = 0; !Enough; ++I)
      Host.submit(smallJob(output(I)));
  });
  EXPECT_TRUE(M.waitFor([&] { return M.numJobs() > 2; }));
  EXPECT_FALSE(Other->take(H, 0));
  Other->request(H);
  EXPECT_TRUE(waitFor([&] { return Other->take(H, 0); }));
  Other->cancelRequest(H);
  // Now the link itself has to wait, and registers for that.
  EXPECT_TRUE(waitFor([&] { return Other->isRequested(H); }));
  unsigned Before = M.numJobs();
  Other->release(H, 0);
  EXPECT_TRUE(M.waitFor([&] { return M.numJobs() > Before + 2; }));
  Enough = true;
  Submitter.join();
  Host.waitForAll();
}

// Another link may hold all slots while it is suspended.
TEST_F(SlotLocksTest, NoLinkIsHeldUpByAnother) {
  setenv("DISTCC_IO_TIMEOUT", "10", 1); // locks are ignored after a hundredth
  MockDistccd M;
  auto Other = open();
  ASSERT_TRUE(Other);
  for (unsigned I = 0; I != 4; ++I)
    ASSERT_TRUE(Other->take(SlotLocks::host(M.name()), I));
  FakeHost Host;
  ASSERT_EQ(Host.open({hosts({&M}, "/4")}), DTLTO_OK);
  for (size_t I = 0; I != 20; ++I)
    Host.submit(smallJob(output(I)));
  Host.waitForAll();
  EXPECT_EQ(M.numJobs(), 20u);
  EXPECT_EQ(M.mostJobs(), 1u); // one job over the limit
  Host.waitForLog("other links have its slots");
}
