//===- MachineMemoryTest.cpp - The memory of the machine ------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Support/MachineMemory.h"
#include "TempFolder.h"
#include "llvm/Support/FileSystem.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace dtlto;
using namespace dtlto::test;

namespace {

class MachineMemoryTest : public testing::Test {
protected:
  void write(const std::string &Name, StringRef Text) {
    std::string Path = Folder.path(Name);
    sys::fs::create_directories(StringRef(Path).rsplit('/').first);
    Folder.write(Name, Text.str());
  }
  uint64_t limit(StringRef Groups) {
    return cgroupLimit(Groups, Folder.path("."));
  }
  TempFolder Folder;
};

} // namespace

TEST_F(MachineMemoryTest, Version2) {
  write("build/a/memory.max", "max\n");
  write("build/memory.max", "4096\n");
  EXPECT_EQ(limit("0::/build/a\n"), 4096u);
  EXPECT_EQ(limit("0::/build\n"), 4096u);
  EXPECT_EQ(limit("0::/other\n"), UINT64_MAX);
  write("build/a/memory.max", "1000\n");
  EXPECT_EQ(limit("0::/build/a\n"), 1000u);
  EXPECT_EQ(limit("0::/build\n"), 4096u);
}

TEST_F(MachineMemoryTest, Version1) {
  write("memory/job/memory.limit_in_bytes", "2000\n");
  write("memory/memory.limit_in_bytes", "9223372036854771712\n");
  write("memory.max", "1\n"); // cgroup version 2
  EXPECT_EQ(limit("5:devices:/job\n4:memory:/job\n"), 2000u);
  EXPECT_EQ(limit("4:cpu,memory:/job/step\n"), 2000u);
  EXPECT_EQ(limit("4:memory:/\n"), 9223372036854771712u);
  EXPECT_EQ(limit("4:memory:/job\n0::/\n"), 1u);
}

TEST_F(MachineMemoryTest, AContainerSeesItsOwnRootOnly) {
  write("memory.max", "3000\n");
  EXPECT_EQ(limit("0::/docker/0123/init.scope\n"), 3000u);
}

TEST_F(MachineMemoryTest, NothingIsKnown) {
  EXPECT_EQ(limit(""), UINT64_MAX);
  EXPECT_EQ(limit("what is this?\n\n::\n"), UINT64_MAX);
  write("memory.max", "much\n");
  EXPECT_EQ(limit("0::/\n"), UINT64_MAX);
}

TEST_F(MachineMemoryTest, ThisMachine) {
  EXPECT_GT(machineMemory(), uint64_t(64) << 20);
  EXPECT_GT(availableMemory(), 0u);
#ifdef __linux__
  EXPECT_NE(availableMemory(), UINT64_MAX);
#endif
}
