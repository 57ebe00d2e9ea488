//===- LogTest.cpp - The plugin's messages --------------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MessageLog.h"
#include "gtest/gtest.h"
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <set>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace dtlto;

namespace {

using Lines = std::vector<std::string>;

class LogTest : public testing::Test {
protected:
  void SetUp() override {
    std::string Name = testing::TempDir() + "dtlto-log-XXXXXX";
    ASSERT_NE(mkdtemp(Name.data()), nullptr);
    Dir = Name;
    File = Dir + "/log";
    Host.size = sizeof(Host);
    Host.context = reinterpret_cast<dtlto_host_context *>(this);
    Host.log = [](dtlto_host_context *C, uint32_t Level, const char *Message) {
      reinterpret_cast<LogTest *>(C)->Messages.push_back(std::to_string(Level) +
                                                         " " + Message);
    };
  }
  void TearDown() override { std::filesystem::remove_all(Dir); }

  void logAll(MessageLog &TheLog) {
    TheLog.error("e");
    TheLog.warning("w");
    TheLog.note("n");
    TheLog.debug("d");
  }
  Lines written() {
    Lines Result;
    std::ifstream Stream(File);
    for (std::string Line; std::getline(Stream, Line);)
      Result.push_back(Line);
    return Result;
  }
  static std::string line(const std::string &Text) {
    return "dtlto[" + std::to_string(getpid()) + "] distcc: " + Text;
  }

  std::string Dir, File;
  dtlto_host Host = {};
  Lines Messages; // messages to the host
};

} // namespace

TEST_F(LogTest, WithoutAFile) {
  MessageLog TheLog(Host, "distcc", "DISTCC_LOG");
  logAll(TheLog); // also before open()
  TheLog.open("", false);
  logAll(TheLog);
  EXPECT_EQ(Messages,
            (Lines{"3 e", "2 w", "1 n", "0 d", "3 e", "2 w", "1 n", "0 d"}));
}

TEST_F(LogTest, VerboseWithoutAFile) {
  MessageLog TheLog(Host, "distcc", "DISTCC_LOG");
  TheLog.open("", true);
  logAll(TheLog);
  EXPECT_EQ(Messages, (Lines{"3 e", "2 w", "1 n", "1 d"}));
}

TEST_F(LogTest, WithAFile) {
  MessageLog TheLog(Host, "distcc", "DISTCC_LOG");
  TheLog.open(File, false);
  logAll(TheLog);
  EXPECT_EQ(Messages, (Lines{"3 e", "0 d"}));
  EXPECT_EQ(written(),
            (Lines{line("error: e"), line("warning: w"), line("note: n")}));
}

TEST_F(LogTest, VerboseWithAFile) {
  MessageLog TheLog(Host, "distcc", "DISTCC_LOG");
  TheLog.open(File, true);
  logAll(TheLog);
  EXPECT_EQ(Messages, (Lines{"3 e", "0 d"}));
  EXPECT_EQ(written(), (Lines{line("error: e"), line("warning: w"),
                              line("note: n"), line("debug: d")}));
}

TEST_F(LogTest, Appends) {
  std::ofstream(File) << "before\n";
  MessageLog Log1(Host, "distcc", "DISTCC_LOG");
  MessageLog Log2(Host, "distcc", "DISTCC_LOG");
  Log1.open(File, false);
  Log2.open(File, false);
  Log1.note("1");
  Log2.note("2");
  Log1.note("3");
  EXPECT_EQ(written(), (Lines{"before", line("note: 1"), line("note: 2"),
                              line("note: 3")}));
}

TEST_F(LogTest, AMessageIsOneLine) {
  MessageLog TheLog(Host, "distcc", "DISTCC_LOG");
  TheLog.open(File, false);
  TheLog.error("a\nb\x1b[2Jc\r\n");
  EXPECT_EQ(Messages, (Lines{"3 a b [2Jc"}));
  EXPECT_EQ(written(), (Lines{line("error: a b [2Jc")}));
}

TEST_F(LogTest, LinesOfThreadsDoNotMix) {
  MessageLog TheLog(Host, "distcc", "DISTCC_LOG");
  TheLog.open(File, false);
  constexpr int NumThreads = 4, NumLines = 200;
  std::set<std::string> Expected;
  std::vector<std::thread> Threads;
  auto text = [](int T, int I) {
    return std::string(50, char('a' + T)) + std::to_string(I);
  };
  for (int T = 0; T != NumThreads; ++T) {
    for (int I = 0; I != NumLines; ++I)
      Expected.insert(line("note: " + text(T, I)));
    Threads.emplace_back([&, T] {
      for (int I = 0; I != NumLines; ++I)
        TheLog.note(text(T, I));
    });
  }
  for (std::thread &T : Threads)
    T.join();
  Lines All = written();
  EXPECT_EQ(All.size(), size_t(NumThreads * NumLines));
  EXPECT_EQ(std::set<std::string>(All.begin(), All.end()), Expected);
}

TEST_F(LogTest, AFileThatCannotBeOpened) {
  MessageLog TheLog(Host, "distcc", "DISTCC_LOG");
  TheLog.open(Dir + "/none/log", false);
  EXPECT_EQ(Messages, (Lines{"2 cannot open the log file '" + Dir +
                             "/none/log': No such file or directory; set or "
                             "unset DISTCC_LOG"}));
  Messages.clear();
  logAll(TheLog); // continues without the file
  EXPECT_EQ(Messages, (Lines{"3 e", "2 w", "1 n", "0 d"}));
}

TEST_F(LogTest, APipeDoesNotHoldUpTheLink) {
  ASSERT_EQ(mkfifo(File.c_str(), 0600), 0);
  MessageLog TheLog(Host, "distcc", "DISTCC_LOG");
  TheLog.open(File, false); // the pipe has no reader
  EXPECT_EQ(Messages.size(), 1u);
  Messages.clear();
  int Reader = open(File.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  ASSERT_NE(Reader, -1);
  TheLog.open(File, false);
  for (int I = 0; I != 200; ++I)
    TheLog.note(std::string(1000, 'x')); // more than a pipe holds
  EXPECT_TRUE(Messages.empty());
  close(Reader);
}

TEST_F(LogTest, NorDoesOneWhoseReaderLeavesEndIt) {
  ASSERT_EQ(mkfifo(File.c_str(), 0600), 0);
  int Reader = open(File.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  ASSERT_NE(Reader, -1);
  MessageLog TheLog(Host, "distcc", "DISTCC_LOG");
  TheLog.open(File, false);
  close(Reader);
  TheLog.note("no reader"); // must not raise SIGPIPE
  sigset_t Pending;
  ASSERT_EQ(sigpending(&Pending), 0);
  EXPECT_EQ(sigismember(&Pending, SIGPIPE), 0);
}

TEST_F(LogTest, OtherProgramsDoNotInheritTheFile) {
  MessageLog TheLog(Host, "distcc", "DISTCC_LOG");
  TheLog.open(File, false);
  struct stat LogStat, Stat;
  ASSERT_EQ(stat(File.c_str(), &LogStat), 0);
  int NumDescriptors = 0;
  for (int Fd = 0; Fd != 256; ++Fd)
    if (fstat(Fd, &Stat) == 0 && Stat.st_dev == LogStat.st_dev &&
        Stat.st_ino == LogStat.st_ino) {
      ++NumDescriptors;
      EXPECT_NE(fcntl(Fd, F_GETFD) & FD_CLOEXEC, 0);
    }
  EXPECT_EQ(NumDescriptors, 1);
}
