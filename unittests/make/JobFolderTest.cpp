//===- JobFolderTest.cpp - Folders in which jobs run ----------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Program.h"
#include "dtlto/sdk/Result.hpp"
#include "gtest/gtest.h"
#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace dtlto;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

namespace {

class JobFolderTest : public testing::Test {
protected:
  void SetUp() override {
    std::string Name = fs::temp_directory_path() / "dtlto-unit-XXXXXX";
    ASSERT_NE(::mkdtemp(Name.data()), nullptr);
    Top = Name;
  }
  void TearDown() override { fs::remove_all(Top); }

  std::unique_ptr<JobFolder> make(bool Keep = false) {
    return std::make_unique<JobFolder>("", Top / "app", ".jobs", Keep);
  }
  fs::path Top;
};

} // namespace

TEST_F(JobFolderTest, IsRemoved) {
  auto F = make();
  EXPECT_EQ(F->path(), Top / "app.jobs");
  EXPECT_TRUE(F->write("a/b/c", "text"));
  std::string Text;
  EXPECT_TRUE(F->read("a/b/c", Text));
  EXPECT_EQ(Text, "text");
  F.reset();
  EXPECT_TRUE(fs::is_empty(Top));
}

TEST_F(JobFolderTest, WhatIsTheSameKeepsItsTime) {
  auto F = make();
  F->write("a", "text");
  fs::path File = Top / "app.jobs" / "a";
  auto Then = fs::last_write_time(File) - 1h;
  fs::last_write_time(File, Then);
  EXPECT_FALSE(F->write("a", "text"));
  EXPECT_EQ(fs::last_write_time(File), Then);
  EXPECT_TRUE(F->write("a", "teXt"));
  EXPECT_NE(fs::last_write_time(File), Then);
}

TEST_F(JobFolderTest, LeavesNoPathOutside) {
  auto F = make();
  for (const char *Name : {"../a", "/a", "a/../../b", "", "a//b", "."})
    EXPECT_THROW(F->write(Name, "text"), sdk::Error) << Name;
  // A symbolic link in the folder is replaced, not followed.
  std::ofstream(Top / "mine") << "mine";
  fs::create_symlink(Top / "mine", Top / "app.jobs" / "a");
  F->write("a", "text");
  std::string Text;
  std::getline(std::ifstream(Top / "mine"), Text);
  EXPECT_EQ(Text, "mine");
}

TEST_F(JobFolderTest, OneForEachLink) {
  auto A = make(), B = make();
  EXPECT_EQ(B->path(), Top / "app.jobs-2");
  A.reset();
  EXPECT_TRUE(fs::exists(B->path()));
}

TEST_F(JobFolderTest, OfOthersNothingIsTouched) {
  fs::create_directory(Top / "app.jobs");
  std::ofstream(Top / "app.jobs" / "file") << "mine";
  EXPECT_THROW(make(), sdk::Error);
  EXPECT_TRUE(fs::exists(Top / "app.jobs" / "file"));
  std::ofstream(Top / "app.jobs" / ".dtlto-jobs") << "not dtlto's\n";
  EXPECT_THROW(make(), sdk::Error);
  EXPECT_TRUE(fs::exists(Top / "app.jobs" / "file"));
}

TEST_F(JobFolderTest, OneThatCannotBeReadIsNotEmpty) {
  fs::path UserFile = Top / "mine";
  fs::create_directory(UserFile);
  std::ofstream(UserFile / "file") << "text";
  // Other threads open and close descriptors. Now and then, one is free to look
  // for the marker, but none to read the folder.
  rlimit Old, New;
  ::getrlimit(RLIMIT_NOFILE, &Old);
  New = Old;
  New.rlim_cur = 64;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &New), 0);
  std::vector<int> All;
  for (int Fd; (Fd = ::dup(STDERR_FILENO)) != -1;)
    All.push_back(Fd);
  for (int I = 0; I != 2; ++I) {
    ::close(All.back());
    All.pop_back();
  }
  std::atomic<bool> Stop{false};
  std::thread Other([&] {
    while (!Stop)
      if (int Fd = ::dup(STDERR_FILENO); Fd != -1)
        ::close(Fd);
  });
  for (int I = 0; I != 3000 && !fs::exists(UserFile / ".dtlto-jobs"); ++I)
    EXPECT_THROW(JobFolder(UserFile, "", ".jobs", false), sdk::Error);
  Stop = true;
  Other.join();
  for (int Fd : All)
    ::close(Fd);
  ::setrlimit(RLIMIT_NOFILE, &Old);
  EXPECT_FALSE(fs::exists(UserFile / ".dtlto-jobs"));
  EXPECT_TRUE(fs::exists(UserFile / "file"));
}

TEST_F(JobFolderTest, KeptOnesStay) {
  make(/*Keep=*/true)->write("a", "text");
  EXPECT_TRUE(fs::exists(Top / "app.jobs" / "a"));
  make().reset(); // uses another name
  EXPECT_TRUE(fs::exists(Top / "app.jobs" / "a"));
  make(/*Keep=*/true);
  EXPECT_TRUE(fs::exists(Top / "app.jobs" / "a"));
}

TEST_F(JobFolderTest, AProgramEndsWithItsGroup) {
  auto F = make();
  {
    // A program that ignores SIGTERM, with a child.
    Program P(F.get(), {"/bin/sh", "-c", "trap '' TERM; echo up; sleep 1000"},
              {});
    bool IsUp = false;
    for (int I = 0; I != 1000 && !IsUp; ++I) {
      P.listen([&](std::string Line, bool IsError) {
        IsUp |= Line == "up" && !IsError;
      });
      std::this_thread::sleep_for(10ms);
    }
    EXPECT_TRUE(IsUp);
    EXPECT_FALSE(P.hasEnded());
    P.end();
    P.end();
    for (int I = 0; I != 1000 && !P.hasEnded(); ++I)
      std::this_thread::sleep_for(10ms);
    EXPECT_TRUE(P.hasEnded());
    EXPECT_EQ(P.describeExit(), "was killed by signal 9");
  }
  Program Q(F.get(), {"/bin/sh", "-c", "echo $A-$B; exit 3"}, {"A=x", "HOME"});
  for (int I = 0; I != 1000 && !Q.hasEnded(); ++I)
    std::this_thread::sleep_for(10ms);
  EXPECT_EQ(Q.describeExit(), "ended with 3");
  std::string Output;
  Q.listen([&](std::string Line, bool) { Output += Line; });
  EXPECT_EQ(Output, "x-");
}

TEST_F(JobFolderTest, LongLinesAreSplit) {
  auto F = make();
  Program P(F.get(), {"/bin/sh", "-c", "printf %05000d 0"}, {});
  for (int I = 0; I != 1000 && !P.hasEnded(); ++I)
    std::this_thread::sleep_for(10ms);
  std::vector<size_t> Sizes;
  P.listen([&](std::string Line, bool) { Sizes.push_back(Line.size()); });
  EXPECT_EQ(Sizes, (std::vector<size_t>{4096, 904}));
}

/// A file that can't be written completely is removed.
TEST_F(JobFolderTest, AFileThatIsTooLarge) {
  auto F = make();
  rlimit Before;
  ::getrlimit(RLIMIT_FSIZE, &Before);
  ::signal(SIGXFSZ, SIG_IGN);
  rlimit Small = {1000, Before.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &Small);
  EXPECT_THROW(F->write("a", std::string(2000, 'x')), sdk::Error);
  ::setrlimit(RLIMIT_FSIZE, &Before);
  EXPECT_FALSE(fs::exists(Top / "app.jobs/a"));
  EXPECT_TRUE(F->write("a", std::string(2000, 'x')));
}

/// The next link would take a folder with files but without the marker for the
/// user's.
TEST_F(JobFolderTest, TheMarkerGoesLast) {
  fs::path Folder = Top / "app.jobs";
  for (bool ByGuard : {false, true}) {
    pid_t Child = ::fork();
    if (Child == 0) {
      auto F = make();
      for (int I = 0; I != 3000; ++I)
        F->write(std::to_string(I), "text");
      if (!ByGuard)
        F.reset();
      ::_exit(0);
    }
    ASSERT_GT(Child, 0);
    auto NumFiles = [&] {
      std::error_code EC;
      size_t N = 0;
      for (fs::directory_iterator It(Folder, EC), End; It != End && !EC;
           It.increment(EC))
        N += It->path().filename() != ".dtlto-jobs";
      return N;
    };
    size_t NumWithout = 0;
    for (int I = 0; I != 30000; ++I) {
      bool HadFiles = NumFiles() != 0;
      if (HadFiles && !fs::exists(Folder / ".dtlto-jobs") && NumFiles() != 0)
        ++NumWithout;
      if (!HadFiles && !fs::exists(Folder) &&
          ::waitpid(Child, nullptr, WNOHANG) != 0)
        break;
      std::this_thread::sleep_for(1ms);
    }
    ::waitpid(Child, nullptr, WNOHANG);
    EXPECT_FALSE(fs::exists(Folder));
    EXPECT_EQ(NumWithout, 0u);
  }
}

/// The linker is killed, and can't tell the guard to quit.
TEST_F(JobFolderTest, TheGuardRemovesWhatALinkerLeft) {
  pid_t Child = ::fork();
  if (Child == 0) {
    auto *F = make().release();
    F->write("a", "text");
    auto *P = new Program(F, {"/bin/sleep", "1000"}, {});
    (void)P;
    ::_exit(0);
  }
  ASSERT_GT(Child, 0);
  int Status;
  ASSERT_EQ(::waitpid(Child, &Status, 0), Child);
  for (int I = 0; I != 3000 && fs::exists(Top / "app.jobs"); ++I)
    std::this_thread::sleep_for(10ms);
  EXPECT_FALSE(fs::exists(Top / "app.jobs"));
}

// The second link waits only if the folder is being removed.
TEST_F(JobFolderTest, InUseByAnotherLink) {
  std::string UserFolder = Top / "jobs";
  int Ends[2];
  ASSERT_EQ(::pipe(Ends), 0);
  pid_t Child = ::fork();
  if (Child == 0) {
    auto *F = new JobFolder(UserFolder, "", ".jobs", false);
    F->write("a", "text");
    (void)!::write(Ends[1], "", 1);
    ::pause();
    ::_exit(0);
  }
  ASSERT_GT(Child, 0);
  char Byte;
  ASSERT_EQ(::read(Ends[0], &Byte, 1), 1);
  auto Begin = std::chrono::steady_clock::now();
  EXPECT_THROW(JobFolder(UserFolder, "", ".jobs", false), sdk::Error);
  EXPECT_LT(std::chrono::steady_clock::now() - Begin, 4s);
  ::kill(Child, SIGKILL);
  ASSERT_EQ(::waitpid(Child, nullptr, 0), Child);
  EXPECT_NO_THROW(JobFolder(UserFolder, "", ".jobs", false));
  ::close(Ends[0]);
  ::close(Ends[1]);
}

// If SIGCHLD is ignored, the exit code is lost.
TEST_F(JobFolderTest, AProgramThatCannotBeWaitedFor) {
  auto F = make();
  auto Before = std::signal(SIGCHLD, SIG_IGN);
  Program P(F.get(), {"/bin/true"}, {});
  for (unsigned I = 0; I != 1000 && !P.hasEnded(); ++I)
    std::this_thread::sleep_for(10ms);
  std::signal(SIGCHLD, Before);
  EXPECT_TRUE(P.hasEnded());
  EXPECT_EQ(P.describeExit(), "ended with an unknown status");
}
