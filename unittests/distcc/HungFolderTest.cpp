//===- HungFolderTest.cpp - A file server that hangs ----------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Calls with a path in a folder `hung` block until the test opens the gate.
//
//===----------------------------------------------------------------------===//

#include "FakeHost.h"
#include "MessageLog.h"
#include "Settings.h"
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace dtlto::distcc;
using namespace dtlto::test;

// Abandoned threads may use the gate of a test that has ended.
static auto &Gates = *new std::deque<Gate>;
static std::atomic<Gate *> Hung{nullptr}; // null: no folder hangs
static std::atomic<unsigned> NumHanging{0};

static void lookInto(const char *Path) {
  Gate *G = Hung;
  if (!G || !std::strstr(Path, "/hung/"))
    return;
  ++NumHanging;
  G->wait();
}

// Replace the C library's functions.
extern "C" int mkdir(const char *Path, mode_t Mode) noexcept {
  lookInto(Path);
  return ::mkdirat(AT_FDCWD, Path, Mode);
}

extern "C" int open(const char *Path, int Flags, ...) {
  va_list List;
  va_start(List, Flags);
  mode_t Mode = Flags & O_CREAT ? va_arg(List, mode_t) : 0;
  va_end(List);
  lookInto(Path);
  return ::openat(AT_FDCWD, Path, Flags, Mode);
}

namespace {
class HungFolderTest : public PluginTest {
protected:
  void SetUp() override {
    PluginTest::SetUp();
    setenv("DISTCC_DIR", (Folder + "/hung/distcc").c_str(), 1);
    ASSERT_EQ(::mkdir((Folder + "/hung").c_str(), 0777), 0);
    NumHanging = 0;
    Hung = &Gates.emplace_back();
  }
  void TearDown() override {
    // Let abandoned threads continue and end.
    Gates.back().open();
    PluginTest::TearDown();
    Hung = nullptr;
  }
};
} // namespace

TEST_F(HungFolderTest, StateFilesAndLocks) {
  MockDistccd A;
  FakeHost Host;
  ASSERT_EQ(Host.open({hosts({&A})}), DTLTO_OK);
  for (unsigned I = 0; I != 5; ++I) {
    std::string Output = std::to_string(I) + ".o";
    EXPECT_EQ(Host.wait(Host.submit(smallJob(Output))).Object,
              objectOf(Output));
  }
  Host.close();
  EXPECT_EQ(NumHanging, 2u); // a thread for each
  EXPECT_TRUE(Host.warnings().empty());
}

TEST_F(HungFolderTest, TheListOfHosts) {
  auto Limit = std::exchange(HostFileTimeout, std::chrono::milliseconds(1));
  dtlto_session_params Params = {};
  Params.size = sizeof(Params);
  Params.llvm_version = "19.1.7";
  Settings S = readSettings(
      Params, [](const char *Name) -> const char * { return getenv(Name); },
      {});
  EXPECT_NE(S.NoHosts, "");
  HostFileTimeout = Limit;
  ASSERT_EQ(S.Notes.size(), 1u);
  EXPECT_EQ(S.Notes[0], "cannot read the host list '" + Folder +
                            "/hung/distcc/hosts': " + std::strerror(ETIMEDOUT));
}

TEST_F(HungFolderTest, TheLog) {
  auto Limit = std::exchange(dtlto::LogLimit, std::chrono::milliseconds(100));
  setenv("DISTCC_LOG", (Folder + "/hung/log").c_str(), 1);
  MockDistccd A;
  FakeHost Host;
  ASSERT_EQ(Host.open({hosts({&A})}), DTLTO_OK);
  EXPECT_EQ(Host.wait(Host.submit(smallJob("x.o"))).Object, objectOf("x.o"));
  Host.close();
  EXPECT_EQ(Host.warnings(),
            std::vector<std::string>{"cannot open the log file '" + Folder +
                                     "/hung/log': " + std::strerror(ETIMEDOUT) +
                                     "; set or unset DISTCC_LOG"});
  dtlto::LogLimit = Limit;
}
