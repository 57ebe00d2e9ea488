//===- ModuleNamesTest.cpp - Module names that travel ---------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Host/ModuleNames.h"
#include "Host/BuiltJob.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "gtest/gtest.h"
#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <set>

using namespace llvm;
using namespace dtlto;

namespace {

constexpr StringLiteral Cwd = "/home/user/project";

std::string encode(StringRef Original, StringRef WorkingDirectory = Cwd,
                   std::vector<StringRef> Modules = {}) {
  std::optional<std::string> Name =
      ModuleNames(WorkingDirectory, std::move(Modules)).encode(Original);
  return Name ? *Name : "none";
}

/// Returns names that linkers see, and unusual but possible ones.
std::vector<std::string> picked() {
  std::vector<std::string> Names = {
      "a.o",
      "A.o",
      "a-o",
      "a/o",
      "a,o",
      "a_o",
      "a~o",
      "a+o",
      "a=o",
      "a`o",
      "a@o",
      "a[o",
      "a^o",
      "a{o",
      "a.",
      "a",
      "",
      ".",
      "..",
      "./a.o",
      "../a.o",
      "../../x/../a.o",
      "src/a.o",
      "src//a.o",
      "src/A.o",
      "SRC/a.o",
      "src.a.o",
      "m.a.o",
      "con",
      "nul.o",
      "aux/com1.o",
      "lib/libz.a(inflate.o at 8)",
      "lib/libz.a(inflate.o at 10)",
      "lib/libz.a(INFLATE.o at 8)",
      "lib/libz.a(dir/inflate.o at 8)",
      "C:\\src\\a.obj",
      "c:\\src\\a.obj",
      "//server/share/a.o",
      "/home/user/project",
      "/home/user/project/",
      "/home/user/project/a.o",
      "/home/user/project/A.o",
      "/home/user/project/src/a.o",
      "/home/user/project-2/a.o",
      "/home/user/project.o",
      "/home/user/project0/a.o",
      "/home/user/a.o",
      "/home/user",
      "/home/zebra/a.o",
      "/usr/lib/crt1.o",
      "/",
      "/a",
      "/tmp/lto-llvm-1b2c3d.o",
      "space in name.o",
      " leading",
      "trailing ",
      "tab\there",
      "new\nline",
      "quote\"'`$(x);&|<>*?",
      "\xc3\xa4\xc3\xb6.o",       // UTF-8
      "\xe4\xf6.o",               // Latin-1
      "\xff\xfe\x80",             // Neither.
      std::string("nul\0byte", 8) // In the middle.
  };
  // Lengths around the limits where long names are cut.
  for (size_t N : {150, 196, 197, 198, 199, 200, 201, 202, 396, 397, 398, 399,
                   400, 401, 800, 1500, 1900}) {
    Names.push_back(std::string(N, 'a'));
    Names.push_back(std::string(N, 'a') + ".o");
    Names.push_back(std::string(N, 'a') + "b");
    Names.push_back(std::string(N, 'a') + "/");
    Names.push_back(std::string(N, 'a') + "//");
    Names.push_back(std::string(N, 'a') + "nul");
    Names.push_back(std::string(N, 'a') + "Z");
    Names.push_back(std::string(N / 3, '\x01'));
    Names.push_back(std::string(N / 3, '\xff'));
    Names.push_back("/" + std::string(N, 'a'));
    Names.push_back((Cwd + "/" + std::string(N, 'a')).str());
  }
  std::sort(Names.begin(), Names.end());
  Names.erase(std::unique(Names.begin(), Names.end()), Names.end());
  return Names;
}

/// Returns random names of several kinds, the same in every run.
std::vector<std::string> randomNames() {
  std::mt19937 Random(20240229);
  auto below = [&](unsigned N) { return unsigned(Random() % N); };
  std::vector<std::string> Names;
  // Any bytes. Short names often have a common prefix.
  for (unsigned I = 0; I != 20000; ++I) {
    std::string Name;
    for (unsigned K = below(9); K != 0; --K)
      Name += char(below(256));
    Names.push_back(Name);
  }
  // Usual characters, and the limits of each range in the code.
  StringRef Usual = "ab/.-_019AZaz+,=~`{}:;@[\\]^() ";
  for (unsigned I = 0; I != 40000; ++I) {
    std::string Name;
    switch (below(4)) {
    case 0:
      Name = "/";
      break;
    case 1:
      Name = (Cwd + "/").str();
      break;
    case 2:
      Name = Cwd.substr(0, below(Cwd.size() + 1)).str();
      break;
    }
    for (unsigned K = below(12); K != 0; --K)
      Name += Usual[below(Usual.size())];
    Names.push_back(Name);
  }
  // Long names that differ near the cuts.
  for (unsigned I = 0; I != 2000; ++I) {
    std::string Name(180 + below(450), "aA\xff"[below(3)]);
    for (unsigned K = below(4); K != 0; --K)
      Name[below(Name.size())] = Usual[below(Usual.size())];
    Names.push_back(Name);
  }
  return Names;
}

std::vector<std::string> allNames() {
  std::vector<std::string> Names = picked();
  for (std::string &Name : randomNames())
    Names.push_back(std::move(Name));
  std::sort(Names.begin(), Names.end());
  Names.erase(std::unique(Names.begin(), Names.end()), Names.end());
  return Names;
}

/// Returns all names that can be encoded, and their encodings, in order.
std::vector<std::pair<std::string, std::string>> allEncoded() {
  ModuleNames Names(Cwd);
  std::vector<std::pair<std::string, std::string>> Result;
  for (std::string &Original : allNames())
    if (std::optional<std::string> Name = Names.encode(Original))
      Result.emplace_back(std::move(Original), *Name);
  return Result;
}

} // namespace

TEST(ModuleNamesTest, ExamplesOfTheDocumentation) {
  EXPECT_EQ(encode("src/foo.o"), "m.src.foo-o");
  EXPECT_EQ(
      encode("lib/libz.a(inflate.o at 8)", Cwd, {"lib/libz.a(inflate.o at 8)"}),
      "m.lib.libz-a+28inflate-o+20at+200+29");
}

TEST(ModuleNamesTest, SortedAsTheOriginals) {
  // This also fails for names with equal encodings.
  auto Encoded = allEncoded();
  ASSERT_GT(Encoded.size(), 40000u);
  for (size_t I = 1; I < Encoded.size(); ++I)
    ASSERT_LT(Encoded[I - 1].second, Encoded[I].second)
        << toHex(Encoded[I - 1].first) << " and " << toHex(Encoded[I].first);
}

TEST(ModuleNamesTest, SortedBytesAreUnsigned) {
  EXPECT_LT(encode("a\x7f"), encode("a\x80"));
  EXPECT_LT(encode("z"), encode("\xff"));
  EXPECT_LT(encode(""), encode(StringRef("\0", 1)));
}

TEST(ModuleNamesTest, OnlySafeCharacters) {
  for (const auto &[Original, Name] : allEncoded())
    for (char C : Name)
      ASSERT_TRUE((C >= 'a' && C <= 'z') || (C >= '0' && C <= '9') ||
                  StringRef("+,-.=_`~/").contains(C))
          << C << " for " << toHex(Original);
}

TEST(ModuleNamesTest, SafeComponents) {
  for (const auto &[Original, Name] : allEncoded()) {
    SmallVector<StringRef, 8> Components;
    StringRef(Name).split(Components, '/');
    for (StringRef C : Components) {
      ASSERT_FALSE(C.empty()) << toHex(Original);
      ASSERT_NE(C, ".") << toHex(Original);
      ASSERT_NE(C, "..") << toHex(Original);
      // One more for the `+` of a cut.
      ASSERT_LE(C.size(), ModuleNames::MaxComponent + 1) << toHex(Original);
      // Some systems reserve these names, with and without a suffix.
      for (StringRef Device : {"con", "prn", "aux", "nul", "com1", "lpt1"})
        ASSERT_NE(C.split('.').first, Device) << toHex(Original);
    }
    ASSERT_NE(Components.front(), "");
    ASSERT_LE(Name.size(), ModuleNames::MaxLength);
  }
}

TEST(ModuleNamesTest, NoNameIsTheFolderOfAnother) {
  std::set<std::string> Folders, Files;
  for (const auto &[Original, Name] : allEncoded()) {
    Files.insert(Name);
    for (size_t I = Name.find('/'); I != std::string::npos;
         I = Name.find('/', I + 1))
      Folders.insert(Name.substr(0, I));
  }
  EXPECT_FALSE(Folders.empty());
  for (const std::string &Folder : Folders)
    EXPECT_EQ(Files.count(Folder), 0u) << Folder;
}

TEST(ModuleNamesTest, UniqueWithoutRegardToCase) {
  std::map<std::string, std::string> Seen;
  for (const auto &[Original, Name] : allEncoded()) {
    auto [It, New] = Seen.emplace(StringRef(Name).lower(), Original);
    ASSERT_TRUE(New) << toHex(It->second) << " and " << toHex(Original);
  }
}

TEST(ModuleNamesTest, FreeForTheNamesOfOtherFiles) {
  // A job's index and output are next to the modules.
  for (const auto &[Original, Name] : allEncoded())
    ASSERT_TRUE(StringRef(Name).starts_with("m."));
}

TEST(ModuleNamesTest, FunctionOfTheNameAlone) {
  // Compare an encoder that has seen all names with a new one for each name.
  ModuleNames Names(Cwd);
  for (const std::string &Original : picked())
    Names.encode(Original);
  for (const std::string &Original : picked())
    EXPECT_EQ(Names.encode(Original), ModuleNames(Cwd).encode(Original));
}

TEST(ModuleNamesTest, TheWorkingDirectoryDoesNotMatter) {
  // Two machines with the same inputs. Absolute paths inside the working
  // directory equal relative ones.
  for (StringRef Inside : {"a.o", "src/a.o", "lib/libz.a(inflate.o at 8)"}) {
    EXPECT_EQ(
        encode(("/home/user/project/" + Inside).str(), "/home/user/project"),
        encode(("/ci/7/" + Inside).str(), "/ci/7"));
    EXPECT_EQ(encode(Inside, "/home/user/project"), encode(Inside, "/ci/7"));
  }
  // With or without a trailing slash.
  EXPECT_EQ(encode("/ci/7/a.o", "/ci/7"), encode("/ci/7/a.o", "/ci/7/"));
  // Only whole components are removed.
  EXPECT_NE(encode("/ci/78/a.o", "/ci/7"), encode("/ci/7/8/a.o", "/ci/7"));
}

TEST(ModuleNamesTest, TheWorkingDirectoryIsLeftOut) {
  EXPECT_EQ(encode("/home/user/project/src/a.o").find("home"),
            std::string::npos);
  EXPECT_EQ(encode("/home/user/project/src/a.o").find("project"),
            std::string::npos);
}

TEST(ModuleNamesTest, SortedInEveryWorkingDirectory) {
  for (StringRef Folder :
       {"", "/", "/a", "/home", "/home/user", "/home/user/project",
        "/home/user/project/src", "/zzz", "/home/user/project/"}) {
    ModuleNames Names(Folder);
    std::string Last;
    for (const std::string &Original : picked()) {
      std::optional<std::string> Name = Names.encode(Original);
      if (!Name)
        continue;
      EXPECT_LT(Last, *Name) << Folder.str() << ": " << toHex(Original);
      Last = *Name;
    }
  }
}

TEST(ModuleNamesTest, TooLong) {
  EXPECT_EQ(encode(std::string(5000, 'a')), "none");
  EXPECT_EQ(encode(std::string(700, '\xff')), "none");
  // All names up to the maximum length are encoded, and no longer ones.
  ModuleNames Names(Cwd);
  size_t N = 1;
  while (Names.encode(std::string(N, 'a')))
    ++N;
  EXPECT_GT(N, ModuleNames::MaxLength * 9 / 10);
  for (size_t I = N; I != N + 300; ++I)
    EXPECT_EQ(Names.encode(std::string(I, 'a')), std::nullopt);
}

//===----------------------------------------------------------------------===//
// Members of archives
//===----------------------------------------------------------------------===//

TEST(ModuleNamesTest, MembersMayMove) {
  for (auto [Then, Now] : {std::pair("l.a(b.o at 8)", "l.a(b.o at 12345678)"),
                           std::pair("/x/l.a(b.o)8", "/x/l.a(b.o)120"),
                           std::pair("l.libb.obj8", "l.libb.obj120")}) {
    EXPECT_EQ(encode(Then, Cwd, {Then, "a.o"}), encode(Now, Cwd, {Now, "z.o"}));
    EXPECT_NE(encode(Then, Cwd, {"a.o"}), encode(Now, Cwd, {"a.o"}));
  }
}

TEST(ModuleNamesTest, MembersOfOneNameAreCounted) {
  std::vector<StringRef> Modules = {"l.a(b.o at 990)", "l.a(b.o at 1200)",
                                    "l.a(b.o at 12)", "m.a(b.o at 7)",
                                    "l.a(c.o at 5)"};
  EXPECT_EQ(encode("l.a(b.o at 12)", Cwd, Modules), "m.l-a+28b-o+20at+200+29");
  EXPECT_EQ(encode("l.a(b.o at 1200)", Cwd, Modules),
            "m.l-a+28b-o+20at+201+29");
  EXPECT_EQ(encode("l.a(b.o at 990)", Cwd, Modules), "m.l-a+28b-o+20at+202+29");
  EXPECT_EQ(encode("m.a(b.o at 7)", Cwd, Modules), "m.m-a+28b-o+20at+200+29");
  EXPECT_EQ(encode("l.a(c.o at 5)", Cwd, Modules), "m.l-a+28c-o+20at+200+29");
}

static void expectSorted(std::vector<std::string> Originals) {
  std::sort(Originals.begin(), Originals.end());
  Originals.erase(std::unique(Originals.begin(), Originals.end()),
                  Originals.end());
  std::vector<StringRef> Shuffled(Originals.begin(), Originals.end());
  std::shuffle(Shuffled.begin(), Shuffled.end(), std::mt19937(7));
  ModuleNames Names(Cwd, Shuffled);
  std::string Last;
  for (const std::string &Original : Originals)
    if (std::optional<std::string> Name = Names.encode(Original)) {
      EXPECT_LT(Last, *Name) << toHex(Original);
      Last = *Name;
    }
}

TEST(ModuleNamesTest, CountedMembersAreSortedAsTheOriginals) {
  std::vector<std::string> Many;
  for (unsigned I = 0; I != 1500; ++I) {
    Many.push_back("l.a(b.o at " + std::to_string(37 * I + 8) + ")");
    Many.push_back("l.a(b.o)" + std::to_string(37 * I + 8));
  }
  expectSorted(Many);
  expectSorted(allNames());
  std::mt19937 Random(20261126);
  auto below = [&](unsigned N) { return unsigned(Random() % N); };
  for (unsigned Set = 0; Set != 2000; ++Set) {
    std::vector<std::string> Names;
    for (unsigned I = 0; I != 8; ++I) {
      std::string Name;
      for (unsigned K = below(6); K != 0; --K)
        Name +=
            std::array{"x", " at ", "1", "10", ")", "(", ".o", "a"}[below(8)];
      Names.push_back(Name + " at " + std::to_string(below(30)) + ")");
      Names.push_back(Name + std::to_string(below(30)));
    }
    expectSorted(std::move(Names));
  }
}

TEST(ModuleNamesTest, PlacesStayWhereTheOrderWouldChange) {
  std::vector<StringRef> Modules = {"l.a(x at 5 at 100)", "l.a(x at 7)"};
  EXPECT_EQ(encode(Modules[0], Cwd, Modules), encode(Modules[0]));
  EXPECT_EQ(encode(Modules[1], Cwd, Modules), encode(Modules[1]));
  Modules = {"l.a(x at 5 at 100)", "l.a(x at 4)"};
  EXPECT_NE(encode(Modules[0], Cwd, Modules), encode(Modules[0]));
}

//===----------------------------------------------------------------------===//
// Decoding names in a worker's messages
//===----------------------------------------------------------------------===//

/// m.main is the module main.o, m.m is m, and m.m.m is x y.
static std::string withUserNames(StringRef Text) {
  return dtlto::withUserNames(Text, [](StringRef Path) -> std::string {
    return Path == "m.main"  ? "main.o"
           : Path == "m.m"   ? "m"
           : Path == "m.m.m" ? "x y"
                             : "";
  });
}

TEST(ModuleNamesTest, UsersNames) {
  EXPECT_EQ(withUserNames(""), "");
  EXPECT_EQ(withUserNames("m.main:1: 'm.main' m.main. (m.main), m.main"),
            "main.o:1: 'main.o' main.o. (main.o), main.o");
  EXPECT_EQ(withUserNames("m.main\nm.main"), "main.o\nmain.o");
  EXPECT_EQ(withUserNames("x m.m m.m.m"), "x m x y");
  // In a folder of the worker.
  EXPECT_EQ(withUserNames("/tmp/distccd_a1b2/w/m.main: x"), "main.o: x");
  EXPECT_EQ(withUserNames("'/var/t/m.main' ./m.main"), "'main.o' main.o");
  // A job's own files.
  EXPECT_EQ(withUserNames("no 'm.main.native.o', /w/m.main.2.thinlto.bc."),
            "no 'main.o.native.o', main.o.thinlto.bc.");
  // Parts of other names.
  for (const char *Other : {"m.main.bc", "m.mains", "xm.main", "dir/m.main",
                            "m.main/x", "m.main+/m", "m.main=c",
                            "\xc3\xa4m.main", "m.other", "/m.other", "m.", "."})
    EXPECT_EQ(withUserNames(Other), Other);
}
