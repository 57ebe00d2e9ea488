//===- StateFilesTest.cpp - Files for distccmon-text and others -----------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StateFiles.h"
#include "gtest/gtest.h"
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <utility>

using namespace dtlto;
using namespace dtlto::distcc;
namespace fs = std::filesystem;

namespace {

class StateFilesTest : public testing::Test {
protected:
  void SetUp() override {
    std::string Name = testing::TempDir() + "dtlto-state-XXXXXX";
    ASSERT_NE(mkdtemp(Name.data()), nullptr);
    Base = Name;
    Dir = Base + "/distcc/state";
  }
  void TearDown() override { fs::remove_all(Base); }

  std::string path(unsigned Unique) {
    return Dir + "/binstate_" + std::to_string(getpid()) + "_" +
           std::to_string(Unique);
  }
  std::string contents(unsigned Unique) {
    std::ifstream Stream(path(Unique), std::ios::binary);
    return {std::istreambuf_iterator<char>(Stream), {}};
  }
  template <typename T> static T at(const std::string &Bytes, size_t Offset) {
    T Value = {};
    if (Offset + sizeof(T) <= Bytes.size())
      std::memcpy(&Value, Bytes.data() + Offset, sizeof(T));
    else
      ADD_FAILURE() << "only " << Bytes.size() << " bytes";
    return Value;
  }
  /// Returns the string in the field of 128 bytes at \p Offset.
  static std::string text(const std::string &Bytes, size_t Offset) {
    std::string Field = Bytes.substr(std::min(Offset, Bytes.size()), 128);
    EXPECT_NE(Field.find('\0'), std::string::npos);
    return Field.c_str();
  }
  size_t count() {
    return size_t(std::distance(fs::directory_iterator(Dir), {}));
  }

  std::string Base, Dir;
};

/// The file of one job. It is written when the functions return.
class StateFile {
public:
  StateFile(const std::string &Dir, const std::string &Module,
            const std::string &Host, int Slot)
      : Files(Dir) {
    Files.open(7, Module, Host, Slot);
    Files.wait(std::chrono::seconds(30));
  }
  void writePhase(Phase P) {
    Files.writePhase(7, P);
    Files.wait(std::chrono::seconds(30));
  }
  void remove() {
    Files.remove(7);
    Files.wait(std::chrono::seconds(30));
  }
  StateFiles Files;
};

constexpr size_t FileAt = 24, HostAt = 152, SlotAt = 280, PhaseAt = 284;

} // namespace

TEST_F(StateFilesTest, Layout) {
  if (sizeof(void *) != 8 || sizeof(long) != 8)
    GTEST_SKIP() << "another layout";
  StateFile F(Dir, "dir/libfoo.a(bar.o at 1234)", "node3:4000", 5);
  F.writePhase(Phase::Compile);
  std::string Bytes = contents(1);
  ASSERT_EQ(Bytes.size(), 296u);
  EXPECT_EQ(at<uint64_t>(Bytes, 0), 296u);
  EXPECT_EQ(at<uint64_t>(Bytes, 8), 0x44494800u);
  EXPECT_EQ(at<uint64_t>(Bytes, 16), uint64_t(getpid()));
  EXPECT_EQ(text(Bytes, FileAt), "dir/libfoo.a(bar.o at 1234)");
  EXPECT_EQ(text(Bytes, HostAt), "node3:4000");
  EXPECT_EQ(at<int>(Bytes, SlotAt), 5);
  EXPECT_EQ(at<int>(Bytes, PhaseAt), 5);
  EXPECT_EQ(at<uint64_t>(Bytes, 288), 0u);
}

TEST_F(StateFilesTest, Phases) {
  StateFile F(Dir, "m", "h", 0);
  EXPECT_EQ(count(), 0u); // no file before the first state
  const std::pair<Phase, int> Phases[] = {{Phase::Blocked, 1},
                                          {Phase::Connect, 2},
                                          {Phase::Send, 4},
                                          {Phase::Compile, 5},
                                          {Phase::Receive, 6}};
  for (auto [P, Number] : Phases) {
    F.writePhase(P);
    EXPECT_EQ(at<int>(contents(1), PhaseAt), Number);
  }
  EXPECT_EQ(count(), 1u);
}

TEST_F(StateFilesTest, Refresh) {
  StateFile F(Dir, "m", "h", 0);
  F.writePhase(Phase::Send);
  std::string Before = contents(1);
  ASSERT_EQ(::unlink(path(1).c_str()), 0); // as a monitor does
  F.writePhase(Phase::Send);
  EXPECT_EQ(contents(1), Before);
  // The file's time is updated.
  fs::file_time_type Old = fs::last_write_time(path(1)) - std::chrono::hours(1);
  fs::last_write_time(path(1), Old);
  F.writePhase(Phase::Send);
  EXPECT_GT(fs::last_write_time(path(1)), Old);
}

TEST_F(StateFilesTest, IsRemoved) {
  {
    StateFile F(Dir, "m", "h", 0);
    F.writePhase(Phase::Send);
    EXPECT_EQ(count(), 1u);
    F.remove();
    EXPECT_EQ(count(), 0u);
    F.writePhase(Phase::Send); // has no effect
    EXPECT_EQ(count(), 0u);
    F.Files.open(7, "m", "h", 0);
    F.writePhase(Phase::Send);
    EXPECT_TRUE(fs::exists(path(2)));
    EXPECT_EQ(count(), 1u);
  }
  EXPECT_EQ(count(), 0u);
}

TEST_F(StateFilesTest, LongNames) {
  {
    StateFile F(Dir, std::string(200, 'x') + "/end.o", std::string(300, 'h'),
                0);
    F.writePhase(Phase::Send);
    EXPECT_EQ(text(contents(1), FileAt), std::string(121, 'x') + "/end.o");
    EXPECT_EQ(text(contents(1), HostAt), std::string(127, 'h'));
  }
  {
    StateFile F(Dir, std::string(127, 'x'), "h", 0);
    F.writePhase(Phase::Send);
    EXPECT_EQ(text(contents(1), FileAt), std::string(127, 'x'));
  }
  // Characters of two bytes aren't cut in half.
  std::string Umlauts;
  for (int I = 0; I != 100; ++I)
    Umlauts += "\xc3\xa4";
  StateFile F(Dir, Umlauts, "h", 0);
  F.writePhase(Phase::Send);
  EXPECT_EQ(text(contents(1), FileAt), Umlauts.substr(0, 126));
}

TEST_F(StateFilesTest, NamesAreOneLine) {
  StateFile F(Dir, "a\nb\x1b", "h\r", 0);
  F.writePhase(Phase::Send);
  EXPECT_EQ(text(contents(1), FileAt), "a?b?");
  EXPECT_EQ(text(contents(1), HostAt), "h?");
}

TEST_F(StateFilesTest, FoldersAreMadeAsDistccDoes) {
  mode_t Mask = umask(027);
  StateFile F(Dir, "m", "h", 0);
  umask(Mask);
  for (const std::string &Folder : {Base + "/distcc", Dir}) {
    struct stat Stat;
    ASSERT_EQ(stat(Folder.c_str(), &Stat), 0) << Folder;
    EXPECT_EQ(Stat.st_mode & 0777, 0750u) << Folder;
  }
}

TEST_F(StateFilesTest, FailuresAreSilent) {
  StateFile None("", "m", "h", 0);
  None.writePhase(Phase::Send);
  None.remove();
  std::ofstream(Base + "/file") << "x";
  StateFile F(Base + "/file/state", "m", "h", 0);
  F.writePhase(Phase::Send);
  F.writePhase(Phase::Send);
  EXPECT_EQ(size_t(std::distance(fs::directory_iterator(Base), {})), 1u);
}

TEST_F(StateFilesTest, APipeInItsPlace) {
  fs::create_directories(Dir);
  ASSERT_EQ(mkfifo(path(1).c_str(), 0600), 0);
  StateFile F(Dir, "m.o", "host", 0);
  F.writePhase(Phase::Send); // the pipe has no reader
  int Reader = ::open(path(1).c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_NE(Reader, -1);
  F.writePhase(Phase::Compile);
  char Byte;
  EXPECT_EQ(::read(Reader, &Byte, 1), 0);
  ::close(Reader);
}

TEST_F(StateFilesTest, OnAThreadOfTheirOwn) {
  {
    StateFiles Files(Dir);
    Files.writePhase(7, Phase::Send); // an unknown job: ignored
    Files.open(1, "a.o", "host", 0);
    Files.writePhase(1, Phase::Send);
    Files.open(2, "b.o", "host", 1);
    Files.writePhase(2, Phase::Compile);
    Files.remove(1);
    auto End = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while ((fs::exists(path(1)) || !fs::exists(path(2))) &&
           std::chrono::steady_clock::now() < End)
      std::this_thread::yield();
    EXPECT_FALSE(fs::exists(path(1)));
    EXPECT_EQ(text(contents(2), 24), "b.o");
  }
  EXPECT_TRUE(fs::is_empty(Dir));
}

TEST_F(StateFilesTest, DistccmonTextShowsIt) {
  if (std::system("command -v distccmon-text >/dev/null 2>&1") != 0)
    GTEST_SKIP() << "no distccmon-text";
  StateFiles Files(Dir);
  Files.open(1, "liba.a(one.o at 8)", "node3:4000", 0);
  Files.writePhase(1, Phase::Compile);
  Files.open(2, "two.o", "[::1]:4000", 3);
  Files.writePhase(2, Phase::Send);
  Files.wait(std::chrono::seconds(30));
  std::string Command =
      "DISTCC_DIR='" + Base + "/distcc' distccmon-text 2>&1 </dev/null";
  FILE *Pipe = popen(Command.c_str(), "r");
  ASSERT_NE(Pipe, nullptr);
  std::string Output;
  for (int C; (C = getc(Pipe)) != EOF;)
    Output += char(C);
  EXPECT_EQ(pclose(Pipe), 0);
  // The width of columns isn't fixed.
  std::set<std::string> Lines;
  std::istringstream Stream(Output);
  for (std::string Line; std::getline(Stream, Line);) {
    std::istringstream Words(Line);
    std::string Joined;
    for (std::string Word; Words >> Word;)
      Joined += (Joined.empty() ? "" : " ") + Word;
    if (!Joined.empty())
      Lines.insert(Joined);
  }
  std::string Pid = std::to_string(getpid());
  EXPECT_EQ(Lines, (std::set<std::string>{
                       Pid + " Compile liba.a(one.o at 8) node3:4000[0]",
                       Pid + " Send two.o [::1]:4000[3]"}));
}
