//===- EnvironmentTest.cpp - The worker's tarball and its cache -----------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Environment.h"
#include "dtlto/sdk/Result.hpp"
#include "gtest/gtest.h"
#include <archive.h>
#include <archive_entry.h>
#include <cstdlib>
#include <cstring>
#include <elf.h>
#include <filesystem>
#include <fstream>
#include <functional>
#include <unistd.h>

using namespace dtlto::icecc;
namespace fs = std::filesystem;

namespace {
class EnvironmentTest : public testing::Test {
protected:
  void SetUp() override {
    std::string Name = fs::temp_directory_path() / "dtlto-test-XXXXXX";
    ASSERT_NE(nullptr, mkdtemp(Name.data()));
    Folder = Name;
    Worker = Folder + "/worker";
    Cache = Folder + "/cache/of";
    write(Worker, "the worker");
  }
  void TearDown() override { fs::remove_all(Folder); }

  static void write(const std::string &Path, const std::string &Text) {
    std::ofstream(Path, std::ios::binary) << Text;
  }
  /// Returns the first bytes of a static program.
  static std::string program(unsigned Machine, unsigned NumSegments = 0) {
    Elf64_Ehdr Head = {};
    std::memcpy(Head.e_ident, ELFMAG, SELFMAG);
    Head.e_ident[EI_CLASS] = ELFCLASS64;
    Head.e_ident[EI_DATA] = ELFDATA2LSB;
    Head.e_machine = static_cast<uint16_t>(Machine);
    Head.e_phoff = sizeof(Head);
    Head.e_phentsize = sizeof(Elf64_Phdr);
    Head.e_phnum = static_cast<uint16_t>(NumSegments);
    return {reinterpret_cast<const char *>(&Head), sizeof(Head)};
  }
  std::unique_ptr<Environment> make() {
    return Environment::ofWorker(Worker, Cache, "x86_64", &Stop);
  }
  std::vector<std::string> entries() {
    std::vector<std::string> Result;
    for (auto &E : fs::directory_iterator(Cache))
      Result.push_back(E.path().string());
    return Result;
  }

  /// Returns the error of \p Work.
  static std::string error(const std::function<void()> &Work) {
    try {
      Work();
      ADD_FAILURE() << "no error";
    } catch (const dtlto::sdk::Error &E) {
      return E.what();
    }
    return "";
  }

  std::string Folder, Worker, Cache;
  std::atomic<bool> Stop{false};
};
} // namespace

TEST_F(EnvironmentTest, WhatIsInTheTarball) {
  Tarball T = packWorker("the worker", 10, nullptr);
  archive *A = archive_read_new();
  archive_read_support_filter_zstd(A);
  archive_read_support_format_tar(A);
  ASSERT_EQ(ARCHIVE_OK, archive_read_open_memory(A, T->data(), T->size()));
  std::string Result;
  archive_entry *E;
  while (archive_read_next_header(A, &E) == ARCHIVE_OK) {
    Result += archive_entry_pathname(E);
    if (archive_entry_filetype(E) == AE_IFLNK)
      Result += std::string(" -> ") + archive_entry_symlink(E);
    if (archive_entry_filetype(E) == AE_IFREG) {
      char Bytes[100];
      la_ssize_t N = archive_read_data(A, Bytes, sizeof(Bytes));
      Result += ": " + std::string(Bytes, static_cast<size_t>(N));
    }
    Result += "\n";
    EXPECT_EQ(0755u, archive_entry_perm(E));
    EXPECT_EQ(0, archive_entry_mtime(E));
    EXPECT_EQ(0, archive_entry_uid(E));
    EXPECT_EQ(nullptr, archive_entry_hardlink(E));
  }
  archive_read_free(A);
  EXPECT_EQ("bin/\nbin/true -> ../usr/bin/clang\nusr/\nusr/bin/\n"
            "usr/bin/clang: the worker\nusr/bin/as -> clang\n"
            "usr/bin/g++ -> clang\nusr/bin/gcc -> clang\n",
            Result);
}

TEST_F(EnvironmentTest, PackingCanBeStopped) {
  Stop = true;
  EXPECT_EQ("", error([&] { make(); }));
  EXPECT_EQ("", error([&] { packWorker("the worker", 10, &Stop); }));
  EXPECT_FALSE(fs::exists(Cache));
  Stop = false;
  EXPECT_TRUE(make());
  // An existing environment isn't packed again.
  Stop = true;
  EXPECT_TRUE(make());
}

TEST_F(EnvironmentTest, TheNameFollowsTheContents) {
  std::string First = make()->name();
  EXPECT_EQ(70u, First.size()); // dtlto- and 256 bits
  Cache += "2";
  EXPECT_EQ(First, make()->name());
  write(Worker, "another one");
  EXPECT_NE(First, make()->name());
}

TEST_F(EnvironmentTest, AnEntryIsUsedAgain) {
  std::string Name = make()->name();
  ASSERT_EQ(1u, entries().size());
  auto Packed = make()->bytes();
  // The entry of the cache is used even without the worker.
  auto E = make();
  fs::remove(Worker);
  EXPECT_EQ(Name, E->name());
  auto Bytes = E->bytes();
  EXPECT_EQ(*Packed, *Bytes);
}

TEST_F(EnvironmentTest, ABrokenEntryIsMadeAgain) {
  make();
  std::string Entry = entries().at(0);
  auto Size = fs::file_size(Entry);
  for (auto Break : {+[](const std::string &F) { fs::resize_file(F, 10); },
                     +[](const std::string &F) { fs::resize_file(F, 0); },
                     +[](const std::string &F) {
                       std::fstream(F, std::ios::in | std::ios::out).seekp(5)
                           << "xx";
                     }}) {
    auto E = make();
    Break(Entry);
    auto Bytes = E->bytes();
    EXPECT_EQ(Size, Bytes->size());
    EXPECT_EQ(Size, fs::file_size(Entry));
  }
  EXPECT_EQ(1u, entries().size());
}

TEST_F(EnvironmentTest, WhatIsRemovedMeanwhileIsRead) {
  auto Bytes = make()->bytes();
  auto E = make();
  fs::remove(entries().at(0));
  auto Read = E->bytes();
  EXPECT_EQ(*Bytes, *Read);
}

TEST_F(EnvironmentTest, AWorkerThatChangesAfterwards) {
  make();
  auto E = make();
  fs::resize_file(entries().at(0), 10);
  write(Worker, "another one");
  EXPECT_NE(std::string::npos, error([&] { E->bytes(); }).find("has changed"));
}

TEST_F(EnvironmentTest, NoCache) {
  Cache = "";
  auto E = make();
  EXPECT_TRUE(E->bytes());
  Cache = Worker + "/x"; // can't be created
  EXPECT_EQ(E->name(), make()->name());
}

TEST_F(EnvironmentTest, OldEntriesAreRemoved) {
  make();
  std::string Old = entries().at(0), Other = Cache + "/other";
  write(Other, "");
  for (const std::string &File : {Old, Other})
    fs::last_write_time(File, fs::file_time_type::clock::now() -
                                  std::chrono::hours(24 * 15));
  write(Worker, "another one");
  make();
  EXPECT_FALSE(fs::exists(Old));
  EXPECT_TRUE(fs::exists(Other));
}

TEST_F(EnvironmentTest, FilesOfTheUsers) {
  for (auto [File, Name] :
       std::vector<std::pair<const char *, const char *>>{{"a.b.tar.gz", "a.b"},
                                                          {"a.tar.zst", "a"},
                                                          {"a.tgz", "a"},
                                                          {"a.tar.xz", "a"},
                                                          {"a.tar.bz2", "a"},
                                                          {"a.tar", "a"}}) {
    write(Folder + "/" + File, "the tarball");
    auto E = Environment::ofFile(Folder + "/" + File, "aarch64");
    EXPECT_EQ(Name, E->name());
    EXPECT_EQ("aarch64", E->platform());
    ASSERT_TRUE(E->bytes());
    EXPECT_EQ(11u, E->bytes()->size());
  }
  error([&] { Environment::ofFile(Folder + "/none.tar", "x"); });
  write(Folder + "/a.zip", "");
  error([&] { Environment::ofFile(Folder + "/a.zip", "x"); });
}

TEST_F(EnvironmentTest, WorkersThatAreNone) {
  auto Why = [](const std::string &File) {
    std::string Error = error([&] { findWorkers(File); });
    EXPECT_NE(std::string::npos, Error.find("'" + File + "'")) << Error;
    return Error;
  };
  Why(Folder + "/nobody");
  Why(Folder);
  EXPECT_NE(std::string::npos, Why(Worker).find("is not a 64-bit ELF program"));
  // This test itself is linked dynamically.
  EXPECT_NE(std::string::npos,
            Why("/proc/self/exe").find("not linked statically"));
  write(Worker, program(EM_386));
  EXPECT_NE(std::string::npos, Why(Worker).find("(ELF machine number 3)"));
  write(Worker, program(EM_X86_64, 1));
  EXPECT_NE(std::string::npos, Why(Worker).find("is truncated"));
}

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
TEST_F(EnvironmentTest, WorkersForSeveralPlatforms) {
  auto Find = [&] {
    std::string Text;
    for (const auto &W : findWorkers(Worker))
      Text += W.Platform + " " + W.File.substr(Folder.size()) + "\n";
    return Text;
  };
  write(Worker, program(EM_AARCH64));
  EXPECT_EQ("aarch64 /worker\n", Find());
  write(Worker + "-x86_64", program(EM_X86_64));
  // The platform of the first worker, again.
  write(Worker + "-aarch64", program(EM_AARCH64));
  write(Worker + "-other", "something else");
  EXPECT_EQ("aarch64 /worker\nx86_64 /worker-x86_64\n", Find());
  write(Worker + "-x86_64", program(EM_RISCV));
  EXPECT_EQ("the worker '" + Worker + "-x86_64' cannot be used: is for riscv64",
            error(Find));
}
#endif
