//===- JobserverTest.cpp - Taking and returning tokens --------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Support/Jobserver.h"
#include "TempFolder.h"
#include "llvm/Support/ManagedStatic.h"
#include "gtest/gtest.h"
#include <condition_variable>
#include <csignal>
#include <fcntl.h>
#include <future>
#include <pty.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;
using namespace dtlto;
using namespace dtlto::test;

namespace {

class JobserverTest : public testing::Test {
protected:
  /// Removes a sanitizer's handlers before Jobserver installs its own.
  static void SetUpTestSuite() {
    for (int Signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE})
      signal(Signal, SIG_DFL);
  }
  void SetUp() override {
    ASSERT_EQ(mkfifo(Path.c_str(), 0600), 0);
    Fifo = open(Path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
    ASSERT_GE(Fifo, 0);
  }
  void TearDown() override { close(Fifo); }

  void put(StringRef Tokens) {
    ASSERT_EQ(write(Fifo, Tokens.data(), Tokens.size()),
              static_cast<ssize_t>(Tokens.size()));
  }
  /// Takes all tokens from the FIFO; returns them sorted.
  std::string left() {
    char Bytes[100];
    ssize_t N = read(Fifo, Bytes, sizeof(Bytes));
    std::string Left(Bytes, size_t(std::max<ssize_t>(N, 0)));
    std::sort(Left.begin(), Left.end());
    return Left;
  }
  std::unique_ptr<Jobserver> connect(const std::string &MakeFlags) {
    return Jobserver::connect(MakeFlags, Note);
  }
  std::unique_ptr<Jobserver> connect() {
    return connect("j3 --jobserver-auth=fifo:" + Path);
  }

  /// Returns the status of a process that runs \p Do while it holds all three
  /// tokens and waits for another one. The process has a terminal. If the
  /// process prints CtrlC, the terminal sends Ctrl-C.
  int endOf(const std::function<void(std::unique_ptr<Jobserver> &)> &Do) {
    put("+-x");
    int Terminal;
    pid_t Child = forkpty(&Terminal, nullptr, nullptr, nullptr);
    if (Child == 0) {
      rlimit NoCore = {};
      setrlimit(RLIMIT_CORE, &NoCore);
      std::unique_ptr<Jobserver> J = connect();
      for (int I = 0; I != 3; ++I) {
        std::promise<void> TokenTaken;
        J->take([&] { TokenTaken.set_value(); });
        TokenTaken.get_future().wait();
      }
      if (left() != "")
        _exit(99);
      J->take([] {});
      Do(J);
      _exit(98);
    }
    for (char Byte; read(Terminal, &Byte, 1) == 1;)
      if (Byte == CtrlC)
        EXPECT_EQ(write(Terminal, &CtrlC, 1), 1);
    close(Terminal);
    int Status = 0;
    EXPECT_EQ(waitpid(Child, &Status, 0), Child);
    EXPECT_EQ(left(), "+-x");
    return Status;
  }

  static constexpr char CtrlC = 3;
  TempFolder Folder;
  std::string Path = Folder.path("fifo");
  std::string Note;
  int Fifo = -1;
};

} // namespace

TEST_F(JobserverTest, TheSameBytesAreGivenBack) {
  put("ab");
  std::unique_ptr<Jobserver> J = connect();
  ASSERT_TRUE(J);
  EXPECT_EQ(Note, "");
  std::mutex Mutex;
  std::condition_variable Changed;
  unsigned NumTaken = 0;
  auto WaitFor = [&](unsigned N) {
    std::unique_lock<std::mutex> Lock(Mutex);
    Changed.wait(Lock, [&] { return NumTaken == N; });
  };
  auto Take = [&] {
    J->take([&] {
      std::lock_guard<std::mutex> Lock(Mutex);
      ++NumTaken;
      Changed.notify_all();
    });
  };
  for (int I = 0; I != 3; ++I)
    Take();
  WaitFor(2);
  EXPECT_EQ(left(), "");
  // Another process returns a token.
  put("c");
  WaitFor(3);
  EXPECT_EQ(left(), "");
  Jobserver::releaseToken();
  EXPECT_EQ(left().size(), 1u);
  Take(); // never gets one
  J.reset();
  EXPECT_EQ(left().size(), 2u);
  // No token is left to return.
  Jobserver::releaseToken();
  EXPECT_EQ(left(), "");
}

TEST_F(JobserverTest, APipe) {
  int Fds[2];
  ASSERT_EQ(pipe(Fds), 0);
  ASSERT_EQ(write(Fds[1], "p", 1), 1);
  std::unique_ptr<Jobserver> J =
      connect(" -j --jobserver-auth=" + std::to_string(Fds[0]) + "," +
              std::to_string(Fds[1]));
  ASSERT_TRUE(J) << Note;
  std::promise<void> TokenTaken;
  J->take([&] { TokenTaken.set_value(); });
  TokenTaken.get_future().wait();
  J.reset();
  char Byte = 0;
  EXPECT_EQ(read(Fds[0], &Byte, 1), 1);
  EXPECT_EQ(Byte, 'p');
  // make decides whether reading blocks; the mode must not change.
  EXPECT_EQ(fcntl(Fds[0], F_GETFL) & O_NONBLOCK, 0);
  close(Fds[0]);
  close(Fds[1]);
}

TEST_F(JobserverTest, NoneIsNamed) {
  for (const char *Flags : {"", "k", " -j4", "-j4 -- --jobserver-auth=3,4",
                            "X=--jobserver-auth="}) {
    EXPECT_FALSE(connect(Flags)) << Flags;
    EXPECT_EQ(Note, "") << Flags;
  }
}

TEST_F(JobserverTest, TheLastOneCounts) {
  EXPECT_TRUE(connect("--jobserver-fds=3,4 --jobserver-auth=fifo:" + Path));
  EXPECT_FALSE(
      connect("--jobserver-auth=fifo:" + Path + " --jobserver-auth=-2,-2"));
}

TEST_F(JobserverTest, OneThatCannotBeUsed) {
  EXPECT_FALSE(connect("--jobserver-auth=fifo:" + Folder.path("none")));
  EXPECT_EQ(Note, "jobserver 'fifo:" + Folder.path("none") +
                      "' is not used: it cannot be opened: No such file or "
                      "directory");
  Folder.write("file", "+++");
  EXPECT_FALSE(connect("--jobserver-auth=fifo:" + Folder.path("file")));
  EXPECT_EQ(Note, "jobserver 'fifo:" + Folder.path("file") +
                      "' is not used: it is not a FIFO");
  // Descriptors that are closed, or that are something else by now.
  int File = open(Folder.path("file").c_str(), O_RDWR);
  std::string Number = std::to_string(File);
  for (std::string Auth :
       {Number + "," + Number, std::string("900,901"), std::string("-1,-1"),
        std::string("3"), std::string("three,four"), std::string()}) {
    EXPECT_FALSE(connect("--jobserver-auth=" + Auth)) << Auth;
    EXPECT_EQ(Note, "jobserver '" + Auth +
                        "' is not used: make has closed its pipe, since the "
                        "rule that links has no '+'");
  }
  close(File);
  EXPECT_EQ(Folder.read("file"), "+++");
}

TEST_F(JobserverTest, EveryWayOut) {
  auto ExitCode = [](int Status) {
    return WIFEXITED(Status) ? WEXITSTATUS(Status) : -1;
  };
  EXPECT_EQ(ExitCode(endOf([](auto &J) {
              J.reset();
              _exit(1);
            })),
            1);
  EXPECT_EQ(ExitCode(endOf([](auto &) { exit(2); })), 2);
  // LLD exits like this after too many errors.
  EXPECT_EQ(ExitCode(endOf([](auto &) {
              llvm_shutdown();
              _exit(3);
            })),
            3);
  for (int Signal : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGABRT, SIGSEGV, SIGBUS,
                     SIGILL, SIGFPE}) {
    int Status = endOf([&](auto &) {
      kill(getpid(), Signal);
      pause();
    });
    EXPECT_TRUE(WIFSIGNALED(Status) && WTERMSIG(Status) == Signal) << Signal;
  }
  int Status = endOf([](auto &) {
    // A signal sent by the kernel: its si_code differs from that of kill().
    EXPECT_EQ(::write(STDOUT_FILENO, &CtrlC, 1), 1);
    pause();
  });
  EXPECT_TRUE(WIFSIGNALED(Status) && WTERMSIG(Status) == SIGINT);
  Status = endOf([](auto &) { abort(); });
  EXPECT_TRUE(WIFSIGNALED(Status) && WTERMSIG(Status) == SIGABRT);
}

TEST_F(JobserverTest, ASignalThatIsIgnoredStaysSo) {
  auto Was = signal(SIGHUP, SIG_IGN);
  int Status = endOf([](auto &J) {
    raise(SIGHUP);
    J.reset();
    _exit(4);
  });
  signal(SIGHUP, Was);
  EXPECT_TRUE(WIFEXITED(Status) && WEXITSTATUS(Status) == 4);
}
