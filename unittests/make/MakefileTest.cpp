//===- MakefileTest.cpp - Jobs as rules of make, and as JSON --------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Makefile.h"
#include "Json.h"
#include "gtest/gtest.h"
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

using namespace dtlto;
namespace fs = std::filesystem;

namespace {

std::string contents(const fs::path &File) {
  std::ostringstream Text;
  Text << std::ifstream(File).rdbuf();
  return Text.str();
}

/// Runs make in a folder.
class MakefileTest : public testing::Test {
protected:
  void SetUp() override {
    if (std::system("make --version > /dev/null 2>&1") != 0)
      GTEST_SKIP() << "there is no make";
    std::string Name = fs::temp_directory_path() / "dtlto-unit-XXXXXX";
    ASSERT_NE(::mkdtemp(Name.data()), nullptr);
    Folder = Name;
  }
  void TearDown() override {
    if (!Folder.empty())
      fs::remove_all(Folder);
  }
  /// Returns the exit code of make for a makefile with \p Text.
  int run(const std::string &Text, const std::string &Args = "") {
    std::ofstream(Folder / "distr.makefile") << Text;
    return std::system(("make -s -C '" + Folder.string() +
                        "' -f distr.makefile " + Args + " > /dev/null 2>&1")
                           .c_str());
  }
  void touch(const std::string &Name) { std::ofstream(Folder / Name) << "x"; }

  fs::path Folder;
};

} // namespace

// Checks with the real make and shell how names are read.
TEST_F(MakefileTest, NamesAreReadAsTheyAre) {
  for (const char *Odd :
       {"a",   "a b",  " a",         "a ",   "a$b",  "$(a)",  "a:b",
        "a#b", "#",    "a=b",        "a:=b", "a\\b", "a\\ b", "a\\#b",
        "a'b", "a\"b", "a`b",        "a~b",  "a+=b", "a,b",   "a(b)",
        "a@b", "$@",   "m\xc3\xa4n", "a!b",  "a{b}", "a<b"}) {
    std::string In = std::string("in") + Odd + "i", Out = In + "out";
    ASSERT_TRUE(make::canBeName(In) && make::canBeName(Out)) << Odd;
    touch(In);
    std::string Text = make::head("") + make::rule(Out, {In}, {"cp", In, Out}) +
                       "all : " + make::name(Out) + "\n";
    EXPECT_EQ(run(Text), 0) << Text;
    ASSERT_TRUE(fs::exists(Folder / Out)) << Text;
    // The output is up to date until its input changes.
    fs::last_write_time(Folder / Out, fs::file_time_type::clock::now() +
                                          std::chrono::hours(1));
    EXPECT_EQ(run(Text, "-q"), 0) << Text;
    fs::last_write_time(Folder / In, fs::file_time_type::clock::now() +
                                         std::chrono::hours(2));
    EXPECT_NE(run(Text, "-q"), 0) << Text;
  }
}

TEST_F(MakefileTest, WordsReachTheProgram) {
  for (const char *Odd :
       {"",   "a b", "'", "''", "\"", "$", "$$",       "$(x)", "${x}", "`x`",
        "\\", "a\\", "#", "*",  "?",  "~", "\t",       ";",    "&",    "|",
        "<",  ">",   "(", "!",  "%",  "=", "\xc3\xa4", "\xff", "-",    "@"}) {
    ASSERT_TRUE(make::canBeWord(Odd));
    std::string Text =
        make::head("") +
        make::rule("out", {},
                   {"sh", "-c", "printf %s \"$1\" > out", "sh", Odd}) +
        "all : out\n.PHONY : out\n";
    EXPECT_EQ(run(Text), 0) << Text;
    EXPECT_EQ(contents(Folder / "out"), Odd) << Text;
  }
  EXPECT_FALSE(make::canBeWord("a\nb"));
  EXPECT_FALSE(make::canBeName("a\nb"));
  EXPECT_FALSE(make::canBeName("a*"));
  EXPECT_FALSE(make::canBeName("a%b"));
  EXPECT_FALSE(make::canBeName(""));
}

TEST_F(MakefileTest, TheToolIsWhatTheUserSays) {
  for (const char *Tool :
       {"env A='x $$ # y'", "env A=\\#", "env 'A=a b'", ""}) {
    std::string Rest =
        make::rule("out", {}, {"sh", "-c", "printf '%s' \"$A\" > out"}) +
        "all : out\n.PHONY : out\n";
    EXPECT_EQ(run(make::head(Tool) + Rest), 0);
    std::string InFile = contents(Folder / "out");
    std::ofstream(Folder / "tool.sh")
        << Tool << " sh -c 'printf \"%s\" \"$A\" > out'\n";
    std::string Shell = "cd '" + Folder.string() + "' && sh tool.sh";
    ASSERT_EQ(std::system(Shell.c_str()), 0);
    // $$ is the number of a process, which differs.
    if (std::string(Tool).find("$$") == std::string::npos) {
      EXPECT_EQ(InFile, contents(Folder / "out")) << Tool;
    }
  }
}

TEST(JsonTest, IsASCIIOfTheSameText) {
  EXPECT_EQ(json("a\"\\\n\x7f"), R"("a\"\\\u000a\u007f")");
  EXPECT_EQ(json("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"),
            R"("\u00e4\u20ac\ud83d\ude00")");
  // Invalid UTF-8: a lone byte, an overlong form, a surrogate, a cut character.
  EXPECT_EQ(json("\xff"), R"("\udcff")");
  EXPECT_EQ(json("\xc0\x80"), R"("\udcc0\udc80")");
  EXPECT_EQ(json("\xed\xa0\x80"), R"("\udced\udca0\udc80")");
  EXPECT_EQ(json("\xe2\x82"), R"("\udce2\udc82")");
  EXPECT_EQ(json(std::vector<std::string>{"a", "b"}), R"(["a", "b"])");
  EXPECT_EQ(json(std::vector<std::string>{}), "[]");
}
