//===- CompilerOutputTest.cpp - Messages of remote compilers --------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Run/CompilerOutput.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace dtlto;

/// Returns all words as one text, with a letter for the kind of each.
static std::string all(const CompilerOutput &Words) {
  std::string Text;
  for (const std::string &Error : Words.Errors)
    Text += "E(" + Error + ")";
  for (const CompilerMessage &M : Words.Messages)
    Text += (M.Level == MessageLevel::Diagnostic ? "W("
             : M.Level == MessageLevel::Remark   ? "R("
             : M.Level == MessageLevel::Text     ? "T("
                                                 : "?(") +
            M.Text + ")";
  return Text + (Words.ReadError.empty() ? "" : "U(" + Words.ReadError + ")");
}
static std::string ofClang(StringRef Output) {
  return all(readClangOutput(Output, "a.o"));
}

TEST(CompilerOutputTest, WarningsAndErrors) {
  EXPECT_EQ(ofClang(""), "");
  EXPECT_EQ(ofClang("warning: s.c:1:0: stack frame size (4104) exceeds limit "
                    "(100) in function 'f' [-Wframe-larger-than]\n"
                    "1 warning generated.\n"),
            "W(s.c:1:0: stack frame size (4104) exceeds limit (100) in "
            "function 'f')");
  EXPECT_EQ(ofClang("error: no\nx.c:1:2: fatal error: never\n"
                    "2 errors generated.\n1 warning and 1 error generated."),
            "E(no)E(x.c:1:2: never)");
  EXPECT_EQ(ofClang("remark: vectorized [-Rpass=x]\nnote: why\n"),
            "R(vectorized)R(why)");
  EXPECT_EQ(ofClang("x.c:1:2: warning: mind the gap\n"),
            "W(x.c:1:2: mind the gap)");
}

TEST(CompilerOutputTest, Assembly) {
  EXPECT_EQ(ofClang("<inline asm>:1:2: warning: look here\n"
                    "        .warning \"look here\"\n"
                    "        ^\n"
                    "warning: cannot compile inline asm [-Winline-asm]\n"
                    "1 warning generated.\n"),
            "W(a.o <inline asm>:1:2: look here\n"
            "        .warning \"look here\"\n"
            "        ^\n)");
  EXPECT_EQ(ofClang("<inline asm>:1:2: error: no\n zorro\n ^~~~~\n"
                    "error: cannot compile inline asm\nmore\n"),
            "E(a.o <inline asm>:1:2: no\n zorro\n ^~~~~\n)T(more)");
  EXPECT_EQ(all(readClangOutput("<inline asm>:1:2: warning: x\n y\n ^", "")),
            "W(<inline asm>:1:2: x\n y\n ^\n)");
}

TEST(CompilerOutputTest, LLVMsWords) {
  EXPECT_EQ(ofClang("warning: linking module 'a.o': Linking two modules of "
                    "different target triples: 'b.o' is 'x' whereas 'a.o' is "
                    "'y'\n [-Wlinker-warnings]\n"),
            "W(Linking two modules of different target triples: 'b.o' is 'x' "
            "whereas 'a.o' is 'y'\n)");
  EXPECT_EQ(ofClang("a.o:2:32: warning: call to 'f(int)' declared with "
                    "'warning' attribute: odd [-Wattribute-warning]\n"
                    "    2 | <U+0012>BC\n"
                    "      |      ^\n"
                    "a.o:4:96: error: call to 'g' declared with 'error' "
                    "attribute: bad\n"
                    "    4 | <U+0012>BC\n"),
            "E(call to g marked \"dontcall-error\": bad)"
            "W(call to f(int) marked \"dontcall-warn\": odd)");
}

TEST(CompilerOutputTest, WhatLLVMPrintsIsText) {
  EXPECT_EQ(ofClang("warning: the triple-implied ABI is invalid\n"
                    "warning: large [-Wframe-larger-than]\n"
                    "'x' is not a recognized processor\nclang: warning: y\n"),
            "T(warning: the triple-implied ABI is invalid)W(large)"
            "T('x' is not a recognized processor\nclang: warning: y)");
}

TEST(CompilerOutputTest, ErrorsWithAGoodStatus) {
  EXPECT_EQ(ofClang("Error running ThinLTO backend: Function Import: link "
                    "error: x\n"),
            "E(Function Import: link error: x)");
  for (StringRef Line : {"Error running ThinLTO backend: Error loading "
                         "imported file b.o : Malformed block",
                         "Error loading index file 'i': no such file"})
    EXPECT_EQ(ofClang(Line), ("U(" + Line + ")").str());
}

TEST(CompilerOutputTest, Worker) {
  EXPECT_EQ(all(readWorkerOutput("warning: w\n line\nerror: e\nerror: f\n ^\n"
                                 "dtlto-codegen: error: a.o: it failed\n")),
            "E(e)E(f\n ^)W(w\n line)T(dtlto-codegen: error: a.o: it failed)");
  EXPECT_EQ(
      all(readWorkerOutput(
          "error: e\ndtlto-codegen: error: a.o: code generation failed\n")),
      "E(e)");
  EXPECT_EQ(all(readWorkerOutput("LLVM ERROR: Cannot select\nmore")),
            "T(LLVM ERROR: Cannot select\nmore)");
}
