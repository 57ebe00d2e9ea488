//===- JobListTest.cpp - Lists of jobs that are files ---------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Files/JobList.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace dtlto;

static constexpr StringLiteral Good =
    R"({"common": {"linker_output": "out", "args": ["clang", "-c", "-O2"],
                   "inputs": ["my.prof"]},
        "jobs": [{"args": ["a.o", "-fthinlto-index=a.bc", "-o", "a.native.o"],
                  "inputs": ["a.o", "a.bc", "b.o"],
                  "outputs": ["a.native.o", "a.stats"]}]})";

/// Returns why \p Text is invalid; empty if it is valid.
static std::string why(StringRef Text) {
  Expected<JobList> List = parseJobList(Text, "x.json");
  return List ? "" : toString(List.takeError());
}

/// Returns why the valid list is invalid with \p Old replaced by \p New.
static std::string whyWith(StringRef Old, StringRef New) {
  size_t At = Good.find(Old);
  EXPECT_NE(At, StringRef::npos) << Old.str();
  return why(
      (Good.take_front(At) + New + Good.drop_front(At + Old.size())).str());
}

TEST(JobList, WhatLLDWrites) {
  Expected<JobList> List = parseJobList(Good, "x.json");
  ASSERT_TRUE(bool(List)) << toString(List.takeError());
  EXPECT_EQ(List->LinkerOutput, "out");
  EXPECT_EQ(List->Args, (std::vector<std::string>{"clang", "-c", "-O2"}));
  EXPECT_EQ(List->Inputs, std::vector<std::string>{"my.prof"});
  ASSERT_EQ(List->Jobs.size(), 1u);
  const FileJob &J = List->Jobs[0];
  EXPECT_EQ(J.module(), "a.o");
  EXPECT_EQ(J.shard(), "a.bc");
  EXPECT_EQ(J.Inputs.back(), "b.o");
  EXPECT_EQ(J.object(), "a.native.o");
  EXPECT_EQ(J.Outputs.size(), 2u);
}

TEST(JobList, ErrorsNameThePlace) {
  EXPECT_EQ(why(""), "'x.json': it is not JSON: [1:0, byte=0]: Unexpected EOF");
  EXPECT_EQ(why("[]"), "'x.json': the document: expected an object");
  EXPECT_EQ(why("{}"), "'x.json': the document.common: it is missing");
  EXPECT_EQ(whyWith("\"jobs\"", "\"job\""),
            "'x.json': the document.jobs: it is missing");
  EXPECT_EQ(whyWith("\"out\"", "1"),
            "'x.json': common.linker_output: expected a string");
  EXPECT_EQ(whyWith(R"(["clang", "-c", "-O2"])", "[]"),
            "'x.json': common.args: expected at least 1 strings");
  EXPECT_EQ(whyWith("\"clang\"", "\"\""),
            "'x.json': common.args[0]: the name of the compiler is empty");
  EXPECT_EQ(whyWith("\"-O2\"", "null"),
            "'x.json': common.args[2]: expected a string");
  EXPECT_EQ(whyWith("my.prof", "my\\u0000prof"),
            "'x.json': common.inputs[0]: a NUL in a string");
  EXPECT_EQ(whyWith(R"(["a.o", "a.bc", "b.o"])", R"(["a.o"])"),
            "'x.json': jobs[0].inputs: expected at least 2 strings");
  EXPECT_EQ(whyWith("\"b.o\"", "\"\""),
            "'x.json': jobs[0]: the name of a file is empty");
  EXPECT_EQ(whyWith("\"a.stats\"", "\"b.o\""),
            "'x.json': jobs[0]: output 'b.o' is also an input");
  EXPECT_EQ(whyWith("\"a.stats\"", "\"a.native.o\""),
            "'x.json': jobs[0]: 'a.native.o' is also written by another job");
  EXPECT_EQ(whyWith("\"-o\", \"a.native.o\"", "\"-o\", \"b.native.o\""),
            "'x.json': jobs[0]: no argument names 'a.native.o'");
  EXPECT_EQ(whyWith("index=a.bc", "index=b.bc"),
            "'x.json': jobs[0]: no argument names 'a.bc'");
  EXPECT_EQ(why(std::string(1000, '[')),
            "'x.json': brackets are nested too deep");
}

// Unknown keys, for example of a later linker, are only reported.
TEST(JobList, FurtherKeys) {
  EXPECT_TRUE(parseJobList(Good, "x.json")->UnknownKeys.empty());
  Expected<JobList> List = parseJobList(
      R"({"version": 3, "": 4, "common": {"linker_output": "out", "args": ["clang"],
          "inputs": [], "\n": {}},
          "jobs": [{"args": ["a", "-i=b", "-oc"], "inputs": ["a", "b"],
                    "outputs": ["c"], "note": [1]},
                   {"args": ["a", "-i=b", "-od"], "inputs": ["a", "b"],
                    "outputs": ["d"], "note": [2]}]})",
      "x.json");
  ASSERT_TRUE(bool(List)) << toString(List.takeError());
  EXPECT_EQ(List->UnknownKeys,
            (std::vector<std::string>{"\"\"", "common.\\x0a", "jobs[].note",
                                      "version"}));
  EXPECT_EQ(List->Jobs.size(), 2u);
  std::string Many;
  for (int I = 0; I != 100; ++I)
    Many += "\"" + std::to_string(I) + "\": 0, ";
  Expected<JobList> Full = parseJobList(
      (Good.take_front(1) + Many + Good.drop_front(1)).str(), "x.json");
  ASSERT_TRUE(bool(Full)) << toString(Full.takeError());
  EXPECT_EQ(Full->UnknownKeys.size(), MaxUnknownKeys);
}

TEST(PathArgs, WhereAFileMayStand) {
  EXPECT_EQ(findPath("a.o", "a.o"), 0u);
  EXPECT_EQ(findPath("-oa.o", "a.o"), 2u);
  EXPECT_EQ(findPath("-fthinlto-index=a.o", "a.o"), 16u);
  EXPECT_EQ(findPath("-f=list=a.o", "a.o"), 8u);
  EXPECT_EQ(findPath("-f=a=b.o", "a=b.o"), 3u);
  EXPECT_EQ(findPath("xa.o", "a.o"), StringRef::npos);
  EXPECT_EQ(findPath("-f=a.oo", "a.o"), StringRef::npos);
  EXPECT_EQ(findPath("-o", "a.o"), StringRef::npos);
}

TEST(PathArgs, AreRenamed) {
  StringMap<std::string> Paths;
  Paths["a.o"] = "m.a";
  Paths["a.bc"] = "index";
  EXPECT_EQ(renamePaths({"a.o", "-x=a.bc", "-oa.o", "ba.o"}, Paths),
            (std::vector<std::string>{"m.a", "-x=index", "-om.a", "ba.o"}));
}

TEST(PathArgs, ThatWouldNameAnotherFileThere) {
  StringMap<std::string> Paths;
  Paths["/here/a.o"] = "m.a";
  EXPECT_EQ(
      toString(checkPortable(
          {"-O2", "/here/a.o", "--target=x", "-object-file-name=/x"}, Paths)),
      "");
  for (const char *Arg : {"-fplugin=/here/x.so", "dir/x", "@x.rsp"})
    EXPECT_EQ(toString(checkPortable({"-O2", Arg}, Paths)),
              "an argument that may name a file, '" + std::string(Arg) + "'");
}
