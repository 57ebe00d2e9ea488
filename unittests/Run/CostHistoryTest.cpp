//===- CostHistoryTest.cpp - Costs of modules in earlier links ------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Run/CostHistory.h"
#include "LTO/LTOJobs.h"
#include "Processes.h"
#include "Support/FileTask.h"
#include "TempFolder.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"
#include <cmath>
#include <fcntl.h>
#include <limits>
#include <sys/file.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace llvm;
using namespace dtlto;
using namespace dtlto::test;

namespace {

class CostHistoryTest : public testing::Test {
protected:
  // With sanitizers on a busy machine, 100,000 entries take more than a second.
  CostHistoryTest() {
    FileLimits.First = FileLimits.Next = std::chrono::minutes(1);
  }
  ~CostHistoryTest() override { FileLimits = {}; }

  std::unique_ptr<CostHistory> load() { return CostHistory::load(Path, &Note); }

  /// Records a link whose only module took \p Seconds.
  void link(StringRef Key, uint64_t Bytes, double Seconds,
            uint64_t Memory = 0) {
    std::unique_ptr<CostHistory> H = load();
    H->record(Key, Bytes, Seconds, Memory);
    EXPECT_EQ(H->save(), "");
  }
  void expectMeasured(StringRef Key, uint64_t Bytes, double Seconds) {
    CostEstimate E = load()->estimate(Key, Bytes);
    EXPECT_TRUE(E.IsMeasured) << Key.str();
    EXPECT_NEAR(E.Seconds, Seconds, 1e-6) << Key.str();
  }
  bool knows(StringRef Key, uint64_t Bytes = 1000) {
    return load()->estimate(Key, Bytes).IsMeasured;
  }
  bool noteHas(StringRef Text) const {
    return StringRef(Note).contains(Text) && StringRef(Note).contains(Path);
  }

  TempFolder Folder;
  std::string Path = Folder.path("costs");
  std::string Note;
};

} // namespace

//===----------------------------------------------------------------------===//
// Keys
//===----------------------------------------------------------------------===//

static std::string key(StringRef Name, const lto::Config &Conf = {},
                       StringRef Triple = "x86_64") {
  return costKey(ModuleNames("/work/dir"), Name, Triple, Conf);
}

TEST(CostKey, SaysWhatChangesTheTime) {
  EXPECT_EQ(key("a.o"), key("a.o"));
  EXPECT_NE(key("a.o"), key("b.o"));
  EXPECT_NE(key("a.o"), key("a.o", {}, "aarch64"));
  EXPECT_NE(key("a.o"), key("a.ox", {}, "86_64"));
  lto::Config O3;
  O3.OptLevel = 3;
  EXPECT_NE(key("a.o"), key("a.o", O3));
  lto::Config CG0;
  CG0.CGOptLevel = CodeGenOptLevel::None;
  EXPECT_NE(key("a.o"), key("a.o", CG0));
}

TEST(CostKey, IsTheSameInAnotherFolder) {
  lto::Config Conf;
  EXPECT_EQ(costKey(ModuleNames("/one"), "/one/lib/a.o", "x", Conf),
            costKey(ModuleNames("/two"), "/two/lib/a.o", "x", Conf));
}

TEST(CostKey, TakesNamesThatDontTravel) {
  std::string Long(5000, 'A');
  EXPECT_NE(key(Long + "1"), key(Long + "2"));
  EXPECT_NE(key(""), key("a"));
}

TEST(CostKey, MembersOfArchivesMayMove) {
  EXPECT_EQ(costName("lib/a.a(b.o at 1234)"), "lib/a.a(b.o)");
  EXPECT_EQ(costName("lib/a.a(b.o)1234"), "lib/a.a(b.o)");
  EXPECT_EQ(costName("lib/a.libb.obj1234"), "lib/a.libb.obj");
  EXPECT_EQ(costName("lib/a.libb.OBJ0"), "lib/a.libb.OBJ");
  EXPECT_EQ(costName("lib/a.libb.o12"), "lib/a.libb.o");
  EXPECT_EQ(key("a.a(b.o at 8)"), key("a.a(b.o at 12345678)"));
  EXPECT_NE(key("a.a(b.o at 8)"), key("a.a(c.o at 8)"));
  EXPECT_NE(key("a.a(b.o at 8)"), key("b.a(b.o at 8)"));
}

TEST(CostKey, OtherNamesStay) {
  for (StringRef Name :
       {"", ")", "a.o", "a1", "123", "a.o)", "a(b.o at )", "a(b.o at x)",
        "a(12)", "a(b.o at12)", "at 12", "a.cpp12", "foo 1.2", "a.a(b1.o)"})
    EXPECT_EQ(costName(Name), Name);
}

//===----------------------------------------------------------------------===//
// Estimates
//===----------------------------------------------------------------------===//

TEST_F(CostHistoryTest, NothingIsKnownAtFirst) {
  std::unique_ptr<CostHistory> H = load();
  EXPECT_TRUE(noteHas("0 modules"));
  EXPECT_EQ(H->size(), 0u);
  CostEstimate Small = H->estimate("a", 1000), Large = H->estimate("b", 5000);
  EXPECT_FALSE(Small.IsMeasured);
  EXPECT_GT(Small.Seconds, 0);
  EXPECT_NEAR(Large.Seconds, 5 * Small.Seconds, 1e-9);
}

TEST_F(CostHistoryTest, Learns) {
  link("a", 1000, 2.5);
  expectMeasured("a", 1000, 2.5);
  EXPECT_TRUE(noteHas("1 modules"));
  EXPECT_FALSE(knows("b"));
}

TEST_F(CostHistoryTest, GrowsWithTheModule) {
  link("a", 1000, 3);
  expectMeasured("a", 2000, 6);
  expectMeasured("a", 500, 1.5);
  // With such a size, it is another module.
  EXPECT_FALSE(knows("a", 9000));
  EXPECT_FALSE(knows("a", 100));
}

TEST_F(CostHistoryTest, Memory) {
  auto Memory = [&](uint64_t Bytes, uint64_t Beside = 0) {
    return load()->estimate("a", Bytes, Beside).Memory;
  };
  uint64_t Guess = Memory(1000);
  EXPECT_GT(Memory(2000), Guess);
  // The rest of the part's module isn't compiled.
  EXPECT_GT(Memory(1000, 1000), Guess);
  EXPECT_LT(Memory(1000, 1000), Memory(2000));
  EXPECT_GT(Memory(UINT64_MAX, UINT64_MAX), Memory(1 << 30));

  link("a", 1000, 1, 50 << 20);
  EXPECT_EQ(Memory(1000), 50u << 20);
  EXPECT_EQ(Memory(1000, 1000), 50u << 20); // the whole was measured
  EXPECT_EQ(Memory(2000), 100u << 20);
  EXPECT_EQ(load()->estimate("b", 1000).Memory, Guess);
  // A link without a measurement keeps the old one.
  link("a", 2000, 1);
  EXPECT_EQ(Memory(2000), 100u << 20);
  link("a", 2000, 1, 70 << 20);
  EXPECT_EQ(Memory(2000), 70u << 20);
  link("a", MaxCostBytes / 2, 1, UINT64_MAX);
  link("a", MaxCostBytes, 1);
  EXPECT_EQ(Memory(MaxCostBytes), MaxCostBytes);
}

TEST_F(CostHistoryTest, UnknownModulesCompareWithKnownOnes) {
  std::unique_ptr<CostHistory> H = load();
  for (unsigned I = 0; I != 20; ++I)
    H->record("m" + utostr(I), 1000, 4);
  // A few outliers don't matter, even if they are large.
  H->record("stuck", 5000, 100000);
  H->record("stub", 4000, 0);
  EXPECT_EQ(H->save(), "");
  CostEstimate E = load()->estimate("new", 500);
  EXPECT_FALSE(E.IsMeasured);
  EXPECT_NEAR(E.Seconds, 2, 1e-6);
}

TEST_F(CostHistoryTest, SmallModulesDontTellTheRateOfLargeOnes) {
  std::unique_ptr<CostHistory> H = load();
  for (unsigned I = 0; I != 20; ++I)
    H->record("small" + utostr(I), 10, 1); // the minimum for any module
  H->record("large", 100000, 10);
  EXPECT_EQ(H->save(), "");
  EXPECT_NEAR(load()->estimate("new", 50000).Seconds, 5, 1e-6);
}

TEST_F(CostHistoryTest, OneSlowLinkCountsForHalf) {
  link("a", 1000, 2);
  link("a", 1000, 6);
  expectMeasured("a", 1000, 4);
  link("a", 1000, 4);
  expectMeasured("a", 1000, 4);
  // The old time is scaled to the new size.
  link("a", 2000, 4);
  expectMeasured("a", 2000, 6);
  // The time of a different module isn't averaged.
  link("a", 50000, 3);
  expectMeasured("a", 50000, 3);
}

TEST_F(CostHistoryTest, DoesNotChangeWhileALinkRuns) {
  link("a", 1000, 2);
  std::unique_ptr<CostHistory> H = load();
  H->record("a", 1000, 6);
  H->record("b", 1000, 6);
  EXPECT_NEAR(H->estimate("a", 1000).Seconds, 2, 1e-6);
  EXPECT_FALSE(H->estimate("b", 1000).IsMeasured);
  EXPECT_EQ(H->save(), "");
  EXPECT_NEAR(H->estimate("a", 1000).Seconds, 4, 1e-6);
  EXPECT_TRUE(H->estimate("b", 1000).IsMeasured);
  EXPECT_EQ(H->size(), 2u);
  // Saving again doesn't count the times twice.
  EXPECT_EQ(H->save(), "");
  expectMeasured("a", 1000, 4);
}

TEST_F(CostHistoryTest, TheLargerOfTwoCounts) {
  for (bool LargeFirst : {true, false}) {
    std::unique_ptr<CostHistory> H = load();
    H->record("a", LargeFirst ? 9000 : 1000, LargeFirst ? 5 : 1);
    H->record("a", LargeFirst ? 1000 : 9000, LargeFirst ? 1 : 5);
    H->record("twice", 100, 1);
    H->record("twice", 100, 7);
    EXPECT_EQ(H->save(), "");
    expectMeasured("a", 9000, 5);
    expectMeasured("twice", 100, 7);
    EXPECT_FALSE(sys::fs::remove(Path));
  }
}

TEST_F(CostHistoryTest, NumbersThatAreNoTimes) {
  using Limits = std::numeric_limits<double>;
  std::unique_ptr<CostHistory> H = load();
  for (double Seconds :
       {-1.0, -0.000001, -Limits::infinity(), Limits::infinity(),
        Limits::quiet_NaN(), -Limits::quiet_NaN(), Limits::max(), 1000001.0})
    H->record("a", 1000, Seconds);
  EXPECT_EQ(H->save(), "");
  EXPECT_EQ(Folder.names(), std::vector<std::string>());
}

TEST_F(CostHistoryTest, NumbersAtTheEdges) {
  link("none", 0, 0);
  link("tiny", 1, 1e-300);
  link("minus", 1, -0.0);
  link("most", ~uint64_t(0), 1000000);
  EXPECT_EQ(load()->size(), 4u);
  for (StringRef Key : {"none", "tiny", "minus", "most", "other"})
    for (uint64_t Bytes :
         {uint64_t(0), uint64_t(1), MaxCostBytes, ~uint64_t(0)})
      for (const auto &H : {load()}) {
        double Seconds = H->estimate(Key, Bytes).Seconds;
        EXPECT_TRUE(std::isfinite(Seconds) && Seconds > 0) << Seconds;
      }
}

TEST_F(CostHistoryTest, WithoutAPathNothingIsKept) {
  std::unique_ptr<CostHistory> H = CostHistory::load("", &Note);
  EXPECT_EQ(Note, "no cost history");
  H->record("a", 1000, 5);
  EXPECT_EQ(H->save(), "");
  EXPECT_FALSE(H->estimate("a", 1000).IsMeasured);
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

TEST_F(CostHistoryTest, NoRecordNoFile) {
  std::unique_ptr<CostHistory> H = load();
  H->estimate("a", 1);
  EXPECT_EQ(H->save(), "");
  EXPECT_EQ(Folder.names(), std::vector<std::string>());
}

TEST_F(CostHistoryTest, DamageOfAnyByteIsAnEmptyHistory) {
  link("a", 1000, 2.5);
  const std::string Whole = Folder.read("costs");
  for (size_t I = 0; I != Whole.size(); ++I)
    for (int Change : {1, 0x20, 0x80, 0xff}) {
      std::string Text = Whole;
      Text[I] = char(Text[I] ^ Change);
      Folder.write("costs", Text);
      EXPECT_EQ(load()->size(), 0u) << I;
      EXPECT_TRUE(noteHas("is not used: it is ")) << Note;
    }
  for (size_t Size = 0; Size != Whole.size(); ++Size) {
    Folder.write("costs", Whole.substr(0, Size));
    EXPECT_EQ(load()->size(), 0u) << Size;
  }
}

TEST_F(CostHistoryTest, BeginsAnewAfterDamage) {
  link("a", 1000, 2.5);
  Folder.write("costs", Folder.read("costs") + "more");
  link("b", 1000, 3);
  EXPECT_FALSE(knows("a"));
  expectMeasured("b", 1000, 3);
}

TEST_F(CostHistoryTest, AFileThatVanishesWhileALinkRuns) {
  link("a", 1000, 2);
  link("b", 1000, 2);
  std::unique_ptr<CostHistory> H = load();
  EXPECT_TRUE(H->estimate("a", 1000).IsMeasured);
  H->record("b", 1000, 4);
  EXPECT_FALSE(sys::fs::remove(Path));
  EXPECT_EQ(H->save(), "");
  expectMeasured("a", 1000, 2);
  expectMeasured("b", 1000, 3);
}

TEST_F(CostHistoryTest, WhatAnotherLinkWroteMeanwhileIsKept) {
  link("both", 1000, 2);
  std::unique_ptr<CostHistory> One = load(), Two = load();
  One->record("both", 1000, 4);
  One->record("one", 1000, 1);
  Two->record("both", 1000, 7);
  Two->record("two", 1000, 2);
  EXPECT_EQ(One->save(), "");
  EXPECT_EQ(Two->save(), "");
  expectMeasured("one", 1000, 1);
  expectMeasured("two", 1000, 2);
  expectMeasured("both", 1000, 5); // ((2 + 4) / 2 + 7) / 2
}

TEST_F(CostHistoryTest, NotesWhatItCantWrite) {
  EXPECT_FALSE(sys::fs::create_directory(Path));
  std::unique_ptr<CostHistory> H = load();
  EXPECT_TRUE(noteHas("is not used: it is not a regular file")) << Note;
  H->record("a", 1000, 1);
  EXPECT_EQ(H->save(), "cost history '" + Path +
                           "' was not written: it is not a regular file");
  // Saving can be retried.
  EXPECT_FALSE(sys::fs::remove(Path));
  EXPECT_EQ(H->save(), "");
  expectMeasured("a", 1000, 1);
}

TEST_F(CostHistoryTest, ALockThatIsHeld) {
  link("a", 1000, 1);
  int FD = open((Path + ".lock").c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_GE(FD, 0);
  ASSERT_EQ(flock(FD, LOCK_EX | LOCK_NB), 0);
  std::unique_ptr<CostHistory> H = load();
  H->record("b", 1000, 2);
  Note = H->save();
  EXPECT_TRUE(noteHas("was not written: another link holds")) << Note;
  EXPECT_FALSE(knows("b"));
  close(FD);
  EXPECT_EQ(H->save(), "");
  EXPECT_TRUE(knows("b"));
}

TEST_F(CostHistoryTest, KeepsThoseThatWereUsedLast) {
  auto key = [](size_t I) { return "m" + utostr(I); };
  std::vector<CostEntry> Full;
  for (size_t I = 0; I != MaxCostEntries; ++I)
    Full.push_back({xxh3_64bits(key(I)), 1000, 1000000});
  Folder.write("costs", formatCosts(Full));

  std::unique_ptr<CostHistory> H = load();
  EXPECT_EQ(H->size(), MaxCostEntries);
  EXPECT_TRUE(H->estimate(key(MaxCostEntries - 1), 1000).IsMeasured);
  for (StringRef New : {"x", "y", "z"})
    H->record(New, 1000, 1);
  EXPECT_EQ(H->save(), "");

  H = load();
  EXPECT_EQ(H->size(), MaxCostEntries);
  auto knows = [&](StringRef Key) { return H->estimate(Key, 1000).IsMeasured; };
  EXPECT_TRUE(knows("x") && knows("y") && knows("z"));
  EXPECT_TRUE(knows(key(MaxCostEntries - 1))); // requested, so kept
  EXPECT_FALSE(knows(key(MaxCostEntries - 2)));
  EXPECT_FALSE(knows(key(MaxCostEntries - 4)));
  EXPECT_TRUE(knows(key(MaxCostEntries - 5)));
  EXPECT_TRUE(knows(key(0)));
}

TEST_F(CostHistoryTest, MoreThanFit) {
  std::unique_ptr<CostHistory> H = load();
  for (size_t I = 0; I != MaxCostEntries + 10; ++I)
    H->record(utostr(I), 1000, 1);
  EXPECT_EQ(H->save(), "");
  EXPECT_EQ(load()->size(), MaxCostEntries);
}

//===----------------------------------------------------------------------===//
// Concurrent links
//===----------------------------------------------------------------------===//

TEST_F(CostHistoryTest, RecordsFromManyThreads) {
  std::unique_ptr<CostHistory> H = load();
  std::vector<std::thread> Threads;
  for (unsigned T = 0; T != 4; ++T)
    Threads.emplace_back([&, T] {
      for (unsigned I = 0; I != 100; ++I) {
        H->record(utostr(T) + "/" + utostr(I), 1000, T);
        H->estimate("other", I);
        if (I == 50)
          H->save();
      }
    });
  for (std::thread &T : Threads)
    T.join();
  EXPECT_EQ(H->save(), "");
  EXPECT_EQ(load()->size(), 400u);
  expectMeasured("3/99", 1000, 3);
}

TEST_F(CostHistoryTest, LinksAtOnce) {
  inProcesses(4, [&](unsigned P) {
    bool Ok = true;
    for (unsigned I = 0; I != 10; ++I) {
      std::unique_ptr<CostHistory> H = CostHistory::load(Path);
      H->record(utostr(P) + "/" + utostr(I), 1000, P);
      H->record("common", 1000, 1);
      // On a busy machine, another process may hold the lock for long.
      unsigned Tries = 0;
      while (!H->save().empty() && ++Tries != 200) {
      }
      Ok &= Tries != 200;
    }
    return Ok;
  });
  EXPECT_EQ(load()->size(), 41u);
  expectMeasured("3/9", 1000, 3);
  expectMeasured("common", 1000, 1);
}
