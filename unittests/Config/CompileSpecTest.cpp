//===- CompileSpecTest.cpp ------------------------------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Config/CompileSpec.h"
#include <gtest/gtest.h>
#include <vector>

using namespace dtlto;

static std::vector<std::string> textsOf(const CompileSpec &Spec) {
  std::vector<std::string> Texts;
  Spec.addTo([&](llvm::StringRef Text) { Texts.push_back(Text.str()); });
  return Texts;
}

TEST(CompileSpecTest, WholeModules) {
  CompileSpec Whole;
  EXPECT_TRUE(Whole.isPlain() && Whole.isWholeModule() && Whole.isFirst());
  EXPECT_EQ(Whole.title("a.o"), "a.o");
  EXPECT_EQ(Whole.fileName("a.o"), "a.o");
  EXPECT_EQ(Whole.suffix() + Whole.objectKey(), "");
  EXPECT_EQ(Whole.workerOption(), "");
  EXPECT_EQ(Whole.shareOf(1000), 1000u);
  EXPECT_EQ(textsOf(Whole), (std::vector<std::string>{"", "9"}));
}

// Keys of caches and names of files stay what they were in earlier versions.
TEST(CompileSpecTest, Parts) {
  CompileSpec Second;
  Second.Part = {1, 8};
  EXPECT_FALSE(Second.isPlain() || Second.isWholeModule() || Second.isFirst());
  EXPECT_EQ(Second.title("dir/foo.o"), "dir/foo.o [2/8]");
  EXPECT_EQ(Second.fileName("dir/foo.o"), "dir/2-of-8-foo.o");
  EXPECT_EQ(Second.fileName("a.a(foo.o at 64)"), "a.a(2-of-8-foo.o at 64)");
  EXPECT_EQ(Second.suffix(), "-2-of-8");
  EXPECT_EQ(Second.objectKey(), "dtlto: partition 9-2-of-8");
  EXPECT_EQ(Second.workerOption(), "--thinlto-dist-split");
  EXPECT_EQ(Second.shareOf(1000), 125u);
  EXPECT_EQ(textsOf(Second), (std::vector<std::string>{"-2-of-8", "9"}));

  // An optimized module was reduced to its part before.
  CompileSpec Codegen = Second.afterOptimization();
  EXPECT_TRUE(Codegen.IsOptimized && Codegen.isWholeModule());
}

TEST(CompileSpecTest, RoundsAreInSuffixesOnly) {
  CompileSpec Spec;
  Spec.Part = {0, 2};
  Spec.Round = 2;
  EXPECT_EQ(Spec.suffix(), "-1-of-2.round2");
  EXPECT_EQ(Spec.fileName("foo.o"), "1-of-2-foo.o");
  EXPECT_EQ(Spec.objectKey(), "dtlto: partition 9-1-of-2");
}
