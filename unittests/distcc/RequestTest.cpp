//===- RequestTest.cpp - Requests to a distccd ----------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Request.h"
#include "Lzo.h"
#include "llvm/Support/Allocator.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/StringSaver.h"
#include "gtest/gtest.h"
#include <deque>

using namespace dtlto::distcc;

/// Parses the tokens as a server does: "NAME /w/x" for tokens with a string,
/// "ARGC 3" for numbers, and decompressed contents of files.
static std::vector<std::string> takeApart(const Request &R) {
  std::string Wire;
  for (std::string_view S : R.Segments) {
    EXPECT_FALSE(S.empty());
    Wire += S;
  }
  std::vector<std::string> Result;
  for (size_t At = 0; At < Wire.size();) {
    std::string Name = Wire.substr(At, 4), Digits = Wire.substr(At + 4, 8);
    EXPECT_EQ(Digits.find_first_not_of("0123456789abcdef"), std::string::npos);
    size_t Value = std::stoul(Digits, nullptr, 16);
    At += 12;
    if (Name == "DIST" || Name == "ARGC" || Name == "NFIL") {
      Result.push_back(Name + ' ' + std::to_string(Value));
      continue;
    }
    std::string Text = Wire.substr(At, Value);
    EXPECT_EQ(Text.size(), Value);
    At += Value;
    if (Name == "FILE") {
      dtlto::sdk::Buffer Out;
      std::string Error;
      EXPECT_TRUE(lzoDecompress(Text, 1 << 20, Out, Error)) << Error;
      Text.assign(Out.data(), Out.size());
    }
    Result.push_back(Name + ' ' + Text);
  }
  return Result;
}

namespace {
class RequestTest : public testing::Test {
protected:
  void add(uint32_t Role, const char *Path, const std::string &Contents) {
    const std::string &Kept = Texts.emplace_back(Contents);
    dtlto_input &I = Inputs.emplace_back();
    I.size = sizeof(I);
    I.role = Role;
    I.path = Path;
    I.bytes = {Kept.data(), Kept.size()};
    Pointers.push_back(&I);
  }
  const dtlto_job &job(std::vector<const char *> JobArgs) {
    Args = std::move(JobArgs);
    Job.size = sizeof(Job);
    Job.num_args = uint32_t(Args.size());
    Args.push_back(nullptr);
    Job.args = Args.data();
    Job.output = "out.o";
    Job.inputs = Pointers.data();
    Job.num_inputs = uint32_t(Pointers.size());
    return Job;
  }
  std::string errorFor(std::vector<const char *> JobArgs) {
    try {
      buildRequest(job(std::move(JobArgs)), "c", Cache);
    } catch (const dtlto::sdk::Error &E) {
      EXPECT_EQ(E.status(), DTLTO_ERROR_CALLER);
      return E.what();
    }
    return "";
  }

  std::deque<std::string> Texts;
  std::deque<dtlto_input> Inputs;
  std::vector<const dtlto_input *> Pointers;
  std::vector<const char *> Args;
  dtlto_job Job = {};
  dtlto::ByteCache Cache{1 << 20};
};
} // namespace

using Strings = std::vector<std::string>;

TEST_F(RequestTest, Whole) {
  add(DTLTO_ROLE_PRIMARY, "m.main", "main's bytes");
  add(DTLTO_ROLE_IMPORT, "dir/m.other", std::string(1000, 'o'));
  add(DTLTO_ROLE_INDEX, "index.thinlto.bc", "shard");
  add(DTLTO_ROLE_OTHER, "empty", "");
  add(77, "unknown", "u");
  auto R = buildRequest(job({"clang", "-O2", "-mllvm", "-c", "-c",
                             "-fthinlto-index=index.thinlto.bc", "-x", "ir",
                             "m.main", "-o", "out.o"}),
                        "clang-19", Cache);
  ASSERT_NE(R, nullptr);
  EXPECT_EQ(
      takeApart(*R),
      (Strings{"DIST 3",
               "CDIR /w",
               "ARGC 5",
               "ARGV clang-19",
               "ARGV -c",
               "ARGV @args.c",
               "ARGV -o",
               "ARGV out.o",
               "NFIL 6",
               "NAME /w/args.c",
               "FILE -O2\n-mllvm\n-c\n-fthinlto-index=index.thinlto.bc\n-x\n"
               "ir\nm.main\n",
               "NAME /w/m.main",
               "FILE main's bytes",
               "NAME /w/dir/m.other",
               "FILE " + std::string(1000, 'o'),
               "NAME /w/index.thinlto.bc",
               "FILE shard",
               "NAME /w/empty",
               "FILE ",
               "NAME /w/unknown",
               "FILE u"}));
  // One segment of text before each file that isn't empty.
  EXPECT_EQ(R->Owners.size(), 10u);
  EXPECT_EQ(R->Segments.size(), 10u);
}

TEST_F(RequestTest, FilesAreNotCopied) {
  add(DTLTO_ROLE_PRIMARY, "m.main", "bytes");
  add(DTLTO_ROLE_IMPORT, "m.other", "other");
  PackedBytes Shared = pack(Cache, Inputs[1]);
  auto UsesBefore = Shared.use_count();
  auto R = buildRequest(job({"clang", "m.main"}), "c", Cache);
  ASSERT_NE(R, nullptr);
  EXPECT_EQ(R->Segments.back().data(), view(*Shared).data());
  EXPECT_EQ(Shared.use_count(), UsesBefore + 1);
  R = nullptr;
  EXPECT_EQ(Shared.use_count(), UsesBefore);
}

TEST_F(RequestTest, OnlyTheLastOutputGoes) {
  add(DTLTO_ROLE_PRIMARY, "m.main", "x");
  auto R = buildRequest(
      job({"clang", "-Xclang", "-o", "out.o", "-c", "m.main", "-o", "out.o"}),
      "c", Cache);
  ASSERT_NE(R, nullptr);
  EXPECT_EQ(takeApart(*R)[10], "FILE -Xclang\n-o\nout.o\nm.main\n");
}

TEST_F(RequestTest, InputWithTheNameOfTheArgsFile) {
  add(DTLTO_ROLE_PRIMARY, "args.c", "x");
  add(DTLTO_ROLE_OTHER, "args1.c", "y");
  auto R =
      buildRequest(job({"clang", "-c", "args.c", "-o", "out.o"}), "c", Cache);
  ASSERT_NE(R, nullptr);
  Strings Tokens = takeApart(*R);
  EXPECT_EQ(Tokens[5], "ARGV @args2.c");
  EXPECT_EQ(Tokens[9], "NAME /w/args2.c");
  EXPECT_EQ(Tokens[10], "FILE args.c\n");
  EXPECT_EQ(Tokens[11], "NAME /w/args.c");
}

TEST_F(RequestTest, TooLarge) {
  add(DTLTO_ROLE_PRIMARY, "m.main", "x");
  add(DTLTO_ROLE_IMPORT, "m.large", "y");
  // The bytes aren't read: the size is enough.
  Inputs[1].bytes.size = MaxFileSize + 1;
  EXPECT_EQ(errorFor({"clang", "m.main"}),
            "the file 'm.large' has 401 MiB, but a distccd takes at most 400 "
            "MiB");
}

TEST_F(RequestTest, EmptyValuesAreSentInPlainSight) {
  add(DTLTO_ROLE_PRIMARY, "m.main", "x");
  auto R =
      buildRequest(job({"clang", "-Xclang", "-target-cpu", "-Xclang", "",
                        "-Xclang", "-other", "-Xclang", "", "-O2", "m.main"}),
                   "clang-19", Cache);
  ASSERT_NE(R, nullptr);
  Strings Parts = takeApart(*R);
  Strings Argv(Parts.begin() + 2, Parts.begin() + 16);
  EXPECT_EQ(Argv,
            (Strings{"ARGC 13", "ARGV clang-19", "ARGV -c", "ARGV @args.c",
                     "ARGV -o", "ARGV out.o", "ARGV -Xclang",
                     "ARGV -target-cpu", "ARGV -Xclang", "ARGV ",
                     "ARGV -Xclang", "ARGV -other", "ARGV -Xclang", "ARGV "}));
  EXPECT_EQ(Parts[18], "FILE -O2\nm.main\n");
}

TEST_F(RequestTest, ArgumentsThatCannotBeSent) {
  add(DTLTO_ROLE_PRIMARY, "m.main", "x");
  std::string At = errorFor({"clang", "-c", "@m.main", "-o", "out.o"});
  EXPECT_NE(At.find("'@m.main'"), std::string::npos) << At;
  std::string Empty = errorFor({"clang", "-c", "", "m.main", "-o", "out.o"});
  EXPECT_NE(Empty.find("an empty compiler argument"), std::string::npos)
      << Empty;
}

TEST_F(RequestTest, Probe) {
  EXPECT_EQ(
      takeApart(*buildProbe("clang-19")),
      (Strings{"DIST 3", "CDIR /w", "ARGC 6", "ARGV clang-19", "ARGV --version",
               "ARGV -c", "ARGV x.i", "ARGV -o", "ARGV x.o", "NFIL 0"}));
}

/// Reads a response file as clang does.
static Strings tokenize(const std::string &Text) {
  llvm::BumpPtrAllocator Allocator;
  llvm::StringSaver Saver(Allocator);
  llvm::SmallVector<const char *, 16> Argv;
  llvm::cl::TokenizeGNUCommandLine(Text, Saver, Argv);
  return Strings(Argv.begin(), Argv.end());
}

TEST(ResponseFileTest, RoundTrip) {
  Strings Args = {"plain",        "-O2",       "two words",    " edges ",
                  "tab\there",    "line\n2",   "cr\rlf\r\n",   "back\\slash",
                  "\\",           "\\\\",      "\"",           "'",
                  "it's",         "say \"x\"", "\\\"",         "a\\\nb",
                  "#comment",     "$HOME",     "`x`",          "*?[]",
                  "\xc3\xa4",     "\xff\xfe",  "\xef\xbb\xbf", "a@b",
                  "m.a+2bb~e4=c", "\x01\x7f",  "-DX=\"a b\"",  "--"};
  EXPECT_EQ(tokenize(responseFile(Args)), Args);
  for (const std::string &Arg : Args) {
    EXPECT_EQ(tokenize(responseFile({Arg})), Strings{Arg});
    // A byte order mark would be lost.
    EXPECT_LT(uint8_t(responseFile({Arg})[0]), 0x80);
  }
  for (int C = 1; C != 256; ++C)
    for (const std::string &Arg :
         {std::string(1, char(C)), "a" + std::string(1, char(C)),
          std::string(1, char(C)) + "a"})
      EXPECT_EQ(tokenize(responseFile({Arg, "next"})), (Strings{Arg, "next"}))
          << C;
}

TEST(ResponseFileTest, Text) {
  EXPECT_EQ(responseFile({}), "");
  EXPECT_EQ(responseFile({"-O2", "a b", "", "c\"\\"}),
            "-O2\n\"a b\"\n\"\"\n\"c\\\"\\\\\"\n");
}
