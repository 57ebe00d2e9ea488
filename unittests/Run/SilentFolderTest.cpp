//===- SilentFolderTest.cpp - A file server that doesn't answer -----------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Calls with a path that contains `/silent/` block until the end of the test.
//
//===----------------------------------------------------------------------===//

#include "Report/Report.h"
#include "Run/CostHistory.h"
#include "Run/LogObserver.h"
#include "Support/FileTask.h"
#include "TempFolder.h"
#include "llvm/Support/Signals.h"
#include <atomic>
#include <cstdarg>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

using namespace llvm;
using namespace dtlto;
using namespace dtlto::test;

static std::atomic<bool> IsSilent{false};
static std::atomic<unsigned> NumWaiting{0};

static void lookInto(const char *Path) {
  if (!IsSilent || !std::strstr(Path, "/silent/"))
    return;
  ++NumWaiting;
  while (IsSilent)
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  --NumWaiting;
}

// Replace the C library's functions.
#define EXPORTED extern "C" __attribute__((visibility("default")))

EXPORTED int mkdir(const char *Path, mode_t Mode) noexcept {
  lookInto(Path);
  return ::mkdirat(AT_FDCWD, Path, Mode);
}

EXPORTED int open(const char *Path, int Flags, ...) {
  va_list List;
  va_start(List, Flags);
  mode_t Mode = Flags & O_CREAT ? va_arg(List, mode_t) : 0;
  va_end(List);
  lookInto(Path);
  return ::openat(AT_FDCWD, Path, Flags, Mode);
}

EXPORTED int open64(const char *Path, int Flags, ...) {
  va_list List;
  va_start(List, Flags);
  mode_t Mode = Flags & O_CREAT ? va_arg(List, mode_t) : 0;
  va_end(List);
  lookInto(Path);
  return ::openat(AT_FDCWD, Path, Flags, Mode);
}

namespace {
class SilentFolderTest : public testing::Test {
protected:
  static void SetUpTestSuite() {
    // At its first use, LLVM creates a list of such files, and a lock for it.
    // The thread sanitizer can't see all of that, and threads of two tests
    // write files.
    sys::RemoveFileOnSignal("none");
    sys::DontRemoveFileOnSignal("none");
  }
  void SetUp() override {
    FileLimits.First = FileLimits.Next = std::chrono::milliseconds(20);
    ASSERT_EQ(::mkdir(Dir.c_str(), 0777), 0);
    IsSilent = true;
  }
  void TearDown() override {
    IsSilent = false;
    while (NumWaiting != 0) // abandoned threads continue, and end
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    FileLimits = {};
    forgetFileTasks();
  }
  static std::string text(Error E) { return toString(std::move(E)); }

  TempFolder Folder;
  std::string Dir = Folder.path("silent");
};
} // namespace

TEST_F(SilentFolderTest, ATaskIsAbandonedWithAllThatItOwns) {
  auto Owned = std::make_shared<int>(0);
  std::weak_ptr<int> Seen = Owned;
  auto Wait = [Owned, Path = Dir + "/x"] { ::open(Path.c_str(), O_RDONLY); };
  Owned.reset();
  EXPECT_EQ(runFileTask(Dir, std::move(Wait)), FileAccess::TimedOut);
  EXPECT_FALSE(Seen.expired());
  // The path isn't tried again, but others are.
  bool IsCalled = false;
  EXPECT_EQ(runFileTask(Dir, [&] { IsCalled = true; }), FileAccess::Skipped);
  EXPECT_FALSE(IsCalled);
  EXPECT_EQ(runFileTask(Folder.path("other"), [&] { IsCalled = true; }),
            FileAccess::Done);
  EXPECT_TRUE(IsCalled);
  IsSilent = false;
  while (!Seen.expired())
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
}

TEST_F(SilentFolderTest, LargeFilesHaveMoreTime) {
  auto Slow = [] {
    std::this_thread::sleep_for(std::chrono::milliseconds(60));
  };
  EXPECT_EQ(runFileTask(Dir, Slow, /*Bytes=*/100 << 20), FileAccess::Done);
}

TEST_F(SilentFolderTest, CostsAreNotRead) {
  IsSilent = false;
  Folder.write("silent/costs", "");
  IsSilent = true;
  std::string Note;
  auto Costs = CostHistory::load(Dir + "/costs", &Note);
  EXPECT_TRUE(Costs->hasTimedOut());
  EXPECT_EQ(Note, "cost history '" + Dir + "/costs' is not used: " + NoAnswer);
  EXPECT_GT(Costs->estimate("a", 1000).Seconds, 0);
  Costs->record("a", 1000, 1);
  EXPECT_EQ(Costs->save(), ""); // already reported
  // As in the second of two rounds.
  EXPECT_FALSE(CostHistory::load(Dir + "/costs", &Note)->hasTimedOut());
}

TEST_F(SilentFolderTest, CostsAreNotWritten) {
  IsSilent = false;
  auto Costs = CostHistory::load(Dir + "/costs");
  Costs->record("a", 1000, 1);
  IsSilent = true;
  EXPECT_EQ(Costs->save(),
            "cost history '" + Dir + "/costs' was not written: " + NoAnswer);
  EXPECT_TRUE(Costs->hasTimedOut());
  EXPECT_GT(Costs->estimate("a", 1000).Seconds, 0);
}

TEST_F(SilentFolderTest, ReportsAndLogs) {
  std::string Path = Dir + "/r.json";
  EXPECT_EQ(text(checkReport(Path)),
            "the report '" + Path + "' cannot be written: " + NoAnswer);
  Path = Dir + "/other.json";
  EXPECT_EQ(text(writeReport(Path, Timeline(), ReportFacts())),
            "the report '" + Path + "' cannot be written: " + NoAnswer);
  Path = Dir + "/log";
  EXPECT_EQ(text(checkLog(Path)),
            "the log '" + Path + "' cannot be written: " + NoAnswer);
}
