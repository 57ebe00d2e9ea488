//===- JobSaverTest.cpp - Saving the jobs of a link -----------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LTO/JobSaver.h"
#include "Bundle/Bundle.h"
#include "TestLink.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "gtest/gtest.h"
#include <thread>

using namespace llvm;
using namespace dtlto;
using namespace dtlto::test;

namespace {

class JobSaverTest : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_FALSE(sys::fs::createUniqueDirectory("dtlto-saver", Folder));
  }
  void TearDown() override { sys::fs::remove_directories(Folder); }

  std::string path(StringRef Name) const { return (Folder + "/" + Name).str(); }
  /// Calls \p Look in a link that saves its jobs in the folder \p Name.
  void withSaver(StringRef Name,
                 function_ref<void(JobSaver &, std::vector<Task> &)> Look) {
    TestLink::Result R = TheLink.look(
        nullptr, [&](const Link &CurrentLink, std::vector<Task> &Tasks) {
          JobSaver Saver(CurrentLink.Jobs, path(Name));
          Look(Saver, Tasks);
        });
    ASSERT_EQ(R.Error, "");
  }
  std::string read(StringRef Name) const {
    auto File = MemoryBuffer::getFile(path(Name));
    return File ? (*File)->getBuffer().str() : "";
  }
  static std::string text(Error E) { return toString(std::move(E)); }

  SmallString<128> Folder;
  TestLink TheLink;
};

} // namespace

TEST_F(JobSaverTest, ABundleForEachJob) {
  TheLink.addProgram(3);
  withSaver("new/deep", [&](JobSaver &Saver, std::vector<Task> &Tasks) {
    EXPECT_FALSE(sys::fs::exists(path("new"))); // created only when needed
    for (const Task &T : Tasks)
      EXPECT_EQ(text(Saver.save(T)), "");
    EXPECT_EQ(Saver.numSaved(), 3u);
    EXPECT_EQ(Saver.numSkipped(), 0u);
    EXPECT_EQ(Saver.reason(), "");
  });
  for (StringRef Name : {"m0", "m1", "m2"}) {
    std::string Bytes = read(("new/deep/m." + Name + "-o.tar").str());
    Bundle B = must(readBundle(Bytes, LLVM_VERSION_STRING));
    EXPECT_EQ(B.Name, (Name + ".o").str());
    EXPECT_EQ(B.Args.size(), 0u);
    EXPECT_NE(B.Config, "");
  }
}

TEST_F(JobSaverTest, AllThreads) {
  TheLink.addProgram(8);
  withSaver("one", [&](JobSaver &Saver, std::vector<Task> &Tasks) {
    for (const Task &T : Tasks)
      EXPECT_EQ(text(Saver.save(T)), "");
  });
  withSaver("many", [&](JobSaver &Saver, std::vector<Task> &Tasks) {
    std::vector<std::thread> Threads;
    for (const Task &T : Tasks)
      Threads.emplace_back([&] { EXPECT_EQ(text(Saver.save(T)), ""); });
    for (std::thread &T : Threads)
      T.join();
    EXPECT_EQ(Saver.numSaved(), 8u);
  });
  for (unsigned I = 0; I != 8; ++I) {
    std::string Name = ("/m.m" + Twine(I) + "-o.tar").str();
    EXPECT_NE(read("one" + Name), "");
    EXPECT_EQ(read("one" + Name), read("many" + Name));
  }
}

TEST_F(JobSaverTest, WhatIsThereIsReplaced) {
  TheLink.addProgram(1);
  for (unsigned I = 0; I != 2; ++I)
    withSaver("jobs", [&](JobSaver &Saver, std::vector<Task> &Tasks) {
      EXPECT_EQ(text(Saver.save(Tasks[0])), "");
    });
  EXPECT_TRUE(bool(readBundle(read("jobs/m.m0-o.tar"), LLVM_VERSION_STRING)));
}

TEST_F(JobSaverTest, JobsThatStay) {
  TheLink.addProgram(2);
  TheLink.Configure = [&](lto::Config &Conf) {
    Conf.StatsFile = path("stats");
  };
  withSaver("jobs", [&](JobSaver &Saver, std::vector<Task> &Tasks) {
    for (const Task &T : Tasks)
      EXPECT_EQ(text(Saver.save(T)), "");
    EXPECT_EQ(Saver.numSaved(), 0u);
    EXPECT_EQ(Saver.numSkipped(), 2u);
    EXPECT_NE(Saver.reason(), "");
  });
  EXPECT_FALSE(sys::fs::exists(path("jobs")));
}

TEST_F(JobSaverTest, PlacesThatAreNone) {
  TheLink.addProgram(1);
  withSaver("file", [&](JobSaver &Saver, std::vector<Task> &Tasks) {
    EXPECT_EQ(text(Saver.save(Tasks[0])), "");
  });
  // A file in place of a folder, and a folder in place of a file.
  withSaver("file/m.m0-o.tar", [&](JobSaver &Saver, std::vector<Task> &Tasks) {
    EXPECT_EQ(text(Saver.save(Tasks[0])),
              "cannot save the job of 'm0.o' as '" +
                  path("file/m.m0-o.tar/m.m0-o.tar") + "': Not a directory");
    EXPECT_EQ(Saver.numSaved(), 0u);
    EXPECT_EQ(Saver.numSkipped(), 0u);
  });
  ASSERT_FALSE(sys::fs::create_directories(path("jobs/m.m0-o.tar/full")));
  withSaver("jobs", [&](JobSaver &Saver, std::vector<Task> &Tasks) {
    EXPECT_EQ(text(Saver.save(Tasks[0])), "cannot save the job of 'm0.o' as '" +
                                              path("jobs/m.m0-o.tar") +
                                              "': not a regular file");
  });
}
