//===- OtherLinkersTest.cpp - LLVM's plugin on a linker's command line ----===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OtherLinkers.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"
#include <vector>

using namespace llvm;
using namespace dtlto;

namespace {

using Words = std::vector<std::string>;

/// Returns the words after replacePlugin(), without the program's name.
Words replace(const Words &Args) {
  BumpPtrAllocator Alloc;
  StringSaver Saver(Alloc);
  SmallVector<const char *, 16> Raw = {"ld.mold"};
  for (const std::string &Arg : Args)
    Raw.push_back(Arg.c_str());
  replacePlugin(Raw, "/ours/LLVMgold.so", Saver);
  return Words(Raw.begin() + 1, Raw.end());
}

TEST(OtherLinkersTest, Names) {
  for (StringRef Name : {"ld.mold", "mold", "ld.bfd", "ld.gold"})
    EXPECT_TRUE(isOtherLinker(Name)) << Name.str();
  for (StringRef Name : {"ld.lld", "ld.dtlto", "lld-link", "ld"})
    EXPECT_FALSE(isOtherLinker(Name)) << Name.str();
}

TEST(OtherLinkersTest, Spellings) {
  const Words Replaced = {"-plugin", "/ours/LLVMgold.so", "-plugin-opt=O2",
                          "a.o"};
  EXPECT_EQ(replace({"-plugin-opt=O2", "-plugin", "/l/LLVMgold.so", "a.o"}),
            Replaced);
  EXPECT_EQ(replace({"--plugin", "LLVMgold.so", "-plugin-opt=O2", "a.o"}),
            Replaced);
  EXPECT_EQ(replace({"-plugin-opt=O2", "a.o", "-plugin=/l/LLVMgold.so"}),
            Replaced);
  EXPECT_EQ(replace({"-plugin-opt=O2", "--plugin=/l/LLVMgold.so", "a.o",
                     "-plugin", "/m/LLVMgold.so"}),
            Replaced);
}

TEST(OtherLinkersTest, OtherPluginsStay) {
  for (const Words &Args :
       {Words{"-plugin", "/l/liblto_plugin.so"},
        Words{"-plugin=/l/liblto_plugin.so",
              "-plugin-opt=thinlto-dist-plugin=local"},
        Words{"-o", "LLVMgold.so"}, Words{"-plugin"}, Words{}})
    EXPECT_EQ(replace(Args), Args);
}

TEST(OtherLinkersTest, OurOptionsNeedThePlugin) {
  EXPECT_EQ(replace({"a.o", "-plugin-opt=thinlto-dist-plugin=local"}),
            (Words{"-plugin", "/ours/LLVMgold.so", "a.o",
                   "-plugin-opt=thinlto-dist-plugin=local"}));
  EXPECT_EQ(replace({"--plugin-opt=-thinlto-distribute"}),
            (Words{"-plugin", "/ours/LLVMgold.so",
                   "--plugin-opt=-thinlto-distribute"}));
  EXPECT_EQ(replace({"-plugin-opt=O2"}), (Words{"-plugin-opt=O2"}));
}

TEST(OtherLinkersTest, ResponseFiles) {
  SmallString<128> Path;
  int FD = -1;
  ASSERT_FALSE(sys::fs::createTemporaryFile("dtlto-unit", "rsp", FD, Path));
  {
    raw_fd_ostream OS(FD, /*shouldClose=*/true);
    OS << "-plugin '/a folder/LLVMgold.so' \"a b.o\"\n";
  }
  const std::string File = "@" + Path.str().str();
  EXPECT_EQ(replace({"x.o", File}),
            (Words{"-plugin", "/ours/LLVMgold.so", "x.o", "a b.o"}));
  EXPECT_EQ(replace({File, "-plugin", "LLVMgold.so"}),
            (Words{"-plugin", "/ours/LLVMgold.so", "a b.o"}));
  {
    std::error_code EC;
    raw_fd_ostream OS(Path, EC);
    OS << "a.o -o out\n";
  }
  EXPECT_EQ(replace({File, "-plugin", "LLVMgold.so"}),
            (Words{"-plugin", "/ours/LLVMgold.so", File}));
  EXPECT_EQ(replace({"@/nonexistent"}), Words{"@/nonexistent"});
  sys::fs::remove(Path);
}

} // namespace
