//===- SshProcessTest.cpp - Hosts behind ssh ------------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This program also plays ssh: `SshProcessTest --ssh-<what> ...`.
//
//===----------------------------------------------------------------------===//

#include "SshProcess.h"
#include "FakeHost.h"
#include <arpa/inet.h>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <iostream>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace dtlto::test;

namespace {
class SshProcessTest : public PluginTest {
protected:
  /// Sets what ssh does.
  void setSsh(const std::string &What) {
    char Self[4096];
    ssize_t N = readlink("/proc/self/exe", Self, sizeof(Self));
    ASSERT_GT(N, 0);
    setenv(
        "DISTCC_SSH",
        (std::string(Self, static_cast<size_t>(N)) + " --ssh-" + What).c_str(),
        1);
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// The ssh program
//===----------------------------------------------------------------------===//

/// Copies available bytes. Returns false at the end.
static bool copy(int From, int To) {
  char Buffer[65536];
  ssize_t N = read(From, Buffer, sizeof(Buffer));
  for (ssize_t NumWritten = 0; NumWritten < N;) {
    ssize_t Written =
        write(To, Buffer + NumWritten, static_cast<size_t>(N - NumWritten));
    if (Written <= 0)
      return false;
    NumWritten += Written;
  }
  return N > 0;
}

/// Connects standard input and output with a port.
static int relay(int Port) {
  int Fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in Where = {};
  Where.sin_family = AF_INET;
  Where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  Where.sin_port = htons(static_cast<uint16_t>(Port));
  if (connect(Fd, reinterpret_cast<sockaddr *>(&Where), sizeof(Where)) != 0)
    return 255;
  while (true) {
    pollfd Fds[] = {{STDIN_FILENO, POLLIN, 0}, {Fd, POLLIN, 0}};
    poll(Fds, 2, -1);
    if (Fds[0].revents && !copy(STDIN_FILENO, Fd))
      return 0;
    if (Fds[1].revents && !copy(Fd, STDOUT_FILENO))
      return 0;
  }
}

static int runAsSsh(int Argc, char **Argv) {
  std::string What = Argv[1];
  if (What == "--ssh-die")
    return 255;
  if (What == "--ssh-ask") {
    bool HasTerminal = open("/dev/tty", O_RDWR) >= 0;
    const char *Program = getenv("SSH_ASKPASS"),
               *When = getenv("SSH_ASKPASS_REQUIRE");
    std::cerr << "a banner\n"
              << (!HasTerminal && Program && Program[0] != '/' && When &&
                          When == std::string("never")
                      ? "Permission denied (publickey,password).\r\n"
                      : "Password: ");
    return 255;
  }
  if (What == "--ssh-hang") {
    // Like an ssh that waits for a password.
    signal(SIGTERM, SIG_IGN);
    std::ofstream(Argv[2]) << "ready\n";
    while (true)
      pause();
  }
  if (What == "--ssh-relay") {
    std::ofstream Log(Argv[3], std::ios::app);
    for (int I = 4; I != Argc; ++I)
      Log << Argv[I] << (I + 1 == Argc ? '\n' : ' ');
    Log.close();
    return relay(atoi(Argv[2]));
  }
  return 255;
}

int main(int Argc, char **Argv) {
  if (Argc > 1 && std::strncmp(Argv[1], "--ssh-", 6) == 0)
    return runAsSsh(Argc, Argv);
  testing::InitGoogleTest(&Argc, Argv);
  return RUN_ALL_TESTS();
}

//===----------------------------------------------------------------------===//
// The tests
//===----------------------------------------------------------------------===//

TEST_F(SshProcessTest, Jobs) {
  MockDistccd A;
  std::string Log = Folder + "/log";
  setSsh("relay " + std::to_string(A.port()) + " " + Log);
  FakeHost Host;
  ASSERT_EQ(Host.open({"hosts=me@there/3:/opt/distccd"}), DTLTO_OK);
  std::vector<uint64_t> Ids;
  for (unsigned I = 0; I != 12; ++I)
    Ids.push_back(Host.submit(I ? smallJob(std::to_string(I) + ".o")
                                : largeJob("0.o", 3000000)));
  for (unsigned I = 0; I != 12; ++I) {
    FakeHost::Completion D = Host.wait(Ids[I]);
    EXPECT_EQ(D.Status, DTLTO_OK) << D.Message;
    EXPECT_EQ(D.Object, objectOf(std::to_string(I) + ".o"));
    EXPECT_EQ(D.Worker, "me@there");
  }
  Host.close();
  EXPECT_LE(A.mostJobs(), 3u);
  for (const WireRequest &R : A.requests())
    EXPECT_EQ(R.Wrong, "");
  std::ifstream In(Log);
  unsigned NumLines = 0;
  for (std::string Line; std::getline(In, Line); ++NumLines)
    EXPECT_EQ(Line, "-l me there /opt/distccd --inetd --enable-tcp-insecure");
  EXPECT_EQ(NumLines, 13u); // including the probe
}

TEST_F(SshProcessTest, WithoutAUserAndACommand) {
  MockDistccd A;
  std::string Log = Folder + "/log";
  setSsh("relay " + std::to_string(A.port()) + " " + Log);
  FakeHost Host;
  ASSERT_EQ(Host.open({"hosts=@there"}), DTLTO_OK);
  EXPECT_EQ(Host.wait(Host.submit(smallJob("x.o"))).Status, DTLTO_OK);
  std::ifstream In(Log);
  std::string Line;
  EXPECT_TRUE(std::getline(In, Line));
  EXPECT_EQ(Line, "there distccd --inetd --enable-tcp-insecure");
}

/// Returns the only warning.
static std::string onlyWarning(FakeHost &Host) {
  std::vector<std::string> Warnings = Host.warnings();
  EXPECT_EQ(Warnings.size(), 1u);
  return Warnings.empty() ? "" : Warnings[0];
}

TEST_F(SshProcessTest, ProgramIsMissing) {
  setenv("DISTCC_SSH", (Folder + "/no-ssh").c_str(), 1);
  FakeHost Host;
  ASSERT_EQ(Host.open({"hosts=me@there"}), DTLTO_OK);
  EXPECT_EQ(Host.wait(Host.submit(smallJob("x.o"))).Status,
            DTLTO_ERROR_INFRASTRUCTURE);
  Host.close();
  EXPECT_EQ(onlyWarning(Host).find("me@there: cannot start '" + Folder +
                                   "/no-ssh': No such file"),
            0u);
  EXPECT_EQ(Host.errors().size(), 1u);
}

TEST_F(SshProcessTest, DiesAtOnce) {
  setSsh("die");
  MockDistccd A;
  FakeHost Host;
  ASSERT_EQ(Host.open({hosts({&A}) + " me@there"}), DTLTO_OK);
  EXPECT_EQ(Host.wait(Host.submit(smallJob("x.o"))).Worker, A.name());
  Host.waitForLog("me@there: ");
  Host.close();
  EXPECT_NE(onlyWarning(Host).find(
                "does 'ssh me@there distccd --version' work without a prompt"),
            std::string::npos);
}

/// ssh can't ask for a password, and its own message is the reason.
TEST_F(SshProcessTest, NoPrompt) {
  setenv("SSH_ASKPASS", "/nonexistent/askpass", 1);
  setSsh("ask");
  FakeHost Host;
  ASSERT_EQ(Host.open({"hosts=me@there"}), DTLTO_OK);
  EXPECT_EQ(Host.wait(Host.submit(smallJob("x.o"))).Status,
            DTLTO_ERROR_INFRASTRUCTURE);
  Host.close();
  EXPECT_EQ(onlyWarning(Host).find(
                "me@there: ssh says 'Permission denied (publickey,password)'"),
            0u)
      << onlyWarning(Host);
  unsetenv("SSH_ASKPASS");
}

TEST_F(SshProcessTest, Hangs) {
  setSsh("hang " + Folder + "/ready");
  FakeHost Host;
  ASSERT_EQ(Host.open({"hosts=me@there"}), DTLTO_OK);
  uint64_t Id = Host.submit(smallJob("x.o"));
  // The process runs, and ignores SIGTERM.
  auto End = std::chrono::steady_clock::now() + MaxWait;
  while (access((Folder + "/ready").c_str(), F_OK) != 0 &&
         std::chrono::steady_clock::now() < End)
    std::this_thread::yield();
  Host.close(); // must end it; TearDown() checks that
  EXPECT_EQ(Host.wait(Id).Status, DTLTO_CANCELLED);
}

TEST_F(SshProcessTest, HangsNextToAGoodHost) {
  setenv("DISTCC_IO_TIMEOUT", "1", 1);
  setSsh("hang " + Folder + "/ready");
  MockDistccd A;
  FakeHost Host;
  ASSERT_EQ(Host.open({"hosts=me@there " + A.name()}), DTLTO_OK);
  EXPECT_EQ(Host.wait(Host.submit(smallJob("x.o"))).Status, DTLTO_OK);
  Host.waitForLog("me@there: ");
  Host.close();
  EXPECT_NE(onlyWarning(Host).find("me@there: "), std::string::npos);
}

TEST_F(SshProcessTest, CancelEndsTheProcess) {
  MockDistccd A;
  A.onJob([](MockDistccd::Peer &P) { P.waitForDisconnect(); });
  setSsh("relay " + std::to_string(A.port()) + " " + Folder + "/log");
  FakeHost Host;
  ASSERT_EQ(Host.open({"hosts=me@there"}), DTLTO_OK);
  uint64_t Id = Host.submit(smallJob("x.o"));
  EXPECT_TRUE(A.waitFor([&] { return A.numJobs() == 1; }));
  Host.cancel(Id);
  EXPECT_EQ(Host.wait(Id).Status, DTLTO_CANCELLED);
  EXPECT_TRUE(A.waitFor([&] { return A.numLeft() == 1; }));
}
