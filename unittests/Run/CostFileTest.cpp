//===- CostFileTest.cpp - The file with the costs of modules --------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Run/CostFile.h"
#include "Processes.h"
#include "TempFolder.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"
#include <atomic>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace llvm;
using namespace dtlto;
using namespace dtlto::test;

using Entries = std::vector<CostEntry>;

static void PrintTo(const CostEntry &E, std::ostream *OS) {
  *OS << utohexstr(E.Key) << ' ' << E.Bytes << ' ' << E.Microseconds << ' '
      << E.KiB;
}

namespace dtlto {
void PrintTo(const CostEntry &E, std::ostream *OS) { ::PrintTo(E, OS); }
} // namespace dtlto

static const Entries Some = {
    {0x1234, 1000, 5000000},
    {0, 1, 1},
    {~uint64_t(0), MaxCostBytes, MaxCostMicroseconds, MaxCostBytes / 1024},
    {~uint64_t(1), 77, 88, 99}};

/// Parses \p Text into \p Result. Returns the error, if any.
static std::string parse(StringRef Text, Entries *Result = nullptr) {
  Expected<Entries> E = parseCosts(Text);
  if (!E)
    return toString(E.takeError());
  if (Result)
    *Result = *E;
  return "";
}

/// Returns a file with any \p Body and a valid checksum.
static std::string withBody(StringRef Body) {
  std::string Sum = utohexstr(xxh3_64bits(Body), /*LowerCase=*/true);
  return "dtlto-costs 1 " + std::string(16 - Sum.size(), '0') + Sum + "\n" +
         Body.str();
}

static void append(std::vector<CostEntry> &To, CostEntry E) { To.push_back(E); }

//===----------------------------------------------------------------------===//
// The format
//===----------------------------------------------------------------------===//

TEST(CostFile, RoundTrip) {
  for (const Entries &E :
       {Some, Entries(), Entries(Some.begin(), Some.begin() + 1)}) {
    Entries Read;
    EXPECT_EQ(parse(formatCosts(E), &Read), "");
    EXPECT_EQ(Read, E);
  }
}

TEST(CostFile, IsText) {
  EXPECT_EQ(formatCosts(Some),
            withBody("0000000000001234 1000 5000000\n"
                     "0000000000000000 1 1\n"
                     "ffffffffffffffff 1099511627776 1000000000000 "
                     "1073741824\n"
                     "fffffffffffffffe 77 88 99\n"));
}

TEST(CostFile, EveryChangedByteIsSeen) {
  const std::string Whole = formatCosts(Some);
  for (size_t I = 0; I != Whole.size(); ++I)
    for (unsigned Byte = 0; Byte != 256; ++Byte) {
      std::string Text = Whole;
      Text[I] = char(Byte);
      EXPECT_EQ(parse(Text) == "", Text == Whole)
          << "byte " << I << " is " << Byte;
    }
}

TEST(CostFile, EveryCutIsSeen) {
  const std::string Whole = formatCosts(Some);
  for (size_t Size = 0; Size != Whole.size(); ++Size)
    EXPECT_NE(parse(StringRef(Whole).take_front(Size)), "") << Size;
  EXPECT_NE(parse(Whole + "\n"), "");
  EXPECT_NE(parse(Whole + Whole), "");
}

TEST(CostFile, SaysWhatIsWrong) {
  EXPECT_EQ(parse(""), "it is not a cost history");
  EXPECT_EQ(parse("\x7f"
                  "ELF"),
            "it is not a cost history");
  for (StringRef Version : {"2 ", "0 ", "10 ", "-1 ", " ", ""})
    EXPECT_EQ(parse(("dtlto-costs " + Version + "0123456789abcdef\n").str()),
              "it is a cost history of another version");
  EXPECT_EQ(parse("dtlto-costs 1 "), "it is damaged");
  EXPECT_EQ(parse("dtlto-costs 1 0123456789abcdef\n"), "it is damaged");
}

TEST(CostFile, WrongEntriesWithARightChecksum) {
  ASSERT_EQ(parse(withBody("00000000000000ff 1 1\n")), "");
  for (StringRef Line : {"00000000000000ff 0 1",
                         "00000000000000ff 1 0",
                         "00000000000000ff 01 1",
                         "00000000000000ff 1 01",
                         "00000000000000ff -1 1",
                         "00000000000000ff 1 -1",
                         "00000000000000ff +1 1",
                         "00000000000000ff 1 nan",
                         "00000000000000ff 1 inf",
                         "00000000000000ff 1 1.5",
                         "00000000000000ff 1 1e3",
                         "00000000000000ff 1 0x1",
                         "00000000000000ff  1 1",
                         "00000000000000ff 1  1",
                         "00000000000000ff 1 1 ",
                         "00000000000000ff 1 1 0",
                         "00000000000000ff 1 1 01",
                         "00000000000000ff 1 1 1073741825",
                         "00000000000000ff 1 1 1 ",
                         "00000000000000ff 1 1 1 1",
                         "00000000000000ff\t1 1",
                         "00000000000000ff 1 1\r",
                         "00000000000000ff 1",
                         "00000000000000ff",
                         "0000000000000ff 1 1",
                         "000000000000000ff 1 1",
                         "00000000000000FF 1 1",
                         "00000000000000fg 1 1",
                         "",
                         "00000000000000ff 1099511627777 1",
                         "00000000000000ff 1 1000000000001",
                         "00000000000000ff 18446744073709551617 1",
                         "00000000000000ff 1 99999999999999999999999999"})
    EXPECT_EQ(parse(withBody((Line + "\n").str())), "entry 1 is invalid")
        << Line.str();
  EXPECT_EQ(parse(withBody("00000000000000ff 1 1")), "entry 1 is invalid");
  EXPECT_EQ(parse(withBody("00000000000000ff 1 1\n\n")), "entry 2 is invalid");
  EXPECT_EQ(parse(withBody("00000000000000ff 1 1\n0000000000000001 1 1\n"
                           "00000000000000ff 2 2\n")),
            "an entry is repeated");
}

TEST(CostFile, TheLargest) {
  Entries All;
  for (size_t I = 0; I != MaxCostEntries; ++I)
    All.push_back({I, MaxCostBytes, MaxCostMicroseconds, MaxCostBytes / 1024});
  std::string Text = formatCosts(All);
  EXPECT_LE(Text.size(), MaxCostFileSize);
  Entries Read;
  EXPECT_EQ(parse(Text, &Read), "");
  EXPECT_TRUE(Read == All);
  All.push_back({MaxCostEntries, 1, 1});
  EXPECT_EQ(parse(formatCosts(All)), "it has more than 100000 entries");
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

namespace {

Expected<Entries> readCostFile(StringRef Path) {
  Expected<std::string> Text = readCostText(Path);
  if (!Text)
    return Text.takeError();
  return Text->empty() ? Entries() : parseCosts(*Text);
}

class CostFileOnDisk : public testing::Test {
protected:
  /// Returns why the file can't be read; empty if it can.
  std::string readError() {
    Expected<Entries> E = readCostFile(Path);
    if (E)
      Read = *E;
    return E ? "" : toString(E.takeError());
  }
  std::string updateError(CostEntry E) {
    return toString(
        updateCostFile(Path, [&](Entries &All) { append(All, E); }));
  }
  void expectNothingLeft(std::vector<std::string> Names) {
    EXPECT_EQ(Folder.names(), Names);
  }

  TempFolder Folder;
  std::string Path = Folder.path("costs");
  Entries Read;
};

} // namespace

TEST_F(CostFileOnDisk, NoFileIsNoEntries) {
  EXPECT_EQ(readError(), "");
  EXPECT_EQ(Read, Entries());
  expectNothingLeft({});
  Path = Folder.path("no/such/folder/costs");
  EXPECT_EQ(readError(), "");
}

TEST_F(CostFileOnDisk, Updates) {
  for (const CostEntry &E : Some)
    EXPECT_EQ(updateError(E), "");
  EXPECT_EQ(readError(), "");
  EXPECT_EQ(Read, Some);
  expectNothingLeft({"costs", "costs.lock"});
}

TEST_F(CostFileOnDisk, MakesFolders) {
  Path = Folder.path("a/b%c/costs");
  EXPECT_EQ(updateError(Some[0]), "");
  EXPECT_EQ(readError(), "");
  EXPECT_EQ(Read, Entries{Some[0]});
}

TEST_F(CostFileOnDisk, DamagedOnesAreReplaced) {
  std::string Whole = formatCosts(Some);
  const std::string Damaged[] = {Whole.substr(0, 40), Whole + "x",
                                 "dtlto-costs 2 of a later version\n", "",
                                 std::string(5000, '\0')};
  for (const std::string &Text : Damaged) {
    Folder.write("costs", Text);
    EXPECT_NE(readError(), "");
    EXPECT_EQ(updateError(Some[1]), "");
    EXPECT_EQ(readError(), "");
    EXPECT_EQ(Read, Entries{Some[1]});
  }
}

TEST_F(CostFileOnDisk, OtherFilesAreLeftAlone) {
  const std::string Others[] = {"int main() {}\n",
                                "\x7f"
                                "ELF",
                                std::string("\0asm", 4), "dtlto-costs"};
  for (const std::string &Text : Others) {
    Folder.write("costs", Text);
    EXPECT_EQ(readError(), "it is not a cost history");
    EXPECT_EQ(updateError(Some[0]), "it is not a cost history");
    EXPECT_EQ(Folder.read("costs"), Text);
  }
  std::string Large = "dtlto-costs 1 " + std::string(MaxCostFileSize, 'x');
  Folder.write("costs", Large);
  EXPECT_EQ(readError(), "it is larger than a cost history can be");
  EXPECT_EQ(updateError(Some[0]), "it is larger than a cost history can be");
  EXPECT_TRUE(Folder.read("costs") == Large);
  expectNothingLeft({"costs"});
}

TEST_F(CostFileOnDisk, AFolderInItsPlace) {
  EXPECT_FALSE(sys::fs::create_directory(Path));
  EXPECT_EQ(readError(), "it is not a regular file");
  EXPECT_EQ(updateError(Some[0]), "it is not a regular file");
  expectNothingLeft({"costs"});
}

TEST_F(CostFileOnDisk, APipeInItsPlace) {
  ASSERT_EQ(mkfifo(Path.c_str(), 0600), 0);
  EXPECT_EQ(readError(), "it is not a regular file");
  EXPECT_EQ(updateError(Some[0]), "it is not a regular file");
  expectNothingLeft({"costs"});
  unlink(Path.c_str()); // LLVM wouldn't remove a pipe
}

TEST_F(CostFileOnDisk, ALinkIsReplacedAndItsTargetKept) {
  std::string Target = formatCosts({Some[0]});
  Folder.write("target", Target);
  ASSERT_EQ(symlink("target", Path.c_str()), 0);
  EXPECT_EQ(readError(), "");
  EXPECT_EQ(Read, Entries{Some[0]});
  EXPECT_EQ(updateError(Some[1]), "");
  EXPECT_EQ(readError(), "");
  EXPECT_EQ(Read, (Entries{Some[0], Some[1]}));
  EXPECT_EQ(Folder.read("target"), Target);
}

TEST_F(CostFileOnDisk, ALinkToNothing) {
  ASSERT_EQ(symlink("nothing", Path.c_str()), 0);
  EXPECT_EQ(readError(), "");
  EXPECT_EQ(updateError(Some[0]), "");
  expectNothingLeft({"costs", "costs.lock"});
}

TEST_F(CostFileOnDisk, ALinkInTheLocksPlace) {
  ASSERT_EQ(symlink("victim", (Path + ".lock").c_str()), 0);
  EXPECT_NE(updateError(Some[0]).find("costs.lock' cannot be opened"),
            std::string::npos);
  expectNothingLeft({"costs.lock"});
}

TEST_F(CostFileOnDisk, UnwritableFolders) {
  Folder.write("file", "");
  // Even root can't write to these.
  for (const std::string &P :
       {Folder.path("file/costs"), std::string("/proc/self/costs"),
        std::string("/proc/dtlto/costs")}) {
    Path = P;
    EXPECT_NE(updateError(Some[0]), "") << P;
  }
  expectNothingLeft({"file"});
}

TEST_F(CostFileOnDisk, ReadOnlyFolder) {
  if (geteuid() == 0)
    GTEST_SKIP() << "root may write everywhere";
  Path = Folder.path("folder/costs");
  EXPECT_EQ(updateError(Some[0]), "");
  std::string Sub = Folder.path("folder");
  ASSERT_EQ(chmod(Sub.c_str(), 0555), 0);
  EXPECT_EQ(updateError(Some[1]).find("it cannot be written: "), 0u);
  EXPECT_EQ(readError(), "");
  EXPECT_EQ(Read, Entries{Some[0]});
  ASSERT_EQ(chmod(Sub.c_str(), 0755), 0);
}

TEST_F(CostFileOnDisk, ALockThatIsHeldIsNotWaitedForLong) {
  EXPECT_EQ(updateError(Some[0]), "");
  int FD = open((Path + ".lock").c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_GE(FD, 0);
  ASSERT_EQ(flock(FD, LOCK_EX | LOCK_NB), 0);
  EXPECT_EQ(updateError(Some[1]), "another link holds '" + Path + ".lock'");
  // Reading needs no lock.
  EXPECT_EQ(readError(), "");
  EXPECT_EQ(Read, Entries{Some[0]});
  close(FD);
  EXPECT_EQ(updateError(Some[1]), "");
}

TEST_F(CostFileOnDisk, ALockEndsWithItsProcess) {
  pid_t Child = fork();
  if (Child == 0) {
    // The process is killed during an update.
    consumeError(updateCostFile(Path, [](Entries &) { raise(SIGKILL); }));
    _exit(0);
  }
  int Status = 0;
  ASSERT_EQ(waitpid(Child, &Status, 0), Child);
  EXPECT_TRUE(WIFSIGNALED(Status));
  EXPECT_EQ(updateError(Some[0]), "");
  EXPECT_EQ(readError(), "");
  EXPECT_EQ(Read, Entries{Some[0]});
}

TEST_F(CostFileOnDisk, ItsTimesDontMatter) {
  EXPECT_EQ(updateError(Some[0]), "");
  for (time_t Seconds : {time_t(0), time_t(4102444800)}) {
    timespec Times[2] = {{Seconds, 0}, {Seconds, 0}};
    ASSERT_EQ(utimensat(AT_FDCWD, Path.c_str(), Times, 0), 0);
    EXPECT_EQ(readError(), "");
    EXPECT_EQ(Read, Entries{Some[0]});
  }
}

/// Appends until it succeeds, because a busy machine may hold a lock for long.
static bool appendAtLast(const std::string &Path, CostEntry E) {
  for (unsigned I = 0; I != 200; ++I) {
    Error Failed = updateCostFile(Path, [&](Entries &All) { append(All, E); });
    if (!Failed)
      return true;
    consumeError(std::move(Failed));
  }
  return false;
}

TEST_F(CostFileOnDisk, ManyProcessesLoseNothing) {
  inProcesses(4, [&](uint64_t P) {
    bool Ok = true;
    for (uint64_t I = 0; I != 25; ++I)
      Ok &= appendAtLast(Path, {P << 8 | I, 1, 1});
    return Ok;
  });
  EXPECT_EQ(readError(), "");
  EXPECT_EQ(Read.size(),
            100u); // all keys, and none twice
  expectNothingLeft({"costs", "costs.lock"});
}

TEST_F(CostFileOnDisk, ManyThreadsLoseNothing) {
  std::atomic<unsigned> Failed{0}, Unreadable{0};
  std::atomic<bool> Done{false};
  std::thread Reader([&] {
    while (!Done) // the file is complete at any time
      if (Expected<Entries> E = readCostFile(Path); !E) {
        consumeError(E.takeError());
        ++Unreadable;
      }
  });
  std::vector<std::thread> Threads;
  for (uint64_t T = 0; T != 4; ++T)
    Threads.emplace_back([&, T] {
      for (uint64_t I = 0; I != 25; ++I)
        if (!appendAtLast(Path, {T << 8 | I, 1, 1}))
          ++Failed;
    });
  for (std::thread &T : Threads)
    T.join();
  Done = true;
  Reader.join();
  EXPECT_EQ(Failed, 0u);
  EXPECT_EQ(Unreadable, 0u);
  EXPECT_EQ(readError(), "");
  EXPECT_EQ(Read.size(), 100u);
}
