//===- AssemblyTest.cpp - Assembly that reads files -----------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bitcode/Assembly.h"
#include "Modules.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace dtlto;
using namespace dtlto::test;

static bool fileReads(const std::string &IR,
                      StringRef Triple = "x86_64-unknown-linux-gnu") {
  auto Bytes = thinBitcode("target triple = \"" + Triple.str() + "\"\n" + IR);
  return assemblyMayReadFiles(StringRef(Bytes.data(), Bytes.size()));
}

/// Returns a module whose second function ends with \p Body.
static std::string function(const std::string &Body) {
  return "define i32 @first(i32 %x) {\n  %y = add i32 %x, 77\n  ret i32 %y\n}\n"
         "define i32 @second(i32 %x) {\n  %y = add i32 %x, 99\n  " +
         Body + "\n  ret i32 %y\n}\n";
}

TEST(AssemblyTest, Text) {
  for (StringRef Text :
       {".incbin \"x\"", "\t.INCBIN \"x\"", "nop; .Include \"x\"",
        ".macro m\n.endm", ".irp x,1,2\n.endr", ".IRPC x,12\n.endr"})
    EXPECT_TRUE(mayReadFiles(Text)) << Text.str();
  for (StringRef Text : {"", "nop", "incl %eax", ".globl include", "call \\x"})
    EXPECT_FALSE(mayReadFiles(Text)) << Text.str();
}

TEST(AssemblyTest, AtFileScope) {
  // Not `.incbin`: LLVM's bitcode writer would open its file.
  EXPECT_TRUE(fileReads("module asm \"nop\"\nmodule asm \".MACRO m\"\n"
                        "module asm \".endm\"\n"));
  EXPECT_FALSE(fileReads("module asm \"nop\"\n@s = constant [8 x i8] "
                         "c\".incbin\\00\"\n"));
}

TEST(AssemblyTest, InFunctions) {
  EXPECT_TRUE(fileReads(
      function("call void asm sideeffect \".include \\22f\\22\", \"\"()")));
  EXPECT_FALSE(fileReads(function("call void asm sideeffect \"nop\", \"\"()")));
  EXPECT_FALSE(fileReads(function("")));
}

/// For Mach-O, LLVM puts a header in front of the module and pads its end.
TEST(AssemblyTest, MachO) {
  const char *Mac = "arm64-apple-macos13";
  EXPECT_FALSE(fileReads(function(""), Mac));
  EXPECT_TRUE(
      fileReads("module asm \".macro m\"\nmodule asm \".endm\"\n", Mac));
  Bytes Cut = thinBitcode("target triple = \"arm64-apple-macos13\"\n");
  ASSERT_FALSE(assemblyMayReadFiles(ref(Cut)));
  for (size_t Size = 0; Size < Cut.size() - 16; Size += 3)
    EXPECT_TRUE(assemblyMayReadFiles(ref(Cut).take_front(Size))) << Size;
}

TEST(AssemblyTest, NoModule) {
  EXPECT_TRUE(assemblyMayReadFiles(""));
  EXPECT_TRUE(assemblyMayReadFiles("BC\xC0\xDE"));
  EXPECT_TRUE(assemblyMayReadFiles("no bitcode at all"));
}
