//===- CompilerTest.cpp - The compiler of jobs that are files -------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Files/Compiler.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace dtlto;

static std::string versionIn(StringRef FirstLine) {
  Expected<Compiler> C =
      parseVersion((FirstLine + "\nTarget: x86_64-pc-linux-gnu\n").str());
  return C ? C->Version : toString(C.takeError());
}

TEST(Compiler, Version) {
  EXPECT_EQ(versionIn("clang version 22.1.8"), "22.1.8");
  EXPECT_EQ(versionIn("Debian clang version 19.1.7 (3+b1)"), "19.1.7");
  EXPECT_EQ(versionIn("Acme clang version 23.0.0git (https://x 0123)"),
            "23.0.0git");
  for (const char *Other : {"", "gcc (Debian 12.2.0) 12.2.0", "clang version ",
                            "clang version of mine"})
    EXPECT_EQ(versionIn(Other),
              "its --version does not name a version of clang")
        << Other;
}

TEST(Compiler, ItsLinker) {
  auto Linker = [](StringRef FirstLine) {
    return parseVersion((FirstLine + "\nTarget: x86_64\n").str())->Linker;
  };
  EXPECT_EQ(Linker("clang version 22.1.8"), "LLD 22.1.8");
  EXPECT_EQ(Linker("Debian clang version 19.1.7 (3+b1)"), "Debian LLD 19.1.7");
  EXPECT_EQ(Linker("Acme clang version 23.0.0git (https://x 0123)"),
            "Acme LLD 23.0.0git (https://x 0123)");
}

TEST(Compiler, TargetAndConfiguration) {
  Expected<Compiler> C =
      parseVersion("clang version 22.1.8\nTarget: aarch64-unknown-linux\n"
                   "Thread model: posix\nInstalledDir: /usr/bin\n"
                   "Configuration file: /etc/clang/clang.cfg\n");
  ASSERT_TRUE(bool(C));
  EXPECT_EQ(C->Triple, "aarch64-unknown-linux");
  EXPECT_EQ(C->Config, "/etc/clang/clang.cfg");
  EXPECT_EQ(toString(parseVersion("clang version 22.1.8\n").takeError()),
            "its --version does not name a target");
}

TEST(Compiler, IsAsked) {
  Expected<Compiler> C =
      queryCompiler({TEST_CLANG, "--target=aarch64-linux-gnu", "-c"});
  ASSERT_TRUE(bool(C)) << toString(C.takeError());
  EXPECT_EQ(C->Version, LLVM_VERSION_STRING);
  EXPECT_TRUE(StringRef(C->Triple).starts_with("aarch64-")) << C->Triple;
  C = queryCompiler({TEST_CLANG, "-target", "aarch64-linux-gnu", "-O2"});
  ASSERT_TRUE(bool(C)) << toString(C.takeError());
  EXPECT_TRUE(StringRef(C->Triple).starts_with("aarch64-")) << C->Triple;
  SmallString<128> Config;
  ASSERT_FALSE(sys::fs::createTemporaryFile("dtlto-unit", "cfg", Config));
  C = queryCompiler({TEST_CLANG, "--config", Config.str().str(), "-O2"});
  sys::fs::remove(Config);
  ASSERT_TRUE(bool(C)) << toString(C.takeError());
  EXPECT_EQ(C->Config, Config);
  EXPECT_EQ(toString(queryCompiler({"/nonexistent/clang"}).takeError()),
            "the compiler '/nonexistent/clang': cannot run "
            "'/nonexistent/clang': No such file or directory");
}

TEST(Compiler, IsStopped) {
  CommandResult R = runCommand("sleep", {"sleep", "1000"}, [] { return true; });
  EXPECT_FALSE(R.Succeeded);
}
