//===- LLVMOptionsTest.cpp - LLVM's own command line options --------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Config/LLVMOptions.h"
#include "LLVM/CodegenData.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/CodeGen/CommandFlags.h"
#include "llvm/Support/CommandLine.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace dtlto;

namespace {

cl::opt<bool> TestFlag("dtlto-test-flag", cl::desc("for this test"));
cl::opt<bool> One("one");
cl::opt<int> Two("two"), NamedNumber("named-number", cl::value_desc("N"));
cl::opt<unsigned> Three("three");
cl::opt<unsigned long> Four("four");
cl::opt<long> Five("five");
cl::opt<cl::boolOrDefault> Six("six");
enum class Choices { First, Second };
cl::opt<Choices> Choice("choice",
                        cl::values(clEnumValN(Choices::First, "first", ""),
                                   clEnumValN(Choices::Second, "second", "")));
cl::opt<std::string> SomeText("some-text"), T("t"),
    MaybeText("maybe-text", cl::ValueOptional),
    NamedText("named-text", cl::value_desc("filename"));
cl::list<std::string> SomeList("some-list");
cl::list<int> Numbers("numbers", cl::CommaSeparated);
cl::alias TextToo("text-too", cl::aliasopt(SomeText));
cl::opt<double> Fraction("fraction");

/// Returns the words for a compiler, joined, or `error: ` and the reason.
std::string forCompiler(const std::vector<std::string> &Options) {
  Expected<std::vector<std::string>> Words = llvmOptionsForCompiler(Options);
  return Words ? join(*Words, " ") : "error: " + toString(Words.takeError());
}

/// Returns the code generation flags that LLD registers. They stay registered.
StringSet<> codeGenFlags() {
  static const StringSet<> Flags = [] {
    StringSet<> Before, Added;
    for (const auto &Entry : cl::getRegisteredOptions())
      Before.insert(Entry.second->ArgStr);
    static codegen::RegisterCodeGenFlags Register;
    for (const auto &Entry : cl::getRegisteredOptions())
      if (!Before.contains(Entry.second->ArgStr))
        Added.insert(Entry.second->ArgStr);
    return Added;
  }();
  return Flags;
}

/// Sets options of this process, as LLD does, and resets them after the test.
class LLVMOptionsTest : public testing::Test {
protected:
  void parse(std::vector<const char *> Words) {
    Words.insert(Words.begin(), "test");
    ASSERT_TRUE(
        cl::ParseCommandLineOptions(Words.size(), Words.data(), "", &nulls()));
  }
  void TearDown() override { cl::ResetAllOptionOccurrences(); }
};

} // namespace

TEST_F(LLVMOptionsTest, None) { EXPECT_EQ(forCompiler({}), ""); }

TEST_F(LLVMOptionsTest, AreHandedOnAsTheyAre) {
  EXPECT_EQ(forCompiler({"-one", "--two=2", "-three", "3",
                         "-x86-align-branch=jcc+jmp", "-choice=second"}),
            "-one --two=2 -three 3 -x86-align-branch=jcc+jmp -choice=second");
}

TEST_F(LLVMOptionsTest, WhatLLVMHasNotTaken) {
  // For example, the value of another linker option: `-rpath -mllvm=-two=2`.
  parse({"-one", "--three", "3"});
  EXPECT_EQ(filterParsedOptions({"-one", "-two=2", "--three", "3", "-four", "4",
                                 "-no-such-option"}),
            (std::vector<std::string>{"-one", "--three", "3"}));
  EXPECT_TRUE(filterParsedOptions({}).empty());
  // An alias isn't set, but its option is, and causes an error.
  parse({"-text-too=x"});
  EXPECT_EQ(filterParsedOptions({"-one", "-text-too=x"}),
            std::vector<std::string>{"-one"});
  EXPECT_EQ(forCompiler({"-one", "-three"}), "error: LLVM option -some-text");
}

TEST_F(LLVMOptionsTest, AreCounted) {
  // One of several equal words may be another option's value.
  parse({"-two=2", "-numbers=1,2", "--numbers", "3,4", "-numbers=5"});
  std::vector<std::string> Words = {"-two=2", "-numbers=1,2", "--numbers",
                                    "3,4", "-numbers=5"};
  EXPECT_EQ(forCompiler(Words), join(Words, " "));
  Words.push_back("-two=3");
  EXPECT_EQ(filterParsedOptions(Words), Words);
  EXPECT_EQ(forCompiler(Words), "error: LLVM option -two");
  EXPECT_EQ(forCompiler({"-two=2", "-numbers=1,2", "-numbers=5"}),
            "error: LLVM option -numbers");
}

TEST_F(LLVMOptionsTest, FilesOfOptionsAreLeftToOthers) {
  // These stay in the list, so that the writer of a job can detect them.
  parse({"-two=2"});
  EXPECT_EQ(filterParsedOptions({"@file", "-two=2", "-one", "@file"}),
            (std::vector<std::string>{"@file", "-two=2", "@file"}));
  EXPECT_EQ(forCompiler({"@file", "-two=2", "-mcpu", "@file"}),
            "@file -two=2 @file");
}

TEST_F(LLVMOptionsTest, ValuesThatLookLikeOptions) {
  parse({"-two", "-2", "-one"});
  std::vector<std::string> Words = {"-two", "-2", "-one"};
  EXPECT_EQ(filterParsedOptions(Words), Words);
  EXPECT_EQ(forCompiler(Words), "-two -2 -one");
  EXPECT_EQ(toString(checkCompilerOptions(Words)), "");
  EXPECT_EQ(withoutCodegenOptions({"-align-all-functions", "-4", "-two", "-2"}),
            (std::vector<std::string>{"-two", "-2"}));
}

TEST_F(LLVMOptionsTest, CodeGenFlagsAreReadByLLD) {
  EXPECT_EQ(forCompiler({"-mcpu=skylake", "-one", "--function-sections",
                         "-fp-contract=fast", "-x86-relax-relocations=0"}),
            "-one");
}

TEST_F(LLVMOptionsTest, CodeGenFlagsWithTheirValueInTheNextWord) {
  EXPECT_EQ(forCompiler({"-mcpu", "skylake", "-one", "-code-model", "small"}),
            "-one");
}

TEST_F(LLVMOptionsTest, AllCodeGenFlagsAreKnown) {
  // Clang has none of these flags and would stop with an error.
  EXPECT_GT(codeGenFlags().size(), 50u);
  for (const auto &Flag : codeGenFlags())
    EXPECT_EQ(forCompiler({("-" + Flag.first()).str()}), "")
        << Flag.first().str();
}

TEST_F(LLVMOptionsTest, MoreThanTheObject) {
  for (StringRef Name : {"print-after-all",
                         "print-changed",
                         "stats",
                         "time-passes",
                         "debug",
                         "debug-only",
                         "debug-pass",
                         "debug-counter",
                         "view-cfg",
                         "dot-cfg-mssa",
                         "info-output-file",
                         "track-memory",
                         "pass-remarks",
                         "pass-remarks-output",
                         "opt-bisect-limit",
                         "lto-embed-bitcode",
                         "filter-print-funcs",
                         "rng-seed",
                         "help",
                         "version",
                         "crash-diagnostics-dir"}) {
    std::string Why = forCompiler({"-one", ("-" + Name + "=x").str()});
    EXPECT_EQ(Why, ("error: -mllvm -" + Name).str());
  }
}

TEST_F(LLVMOptionsTest, WhatCodeGenerationLearnt) {
  if (!HasCodegenData) // These options exist, or are text, only with codegen
                       // data.
    GTEST_SKIP();
  EXPECT_EQ(forCompiler({"-one", "-codegen-data-use-path=x", "-two=2"}),
            "-one -two=2");
  EXPECT_EQ(forCompiler({"-codegen-data-use-path", "x", "-one"}), "-one");
  EXPECT_EQ(forCompiler({"--codegen-data-thinlto-two-rounds"}), "");
  EXPECT_EQ(forCompiler({"-codegen-data-generate"}), "-codegen-data-generate");
  // Workers always refuse these.
  for (StringRef Word :
       {"-codegen-data-use-path=x", "-codegen-data-thinlto-two-rounds"}) {
    Error Why = checkCompilerOptions(Word.str());
    EXPECT_TRUE(bool(Why)) << Word.str();
    consumeError(std::move(Why));
  }
}

TEST_F(LLVMOptionsTest, KindsOfValues) {
  for (StringRef Name :
       {"one", "two", "three", "four", "five", "six", "choice", "numbers",
        "inline-threshold", "regalloc", "enable-machine-outliner",
        "import-instr-limit", "wholeprogramdevirt-skip"}) {
    std::string Word = ("-" + Name + "=1").str();
    EXPECT_EQ(forCompiler({Word}), Word);
  }
  // Texts and unknown options may name files. LLVM doesn't distinguish
  // fractions from texts.
  for (StringRef Name : {"some-text",
                         "t",
                         "maybe-text",
                         "named-text",
                         "named-number",
                         "text-too",
                         "some-list",
                         "fraction",
                         "no-such-option",
                         "",
                         "load",
                         "summary-file",
                         "cfg-dot-filename-prefix",
                         "x86-lvi-load-opt-plugin",
                         "lowertypetests-write-summary",
                         "ir-dump-directory",
                         "regalloc-evict-interactive-channel-base",
                         "sample-profile-file",
                         "attributor-dump-dep-graph",
                         "memprof-export-to-dot",
                         "polly-dump-before-file",
                         "print-after-all"})
    for (StringRef Value : {"", "=x", "=/tmp/x", "=1"}) {
      std::string Word = ("-" + Name + Value).str();
      EXPECT_EQ(forCompiler({"-one", Word, "x"}),
                ("error: -mllvm -" + Name).str());
      EXPECT_EQ(toString(checkCompilerOptions({"-one", Word, "x"})),
                "-mllvm " + Word);
    }
}

TEST_F(LLVMOptionsTest, OptionsThatAreSetOnOtherWays) {
  // For example by LLD itself. Such options aren't dropped silently.
  parse({"-dtlto-test-flag"});
  EXPECT_EQ(forCompiler({"-one"}), "error: LLVM option -dtlto-test-flag");
  EXPECT_EQ(forCompiler({"-dtlto-test-flag"}), "-dtlto-test-flag");
  EXPECT_EQ(forCompiler({"--dtlto-test-flag=true"}), "--dtlto-test-flag=true");
}

TEST_F(LLVMOptionsTest, CodeGenFlagsThatAreSetAreNoReason) {
  codeGenFlags();
  parse({"-function-sections"});
  EXPECT_EQ(forCompiler({"-function-sections"}), "");
  EXPECT_EQ(forCompiler({}), "");
}

TEST_F(LLVMOptionsTest, WordsFromElsewhere) {
  auto check = [](const std::vector<std::string> &Words) {
    return toString(checkCompilerOptions(Words));
  };
  // The check doesn't depend on the options set in this process.
  parse({"-dtlto-test-flag"});
  EXPECT_EQ(check({"-one", "--two=2", "-three", "3", "-choice=a,b"}), "");
  EXPECT_EQ(check({}), "");
  EXPECT_EQ(check({"-one", "-print-after-all"}), "-mllvm -print-after-all");
  EXPECT_EQ(check({"--function-sections"}), "-mllvm --function-sections");
  EXPECT_EQ(check({"3"}), "-mllvm 3");
  EXPECT_EQ(check({"-stats\n"}), "-mllvm -stats");
}

TEST_F(LLVMOptionsTest, WithoutWhatOnlyCodeGenerationReads) {
  EXPECT_EQ(
      withoutCodegenOptions({"-align-all-functions=4", "-tail-dup-size", "3",
                             "--pgo-analysis-map", "all",
                             "-align-all-functions-x", "-inline=all"}),
      (std::vector<std::string>{"-tail-dup-size", "3", "-align-all-functions-x",
                                "-inline=all"}));
}
